//! Folder names for vendors and conversations, whose own names can contain any character.

use std::fmt::Write as _;

/// The maximum length of a folder name. It leaves room for prefixes and suffixes.
const MAX_NAME_BYTES: usize = 120;

/// Returns a folder name for any text. Different texts have different names, even on a
/// case-insensitive filesystem.
pub(super) fn folder_name(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte) {
            name.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _written = write!(name, "%{byte:02x}");
        }
    }
    if name.len() > MAX_NAME_BYTES {
        let short: String = name.chars().take(MAX_NAME_BYTES - 20).collect();
        return format!("{short}~{:016x}", fingerprint(text.as_bytes()));
    }
    if name.is_empty() { "%".to_owned() } else { name }
}

/// Returns a hash of the bytes (FNV-1a). The algorithm must never change, because hashes are stored.
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_are_unique_and_stay_in_their_folder() {
        let table = [
            ("01912f3c-aaaa-7bbb", "01912f3c-aaaa-7bbb"),
            ("ses_Ab", "ses_%41b"),
            ("../../etc", "%2e%2e%2f%2e%2e%2fetc"),
            (".", "%2e"),
            ("", "%"),
            ("%", "%25"),
            ("ü", "%c3%bc"),
        ];
        for (text, name) in table {
            assert_eq!(folder_name(text), name);
        }
        let long = |last: &str| folder_name(&format!("{}{last}", "x".repeat(500)));
        assert!(long("a").len() <= MAX_NAME_BYTES && long("a") != long("b"));
    }

    #[test]
    fn fingerprint_never_changes() {
        assert_eq!(fingerprint(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
