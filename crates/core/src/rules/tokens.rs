//! Tokens: how their text looks, whether a presented text is a valid token, and how long a token is
//! valid. The secrets of a browser and the code of a link are tokens as well.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::error::{Error, Kind, Result};
use crate::model::{AccessTokenKind, SecretText, StoredToken, TokenDigest, TokenId};

/// The number of random bytes of a token.
pub const SECRET_BYTES: usize = 32;

/// The beginning of every token, by which people and scanners for secrets recognize it.
const PREFIX: &str = "segue_";

/// The length of the text of one secret.
const TEXT_BYTES: usize = PREFIX.len() + 2 * SECRET_BYTES;

/// The longest text that is compared with tokens: both secrets of a browser.
const MAX_TEXT_BYTES: usize = 2 * TEXT_BYTES + 1;

/// The longest name of a token, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The time of the last use is recorded at most this often, so that reading needs no writing.
const USE_PRECISION: SignedDuration = SignedDuration::from_mins(1);

/// A browser that sends no request for this long is logged out.
pub const BROWSER_IDLE_TIME: SignedDuration = SignedDuration::from_hours(12);

/// A browser is logged out after this time, however much it is used.
pub const BROWSER_LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The longest time that a link to a session can be used.
pub const MAX_SHARE_LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Returns the text of a token with these random bytes.
pub fn text(random: [u8; SECRET_BYTES]) -> SecretText {
    SecretText::new(format!("{PREFIX}{}", hexadecimal(&random)))
}

/// The two secrets of a browser's login. A browser sends the cookie to every port of the host, so
/// that programs of agents can receive it, but no script can read it. The page key is in the storage
/// of the page's origin, which no page of another port can read. Only both together are a login.
#[derive(Clone, Debug)]
pub struct BrowserSecrets {
    pub cookie: SecretText,
    pub page_key: SecretText,
}

impl BrowserSecrets {
    /// Returns the secrets with these random bytes.
    pub fn new(cookie: [u8; SECRET_BYTES], page_key: [u8; SECRET_BYTES]) -> Self {
        Self { cookie: text(cookie), page_key: text(page_key) }
    }

    /// Returns the text of the token that both secrets are together. Neither contains a line break:
    /// both arrive in headers.
    pub fn text(&self) -> SecretText {
        SecretText::new(format!("{}\n{}", self.cookie.expose(), self.page_key.expose()))
    }
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

/// Returns the name of a token that the user does not name: its kind, and the random end of its id.
pub fn name_of(kind: AccessTokenKind, id: TokenId) -> String {
    let id = id.uuid().simple().to_string();
    format!("{}-{}", kind.word(), id.get(id.len() - 8..).unwrap_or_default())
}

/// Returns when a token stops being valid if it is not used any more. `None` if it never does.
pub fn end(token: &StoredToken) -> Option<Timestamp> {
    let last_used_at = token.last_used_at.unwrap_or(token.created_at);
    let idle_end = match token.token.kind {
        AccessTokenKind::Browser => last_used_at.checked_add(BROWSER_IDLE_TIME).ok(),
        AccessTokenKind::Program | AccessTokenKind::Share => None,
    };
    token.expires_at.into_iter().chain(idle_end).min()
}

/// Returns the token of this kind with this text. The comparison takes the same time for every text
/// of the same length.
pub fn find<'a>(
    text: &SecretText,
    kind: AccessTokenKind,
    known: &'a [StoredToken],
    now: Timestamp,
) -> Result<&'a StoredToken> {
    let unknown = || refusal(kind, "the token is not valid");
    if text.expose().len() > MAX_TEXT_BYTES {
        return Err(unknown());
    }
    let presented = digest(text);
    let is_equal = |it: &StoredToken| presented.as_bytes().ct_eq(it.digest.as_bytes()).into();
    // All tokens are compared, so that the time does not show which token is similar.
    let of_kind = known.iter().filter(|it| it.token.kind == kind);
    let equal: Vec<&StoredToken> = of_kind.filter(|it| is_equal(it)).collect();
    let found = *equal.first().ok_or_else(unknown)?;
    match end(found) {
        Some(end) if end <= now => Err(refusal(kind, "the token has expired")),
        _ => Ok(found),
    }
}

/// Returns the error for a browser that has a cookie and no page key.
pub fn incomplete_login() -> Error {
    Error::new(Kind::Unauthorized, "the login of this browser is incomplete")
        .caused_by(
            "the storage of the page was cleared, or the login is of an earlier version of Segue",
        )
        .hint(LOGIN_HINT)
}

/// Returns the error for a request of a browser that has not logged in.
pub fn not_logged_in() -> Error {
    refusal(AccessTokenKind::Browser, "")
}

/// Returns the error for a request without a valid token.
pub fn missing() -> Error {
    Error::new(Kind::Unauthorized, "this request needs a token")
        .hint(CREATE_HINT)
        .hint("send the header `Authorization: Bearer TOKEN`")
}

const CREATE_HINT: &str =
    "run `segue token create --name NAME --scope SCOPE` on the machine of the daemon";

const LOGIN_HINT: &str = "run `segue web` on the machine of the daemon for a link";

/// Returns the error for a text that is no valid token of this kind. `reason` is about a token of a
/// program; whether a link or a login has existed is no business of the sender.
fn refusal(kind: AccessTokenKind, reason: &str) -> Error {
    let unauthorized = |message: &str| Error::new(Kind::Unauthorized, message);
    match kind {
        AccessTokenKind::Program => unauthorized(reason).hint(CREATE_HINT),
        AccessTokenKind::Browser => unauthorized("this browser is not logged in").hint(LOGIN_HINT),
        AccessTokenKind::Share => unauthorized("the link is not valid, or not valid any more")
            .hint("run `segue web` on the machine of the daemon for a new link")
            .hint("or ask the person who shared the session for a new link"),
    }
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
    use crate::model::{AccessToken, TokenScope};

    fn stored(name: &str, random: u8, expires_at: Option<i64>) -> StoredToken {
        let time = |second| Timestamp::from_second(second).unwrap();
        StoredToken {
            token: AccessToken {
                id: TokenId::new(Uuid::from_u128(random.into())),
                name: name.to_owned(),
                kind: AccessTokenKind::Program,
                scopes: BTreeSet::from([TokenScope::Read]),
                only_session: None,
            },
            digest: digest(&text([random; SECRET_BYTES])),
            created_at: time(0),
            expires_at: expires_at.map(time),
            last_used_at: None,
            made_from: None,
        }
    }

    #[test]
    fn token_is_found_by_its_whole_text_until_it_expires() {
        let known = [stored("a", 1, None), stored("b", 2, Some(100))];
        let now = |second| Timestamp::from_second(second).unwrap();
        let of = |random| text([random; SECRET_BYTES]);
        let find =
            |text: &SecretText, second| find(text, AccessTokenKind::Program, &known, now(second));
        assert_eq!(find(&of(1), 50).unwrap().token.name, "a");
        assert_eq!(find(&of(2), 99).unwrap().token.name, "b");
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
            let error = find(&text, second).unwrap_err();
            assert_eq!(error.kind, Kind::Unauthorized);
            assert!(error.message.contains(expected), "{error}");
        }
    }

    #[test]
    fn token_is_found_only_as_what_it_is() {
        let now = Timestamp::from_second(50).unwrap();
        for kind in AccessTokenKind::ALL {
            let mut token = stored("a", 1, None);
            token.token.kind = *kind;
            let known = [token];
            for wanted in AccessTokenKind::ALL {
                let found = find(&text([1; SECRET_BYTES]), *wanted, &known, now);
                assert_eq!(found.is_ok(), kind == wanted, "{kind:?} {wanted:?}");
            }
        }
    }

    #[test]
    fn browser_is_logged_out_if_it_is_not_used_or_after_its_whole_life() {
        let hour = |number: i64| Timestamp::from_second(number * 3600).unwrap();
        let table = [
            (AccessTokenKind::Program, None, None, None),
            (AccessTokenKind::Program, Some(1), None, Some(1)),
            (AccessTokenKind::Share, Some(100), Some(3), Some(100)),
            (AccessTokenKind::Browser, Some(720), None, Some(12)),
            (AccessTokenKind::Browser, Some(720), Some(20), Some(32)),
            (AccessTokenKind::Browser, Some(720), Some(719), Some(720)),
        ];
        for (kind, expires_at, last_used_at, expected) in table {
            let mut token = stored("a", 1, None);
            token.token.kind = kind;
            (token.expires_at, token.last_used_at) = (expires_at.map(hour), last_used_at.map(hour));
            assert_eq!(end(&token), expected.map(hour), "{kind:?} {expires_at:?} {last_used_at:?}");
        }
    }

    #[test]
    fn browser_is_recognized_only_by_both_secrets_of_the_same_login() {
        let secrets = |cookie, page_key| {
            BrowserSecrets::new([cookie; SECRET_BYTES], [page_key; SECRET_BYTES])
        };
        let (own, other) = (secrets(1, 2), secrets(3, 4));
        let known = [&own, &other].map(|it| {
            let mut token = stored("browser", 1, None);
            (token.token.kind, token.digest) = (AccessTokenKind::Browser, digest(&it.text()));
            token
        });
        let empty = || SecretText::new("");
        let mix = |cookie: &SecretText, page_key: &SecretText| {
            BrowserSecrets { cookie: cookie.clone(), page_key: page_key.clone() }.text()
        };
        let table = [
            (own.text(), true),
            (other.text(), true),
            (own.cookie.clone(), false),
            (own.page_key.clone(), false),
            (mix(&own.cookie, &empty()), false),
            (mix(&empty(), &own.page_key), false),
            (mix(&own.cookie, &other.page_key), false),
            (mix(&other.cookie, &own.page_key), false),
            (mix(&own.page_key, &own.cookie), false),
            (mix(&own.cookie, &own.cookie), false),
            (mix(&own.text(), &own.page_key), false),
        ];
        for (text, is_known) in table {
            let now = Timestamp::from_second(10).unwrap();
            let found = find(&text, AccessTokenKind::Browser, &known, now);
            assert_eq!(found.is_ok(), is_known, "{}", text.expose());
            assert!(find(&text, AccessTokenKind::Program, &known, now).is_err());
            assert!(find(&text, AccessTokenKind::Share, &known, now).is_err());
        }
    }

    #[test]
    fn login_of_an_earlier_version_is_refused_with_every_page_key() {
        let cookie = text([1; SECRET_BYTES]);
        let mut token = stored("browser", 1, None);
        token.token.kind = AccessTokenKind::Browser;
        let now = Timestamp::from_second(10).unwrap();
        for page_key in ["", "x", cookie.expose()] {
            let secrets =
                BrowserSecrets { cookie: cookie.clone(), page_key: SecretText::new(page_key) };
            let known = [token.clone()];
            let found = find(&secrets.text(), AccessTokenKind::Browser, &known, now);
            assert_eq!(found.unwrap_err().kind, Kind::Unauthorized);
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
