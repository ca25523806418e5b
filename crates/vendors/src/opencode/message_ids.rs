//! The ids of written messages.

/// Mask for the timestamp in an id.
pub(super) const TIMESTAMP_MASK: u64 = 0xffff_ffff_ffff;

/// How many characters of the conversation's id are part of each message's id.
const SUFFIX_CHARS: usize = 14;

/// Returns the suffix of all message ids of a conversation. It differs between conversations.
pub(super) fn suffix(session: &str) -> String {
    let characters: Vec<char> = session.chars().filter(char::is_ascii_alphanumeric).collect();
    let end: String = characters[characters.len().saturating_sub(SUFFIX_CHARS)..].iter().collect();
    format!("{end:0>SUFFIX_CHARS$}")
}

/// Returns an id that sorts by its timestamp.
pub(super) fn id(kind: &str, timestamp: u64, suffix: &str) -> String {
    format!("{kind}_{:012x}{suffix}", timestamp & TIMESTAMP_MASK)
}
