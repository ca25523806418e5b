//! Generates names for sessions that the user did not name.

use uuid::Uuid;

const FIRST_WORDS: [&str; 16] = [
    "amber", "brisk", "calm", "clear", "crisp", "deep", "early", "fair", "keen", "light", "mild",
    "quiet", "rapid", "still", "sunny", "warm",
];
const SECOND_WORDS: [&str; 16] = [
    "birch", "brook", "cedar", "cove", "crane", "field", "finch", "harbor", "heron", "lark",
    "maple", "meadow", "otter", "reef", "ridge", "willow",
];

/// Returns two names made from `random`: a short one, and one that is almost certainly free.
pub fn suggestions(random: Uuid) -> [String; 2] {
    let bytes = random.as_bytes();
    let pick = |words: &[&'static str; 16], byte: u8| words[usize::from(byte % 16)];
    let name = format!("{}-{}", pick(&FIRST_WORDS, bytes[0]), pick(&SECOND_WORDS, bytes[1]));
    // There are only 256 short names.
    let longer = format!("{name}-{:02x}{:02x}{:02x}", bytes[13], bytes[14], bytes[15]);
    [name, longer]
}

/// Maximum length of a session's name.
const MAX_NAME_CHARS: usize = 64;

/// Length of two dashes and a number of four digits.
const NUMBER_CHARS: usize = 6;

/// Returns new names for a session whose name another session gets: its name with the vendor's name,
/// then the same with a number.
pub fn names_with_vendor(name: &str, vendor: &str) -> impl Iterator<Item = String> {
    let base = vendor_base(name, vendor);
    let numbered = base.clone();
    let numbered = (2..10_000).map(move |number| format!("{numbered}-{number}"));
    std::iter::once(base).chain(numbered)
}

/// Returns whether `candidate` is one of [`names_with_vendor`] for this name and this vendor.
pub fn is_name_with_vendor(candidate: &str, name: &str, vendor: &str) -> bool {
    let Some(rest) = candidate.strip_prefix(&vendor_base(name, vendor)) else { return false };
    let number = rest.strip_prefix('-').unwrap_or_default();
    rest.is_empty() || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn vendor_base(name: &str, vendor: &str) -> String {
    let most = MAX_NAME_CHARS.saturating_sub(vendor.len() + NUMBER_CHARS);
    let start: String = name.chars().take(most).collect();
    format!("{start}-{vendor}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SessionName;

    #[test]
    fn second_suggestion_is_longer_than_the_first_and_valid() {
        let [plain, longer] = suggestions(Uuid::from_u128(u128::MAX / 3));
        assert!(longer.starts_with(&plain) && longer != plain);
        assert!(SessionName::parse(&longer).is_ok());
    }

    #[test]
    fn names_with_a_vendor_are_numbered_and_never_too_long() {
        let names: Vec<String> = names_with_vendor("coder", "tool").take(3).collect();
        assert_eq!(names, ["coder-tool", "coder-tool-2", "coder-tool-3"]);
        let long = names_with_vendor(&"x".repeat(64), "some-tool").last().unwrap();
        assert!(long.ends_with("-some-tool-9999"), "{long}");
        assert!(SessionName::parse(&long).is_ok(), "{long}");
    }

    #[test]
    fn name_with_a_vendor_is_distinguished_from_names_with_the_same_prefix() {
        for made in ["coder-pi", "coder-pi-2", "coder-pi-9999"] {
            assert!(is_name_with_vendor(made, "coder", "pi"), "{made}");
        }
        for other in ["coder", "coder-pilot", "coder-pi-", "coder-pi-b", "coder-pi2", "coder-other"]
        {
            assert!(!is_name_with_vendor(other, "coder", "pi"), "{other}");
        }
        let long = "x".repeat(64);
        let made = names_with_vendor(&long, "tool").next().unwrap();
        assert!(is_name_with_vendor(&made, &long, "tool"));
    }
}
