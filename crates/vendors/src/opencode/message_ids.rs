//! The ids of written messages.

/// Mask for the timestamp in an id.
pub(super) const CLOCK: u64 = 0xffff_ffff_ffff;

/// How many characters of the conversation's id are part of each message's id.
const OWN: usize = 14;

/// Returns the suffix that distinguishes the message ids of this conversation from those of all
/// others.
pub(super) fn own(session: &str) -> String {
    let plain: Vec<char> = session.chars().filter(char::is_ascii_alphanumeric).collect();
    let end: String = plain[plain.len().saturating_sub(OWN)..].iter().collect();
    format!("{end:0>OWN$}")
}

pub(super) fn id(kind: &str, clock: u64, own: &str) -> String {
    format!("{kind}_{:012x}{own}", clock & CLOCK)
}
