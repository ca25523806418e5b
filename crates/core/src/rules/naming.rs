//! Names for sessions that nobody named.

use uuid::Uuid;

const FIRST: [&str; 16] = [
    "amber", "brisk", "calm", "clear", "crisp", "deep", "early", "fair", "keen", "light", "mild",
    "quiet", "rapid", "still", "sunny", "warm",
];
const SECOND: [&str; 16] = [
    "birch", "brook", "cedar", "cove", "crane", "field", "finch", "harbor", "heron", "lark",
    "maple", "meadow", "otter", "reef", "ridge", "willow",
];

/// Returns a name that none of the taken ones is, made from `random`.
pub fn suggest(random: Uuid, taken: impl Fn(&str) -> bool) -> String {
    let bytes = random.as_bytes();
    let pick = |words: &[&'static str; 16], byte: u8| words[usize::from(byte % 16)];
    let name = format!("{}-{}", pick(&FIRST, bytes[0]), pick(&SECOND, bytes[1]));
    if !taken(&name) {
        return name;
    }
    // 256 names are soon used up: a piece of the random id makes the rest.
    format!("{name}-{:02x}{:02x}{:02x}", bytes[13], bytes[14], bytes[15])
}

/// No session's name is longer.
const LONGEST: usize = 64;

/// How much a number at the end of a name needs.
const NUMBER: usize = 6;

/// Returns a name that none of the taken ones is: this one with the vendor's.
pub fn with_vendor(name: &str, vendor: &str, taken: impl Fn(&str) -> bool) -> String {
    let base = vendor_base(name, vendor);
    let numbered = (2..10_000).map(|number| format!("{base}-{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or(base)
}

/// Tells whether `with_vendor` can have made a name from these two.
pub fn is_with_vendor(made: &str, name: &str, vendor: &str) -> bool {
    let Some(rest) = made.strip_prefix(&vendor_base(name, vendor)) else { return false };
    let number = rest.strip_prefix('-').unwrap_or_default();
    rest.is_empty() || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn vendor_base(name: &str, vendor: &str) -> String {
    let most = LONGEST.saturating_sub(vendor.len() + NUMBER);
    let start: String = name.chars().take(most).collect();
    format!("{start}-{vendor}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SessionName;

    #[test]
    fn a_taken_name_is_not_given_again() {
        let random = Uuid::from_u128(u128::MAX / 3);
        let plain = suggest(random, |_| false);
        let longer = suggest(random, |name| name == plain);
        assert!(longer.starts_with(&plain) && longer != plain);
        assert!(SessionName::parse(&longer).is_ok());
    }

    #[test]
    fn a_name_with_a_vendor_is_free_and_not_too_long() {
        assert_eq!(with_vendor("coder", "tool", |_| false), "coder-tool");
        let taken = ["coder-tool", "coder-tool-2"];
        assert_eq!(with_vendor("coder", "tool", |name| taken.contains(&name)), "coder-tool-3");
        let long = with_vendor(&"x".repeat(64), "some-tool", |name| !name.ends_with("-9999"));
        assert!(long.ends_with("-some-tool-9999"), "{long}");
        assert!(SessionName::parse(&long).is_ok(), "{long}");
    }
    #[test]
    fn name_with_a_vendor_is_told_from_one_that_only_begins_like_it() {
        for made in ["coder-pi", "coder-pi-2", "coder-pi-9999"] {
            assert!(is_with_vendor(made, "coder", "pi"), "{made}");
        }
        for other in ["coder", "coder-pilot", "coder-pi-", "coder-pi-b", "coder-pi2", "coder-other"]
        {
            assert!(!is_with_vendor(other, "coder", "pi"), "{other}");
        }
        let long = "x".repeat(64);
        assert!(is_with_vendor(&with_vendor(&long, "tool", |_| false), &long, "tool"));
    }
}
