//! The codes of login links: each is valid once, for a minute. They are only in memory.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use subtle::ConstantTimeEq as _;

use super::tokens;
use crate::model::{SecretText, TokenDigest, TokenScope};

/// How long a login link is valid.
pub const LOGIN_LINK_LIFETIME: SignedDuration = SignedDuration::from_mins(1);

/// The most links that are valid at the same time. A further one displaces the oldest.
const MAX_CODES: usize = 16;

/// The codes that were not used yet.
#[derive(Clone, Debug, Default)]
pub struct LoginCodes(Vec<LoginCode>);

/// The digest of a code, and what a browser may do after it has used the code.
#[derive(Clone, Debug)]
struct LoginCode {
    digest: TokenDigest,
    scopes: BTreeSet<TokenScope>,
    expires_at: Timestamp,
}

impl LoginCodes {
    /// Adds a code. Returns when it expires.
    pub fn add(
        &mut self,
        code: &SecretText,
        scopes: BTreeSet<TokenScope>,
        now: Timestamp,
    ) -> Timestamp {
        let expires_at = now.saturating_add(LOGIN_LINK_LIFETIME).unwrap_or(now);
        self.0.retain(|it| it.expires_at > now);
        if self.0.len() >= MAX_CODES {
            self.0.remove(0);
        }
        self.0.push(LoginCode { digest: tokens::digest(code), scopes, expires_at });
        expires_at
    }

    /// Uses up a code. Returns its scopes, or `None` if no valid code has this text. The comparison
    /// takes the same time for every text of the same length.
    pub fn redeem(&mut self, code: &SecretText, now: Timestamp) -> Option<BTreeSet<TokenScope>> {
        let presented = tokens::digest(code);
        let is_equal =
            |it: &LoginCode| bool::from(presented.as_bytes().ct_eq(it.digest.as_bytes()));
        let (equal, others) = std::mem::take(&mut self.0).into_iter().partition(is_equal);
        self.0 = others;
        let equal: Vec<LoginCode> = equal;
        equal.into_iter().find(|it| it.expires_at > now).map(|it| it.scopes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(number: u8) -> SecretText {
        tokens::text([number; tokens::SECRET_BYTES])
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn admin() -> BTreeSet<TokenScope> {
        BTreeSet::from([TokenScope::Admin])
    }

    #[test]
    fn code_is_valid_once_and_for_a_minute() {
        let table = [(0, true), (59, true), (60, false), (3600, false)];
        for (second, is_valid) in table {
            let mut codes = LoginCodes::default();
            assert_eq!(codes.add(&code(1), admin(), at(0)), at(60));
            let expected = is_valid.then(admin);
            assert_eq!(codes.redeem(&code(1), at(second)), expected, "{second}");
            assert_eq!(codes.redeem(&code(1), at(second)), None, "{second}");
        }
    }

    #[test]
    fn wrong_code_uses_up_nothing() {
        let mut codes = LoginCodes::default();
        codes.add(&code(1), admin(), at(0));
        codes.add(&code(2), BTreeSet::from([TokenScope::Read]), at(1));
        for wrong in [SecretText::new(""), code(3), SecretText::new("x".repeat(1 << 20))] {
            assert_eq!(codes.redeem(&wrong, at(2)), None);
        }
        assert_eq!(codes.redeem(&code(2), at(2)), Some(BTreeSet::from([TokenScope::Read])));
        assert_eq!(codes.redeem(&code(1), at(2)), Some(admin()));
    }

    #[test]
    fn number_of_codes_is_limited_and_the_newest_ones_stay() {
        let mut codes = LoginCodes::default();
        for number in 0..100 {
            codes.add(&code(number), admin(), at(0));
        }
        assert_eq!(codes.0.len(), MAX_CODES);
        assert!(codes.redeem(&code(99), at(1)).is_some());
        assert!(codes.redeem(&code(0), at(1)).is_none());
    }
}
