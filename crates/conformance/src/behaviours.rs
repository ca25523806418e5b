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
    /// The expected behaviour, in words for a person.
    pub what: &'static str,
    /// One of the behaviours whose absence hurts most. A quick check tries only these.
    pub hurts: bool,
    pub(crate) show: fn(&mut VendorTrial),
}

/// Every behaviour, in the order in which they are checked and listed.
pub const BEHAVIOURS: [Behaviour; 24] = [
    hurting("start", "starts, answers, and says when it is done", turns::start),
    asked("proven-id", "its conversation's id is proven by its own process", identity::proven),
    hurting(
        "two-at-once",
        "two in one folder, all killed: each comes back as itself",
        identity::two,
    ),
    asked("stray", "a newer conversation in the same folder is left alone", identity::stray),
    asked(
        "open-elsewhere",
        "a conversation that is open elsewhere is not opened twice",
        identity::held,
    ),
    hurting(
        "unknown-id",
        "a conversation that is gone is refused, never begun blank",
        identity::lost,
    ),
    asked(
        "new-inside",
        "a conversation that is begun in the same process is followed",
        identity::anew,
    ),
    asked(
        "other-folder",
        "brought back from elsewhere it works in its own folder",
        keeping::folder,
    ),
    asked(
        "settings-kept",
        "environment, model and flags are the same after a resume",
        keeping::settings,
    ),
    hurting("mid-stream", "killed in mid-answer it goes on, nudged once", deaths::in_stream),
    hurting("mid-tool", "killed in mid-tool it goes on, and the tool is gone", deaths::in_tool),
    asked(
        "first-word",
        "killed before its first word it is told it again, once",
        deaths::before_first_word,
    ),
    asked("torn-tail", "a torn end of its transcript costs nothing else", deaths::torn_tail),
    hurting("deleted", "a deleted transcript comes back with all that was said", keeping::deleted),
    asked("nothing-left", "stopped, it leaves no process behind", deaths::nothing_left),
    hurting("messages", "texts of all kinds arrive once and as they are", messages::texts),
    asked("long-message", "50 KB arrive as they are", messages::long),
    asked(
        "while-down",
        "what was sent while it was down arrives afterwards, in order",
        messages::while_down,
    ),
    asked("draft", "a message is not typed over unsent text in the input", messages::draft),
    hurting(
        "permission",
        "its question is seen, answered, and not typed into",
        messages::permission,
    ),
    hurting(
        "headless",
        "a headless conversation goes on; success and failure are told apart",
        turns::headless,
    ),
    asked(
        "headless-killed",
        "headless turns that were killed go on, each as itself",
        turns::headless_killed,
    ),
    asked("usage-limit", "a usage limit is told as one", failures::limit),
    hurting(
        "failures",
        "a refused account, request or connection and a failing service are told apart",
        failures::classes,
    ),
];

const fn asked(name: &'static str, what: &'static str, show: fn(&mut VendorTrial)) -> Behaviour {
    Behaviour { name, what, hurts: false, show }
}

const fn hurting(name: &'static str, what: &'static str, show: fn(&mut VendorTrial)) -> Behaviour {
    Behaviour { name, what, hurts: true, show }
}

impl Behaviour {
    /// Returns the behaviour with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BEHAVIOURS.iter().find(|it| it.name == name)
    }
}
