//! Decides when a message may be typed, and whether a typed message has arrived.

use crate::model::{Screen, Showing, Status};

/// Returns whether the agent's input is ready, according to the vendor's signal and the screen. If
/// the vendor's screen cannot be read, only the signal counts.
pub fn may_type(status: Status, showing: Option<Showing>) -> bool {
    status == Status::Idle && matches!(showing, None | Some(Showing::Ready))
}

/// The text is recognized by this many characters at its end.
const TAIL_CHARS: usize = 40;

/// Returns whether a typed text is still in the agent's input, as if Enter had not been pressed.
/// `false` if a user has typed more text after it.
pub fn is_left_in_input(showing: Option<Showing>, screen: &Screen, text: &str) -> bool {
    let last = text.trim_end().lines().next_back().unwrap_or_default().trim();
    let start = last.char_indices().rev().nth(TAIL_CHARS - 1).map_or(0, |(at, _)| at);
    let tail = &last[start..];
    let ends_with_tail =
        |row: &String| row.trim_end_matches(['│', '┃', '|', ' ', '█']).ends_with(tail);
    showing == Some(Showing::Draft)
        && !tail.is_empty()
        && screen.firm_rows.iter().any(ends_with_tail)
}

/// The facts about a message that was being typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryFacts {
    pub transcript: TranscriptEvidence,
    pub launch: LaunchState,
    pub wait: AgentWait,
}

/// Whether the transcript contains the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptEvidence {
    Contains,
    Lacks,
    /// The transcript is missing or cannot be read.
    Unknown,
}

/// The state of the launch that the message was typed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchState {
    Alive,
    /// The process is gone, so that the transcript cannot grow any more.
    Over,
    /// The process was started with the message, and that turn has ended successfully.
    Answered,
}

/// Whether to wait longer for the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentWait {
    Continues,
    Over,
}

/// Returns whether to wait for the confirmation of a typed message. A vendor without a transcript
/// never confirms one.
pub fn wait_after_typing(has_transcripts: bool) -> AgentWait {
    if has_transcripts { AgentWait::Continues } else { AgentWait::Over }
}

/// The decision about a message that was being typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Wait,
    Delivered,
    /// The message certainly did not arrive. It is queued again.
    QueueAgain,
    Uncertain,
}

/// Decides whether a message that was being typed has arrived.
pub fn decide(facts: DeliveryFacts) -> Verdict {
    match (facts.transcript, facts.launch, facts.wait) {
        (TranscriptEvidence::Contains, _, _) | (_, LaunchState::Answered, _) => Verdict::Delivered,
        (TranscriptEvidence::Lacks, LaunchState::Over, _) => Verdict::QueueAgain,
        (TranscriptEvidence::Unknown, LaunchState::Over, _)
        | (_, LaunchState::Alive, AgentWait::Over) => Verdict::Uncertain,
        (_, LaunchState::Alive, AgentWait::Continues) => Verdict::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{How, WaitingFor};

    #[test]
    fn text_is_left_in_the_input_if_the_draft_ends_with_it() {
        let long = "x".repeat(200);
        for (row, text, is_left) in [
            ("❯ which word was it?", "which word was it?", true),
            ("│ > which word was it?      │", "which word was it?\n", true),
            ("> the second", "the first\nthe second", true),
            ("❯ which word was it? and more", "which word was it?", false),
            ("❯ [Pasted text #1 +3 lines]", "one\ntwo", false),
            (&long, &long, true),
            ("", "", false),
            ("> anything", "\n", false),
        ] {
            let screen = Screen { firm_rows: vec![row.to_owned()], ..Screen::default() };
            assert_eq!(is_left_in_input(Some(Showing::Draft), &screen, text), is_left, "{row}");
            for other in [None, Some(Showing::Ready), Some(Showing::Busy)] {
                assert!(!is_left_in_input(other, &screen, text), "{other:?}");
            }
        }
    }

    #[test]
    fn message_is_typed_only_to_an_idle_agent_with_an_empty_input() {
        let dialog = Showing::Dialog(WaitingFor::Permission);
        let table = [
            (Status::Idle, Some(Showing::Ready), true),
            (Status::Idle, None, true),
            (Status::Idle, Some(Showing::Draft), false),
            (Status::Idle, Some(Showing::Busy), false),
            (Status::Idle, Some(dialog), false),
            (Status::Working, Some(Showing::Ready), false),
            (Status::Starting, Some(Showing::Ready), false),
            (Status::Waiting(WaitingFor::Permission), Some(Showing::Ready), false),
            (Status::Waiting(WaitingFor::Trust), None, false),
            (Status::Ended(How::Quit), None, false),
            (Status::Lost, None, false),
        ];
        for (status, showing, wanted) in table {
            assert_eq!(may_type(status, showing), wanted, "{status:?} {showing:?}");
        }
    }

    #[test]
    fn message_is_queued_again_only_if_the_final_transcript_lacks_it() {
        use LaunchState::{Alive, Answered, Over};
        use TranscriptEvidence::{Contains, Lacks, Unknown};
        let table = [
            (Contains, Alive, AgentWait::Continues, Verdict::Delivered),
            (Contains, Alive, AgentWait::Over, Verdict::Delivered),
            (Contains, Over, AgentWait::Continues, Verdict::Delivered),
            (Contains, Over, AgentWait::Over, Verdict::Delivered),
            (Lacks, Alive, AgentWait::Continues, Verdict::Wait),
            (Lacks, Alive, AgentWait::Over, Verdict::Uncertain),
            (Lacks, Over, AgentWait::Continues, Verdict::QueueAgain),
            (Lacks, Over, AgentWait::Over, Verdict::QueueAgain),
            (Unknown, Alive, AgentWait::Continues, Verdict::Wait),
            (Unknown, Alive, AgentWait::Over, Verdict::Uncertain),
            (Unknown, Over, AgentWait::Continues, Verdict::Uncertain),
            (Unknown, Over, AgentWait::Over, Verdict::Uncertain),
            (Contains, Answered, AgentWait::Continues, Verdict::Delivered),
            (Lacks, Answered, AgentWait::Continues, Verdict::Delivered),
            (Unknown, Answered, AgentWait::Over, Verdict::Delivered),
        ];
        for (transcript, launch, wait, wanted) in table {
            let facts = DeliveryFacts { transcript, launch, wait };
            assert_eq!(decide(facts), wanted, "{facts:?}");
        }
    }
}
