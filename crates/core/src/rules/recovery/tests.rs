use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::model::Exit;

fn id(text: &str) -> VendorSessionId {
    VendorSessionId::new(text)
}

fn guard() -> LaunchId {
    LaunchId::new(Uuid::from_u128(7))
}

/// An interrupted session: the id is proven, the transcript exists, no process runs.
fn facts() -> RecoveryFacts {
    RecoveryFacts {
        process: OpeningProcess::None,
        folder: FolderPresence::There,
        proven: Some(id("a")),
        transcript: TranscriptLocation::There,
        has_content: true,
        unproven: Unproven::default(),
        vendor: Resumes::Yes,
        turn: TurnState::Interactive,
        history: History::Unremarkable,
    }
}

#[expect(clippy::fn_params_excessive_bools, reason = "the two flags of a table row")]
fn candidate(
    text: &str,
    began_during_launch: bool,
    first_message_is_ours: bool,
) -> ResumeCandidate {
    let (process, description) = (OpeningProcess::None, String::new());
    ResumeCandidate {
        id: id(text),
        began_during_launch,
        first_message_is_ours,
        process,
        description,
    }
}

fn foreign() -> OpeningProcess {
    OpeningProcess::Foreign { pid: 9, command: "agent".into() }
}

fn elsewhere() -> ResumeRefusal {
    ResumeRefusal::OpenElsewhere { pid: 9, command: "agent".into() }
}

fn unbound(is_only_session: bool, candidates: Vec<ResumeCandidate>) -> RecoveryFacts {
    let unproven = Unproven { is_only_session, candidates };
    RecoveryFacts { proven: None, transcript: TranscriptLocation::Gone, unproven, ..facts() }
}

fn ambiguous(candidates: Vec<ResumeCandidate>) -> Decision {
    Decision::Refuse(ResumeRefusal::Ambiguous { candidates })
}

fn assert_decisions(table: impl IntoIterator<Item = (&'static str, RecoveryFacts, Decision)>) {
    for (what, facts, expected) in table {
        assert_eq!(decide(&facts), expected, "{what}");
    }
}

#[test]
fn open_conversation_is_attached_to_or_refused() {
    assert_decisions([
        (
            "holder alive",
            RecoveryFacts { process: OpeningProcess::Ours, ..facts() },
            Decision::Attach,
        ),
        (
            "holder alive, transcript missing",
            RecoveryFacts {
                process: OpeningProcess::Ours,
                transcript: TranscriptLocation::Gone,
                ..facts()
            },
            Decision::Attach,
        ),
        (
            "open elsewhere",
            RecoveryFacts { process: foreign(), ..facts() },
            Decision::Refuse(elsewhere()),
        ),
    ]);
}

#[test]
fn decision_with_a_proven_id_follows_the_table() {
    assert_decisions([
        ("proven and there", facts(), Decision::Resume { id: id("a") }),
        (
            "missing, guarded",
            RecoveryFacts { transcript: TranscriptLocation::Guarded(guard()), ..facts() },
            Decision::Restore { id: id("a"), from: CopyLocation::Guard(guard()) },
        ),
        (
            "missing, no copy",
            RecoveryFacts { transcript: TranscriptLocation::Gone, ..facts() },
            Decision::Refuse(ResumeRefusal::TranscriptGone { id: id("a") }),
        ),
        (
            "the conversation is empty",
            RecoveryFacts { transcript: TranscriptLocation::Gone, has_content: false, ..facts() },
            Decision::StartAgain,
        ),
        ("vendor cannot resume", RecoveryFacts { vendor: Resumes::No, ..facts() }, Decision::Fresh),
        (
            "vendor cannot resume, the conversation is empty",
            RecoveryFacts { vendor: Resumes::No, has_content: false, ..facts() },
            Decision::StartAgain,
        ),
        (
            "folder gone",
            RecoveryFacts { folder: FolderPresence::Gone, ..facts() },
            Decision::Refuse(ResumeRefusal::FolderGone),
        ),
        (
            "died at once three times",
            RecoveryFacts { history: History::GaveUp, ..facts() },
            Decision::Refuse(ResumeRefusal::GaveUp),
        ),
        (
            "headless, between turns",
            RecoveryFacts { turn: TurnState::Over, ..facts() },
            Decision::Rest { id: id("a") },
        ),
        (
            "headless, in a turn",
            RecoveryFacts { turn: TurnState::Interrupted, ..facts() },
            Decision::Resume { id: id("a") },
        ),
    ]);
}

#[test]
fn decision_without_a_proven_id_follows_the_table() {
    let ours = || candidate("x", true, true);
    assert_decisions([
        (
            "one candidate, which fulfils all conditions",
            unbound(true, vec![ours()]),
            Decision::Adopt { id: id("x") },
        ),
        (
            "the only candidate is open elsewhere",
            unbound(true, vec![ResumeCandidate { process: foreign(), ..ours() }]),
            Decision::Refuse(elsewhere()),
        ),
        ("another launch could own it", unbound(false, vec![ours()]), ambiguous(vec![ours()])),
        (
            "another person's first message",
            unbound(true, vec![candidate("x", true, false)]),
            ambiguous(vec![candidate("x", true, false)]),
        ),
        (
            "a second candidate",
            unbound(true, vec![ours(), candidate("y", true, false)]),
            ambiguous(vec![ours(), candidate("y", true, false)]),
        ),
        (
            "older conversations do not count",
            unbound(true, vec![candidate("old", false, true), ours()]),
            Decision::Adopt { id: id("x") },
        ),
        (
            "no content, no candidate",
            RecoveryFacts { has_content: false, ..unbound(true, vec![]) },
            Decision::StartAgain,
        ),
        ("content, but no candidate", unbound(true, vec![]), ambiguous(vec![])),
    ]);
}

#[test]
fn missing_transcript_without_a_guard_is_restored_from_the_archive() {
    let restored = Decision::Restore { id: id("a"), from: CopyLocation::Archive };
    for turn in [TurnState::Interactive, TurnState::Interrupted, TurnState::Over] {
        for has_content in [true, false] {
            let facts = RecoveryFacts {
                transcript: TranscriptLocation::Archived,
                turn,
                has_content,
                ..facts()
            };
            assert_eq!(decide(&facts), restored, "{turn:?} {has_content}");
        }
    }
}

fn any_facts() -> impl Strategy<Value = RecoveryFacts> {
    let process = prop_oneof![
        3 => Just(OpeningProcess::None),
        1 => Just(OpeningProcess::Ours),
        1 => Just(OpeningProcess::Foreign { pid: 9, command: "agent".into() }),
    ];
    let transcript = prop_oneof![
        Just(TranscriptLocation::There),
        Just(TranscriptLocation::Gone),
        Just(TranscriptLocation::Guarded(guard())),
        Just(TranscriptLocation::Archived),
    ];
    let candidates = prop::collection::vec(
        ("[xyz]", any::<bool>(), any::<bool>()).prop_map(|(id, a, b)| candidate(&id, a, b)),
        0..4,
    );
    let rest = (
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(Resumes::Yes), Just(Resumes::No)],
        prop_oneof![
            Just(TurnState::Interactive),
            Just(TurnState::Interrupted),
            Just(TurnState::Over)
        ],
        prop_oneof![3 => Just(History::Unremarkable), 1 => Just(History::GaveUp)],
    );
    let proven = prop::option::of("[ab]".prop_map(|text| id(&text)));
    (process, proven, transcript, candidates, rest).prop_map(
        |(
            process,
            proven,
            transcript,
            candidates,
            (has_content, is_only_session, vendor, turn, history),
        )| {
            RecoveryFacts {
                process,
                folder: FolderPresence::There,
                proven,
                transcript,
                has_content,
                unproven: Unproven { is_only_session, candidates },
                vendor,
                turn,
                history,
            }
        },
    )
}

proptest! {
    #[test]
    fn only_a_proven_id_or_the_only_possible_candidate_is_used(facts in any_facts()) {
        match decide(&facts) {
            Decision::Resume { id } | Decision::Restore { id, .. } | Decision::Rest { id } => {
                prop_assert_eq!(Some(id), facts.proven);
            }
            Decision::Adopt { id } => {
                let fits = |it: &&ResumeCandidate| it.began_during_launch;
                let began: Vec<_> = facts.unproven.candidates.iter().filter(fits).collect();
                prop_assert!(facts.proven.is_none() && facts.unproven.is_only_session);
                prop_assert_eq!(began.len(), 1);
                prop_assert!(began[0].id == id && began[0].first_message_is_ours);
            }
            _ => {}
        }
    }

    #[test]
    fn nothing_is_started_beside_a_live_process(facts in any_facts()) {
        let decision = decide(&facts);
        match facts.process {
            OpeningProcess::Ours => prop_assert_eq!(decision, Decision::Attach),
            OpeningProcess::Foreign { .. } => prop_assert!(matches!(decision, Decision::Refuse(_))),
            OpeningProcess::None => {}
        }
    }

    #[test]
    fn conversation_with_content_is_never_started_again_empty(facts in any_facts()) {
        let blank = matches!(decide(&facts), Decision::StartAgain);
        prop_assert!(!(blank && facts.has_content));
    }
}

#[test]
fn session_is_lost_only_while_its_conversation_is_found_nowhere() {
    let gone = Decision::Refuse(ResumeRefusal::TranscriptGone { id: id("a") });
    let resume = Decision::Resume { id: id("a") };
    let restore = Decision::Restore { id: id("a"), from: CopyLocation::Archive };
    let moved = Decision::Refuse(ResumeRefusal::FolderGone);
    let crashed = Status::Ended(How::Crashed(Exit::Signal(9)));
    let (stopped, quit) = (Status::Ended(How::Stopped), Status::Ended(How::Quit));
    let table = [
        (Status::Interrupted, &gone, Some(Status::Lost)),
        (Status::Waiting(WaitingFor::Environment), &gone, Some(Status::Lost)),
        (Status::Waiting(WaitingFor::Choice), &gone, Some(Status::Lost)),
        (crashed, &gone, Some(Status::Lost)),
        (stopped, &gone, None),
        (quit, &gone, None),
        (Status::Idle, &gone, None),
        (Status::Lost, &gone, None),
        (Status::Lost, &resume, Some(Status::Interrupted)),
        (Status::Lost, &restore, Some(Status::Interrupted)),
        (Status::Lost, &moved, None),
        (Status::Interrupted, &resume, None),
        (Status::Interrupted, &moved, None),
    ];
    for (status, decision, expected) in table {
        assert_eq!(status_after_look(status, decision), expected, "{status:?} {decision:?}");
    }
}
