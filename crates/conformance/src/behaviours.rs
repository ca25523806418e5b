//! The list of behaviours that every vendor is checked for.

mod deaths;
mod failures;
mod identity;
mod keeping;
mod messages;
mod turns;

use crate::trial::VendorTrial;

/// A behaviour that every vendor is checked for.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    pub name: &'static str,
    /// The expected behaviour, for a person who uses the vendor.
    pub description: &'static str,
    /// Whether a quick check includes the behaviour.
    pub is_essential: bool,
    /// Panics if the vendor of the trial does not behave as described.
    pub(crate) check: fn(&mut VendorTrial),
}

/// Every behaviour, in the order in which they are checked and listed.
pub const BEHAVIOURS: [Behaviour; 24] = [
    essential("start", "starts, answers, and reports the end of its turn", turns::start),
    ordinary("proven-id", "its own process proves the id of its conversation", identity::proven_id),
    essential(
        "two-at-once",
        "two agents in one folder, both killed: each comes back in its own conversation",
        identity::two_at_once,
    ),
    ordinary(
        "stray",
        "a newer conversation in the same folder is not taken for its own",
        identity::stray,
    ),
    ordinary(
        "open-elsewhere",
        "a conversation that is open in another process is not opened twice",
        identity::open_elsewhere,
    ),
    essential(
        "unknown-id",
        "a conversation that no longer exists is refused; no empty one is started",
        identity::unknown_id,
    ),
    ordinary(
        "new-inside",
        "a new conversation that is started in the same process is followed",
        identity::new_inside,
    ),
    ordinary(
        "other-folder",
        "resumed from another folder, it works in its own folder",
        keeping::other_folder,
    ),
    ordinary(
        "settings-kept",
        "environment, model and flags are the same after a resume",
        keeping::settings_kept,
    ),
    essential(
        "mid-stream",
        "killed in the middle of an answer, it continues with at most one nudge",
        deaths::mid_stream,
    ),
    essential(
        "mid-tool",
        "killed while a tool runs, it continues, and the tool is ended",
        deaths::mid_tool,
    ),
    ordinary(
        "first-word",
        "killed right after its start, it gets its first message exactly once",
        deaths::first_word,
    ),
    ordinary(
        "torn-tail",
        "an incomplete last line of its transcript costs no other line",
        deaths::torn_tail,
    ),
    essential("deleted", "a deleted transcript is restored with all messages", keeping::deleted),
    ordinary("nothing-left", "stopped, it leaves no process behind", deaths::nothing_left),
    essential("messages", "texts of all kinds arrive once and unchanged", messages::messages),
    ordinary("long-message", "a message of 50 KB arrives unchanged", messages::long_message),
    ordinary(
        "while-down",
        "messages that were sent while it was stopped arrive later, in order",
        messages::while_down,
    ),
    ordinary("draft", "a message is not typed over unsent text in the input", messages::draft),
    essential(
        "permission",
        "its question is reported and answered, and no message is typed into it",
        messages::permission,
    ),
    essential(
        "headless",
        "a headless conversation continues; success and failure are distinguished",
        turns::headless,
    ),
    ordinary(
        "headless-killed",
        "headless turns that were killed continue, each in its own conversation",
        turns::headless_killed,
    ),
    ordinary("usage-limit", "a usage limit is reported as a usage limit", failures::usage_limit),
    essential(
        "failures",
        "failures of account, request, connection and service are distinguished",
        failures::failures,
    ),
];

const fn ordinary(
    name: &'static str,
    description: &'static str,
    check: fn(&mut VendorTrial),
) -> Behaviour {
    Behaviour { name, description, is_essential: false, check }
}

const fn essential(
    name: &'static str,
    description: &'static str,
    check: fn(&mut VendorTrial),
) -> Behaviour {
    Behaviour { is_essential: true, ..ordinary(name, description, check) }
}

impl Behaviour {
    /// Returns the behaviour with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BEHAVIOURS.iter().find(|it| it.name == name)
    }
}
