//! Names of vendors and conversations as names of folders: theirs could be anything.

use std::fmt::Write as _;

/// No longer name has room for what is put around it.
const LONGEST: usize = 120;

/// Returns the name of a folder for a foreign text; two texts never have the same one, on a
/// filesystem that does not tell large letters from small ones neither.
pub(super) fn folder_name(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte) {
            name.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _written = write!(name, "%{byte:02x}");
        }
    }
    if name.len() > LONGEST {
        let short: String = name.chars().take(LONGEST - 20).collect();
        return format!("{short}~{:016x}", fingerprint(text.as_bytes()));
    }
    if name.is_empty() { "%".to_owned() } else { name }
}

/// Returns a number that is another one for other bytes, and the same one for ever (FNV-1a).
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_its_folder_or_meets_another() {
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
        assert!(long("a").len() <= LONGEST && long("a") != long("b"));
    }

    #[test]
    fn a_fingerprint_is_the_same_for_ever() {
        assert_eq!(fingerprint(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
