use jiff::Timestamp;
use proptest::prelude::*;

use super::samples::launch_id;
use super::*;

fn id(text: &str) -> VendorSessionId {
    VendorSessionId::new(text)
}

fn facts() -> LifecycleFacts {
    LifecycleFacts {
        status: Status::Starting,
        open: Some(OpenLaunchFacts {
            launch: launch_id(1),
            mode: LaunchMode::Fresh,
            confirmed: false,
            turn: None,
            failure: None,
        }),
        source: None,
        bound: Some((id("a"), Evidence::Preset)),
        headless: false,
        restart: Restart::OnCrash,
    }
}

fn resumed(confirmed: bool) -> LifecycleFacts {
    let mut facts = facts();
    let open = facts.open.as_mut().unwrap();
    open.mode = LaunchMode::Resume;
    open.confirmed = confirmed;
    facts
}

fn seen(text: &str) -> Observation {
    Observation::Signal(Signal::Conversation { id: id(text), evidence: Evidence::Registry })
}

fn end(exit: Exit, is_requested: bool) -> LaunchEnd {
    LaunchEnd { exit, is_requested, at: Timestamp::UNIX_EPOCH }
}

fn over(exit: Exit, is_requested: bool, environment: EnvironmentKept) -> Observation {
    let failures = Failures { fast_in_a_row: 1, in_window: 1, killed_in_window: 0 };
    Observation::Ended { end: end(exit, is_requested), environment, failures }
}

fn act(facts: &LifecycleFacts, observation: &Observation) -> Vec<Action> {
    next(facts, launch_id(1), observation)
}

#[test]
fn evidence_of_a_conversation_binds_or_refuses_the_launch() {
    let bind = |text: &str| vec![Action::Bind { id: id(text), evidence: Evidence::Registry }];
    let mut unbound = facts();
    unbound.bound = None;
    let mut confirmed = facts();
    confirmed.open.as_mut().unwrap().confirmed = true;
    let refuse = vec![Action::RefuseConversation { found: id("b") }];
    let table = [
        ("a preset id is confirmed once", facts(), "a", bind("a")),
        ("a confirmed id is not bound again", confirmed.clone(), "a", vec![]),
        ("an unbound launch is bound", unbound, "b", bind("b")),
        ("a fresh launch is bound to the id that its vendor chose", facts(), "b", bind("b")),
        ("the conversation was cleared inside the process", confirmed, "b", bind("b")),
        ("a resume is confirmed", resumed(false), "a", bind("a")),
        ("a resume in another conversation is refused", resumed(false), "b", refuse),
        ("the conversation was cleared after the resume", resumed(true), "b", bind("b")),
    ];
    for (what, facts, found, expected) in table {
        assert_eq!(act(&facts, &seen(found)), expected, "{what}");
    }
}

#[test]
fn agent_whose_account_was_refused_is_not_restarted() {
    for (failure, restarts) in [(FailureClass::Account, false), (FailureClass::Service, true)] {
        let mut failed = facts();
        failed.open.as_mut().unwrap().failure = Some(failure);
        let actions = act(&failed, &over(Exit::Code(1), false, EnvironmentKept::Yes));
        let again = actions.iter().any(|action| matches!(action, Action::Restart { .. }));
        assert_eq!(again, restarts, "{failure:?}");
        let crashed = Status::Ended(How::Crashed(Exit::Code(1)));
        assert!(actions.contains(&Action::SetStatus(crashed)), "{actions:?}");
    }
}

#[test]
fn signals_of_a_refused_launch_are_ignored_and_its_end_is_not_a_stop() {
    let mut refused = resumed(false);
    refused.status = Status::Waiting(WaitingFor::Choice);
    assert_eq!(act(&refused, &seen("a")), []);
    assert_eq!(
        act(
            &refused,
            &Observation::Signal(Signal::Activity {
                activity: Activity::Idle,
                source: Source::Registry
            })
        ),
        []
    );
    let closed = [
        Action::EndLeftovers,
        Action::CloseLaunch { end: end(Exit::Code(0), true) },
        Action::ReleaseHolder,
    ];
    assert_eq!(act(&refused, &over(Exit::Code(0), true, EnvironmentKept::Yes)), closed);
}

#[test]
fn observations_about_another_launch_are_ignored() {
    for observation in [seen("b"), over(Exit::Code(1), false, EnvironmentKept::Yes)] {
        assert_eq!(next(&facts(), launch_id(2), &observation), []);
        let mut closed = facts();
        closed.open = None;
        assert_eq!(act(&closed, &observation), []);
    }
}

fn last_status(actions: &[Action]) -> Status {
    let statuses = actions.iter().filter_map(|action| match action {
        Action::SetStatus(status) => Some(*status),
        _ => None,
    });
    statuses.collect::<Vec<_>>().pop().unwrap()
}

#[test]
fn status_and_restart_of_an_interactive_agent_depend_on_its_exit() {
    let crashed = |exit| Status::Ended(How::Crashed(exit));
    let table = [
        (Exit::Code(0), false, EnvironmentKept::Yes, Status::Ended(How::Quit), false),
        (Exit::Code(0), true, EnvironmentKept::Yes, Status::Ended(How::Stopped), false),
        (Exit::Signal(15), true, EnvironmentKept::Yes, Status::Ended(How::Stopped), false),
        (Exit::Unknown, true, EnvironmentKept::No, Status::Ended(How::Stopped), false),
        (Exit::Code(1), false, EnvironmentKept::Yes, crashed(Exit::Code(1)), true),
        (Exit::Signal(9), false, EnvironmentKept::Yes, crashed(Exit::Signal(9)), true),
        (Exit::Signal(9), false, EnvironmentKept::No, Status::Interrupted, false),
        (Exit::Unknown, false, EnvironmentKept::No, Status::Interrupted, false),
        (Exit::NeverStarted, false, EnvironmentKept::No, Status::Ended(How::NeverStarted), false),
    ];
    for (exit, is_requested, kept, status, restarts) in table {
        let actions = act(&facts(), &over(exit, is_requested, kept));
        let what = format!("{exit:?} requested {is_requested} {kept:?}");
        assert_eq!(last_status(&actions), status, "{what}");
        let restart = Action::Restart { after: Duration::from_millis(500) };
        assert_eq!(actions.contains(&restart), restarts, "{what}");
        assert_eq!(actions[0], Action::EndLeftovers, "{what}");
        assert_eq!(actions[1], Action::CloseLaunch { end: end(exit, is_requested) }, "{what}");
    }
}

#[test]
fn agent_without_restart_is_interrupted_if_its_exit_is_unknown() {
    let mut facts = facts();
    facts.restart = Restart::Never;
    let actions = act(&facts, &over(Exit::Unknown, false, EnvironmentKept::No));
    assert_eq!(last_status(&actions), Status::Interrupted);
}

#[test]
fn agent_killed_with_its_holder_is_restarted_from_the_login_shell_unless_that_happens_often() {
    let ended = |killed_in_window| Observation::Ended {
        end: end(Exit::Unknown, false),
        environment: EnvironmentKept::InLoginShell,
        failures: Failures { killed_in_window, ..Failures::default() },
    };
    let restart = Action::Restart { after: USER_FIRST };
    for (killed, restarts) in [(1, true), (2, true), (3, false)] {
        let actions = act(&facts(), &ended(killed));
        assert_eq!(last_status(&actions), Status::Interrupted, "{killed}");
        assert_eq!(actions.contains(&restart), restarts, "{killed}");
    }
    let never = LifecycleFacts { restart: Restart::Never, ..facts() };
    assert!(!act(&never, &ended(1)).contains(&restart));
}

#[test]
fn new_daemon_reads_the_login_shell_for_a_restart_that_was_due_recently() {
    let (soon, late) = (Duration::from_secs(30), RESTART_EXPIRES);
    let closed = |status| LifecycleFacts { status, open: None, ..facts() };
    let never = LifecycleFacts { restart: Restart::Never, ..closed(Status::Interrupted) };
    let table = [
        (closed(Status::Interrupted), soon, true),
        (closed(Status::Interrupted), late, false),
        (closed(Status::Waiting(WaitingFor::Environment)), soon, true),
        (closed(Status::Waiting(WaitingFor::Environment)), late, true),
        (closed(Status::Ended(How::Crashed(Exit::Code(1)))), soon, false),
        (closed(Status::Lost), soon, false),
        (never, soon, false),
    ];
    for (facts, unchanged_for, expected) in table {
        assert_eq!(must_read_login_shell(&facts, unchanged_for), expected, "{facts:?}");
    }
}

#[test]
fn third_immediate_crash_gives_up_and_waits_for_the_user() {
    let failures = Failures { fast_in_a_row: 3, in_window: 3, ..Failures::default() };
    let environment = EnvironmentKept::Yes;
    let observation = Observation::Ended { end: end(Exit::Code(1), false), environment, failures };
    let actions = act(&facts(), &observation);
    assert_eq!(last_status(&actions), Status::Waiting(WaitingFor::Choice));
    assert!(
        actions.contains(&Action::GiveUp { failures }) && actions.contains(&Action::ReleaseHolder)
    );
}

#[test]
fn headless_turn_succeeds_only_if_exit_code_and_report_agree() {
    let table = [
        (Exit::Code(0), Some(true), Status::Idle),
        (Exit::Code(0), Some(false), Status::Ended(How::TurnFailed)),
        (Exit::Code(0), None, Status::Ended(How::TurnFailed)),
        (Exit::Code(1), Some(true), Status::Ended(How::Crashed(Exit::Code(1)))),
        (Exit::Unknown, Some(true), Status::Interrupted),
    ];
    for (exit, turn, status) in table {
        let mut facts = facts();
        facts.headless = true;
        facts.open.as_mut().unwrap().turn = turn;
        let actions = act(&facts, &over(exit, false, EnvironmentKept::Yes));
        assert_eq!(last_status(&actions), status, "{exit:?} {turn:?}");
    }
}

fn any_observation() -> impl Strategy<Value = Observation> {
    let exit = prop_oneof![
        (0..3).prop_map(Exit::Code),
        (1..16).prop_map(Exit::Signal),
        Just(Exit::Unknown),
        Just(Exit::NeverStarted),
    ];
    let kept = prop_oneof![
        Just(EnvironmentKept::Yes),
        Just(EnvironmentKept::InLoginShell),
        Just(EnvironmentKept::No)
    ];
    let failures = (0..5_usize, 0..8_usize).prop_map(|(fast_in_a_row, in_window)| Failures {
        fast_in_a_row,
        in_window,
        ..Failures::default()
    });
    prop_oneof![
        "[abc]".prop_map(|text| seen(&text)),
        Just(Observation::Signal(Signal::Activity {
            activity: Activity::Working,
            source: Source::Registry
        })),
        Just(Observation::Signal(Signal::Activity {
            activity: Activity::Idle,
            source: Source::Registry
        })),
        any::<bool>().prop_map(|ok| Observation::Signal(Signal::TurnEnded {
            ok,
            text: String::new(),
            failure: None
        })),
        (exit, any::<bool>(), kept, failures).prop_map(
            |(exit, is_requested, environment, failures)| {
                Observation::Ended { end: end(exit, is_requested), environment, failures }
            }
        ),
    ]
}

/// Applies actions as the supervisor does, and records the data that the properties check.
struct Simulation {
    facts: LifecycleFacts,
    ledger: Vec<VendorSessionId>,
    live: usize,
    launches: u128,
}

impl Simulation {
    fn apply(&mut self, action: Action) {
        match action {
            Action::SetStatus(status) | Action::SetActivity { status, .. } => {
                self.facts.status = status;
            }
            Action::Bind { id, evidence } => {
                self.ledger.push(id.clone());
                self.facts.bound = Some((id, evidence));
                if let Some(open) = &mut self.facts.open {
                    open.confirmed = true;
                }
            }
            Action::CloseLaunch { .. } => {
                assert!(self.facts.open.take().is_some(), "closed twice");
                self.live -= 1;
            }
            Action::Restart { .. } => self.start(LaunchMode::Resume),
            Action::NoteTurn { ok } => {
                if let Some(open) = &mut self.facts.open {
                    open.turn = Some(ok);
                }
            }
            Action::RefuseConversation { .. }
            | Action::EndLeftovers
            | Action::ReleaseHolder
            | Action::GiveUp { .. } => {}
        }
    }

    fn start(&mut self, mode: LaunchMode) {
        self.launches += 1;
        self.live += 1;
        let launch = launch_id(self.launches);
        self.facts.open =
            Some(OpenLaunchFacts { launch, mode, confirmed: false, turn: None, failure: None });
    }
}

#[test]
fn question_of_a_headless_agent_ends_only_by_a_reply() {
    let asking = LifecycleFacts {
        status: Status::Waiting(WaitingFor::Permission),
        headless: true,
        ..facts()
    };
    let works =
        |source| Observation::Signal(Signal::Activity { activity: Activity::Working, source });
    for source in [Source::Registry, Source::Stream, Source::Hook, Source::Transcript] {
        assert_eq!(act(&asking, &works(source)), [], "{source:?}");
    }
    let wanted = Action::SetActivity { status: Status::Working, source: Source::Question };
    assert_eq!(act(&asking, &works(Source::Question)), [wanted]);
    let waits = LifecycleFacts { status: Status::Working, ..asking };
    let activity = Activity::Waiting(WaitingFor::Permission);
    let asks = Observation::Signal(Signal::Activity { activity, source: Source::Question });
    let status = Status::Waiting(WaitingFor::Permission);
    let wanted = Action::SetActivity { status, source: Source::Question };
    assert_eq!(act(&waits, &asks), [wanted]);
}

#[test]
fn growing_transcript_does_not_end_a_question_but_its_source_does() {
    let asking = LifecycleFacts {
        status: Status::Waiting(WaitingFor::Permission),
        source: Some(Source::Title),
        ..facts()
    };
    let works =
        |source| Observation::Signal(Signal::Activity { activity: Activity::Working, source });
    assert_eq!(act(&asking, &works(Source::Transcript)), []);
    let wanted = Action::SetActivity { status: Status::Working, source: Source::Title };
    assert_eq!(act(&asking, &works(Source::Title)), [wanted]);
}

#[test]
fn signals_of_lower_ranked_sources_are_ignored() {
    let idle = |source| Observation::Signal(Signal::Activity { activity: Activity::Idle, source });
    let table = [
        (None, Source::Screen, true),
        (Some(Source::Screen), Source::Screen, true),
        (Some(Source::Title), Source::Screen, false),
        (Some(Source::Registry), Source::Screen, false),
        (Some(Source::Registry), Source::Hook, false),
        (Some(Source::Hook), Source::Registry, true),
        (Some(Source::Transcript), Source::Title, true),
        (Some(Source::Screen), Source::Hook, true),
    ];
    for (known, source, is_applied) in table {
        let facts = LifecycleFacts { source: known, ..facts() };
        let expected = Action::SetActivity { status: Status::Idle, source };
        let expected = if is_applied { vec![expected] } else { Vec::new() };
        assert_eq!(act(&facts, &idle(source)), expected, "{known:?} {source:?}");
    }
}

proptest! {
    /// For any observations in any order, however late: at most one launch is live, the ledger only
    /// grows, and a resume never binds a session to a conversation that it did not request.
    #[test]
    fn at_most_one_launch_is_live_and_a_resume_never_changes_the_conversation(
        observations in prop::collection::vec((any_observation(), 0..3_u128), 1..60)
    ) {
        let ledger = vec![id("a")];
        let mut simulation = Simulation { facts: facts(), ledger, live: 1, launches: 1 };
        for (observation, late) in observations {
            let before = simulation.ledger.clone();
            let open_before = simulation.facts.open.clone();
            let bound = simulation.facts.bound.clone();
            let about = launch_id(simulation.launches.saturating_sub(late));
            for action in next(&simulation.facts.clone(), about, &observation) {
                simulation.apply(action);
            }
            prop_assert!(simulation.live <= 1);
            prop_assert_eq!(&simulation.ledger[..before.len()], &before[..]);
            if let Some(open) = open_before
                && open.mode == LaunchMode::Resume
                && !open.confirmed
                && simulation.ledger.len() > before.len()
            {
                prop_assert_eq!(simulation.ledger.last(), bound.as_ref().map(|(id, _)| id));
            }
        }
    }
}

#[test]
fn new_daemon_restarts_only_crashed_or_interrupted_sessions() {
    let crashed = Status::Ended(How::Crashed(Exit::Signal(11)));
    let over = |status| LifecycleFacts { status, open: None, ..facts() };
    let table = [
        (over(crashed), true),
        (over(Status::Interrupted), true),
        (over(Status::Ended(How::Quit)), false),
        (over(Status::Ended(How::Stopped)), false),
        (over(Status::Ended(How::NeverStarted)), false),
        (over(Status::Waiting(WaitingFor::Choice)), false),
        (LifecycleFacts { headless: true, ..over(crashed) }, false),
        (LifecycleFacts { restart: Restart::Never, ..over(crashed) }, false),
        (LifecycleFacts { status: crashed, ..facts() }, false),
    ];
    for (facts, restarts) in table {
        assert_eq!(must_restart(&facts), restarts, "{facts:?}");
    }
}
