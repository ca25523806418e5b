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
}
