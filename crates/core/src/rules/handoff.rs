//! Decides whether and in which form a conversation is handed over to another vendor.

mod changed_vendor;

#[cfg(test)]
mod tests;

use jiff::Timestamp;

use super::digest::MIN_BUDGET_CHARACTERS;
use super::recovery::Decision;
use crate::error::{Error, Result};
use crate::model::{
    Handoff, Session, SessionId, SessionSettings, Status, VendorDescription, VendorId,
};
use crate::word_enum::word_enum;

pub use changed_vendor::{ContinuedConversation, HandoffCandidate, continued_conversation};

/// A transcript of at most this many bytes is loaded as a whole. A longer one is converted as a
/// stream if all of it fits into the budget.
const MAX_LOADED_BYTES: u64 = 8 * 1024 * 1024;

word_enum! {
    /// How the user wants to hand over a conversation.
    #[derive(Default)]
    pub enum HandoffMode {
        /// As the target vendor's own conversation if possible, otherwise as a message.
        #[default]
        Auto = "auto",
        /// As the target vendor's own conversation.
        Native = "native",
        /// As a message that contains the conversation as text.
        Digest = "digest",
    }
}

impl HandoffMode {
    /// Parses a mode from its word.
    pub fn parse(word: &str) -> Result<Self> {
        Self::from_word(word).ok_or_else(|| {
            Error::usage(format!("`{word}` is not a mode of handoff"))
                .hint("use `--mode auto`, `--mode native` or `--mode digest`")
        })
    }
}

/// How a conversation is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffMethod {
    /// As the target vendor's own conversation. If this fails and `else_digest` is set, as a
    /// message.
    Native {
        else_digest: bool,
    },
    Digest,
    /// The conversation is empty.
    Plain,
}

/// Whether a conversation has content to hand over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationContent {
    HasMessages,
    Empty,
}

/// Chooses the form of a handoff. Returns an error if the user requires `native` and the target
/// does not support it.
pub fn choose_method(
    mode: HandoffMode,
    target_takes_native: bool,
    content: ConversationContent,
) -> Result<HandoffMethod> {
    match mode {
        HandoffMode::Native if !target_takes_native => {
            Err(Error::usage("the target vendor cannot take over a conversation in its own format")
                .hint("use `--mode auto` or `--mode digest`"))
        }
        _ if content == ConversationContent::Empty => Ok(HandoffMethod::Plain),
        HandoffMode::Native => Ok(HandoffMethod::Native { else_digest: false }),
        HandoffMode::Auto if target_takes_native => Ok(HandoffMethod::Native { else_digest: true }),
        HandoffMode::Auto | HandoffMode::Digest => Ok(HandoffMethod::Digest),
    }
}

/// Returns an error if a budget in characters is too small for a conversation.
pub fn check_budget(budget: Option<usize>) -> Result<()> {
    match budget {
        Some(budget) if budget < MIN_BUDGET_CHARACTERS => Err(Error::usage(format!(
            "`--budget` must be at least {MIN_BUDGET_CHARACTERS} characters, got {budget}"
        ))),
        _ => Ok(()),
    }
}

/// Returns whether a transcript of this length is converted as a stream. A stream writes all turns,
/// so all of them must be new to the target and fit into the budget. A short transcript is loaded.
pub fn is_converted_as_stream(
    length: Option<u64>,
    budget: usize,
    target_has_earlier_turns: bool,
) -> bool {
    let is_long_and_fits =
        length.is_some_and(|length| length > MAX_LOADED_BYTES && length <= budget as u64);
    is_long_and_fits && !target_has_earlier_turns
}

/// Returns whether an earlier session can continue its conversation. A conversation that comes back
/// to the vendor is then appended to that session.
pub fn can_continue(decision: &Decision) -> bool {
    matches!(decision, Decision::Attach | Decision::Rest { .. } | Decision::Resume { .. })
}

/// Returns the time of a session's last handoff from or to another session. If there is none,
/// returns the time of its last handoff. `steps` are all handoffs that the session took part in.
pub fn last_handoff_between(steps: &[Handoff], other: SessionId) -> Option<Timestamp> {
    let common = steps.iter().filter(|step| step.from == other || step.to == other);
    let newest = common.map(|step| step.at).max();
    newest.or_else(|| steps.iter().map(|step| step.at).max())
}

/// Returns the timestamp up to which two sessions have the same turns. `newest_turn` is the timestamp
/// of the earlier session's newest turn. Turns that were added to the earlier session after the
/// handoff do not count, because the other session does not have them.
pub fn shared_until(
    newest_turn: Option<Timestamp>,
    last_handoff: Option<Timestamp>,
) -> Option<Timestamp> {
    newest_turn.map(|newest| last_handoff.map_or(newest, |handoff| newest.min(handoff)))
}

/// Returns the settings of a new session that continues the conversation of the session `from`, if
/// the request names a vendor and no agent. Model and arguments are kept only for the same vendor,
/// because other vendors do not understand them.
pub fn settings_without_agent(
    from: &Session,
    vendor: &VendorId,
    description: Option<VendorDescription>,
) -> SessionSettings {
    let is_same = from.vendor == *vendor;
    SessionSettings {
        description,
        model: from.model.clone().filter(|_| is_same),
        args: if is_same { from.args.clone() } else { Vec::new() },
        ..from.settings()
    }
}

/// Returns the questions that the old agent had when it was ended.
pub fn open_questions(status: Status) -> Vec<String> {
    match status {
        Status::Waiting(reason) => vec![format!("it waited for an answer ({reason})")],
        _ => Vec::new(),
    }
}

/// Returns the message that asks the next agent to continue a turn that was cut off. `vendor` is the
/// name of the old agent's vendor for users.
pub fn unfinished_turn_message(vendor: &str) -> String {
    format!(
        "This conversation was carried over from {vendor} in the middle of a turn. Look at what is \
         already done, then go on."
    )
}
