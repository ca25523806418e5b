//! The cookie of a browser that has logged in.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use segue_core::model::{ListenSettings, SecretText};
use segue_core::rules::{listening, tokens};
use segue_core::{Error, Result};

const NAME: &str = "segue_web";

/// Browsers accept a cookie with this prefix only over TLS, for the whole host, and from that host
/// itself.
const NAME_WITH_TLS: &str = "__Host-segue_web";

fn name(settings: &ListenSettings) -> &'static str {
    if listening::has_tls(settings) { NAME_WITH_TLS } else { NAME }
}

/// Returns the cookie of a request. `None` if it has none, or several with the same name.
pub(super) fn read(settings: &ListenSettings, headers: &HeaderMap) -> Option<SecretText> {
    let name = name(settings);
    let lines = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|it| it.trim().split_once('='));
    let mut values = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
    match (values.next(), values.next()) {
        (Some(value), None) => Some(SecretText::new(value)),
        _ => None,
    }
}

/// Returns the header that gives a browser its cookie.
pub(super) fn set(settings: &ListenSettings, text: &SecretText) -> Result<HeaderValue> {
    header(settings, text.expose(), tokens::BROWSER_LIFETIME.as_secs())
}

/// Returns the header that takes the cookie away.
pub(super) fn clear(settings: &ListenSettings) -> Result<HeaderValue> {
    header(settings, "", 0)
}

fn header(settings: &ListenSettings, value: &str, seconds: i64) -> Result<HeaderValue> {
    let name = name(settings);
    let secure = if listening::has_tls(settings) { "; Secure" } else { "" };
    let text =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    let mut header =
        HeaderValue::try_from(text).map_err(|_| Error::internal("a cookie cannot be written"))?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use segue_core::model::Transport;

    use super::*;

    fn settings(transport: Transport) -> ListenSettings {
        let address = "127.0.0.1:4747".parse().unwrap();
        ListenSettings { address, transport, hosts: Vec::new() }
    }

    #[test]
    fn cookie_is_read_only_if_it_is_unique_and_has_the_name_of_the_transport() {
        let table = [
            (Transport::Plain, "segue_web=a", Some("a")),
            (Transport::Plain, "x=1; segue_web=a; y=2", Some("a")),
            (Transport::Plain, "__Host-segue_web=a", None),
            (Transport::Plain, "segue_web=a; segue_web=b", None),
            (Transport::Plain, "segue_web", None),
            (Transport::Plain, "xsegue_web=a", None),
            (Transport::Proxy, "__Host-segue_web=a", Some("a")),
            (Transport::Proxy, "segue_web=a", None),
        ];
        for (transport, line, expected) in table {
            let headers = HeaderMap::from_iter([(COOKIE, HeaderValue::from_static(line))]);
            let read = read(&settings(transport), &headers);
            assert_eq!(read.as_ref().map(SecretText::expose), expected, "{line}");
        }
    }

    #[test]
    fn cookie_is_for_this_server_alone_and_with_tls_only_for_tls() {
        let text = SecretText::new("a");
        let plain = set(&settings(Transport::Plain), &text).unwrap();
        let expected = "segue_web=a; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000";
        assert_eq!(plain, expected);
        let secure = set(&settings(Transport::Proxy), &text).unwrap();
        assert_eq!(secure, format!("__Host-{expected}; Secure"));
        assert!(clear(&settings(Transport::Plain)).unwrap().to_str().unwrap().ends_with("Age=0"));
    }
}
