use uuid::Uuid;

use super::*;
use crate::flows::samples::handoff;
use crate::model::{Exit, FailureClass, WaitingFor};

/// An interactive session without a running process.
fn seen(status: Status) -> LastSeen {
    LastSeen {
        status,
        is_open: false,
        is_on_other_machine: false,
        was_launched: true,
        is_headless: false,
        has_messages: false,
        has_successor: false,
    }
}

fn headless(status: Status) -> LastSeen {
    LastSeen { is_headless: true, ..seen(status) }
}

const STOPPED: Status = Status::Ended(How::Stopped);
const QUIT: Status = Status::Ended(How::Quit);
const KILLED: Status = Status::Ended(How::Crashed(Exit::Signal(9)));

#[test]
fn only_sessions_that_no_user_ended_are_brought_back() {
    use LeftAloneReason::{
        BetweenTurns, HandedOver, NeverRan, OtherMachine, Quit, Stopped, TurnFailed,
    };
    let left = BringingBack::Left;
    let open = |status| LastSeen { is_open: true, ..seen(status) };
    let table = [
        ("running", open(Status::Working), BringingBack::Runs),
        ("asks for permission", open(Status::Waiting(WaitingFor::Permission)), BringingBack::Runs),
        (
            "runs on another machine",
            LastSeen { is_on_other_machine: true, ..open(Status::Working) },
            left(OtherMachine),
        ),
        ("stopped", seen(STOPPED), left(Stopped)),
        ("quit by the user", seen(QUIT), left(Quit)),
        ("crashed", seen(Status::Ended(How::Crashed(Exit::Code(1)))), BringingBack::Due),
        ("killed", seen(KILLED), BringingBack::Due),
        ("after a reboot", seen(Status::Interrupted), BringingBack::Due),
        ("variables missing", seen(Status::Waiting(WaitingFor::Environment)), BringingBack::Due),
        ("conversation found nowhere", seen(Status::Lost), BringingBack::Due),
        ("gave up", seen(Status::Waiting(WaitingFor::Choice)), BringingBack::Due),
        ("never started", seen(Status::Ended(How::NeverStarted)), BringingBack::Due),
        ("recorded, never launched", seen(Status::Starting), BringingBack::Due),
        ("adopted", LastSeen { was_launched: false, ..seen(QUIT) }, left(NeverRan)),
        ("headless, turn succeeded", headless(Status::Idle), left(BetweenTurns)),
        (
            "headless, a message is queued",
            LastSeen { has_messages: true, ..headless(Status::Idle) },
            BringingBack::Due,
        ),
        ("headless, turn failed", headless(Status::Ended(How::TurnFailed)), left(TurnFailed)),
        (
            "headless, usage limit",
            headless(Status::Ended(How::Failed(FailureClass::UsageLimit))),
            left(TurnFailed),
        ),
        ("headless, killed in its turn", headless(KILLED), BringingBack::Due),
        ("headless, stopped", headless(STOPPED), left(Stopped)),
        ("handed over", LastSeen { has_successor: true, ..seen(STOPPED) }, left(HandedOver)),
        (
            "crashed, then handed over",
            LastSeen { has_successor: true, ..seen(KILLED) },
            left(HandedOver),
        ),
        (
            "handed over, runs again",
            LastSeen { has_successor: true, ..open(Status::Idle) },
            BringingBack::Runs,
        ),
    ];
    for (what, seen, expected) in table {
        assert_eq!(bringing_back(&seen), expected, "{what}");
    }
}

#[test]
fn naming_a_session_or_the_stopped_flag_includes_sessions_ended_on_purpose() {
    // In bulk; in bulk with `--stopped`; by name; by name with `--stopped`.
    let table = [
        (LeftAloneReason::Stopped, [true, false, false, false]),
        (LeftAloneReason::Quit, [true, false, false, false]),
        (LeftAloneReason::HandedOver, [true, true, true, false]),
        (LeftAloneReason::NeverRan, [true, true, false, false]),
        (LeftAloneReason::BetweenTurns, [true, true, false, false]),
        (LeftAloneReason::TurnFailed, [true, true, false, false]),
        (LeftAloneReason::OtherMachine, [true, true, true, true]),
    ];
    let selection = [(false, false), (false, true), (true, false), (true, true)];
    let selection =
        selection.map(|(by_name, with_stopped)| UserSelection { by_name, with_stopped });
    for (reason, expected) in table {
        assert_eq!(selection.map(|selection| reason.prevents(selection)), expected, "{reason:?}");
    }
}

#[test]
fn successor_is_the_target_of_the_newest_handoff_unless_the_session_came_back() {
    let id = |number: u128| SessionId::new(Uuid::from_u128(number));
    let at = |second: i64| Timestamp::from_second(second).unwrap();
    let table = [
        ("never handed over", vec![], Some(1), None),
        ("handed over", vec![handoff(1, 2, 10)], Some(1), Some(2)),
        ("handed over before it ever ran", vec![handoff(1, 2, 10)], None, Some(2)),
        ("handed over twice", vec![handoff(1, 2, 10), handoff(1, 3, 20)], Some(15), Some(3)),
        ("came back", vec![handoff(1, 2, 10), handoff(2, 1, 20)], Some(1), None),
        ("started again since", vec![handoff(1, 2, 10)], Some(11), None),
        ("the session is itself a successor", vec![handoff(5, 1, 10)], Some(11), None),
    ];
    for (what, steps, launched, expected) in table {
        let found = successor(&steps, id(1), launched.map(at));
        assert_eq!(found, expected.map(id), "{what}");
    }
}
