use jiff::Timestamp;

use super::*;
use crate::flows::look::SelectionMode;
use crate::flows::samples;
use crate::model::{Binding, Evidence, VendorId, VendorSessionId};

/// The draft of the agent `coder`, which has the vendor `two` now.
fn draft() -> Session {
    let agent = Some(AgentName::parse("coder").unwrap());
    Session { agent, vendor: VendorId::new("two"), ..samples::session(99, "coder") }
}

/// A session of the agent `coder` with a conversation. A higher number is newer.
fn session(number: u128, name: &str, vendor: &str) -> SessionSummary {
    let at = Timestamp::from_second(i64::try_from(number).unwrap()).unwrap();
    let session = samples::session(number, name);
    let binding = Binding {
        session: session.id,
        launch: None,
        vendor_session: VendorSessionId::new(format!("id-{number}")),
        evidence: Evidence::Adopted,
        at,
    };
    let session = Session {
        agent: draft().agent,
        vendor: VendorId::new(vendor),
        created_at: at,
        updated_at: at,
        ..session
    };
    let binding = Some(binding);
    let (open, worktree) = (None, None);
    SessionSummary {
        session,
        binding,
        open,
        launches: 1,
        queued_messages: 0,
        worktree,
        usage: None,
    }
}

/// Returns the numbers of the sessions: current, renamed, of another vendor, to continue.
fn sorted(sessions: Vec<SessionSummary>) -> (u128, u128, u128, Vec<u128>) {
    let number = |id: SessionId| {
        let found = (0..100).find(|number| samples::session(*number, "x").id == id);
        found.unwrap()
    };
    let AgentSessions { current, renamed, of_other_vendor, to_continue } =
        agent_sessions(&draft(), sessions);
    (
        current.map_or(0, |it| number(it.session.id)),
        renamed.map_or(0, number),
        of_other_vendor.map_or(0, |it| number(it.id)),
        to_continue.into_iter().map(number).collect(),
    )
}

#[test]
fn sessions_of_an_agent_are_sorted_by_name_and_vendor() {
    let table = [
        (vec![], (0, 0, 0, vec![])),
        (vec![session(1, "coder", "two")], (1, 1, 0, vec![])),
        // The vendor was changed: the old session has the name.
        (vec![session(1, "coder", "one")], (0, 0, 1, vec![1])),
        // The vendor was changed back: the session of the current vendor was renamed.
        (vec![session(1, "coder-two", "two"), session(2, "coder", "one")], (0, 1, 2, vec![])),
        // The newest of the other vendors' sessions comes first.
        (
            vec![session(1, "coder-one", "one"), session(2, "coder-three", "three")],
            (0, 0, 0, vec![2, 1]),
        ),
        // A name that Segue does not give to former sessions belongs to another session.
        (vec![session(1, "other", "one")], (0, 0, 0, vec![])),
    ];
    for (sessions, expected) in table {
        let names: Vec<_> = sessions.iter().map(|it| it.session.name.to_string()).collect();
        assert_eq!(sorted(sessions), expected, "{names:?}");
    }
}

/// A session of the agent `coder` that a person has renamed.
fn renamed(number: u128, name: &str, up_name: &str, vendor: &str) -> SessionSummary {
    let mut summary = session(number, name, vendor);
    summary.session.up_name = Some(SessionName::parse(up_name).unwrap());
    summary
}

#[test]
fn session_that_a_person_renamed_is_found_by_its_agent() {
    let table = [
        (vec![renamed(1, "alice", "coder", "two")], (1, 1, 0, vec![])),
        // Another session got the agent's name meanwhile.
        (vec![session(1, "coder", "two"), renamed(2, "alice", "coder", "two")], (2, 2, 0, vec![])),
        (vec![renamed(1, "alice", "coder", "one")], (0, 0, 1, vec![1])),
        (
            vec![renamed(1, "alice", "coder-two", "two"), session(2, "coder", "one")],
            (0, 1, 2, vec![]),
        ),
        // A session that a person gave the agent's name belongs to its own agent.
        (vec![renamed(1, "coder", "tester", "two")], (0, 0, 0, vec![])),
    ];
    for (sessions, expected) in table {
        let names: Vec<_> = sessions.iter().map(|it| it.session.name.to_string()).collect();
        assert_eq!(sorted(sessions), expected, "{names:?}");
    }
}

#[test]
fn session_that_another_agent_started_does_not_belong_to_the_agent_of_its_name() {
    let mut of_agent = session(1, "coder", "two");
    of_agent.session.parent = Some(samples::session(5, "parent").id);
    assert_eq!(sorted(vec![of_agent]), (0, 0, 0, vec![]));
}

#[test]
fn session_of_another_agent_is_not_a_former_session() {
    let mut other = session(1, "coder-one", "one");
    other.session.agent = Some(AgentName::parse("coder-one").unwrap());
    assert_eq!(sorted(vec![other]), (0, 0, 0, vec![]));
}

fn plan(is_fresh: bool) -> AgentPlan {
    AgentPlan {
        draft: draft(),
        prompt: None,
        timers: Vec::new(),
        environment: Environment::default(),
        requested: RequestedStart {
            selection: SelectionMode::InBulk,
            is_fresh,
            with_stopped: false,
        },
        is_only_of_vendor: true,
        worktree: None,
    }
}

fn outcome(outcome: Outcome, note: Option<&str>) -> AgentOutcome {
    AgentOutcome {
        of: SessionRef::of(&draft()),
        vendor: draft().vendor,
        outcome,
        vendor_session_id: None,
        note: note.map(str::to_owned).into(),
        dialog: None,
        lost: false,
    }
}

#[test]
fn changed_settings_are_reported_unless_the_session_was_refused() {
    let table = [
        ((Outcome::Running, true, false), Some("has other values: model; `segue stop")),
        ((Outcome::Resumed, false, false), Some("now as in the project file: model")),
        ((Outcome::Fresh, true, true), Some("now as in the project file: model")),
        ((Outcome::Refused, false, false), None),
    ];
    for ((of, was_open, is_fresh), expected) in table {
        let changed = (["model"].as_slice(), was_open);
        let note = plan(is_fresh).with_changed_settings(outcome(of, None), changed).note.text;
        let is_expected = match (&note, expected) {
            (Some(note), Some(expected)) => note.contains(expected),
            (note, expected) => note.is_none() && expected.is_none(),
        };
        assert!(is_expected, "{of:?}: {note:?}");
    }
    let unchanged = plan(false).with_changed_settings(outcome(Outcome::Resumed, None), (&[], true));
    assert_eq!(unchanged.note.text, None);
}

fn found(number: u8, open_in: Option<u32>) -> AdoptCandidate {
    AdoptCandidate {
        vendor: VendorId::new("two"),
        vendor_session_id: VendorSessionId::new(format!("id-{number}")),
        config_dir: PathBuf::from("/home/two"),
        cwd: PathBuf::from("/work"),
        began_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        begins: Some("hello".to_owned()),
        open_in,
    }
}

#[test]
fn new_conversation_reports_the_conversations_that_it_does_not_continue() {
    let ignored =
        |of, found: &[AdoptCandidate]| plan(false).with_ignored(outcome(of, None), found).note;
    let note = |of, found: &[AdoptCandidate]| ignored(of, found).text;
    assert_eq!(note(Outcome::Started, &[]), None);
    assert_eq!(note(Outcome::Resumed, &[found(1, None)]), None);
    let one = note(Outcome::Started, &[found(1, Some(7))]).unwrap();
    assert!(one.ends_with("two:id-1 of this folder is open in process 7"), "{one}");
    let elsewhere = note(Outcome::Waiting, &[found(1, None)]).unwrap();
    assert!(elsewhere.ends_with("is in `/home/two`"), "{elsewhere}");
    let several = ignored(Outcome::Started, &[found(1, None), found(2, None)]);
    assert_eq!(several.reason(), "began a new conversation");
    let hint = &several.hints[0];
    assert!(hint.contains("2 others") && hint.contains("`segue adopt two`"), "{hint}");
}

#[test]
fn adopted_conversation_is_reported_after_a_resume_and_beside_a_question() {
    let resumed = adopted(outcome(Outcome::Resumed, Some("x")), &found(1, None));
    assert_eq!(resumed.outcome, Outcome::Adopted);
    assert!(resumed.note.text.unwrap().ends_with(": hello"));
    let waiting = adopted(outcome(Outcome::Waiting, Some("asks")), &found(1, None));
    assert_eq!(waiting.outcome, Outcome::Waiting);
    assert!(waiting.note.text.unwrap().starts_with("asks; the only conversation"));
    let refused = adopted(outcome(Outcome::Refused, Some("no")), &found(1, None));
    assert_eq!((refused.outcome, refused.note.text.as_deref()), (Outcome::Refused, Some("no")));
}
