use uuid::Uuid;

use super::*;

/// Payloads with their sentences.
type SentenceCases = Vec<(EventPayload, &'static str)>;

fn launch() -> LaunchId {
    LaunchId::new(Uuid::from_u128(1))
}

fn id() -> VendorSessionId {
    VendorSessionId::new("abc")
}

fn address() -> String {
    "shop/coder".to_owned()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn questions() -> SentenceCases {
    let question = some("rm x [1 yes]");
    let interrupted = |method| EventPayload::TurnInterrupted { method };
    vec![
        (
            EventPayload::Asked { kind: WaitingFor::Permission, question },
            "permission: rm x [1 yes]",
        ),
        (EventPayload::Asked { kind: WaitingFor::Trust, question: None }, "trust"),
        (interrupted(InterruptMethod::Keys), "the keys that interrupt a turn were typed"),
        (interrupted(InterruptMethod::Stop), "the process of the turn was ended"),
    ]
}

fn reports() -> SentenceCases {
    let (child, parent) = ("task 1".to_owned(), SessionId::new(Uuid::nil()));
    vec![(
        EventPayload::ReportDropped { child, parent },
        "the report of task 1 to session 00000000-0000-0000-0000-000000000000, which was removed",
    )]
}

fn repetitions() -> SentenceCases {
    use RepetitionKind::{Messages, ToolCalls};
    let found =
        |kind, what: &str| EventPayload::RepetitionFound { kind, what: what.to_owned(), times: 10 };
    let over = |kind, by_person| EventPayload::RepetitionOver { kind, by_person };
    vec![
        (found(ToolCalls, "`shell ls`"), "repeats `shell ls` 10 times without a person"),
        (
            found(Messages, "messages went back and forth with `a/b`"),
            "messages went back and forth with `a/b` 10 times without a person: further messages \
             are held",
        ),
        (over(ToolCalls, true), "a person has seen that it repeats itself"),
        (over(ToolCalls, false), "it no longer repeats itself"),
        (over(Messages, true), "a person lets the messages go on"),
        (over(Messages, false), "the messages no longer go back and forth"),
    ]
}

fn sessions() -> SentenceCases {
    let status = |status, source, note| EventPayload::StatusChanged { status, source, note };
    let (to, form) = ("shop/next".to_owned(), HandoffForm::Native);
    vec![
        (EventPayload::SessionCreated { address: address() }, "shop/coder"),
        (EventPayload::SessionRemoved { address: address() }, "shop/coder"),
        (
            EventPayload::Bound { vendor_session: id(), evidence: Evidence::Adopted },
            "abc (adopted)",
        ),
        (
            EventPayload::BindingRefused { wanted: Some(id()), found: VendorSessionId::new("xyz") },
            "asked for abc, came up in xyz: ended, not bound",
        ),
        (status(Status::Working, Some(Source::Hook), None), "working, reported by a hook"),
        (status(Status::Waiting(WaitingFor::Trust), None, None), "waiting (trust)"),
        (status(Status::Starting, None, some("nothing shown yet")), "starting (nothing shown yet)"),
        (EventPayload::HandedOver { from: address(), to, form }, "shop/coder → shop/next (native)"),
        (
            EventPayload::Renamed { from: address(), to: "next".to_owned() },
            "shop/coder is called next now",
        ),
        (
            EventPayload::SettingsChanged { keys: vec!["model".to_owned(), "args".to_owned()] },
            "model, args",
        ),
        (
            EventPayload::WorktreeMade(MadeWorktreeFacts {
                path: "/w/fix".to_owned(),
                branch: "fix".to_owned(),
                origin: "new branch from origin/main".to_owned(),
                notices: vec!["its folder was gone".to_owned()],
            }),
            "/w/fix, branch fix (new branch from origin/main); its folder was gone",
        ),
        (
            EventPayload::WorktreeRemoved(RemovedWorktreeFacts {
                path: "/w/fix".to_owned(),
                branch: "fix".to_owned(),
                salvage: Some(RefName::parse("refs/segue/salvage/fix-1/2").unwrap()),
            }),
            "/w/fix, branch fix; everything is in refs/segue/salvage/fix-1/2",
        ),
        (
            EventPayload::WorktreeCommand(WorktreeCommandFacts {
                branch: "fix".to_owned(),
                phase: CommandPhase::Setup,
                command: "npm ci".to_owned(),
                ending: Some("exit status: 1".to_owned()),
            }),
            "setup of branch fix: npm ci (exit status: 1)",
        ),
        (EventPayload::Trusted { folder: "/code/shop".to_owned() }, "/code/shop"),
        (
            EventPayload::StoreRebuilt { address: address(), launch_folders: 3 },
            "shop/coder from 3 launch folders",
        ),
    ]
}

fn launches() -> SentenceCases {
    let gave_up =
        |reason: &str, resumable| EventPayload::GaveUp { reason: reason.to_owned(), resumable };
    let process = LeftoverProcess { pid: 7, command: "sleep 9".to_owned() };
    vec![
        (EventPayload::LaunchPlanned { number: 2, mode: LaunchMode::Resume }, "launch 2 (resume)"),
        (EventPayload::LaunchStarted { pid: Some(7), found_alive: false }, "process 7"),
        (EventPayload::LaunchStarted { pid: None, found_alive: true }, "found alive"),
        (
            EventPayload::LeftoversEnded { of: Some(launch()), processes: vec![process.clone()] },
            "processes of launch 00000000-0000-0000-0000-000000000001: 7 (sleep 9)",
        ),
        (
            EventPayload::LeftoversEnded { of: None, processes: vec![process] },
            "processes of dead launches: 7 (sleep 9)",
        ),
        (EventPayload::RestartPlanned { after_ms: 500 }, "restart in 500 ms"),
        (
            EventPayload::EnvironmentFound { source: EnvironmentSource::LoginShell },
            "restarts with the environment of the login shell",
        ),
        (
            gave_up("3 failures", Some(address())),
            "3 failures; run `segue resume shop/coder` to try again",
        ),
        (gave_up("no disk", None), "no disk"),
        (
            EventPayload::TurnFailed {
                class: FailureClass::UsageLimit,
                message: "come back later".to_owned(),
            },
            "usage limit: come back later",
        ),
    ]
}

fn launch_ends() -> SentenceCases {
    let ended = |exit, is_requested, cause, start_error| EventPayload::LaunchEnded {
        exit,
        is_requested,
        cause,
        start_error,
    };
    vec![
        (ended(Exit::Code(0), true, None, None), "exit status 0, as asked"),
        (ended(Exit::Unknown, false, some("x"), None), "ended while Segue was not watching"),
        (ended(Exit::Signal(9), false, None, None), "signal 9"),
        (ended(Exit::Code(1), false, some("no key"), None), "exit status 1; no key"),
        (ended(Exit::NeverStarted, false, None, some("no file")), "not started: no file"),
        (ended(Exit::Code(1), false, None, some("no answer")), "exit status 1: no answer"),
        (
            ended(Exit::Unknown, false, None, some("no answer")),
            "ended while Segue was not watching: no answer",
        ),
    ]
}

fn transcripts() -> SentenceCases {
    let path = || "/t/abc.jsonl".to_owned();
    let restored = |from, error| EventPayload::TranscriptRestored { what: path(), from, error };
    vec![
        (
            restored(RestoreSource::Guard(launch()), None),
            "/t/abc.jsonl from the guard of launch 00000000-0000-0000-0000-000000000001",
        ),
        (restored(RestoreSource::Archive, None), "/t/abc.jsonl from the archive"),
        (restored(RestoreSource::OwnGuard, None), "/t/abc.jsonl, which the start had deleted"),
        (
            restored(RestoreSource::OwnGuard, some("no space")),
            "/t/abc.jsonl could not be restored: no space",
        ),
        (
            EventPayload::TranscriptUnguarded { path: path() },
            "/t/abc.jsonl is on another filesystem: no guard",
        ),
        (
            EventPayload::ArchiveDropped {
                vendor: VendorId::new("tool"),
                conversation: id(),
                bytes: 9,
            },
            "tool's abc, 9 bytes: the archive was full",
        ),
    ]
}

fn messages() -> SentenceCases {
    let message = MessageId::new(Uuid::from_u128(2));
    let only_id = "message 00000000-0000-0000-0000-000000000002";
    let answered =
        |given: &str, question| EventPayload::Answered { given: given.to_owned(), question };
    vec![
        (EventPayload::MessageQueued { message, again: None }, only_id),
        (
            EventPayload::MessageQueued { message, again: some("it was not typed") },
            "message 00000000-0000-0000-0000-000000000002: it was not typed",
        ),
        (EventPayload::MessageTyped { message }, only_id),
        (
            EventPayload::MessageDelivered { message },
            "message 00000000-0000-0000-0000-000000000002: in the transcript",
        ),
        (
            EventPayload::MessageUncertain { message, reason: "no proof".to_owned() },
            "message 00000000-0000-0000-0000-000000000002: no proof",
        ),
        (EventPayload::MessageCancelled { message }, only_id),
        (answered("choice 1", some("Go on?")), "choice 1 to: Go on?"),
        (answered("yes", None), "yes"),
    ]
}

fn tasks() -> SentenceCases {
    let task = TaskId::new(Uuid::from_u128(3));
    let changed = |state, reason| EventPayload::TaskChanged { task, state, reason };
    let (plan, name) = (PlanId::new(Uuid::from_u128(4)), PlanName::parse("release").unwrap());
    let gate = PlanTaskName::parse("ship").unwrap();
    let (reached, approved) = ((name.clone(), gate.clone()), (name.clone(), gate));
    vec![
        (
            EventPayload::PlanApplied {
                plan,
                name: name.clone(),
                added: 2,
                changed: 1,
                removed: 0,
            },
            "plan release: 2 added, 1 changed, 0 removed",
        ),
        (
            EventPayload::PlanChanged { plan, name, state: PlanState::Paused },
            "plan release is paused",
        ),
        (
            EventPayload::PlanGateReached { plan, name: reached.0, gate: reached.1 },
            "plan release: ship waits for an approval",
        ),
        (
            EventPayload::PlanGateApproved { plan, name: approved.0, gate: approved.1 },
            "plan release: ship is approved",
        ),
        (changed(TaskStateKind::Queued, None), "task 00000000-0000-0000-0000-000000000003: queued"),
        (
            changed(TaskStateKind::Failed, some("no answer")),
            "task 00000000-0000-0000-0000-000000000003: failed (no answer)",
        ),
    ]
}

fn network() -> SentenceCases {
    let name = || "ci".to_owned();
    vec![
        (
            EventPayload::ListenerChanged { address: some("127.0.0.1:4747") },
            "listens on 127.0.0.1:4747",
        ),
        (EventPayload::ListenerChanged { address: None }, "switched off"),
        (EventPayload::TokenCreated { name: name() }, "token `ci`"),
        (EventPayload::TokenRevoked { name: name() }, "token `ci`"),
    ]
}

fn forges() -> SentenceCases {
    let (task, source) = (TaskId::new(Uuid::from_u128(3)), || SourceName::parse("hub").unwrap());
    let delivery = DeliveryId::new(Uuid::from_u128(4));
    let reply = |state, reason: Option<&str>| EventPayload::ReplyChanged {
        task,
        state,
        reason: reason.map(str::to_owned),
    };
    vec![
        (
            EventPayload::DeliveryProcessed { delivery, source: source(), what: "no rule".into() },
            "delivery 00000000-0000-0000-0000-000000000004 of hub: no rule",
        ),
        (
            reply(ReplyState::Written, None),
            "comment about task 00000000-0000-0000-0000-000000000003: written",
        ),
        (
            reply(ReplyState::Failed, Some("too long")),
            "comment about task 00000000-0000-0000-0000-000000000003: failed (too long)",
        ),
        (
            EventPayload::SourceChanged { source: source(), failure: None },
            "source hub: works again",
        ),
        (
            EventPayload::SourceChanged { source: source(), failure: some("no route") },
            "source hub: no route",
        ),
        (
            EventPayload::IssueCleanedUp { source: source(), issue: "7".into(), worktrees: 2 },
            "issue 7 of hub: 2 worktrees removed",
        ),
    ]
}

fn housekeeping() -> SentenceCases {
    let swept = |removed: &[(&str, usize)], failed, reason: &str| {
        let removed = removed.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
        EventPayload::Swept(SweptFacts { removed, failed, reason: reason.to_owned() })
    };
    let level = DiskLevel::Warning;
    let (used, budget) = (40_000_000_000, 50_000_000_000);
    vec![
        (
            swept(&[("worktree", 1), ("launch", 3)], 0, "they were old"),
            "removed launch 3, worktree 1: they were old",
        ),
        (swept(&[], 2, "they were old"), "removed nothing, 2 failed: they were old"),
        (EventPayload::DiskLevelChanged { level, used, budget }, "warning: 40 GB of 50 GB"),
        (
            EventPayload::IssueReset {
                agent: "coder".to_owned(),
                repository: "/src/shop".to_owned(),
                issue: "17".to_owned(),
            },
            "coder begins anew with issue 17 of /src/shop",
        ),
    ]
}

fn event(payload: EventPayload) -> Event {
    let fact = NewEvent { at: Timestamp::UNIX_EPOCH, session: None, launch: None, payload };
    Event { seq: 1, fact }
}

#[test]
fn every_kind_of_payload_is_rendered_and_read_back_from_json() {
    let table: SentenceCases = [
        sessions(),
        questions(),
        repetitions(),
        reports(),
        launches(),
        launch_ends(),
        transcripts(),
        messages(),
        tasks(),
        network(),
        forges(),
        housekeeping(),
    ]
    .concat();
    for kind in EventKind::ALL {
        assert!(table.iter().any(|(payload, _)| payload.kind() == *kind), "{kind:?} is missing");
    }
    for (payload, sentence) in table {
        assert_eq!(payload.to_string(), sentence);
        let event = event(payload);
        let written = serde_json::to_value(&event).unwrap();
        assert_eq!(written["kind"], event.fact.payload.kind().word());
        assert_eq!(written["text"], sentence);
        assert!(written["data"].is_object(), "{written}");
        assert_eq!(serde_json::from_value::<Event>(written).unwrap(), event);
    }
}

#[test]
fn event_without_data_or_with_unknown_data_keeps_its_kind_and_text() {
    let recorded =
        EventPayload::Recorded { kind: EventKind::GaveUp, text: "gave up: 3 times".to_owned() };
    let json = |data: Value| {
        json!({
            "seq": 1, "at": "1970-01-01T00:00:00Z", "session": null, "launch": null,
            "kind": "gave_up", "text": "gave up: 3 times", "data": data,
        })
    };
    let mut without = json(Value::Null);
    without.as_object_mut().unwrap().remove("data");
    for written in [without, json(Value::Null), json(json!({"of": "another version"}))] {
        let read: Event = serde_json::from_value(written).unwrap();
        assert_eq!(read, event(recorded.clone()));
    }
    assert_eq!(recorded.data(), None);
}
