//! When a message may be typed, and what became of one that was.

use crate::model::Status;
use crate::ports::{Screen, Showing};

/// Tells whether the agent's input is ready: by the vendor's own signal and by what is on the screen.
/// Where the vendor's screen cannot be read, its signal alone decides.
pub fn may_type(status: Status, showing: Option<Showing>) -> bool {
    status == Status::Idle && matches!(showing, None | Some(Showing::Ready))
}

/// How much of the end of a text has to be on the screen for it to be that text.
const TAIL: usize = 40;

/// Tells whether a text that was typed is still in the agent's input, as if Enter had not been
/// pressed. Whatever somebody typed behind it makes it another text.
pub fn is_left_in_input(showing: Option<Showing>, screen: &Screen, text: &str) -> bool {
    let last = text.trim_end().lines().next_back().unwrap_or_default().trim();
    let start = last.char_indices().rev().nth(TAIL - 1).map_or(0, |(at, _)| at);
    let tail = &last[start..];
    let ends_so = |row: &String| row.trim_end_matches(['│', '┃', '|', ' ', '█']).ends_with(tail);
    showing == Some(Showing::Draft) && !tail.is_empty() && screen.firm_rows.iter().any(ends_so)
}

/// What is known about a message that was on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub transcript: Transcript,
    pub launch: Launch,
    pub patience: Patience,
}

/// What the transcript says about the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transcript {
    HasIt,
    HasItNot,
    /// It is gone, or cannot be read.
    CannotTell,
}

/// What became of the launch that the message was typed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launch {
    Alive,
    /// Its process is gone: nothing will be added to the transcript any more.
    Over,
    /// Its process was started with the message, and has ended that turn well.
    Answered,
}

/// Whether the agent may still need a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    Left,
    Over,
}

/// Returns how long a message that was typed is waited for: a vendor without a transcript never
/// confirms it.
pub fn patience_after_typing(keeps_transcripts: bool) -> Patience {
    if keeps_transcripts { Patience::Left } else { Patience::Over }
}

/// What a message on its way has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Wait,
    Delivered,
    /// It certainly did not arrive: it is in the queue again.
    Again,
    Uncertain,
}

/// Decides what became of a message that was on its way.
pub fn judge(seen: Seen) -> Verdict {
    match (seen.transcript, seen.launch, seen.patience) {
        (Transcript::HasIt, _, _) | (_, Launch::Answered, _) => Verdict::Delivered,
        (Transcript::HasItNot, Launch::Over, _) => Verdict::Again,
        (Transcript::CannotTell, Launch::Over, _) | (_, Launch::Alive, Patience::Over) => {
            Verdict::Uncertain
        }
        (_, Launch::Alive, Patience::Left) => Verdict::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{How, WaitingFor};

    #[test]
    fn a_text_is_left_in_the_input_if_a_draft_ends_with_it() {
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
    fn only_an_idle_agent_with_an_empty_input_is_typed_to() {
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
    fn the_transcript_decides_and_nothing_is_typed_twice_without_it() {
        use Launch::{Alive, Answered, Over};
        use Transcript::{CannotTell, HasIt, HasItNot};
        let table = [
            (HasIt, Alive, Patience::Left, Verdict::Delivered),
            (HasIt, Alive, Patience::Over, Verdict::Delivered),
            (HasIt, Over, Patience::Left, Verdict::Delivered),
            (HasIt, Over, Patience::Over, Verdict::Delivered),
            (HasItNot, Alive, Patience::Left, Verdict::Wait),
            (HasItNot, Alive, Patience::Over, Verdict::Uncertain),
            (HasItNot, Over, Patience::Left, Verdict::Again),
            (HasItNot, Over, Patience::Over, Verdict::Again),
            (CannotTell, Alive, Patience::Left, Verdict::Wait),
            (CannotTell, Alive, Patience::Over, Verdict::Uncertain),
            (CannotTell, Over, Patience::Left, Verdict::Uncertain),
            (CannotTell, Over, Patience::Over, Verdict::Uncertain),
            (HasIt, Answered, Patience::Left, Verdict::Delivered),
            (HasItNot, Answered, Patience::Left, Verdict::Delivered),
            (CannotTell, Answered, Patience::Over, Verdict::Delivered),
        ];
        for (transcript, launch, patience, wanted) in table {
            let seen = Seen { transcript, launch, patience };
            assert_eq!(judge(seen), wanted, "{seen:?}");
        }
    }
}
