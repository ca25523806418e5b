//! Rate limits.

use jiff::{SignedDuration, Timestamp};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::ApiAnswer;

/// How long to wait if the forge limits requests and does not say for how long.
const DEFAULT_PAUSE: SignedDuration = SignedDuration::from_secs(60);

/// The longest pause. A clock that is wrong must not stop all requests for days.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(2);

/// Returns the time until which no request may be sent, if the answer was the last one of a period.
pub(super) fn pause(headers: &HeaderMap, status: StatusCode, now: Timestamp) -> Option<Timestamp> {
    let is_success = status.is_success() || status == StatusCode::NOT_MODIFIED;
    (is_success && is_used_up(headers)).then(|| reset(headers, now)).flatten()
}

/// Returns the time of the next allowed request if an answer with an error status is due to a rate
/// limit.
pub(super) fn limited(answer: &ApiAnswer, now: Timestamp) -> Option<Timestamp> {
    let headers = &answer.headers;
    let status = answer.status.as_u16();
    let has_pause = headers.contains_key(RETRY_AFTER);
    let is_limited = match status {
        429 => true,
        403 => has_pause || is_used_up(headers) || answer.mentions("rate limit"),
        503 => has_pause,
        _ => false,
    };
    let default = || now.checked_add(DEFAULT_PAUSE).ok();
    is_limited
        .then(|| retry_after(headers, now).or_else(|| reset(headers, now)).or_else(default))?
}

fn is_used_up(headers: &HeaderMap) -> bool {
    number(headers, ["x-ratelimit-remaining", "ratelimit-remaining"]) == Some(0)
}

fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Timestamp> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let time = match value.parse::<i64>() {
        Ok(seconds) => now.checked_add(SignedDuration::from_secs(seconds.max(0))).ok()?,
        Err(_) => jiff::fmt::rfc2822::parse(value).ok()?.timestamp(),
    };
    Some(bounded(time, now))
}

fn reset(headers: &HeaderMap, now: Timestamp) -> Option<Timestamp> {
    let seconds = number(headers, ["x-ratelimit-reset", "ratelimit-reset"])?;
    Some(bounded(Timestamp::from_second(seconds).ok()?, now))
}

fn bounded(time: Timestamp, now: Timestamp) -> Timestamp {
    time.clamp(now, now.checked_add(LONGEST_PAUSE).unwrap_or(Timestamp::MAX))
}

fn number(headers: &HeaderMap, names: [&str; 2]) -> Option<i64> {
    let value = names.iter().find_map(|name| headers.get(*name))?;
    value.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let value = |text: &'static str| reqwest::header::HeaderValue::from_static(text);
        pairs.iter().map(|(name, text)| (name.parse().unwrap(), value(text))).collect()
    }

    #[test]
    fn retry_after_is_a_number_of_seconds_or_a_date_and_is_bounded() {
        let now = Timestamp::from_second(1_000_000_000).unwrap();
        let table = [
            ("30", Some(1_000_000_030)),
            ("0", Some(1_000_000_000)),
            ("-5", Some(1_000_000_000)),
            ("99999999", Some(1_000_007_200)),
            ("Sun, 09 Sep 2001 01:47:40 GMT", Some(1_000_000_060)),
            ("soon", None),
        ];
        for (text, expected) in table {
            let found = retry_after(&headers(&[("retry-after", text)]), now);
            assert_eq!(found.map(Timestamp::as_second), expected, "{text}");
        }
    }

    #[test]
    fn last_allowed_request_pauses_until_the_reset() {
        let now = Timestamp::from_second(1_000).unwrap();
        let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1090")];
        let other_names = [("ratelimit-remaining", "0"), ("ratelimit-reset", "1090")];
        let left = [("x-ratelimit-remaining", "1"), ("x-ratelimit-reset", "1090")];
        for (pairs, expected) in [(&used_up, Some(1090)), (&other_names, Some(1090)), (&left, None)]
        {
            let found = pause(&headers(pairs), StatusCode::OK, now);
            assert_eq!(found.map(Timestamp::as_second), expected, "{pairs:?}");
        }
    }
}
