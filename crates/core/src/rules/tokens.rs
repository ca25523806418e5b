//! Tokens: how their text looks, and whether a presented text is a valid token.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::error::{Error, Kind, Result};
use crate::model::{SecretText, StoredToken, TokenDigest};

/// The number of random bytes of a token.
pub const SECRET_BYTES: usize = 32;

/// The beginning of every token, by which people and scanners for secrets recognize it.
const PREFIX: &str = "segue_";

/// The longest text that is compared with tokens.
const MAX_TEXT_BYTES: usize = PREFIX.len() + 2 * SECRET_BYTES;

/// The longest name of a token, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The time of the last use is recorded at most this often, so that reading needs no writing.
const USE_PRECISION: SignedDuration = SignedDuration::from_mins(1);

/// Returns the text of a token with these random bytes.
pub fn text(random: [u8; SECRET_BYTES]) -> SecretText {
    SecretText::new(format!("{PREFIX}{}", hexadecimal(&random)))
}

/// Returns the digest by which a token is recognized.
pub fn digest(text: &SecretText) -> TokenDigest {
    TokenDigest::new(hexadecimal(&Sha256::digest(text.expose())))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks the name of a new token.
pub fn check_name(name: &str) -> Result<()> {
    let length = name.chars().count();
    if !(1..=MAX_NAME_CHARS).contains(&length) || name.contains(char::is_control) {
        return Err(Error::usage(format!(
            "the name of a token must have 1 to {MAX_NAME_CHARS} characters and no control \
             characters"
        ))
        .hint("use a name such as `ci`"));
    }
    Ok(())
}

/// Returns the token with this text. The comparison takes the same time for every text of the same
/// length.
pub fn find<'a>(
    text: &SecretText,
    known: &'a [StoredToken],
    now: Timestamp,
) -> Result<&'a StoredToken> {
    if text.expose().len() > MAX_TEXT_BYTES {
        return Err(unknown());
    }
    let presented = digest(text);
    let is_equal = |it: &StoredToken| presented.as_bytes().ct_eq(it.digest.as_bytes()).into();
    // All tokens are compared, so that the time does not show which token is similar.
    let equal: Vec<&StoredToken> = known.iter().filter(|it| is_equal(it)).collect();
    let found = *equal.first().ok_or_else(unknown)?;
    match found.expires_at {
        Some(end) if end <= now => Err(unauthorized("the token has expired")),
        _ => Ok(found),
    }
}

/// Returns the error for a request without a valid token.
pub fn missing() -> Error {
    unauthorized("this request needs a token").hint("send the header `Authorization: Bearer TOKEN`")
}

fn unknown() -> Error {
    unauthorized("the token is not valid")
}

fn unauthorized(message: &str) -> Error {
    Error::new(Kind::Unauthorized, message)
        .hint("run `segue token create --name NAME --scope SCOPE` on the machine of the daemon")
}

/// Returns whether a use of a token has to be recorded.
pub fn is_use_to_record(token: &StoredToken, now: Timestamp) -> bool {
    token.last_used_at.is_none_or(|last| now.duration_since(last) >= USE_PRECISION)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use uuid::Uuid;

    use super::*;
    use crate::model::{AccessToken, TokenId, TokenScope};

    fn stored(name: &str, random: u8, expires_at: Option<i64>) -> StoredToken {
        let time = |second| Timestamp::from_second(second).unwrap();
        StoredToken {
            token: AccessToken {
                id: TokenId::new(Uuid::from_u128(random.into())),
                name: name.to_owned(),
                scopes: BTreeSet::from([TokenScope::Read]),
            },
            digest: digest(&text([random; SECRET_BYTES])),
            created_at: time(0),
            expires_at: expires_at.map(time),
            last_used_at: None,
        }
    }

    #[test]
    fn token_is_found_by_its_whole_text_until_it_expires() {
        let known = [stored("a", 1, None), stored("b", 2, Some(100))];
        let now = |second| Timestamp::from_second(second).unwrap();
        let of = |random| text([random; SECRET_BYTES]);
        assert_eq!(find(&of(1), &known, now(50)).unwrap().token.name, "a");
        assert_eq!(find(&of(2), &known, now(99)).unwrap().token.name, "b");
        let whole = of(1).expose().to_owned();
        let table = [
            (of(2), 100, "expired"),
            (of(3), 50, "not valid"),
            (SecretText::new(""), 50, "not valid"),
            (SecretText::new(&whole[..whole.len() - 1]), 50, "not valid"),
            (SecretText::new(whole.to_uppercase()), 50, "not valid"),
            (SecretText::new(format!("{whole}0")), 50, "not valid"),
            (SecretText::new("x".repeat(1 << 20)), 50, "not valid"),
        ];
        for (text, second, expected) in table {
            let error = find(&text, &known, now(second)).unwrap_err();
            assert_eq!(error.kind, Kind::Unauthorized);
            assert!(error.message.contains(expected), "{error}");
        }
    }

    #[test]
    fn digest_and_stored_token_show_nothing_of_the_secret() {
        let token = stored("a", 7, None);
        let shown = format!("{token:?}");
        assert!(!shown.contains("07070707"), "{shown}");
        let hexadecimal = String::from_utf8(token.digest.as_bytes().to_vec()).unwrap();
        assert!(!shown.contains(&hexadecimal), "{shown}");
        assert_eq!(hexadecimal.len(), 64);
    }

    #[test]
    fn names_are_short_and_printable() {
        for good in ["deploy", "CI of the shop", "ü"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "a\nb", &"x".repeat(65)] {
            assert_eq!(check_name(bad).unwrap_err().kind, Kind::Usage, "{bad}");
        }
    }

    #[test]
    fn use_is_recorded_at_most_once_a_minute() {
        let mut token = stored("a", 1, None);
        let now = |second| Timestamp::from_second(second).unwrap();
        assert!(is_use_to_record(&token, now(0)));
        token.last_used_at = Some(now(100));
        assert!(!is_use_to_record(&token, now(159)));
        assert!(is_use_to_record(&token, now(160)));
    }
}
