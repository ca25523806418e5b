//! When a message may be typed, and what became of one that was.

use crate::model::Status;
use crate::ports::Showing;

/// Tells whether the agent's input is ready: by the vendor's own signal and by what is on the screen.
/// Where the vendor's screen cannot be read, its signal alone decides.
pub fn may_type(status: Status, showing: Option<Showing>) -> bool {
    status == Status::Idle && matches!(showing, None | Some(Showing::Ready))
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
