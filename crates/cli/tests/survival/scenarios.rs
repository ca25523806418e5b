//! Actions of users. Each scenario has a preparation, an action, and a check of the command's report.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use segue_testkit::events::Events;
use segue_testkit::hold::{Hold, kill_waiting_daemon};
use segue_testkit::scene::{pids_running, write_project};
use segue_testkit::world::CommandOutcome;
use segue_testkit::{Terminal, World, archive, conversation, launches, processes};
use serde_json::{Value, json};

/// An action of a user during which any process may be killed.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Creates the state before the action.
    pub(crate) prepare: fn(&World),
    /// Performs the action as far as possible; returns the outcome of its command.
    pub(crate) act: fn(&World) -> CommandOutcome,
    /// Waits until the action has no more effects, or until that cannot be known any more.
    pub(crate) settle: fn(&World),
    /// Checks that the output of the command is true.
    pub(crate) check: fn(&World, &CommandOutcome),
    /// Does what a user would do after the action failed.
    pub(crate) repeat: fn(&World),
}

/// The name of the session in most scenarios.
pub(crate) const NAME: &str = "alpha";

/// The key of the task in the scenario `task`.
const TASK: &str = "nightly";

pub(crate) const ALL: &[Scenario] = &[
    Scenario {
        name: "run",
        prepare: |_| {},
        act: |world| world.segue(["run", "-d", "--name", NAME, &prompt(NAME)]),
        settle: wait_at_rest,
        check: run_was_true,
        repeat: run_unless_there,
    },
    Scenario {
        name: "run-long",
        prepare: |_| {},
        act: |world| world.segue(["run", "-d", "--name", NAME, &long_prompt()]),
        settle: wait_at_rest,
        check: run_was_true,
        repeat: run_unless_there,
    },
    Scenario {
        name: "run-headless",
        prepare: |_| {},
        act: |world| world.segue(["run", "--headless", "--name", NAME, &prompt(NAME)]),
        settle: wait_no_holder,
        check: turn_was_true,
        repeat: run_headless_unless_there,
    },
    Scenario {
        name: "task",
        prepare: with_project,
        act: add_task,
        settle: |world| drop(world.segue(["task", "wait", TASK])),
        check: task_was_true,
        repeat: |world| {
            let again = add_task(world);
            assert_eq!(again.status, 0, "{again:#?}");
        },
    },
    Scenario {
        name: "run-own-id",
        prepare: |_| {},
        act: |world| world.segue(["run", "-d", "--name", NAME, &prompt(NAME), "--", "--own-id"]),
        settle: wait_at_rest,
        check: run_was_true,
        repeat: run_unless_there,
    },
    Scenario {
        name: "up",
        prepare: with_project,
        act: |world| world.segue(["up", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        repeat: |world| {
            let again = world.segue(["up", "--json"]);
            assert_eq!(again.status, 0, "{again:#?}");
        },
    },
    Scenario {
        name: "crash",
        prepare: with_session,
        act: |world| {
            conversation::type_text(world, &world.session(NAME), "/crash\r");
            no_outcome()
        },
        settle: wait_restarted,
        check: |_, _| {},
        repeat: |_| {},
    },
    Scenario {
        name: "resume",
        prepare: |world| drop(with_dead_session(world)),
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        repeat: |_| {},
    },
    Scenario {
        name: "resume-partial-line",
        prepare: |world| {
            let transcript = with_dead_session(world);
            let mut file = fs::File::options().append(true).open(transcript).unwrap();
            file.write_all(b"{\"type\":\"assis").unwrap();
        },
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        repeat: |_| {},
    },
    Scenario {
        name: "adopt",
        prepare: with_unknown_id,
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        repeat: |_| {},
    },
    Scenario {
        name: "rebuild",
        prepare: |world| {
            with_dead_session(world);
            fs::remove_dir_all(world.database().parent().unwrap()).unwrap();
        },
        act: |world| world.segue(["doctor", "--fix"]),
        settle: |_| {},
        check: |_, _| {},
        repeat: doctor_again,
    },
    Scenario {
        name: "rebuild-broken",
        prepare: |world| {
            with_dead_session(world);
            fs::write(world.database(), "this is no database ".repeat(1000)).unwrap();
        },
        act: |world| world.segue(["doctor", "--fix"]),
        settle: |_| {},
        check: |_, _| {},
        repeat: doctor_again,
    },
    Scenario {
        name: "rebuild-salvaged",
        prepare: |world| {
            with_session(world);
            // A daemon that ends cleanly leaves a backup.
            world.ok(["daemon", "stop"]);
            world.kill_everything();
            let file = fs::File::options().write(true).open(world.database()).unwrap();
            file.write_all_at(&[0x55; 100], 0).unwrap();
        },
        act: |world| world.segue(["doctor", "--fix"]),
        settle: |_| {},
        check: |_, _| {},
        repeat: doctor_again,
    },
    Scenario {
        name: "backup",
        prepare: with_session,
        act: |world| world.segue(["daemon", "stop"]),
        settle: |_| {},
        check: |_, _| {},
        repeat: |_| {},
    },
    Scenario {
        name: "restore",
        prepare: |world| fs::remove_file(with_dead_session(world)).unwrap(),
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        repeat: |_| {},
    },
    Scenario {
        name: "archive-keep",
        prepare: |world| {
            with_dead_session(world);
            archive::remove_all(world);
        },
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        repeat: |_| {},
    },
    Scenario {
        name: "archive-restore",
        prepare: |world| {
            with_session(world);
            let session = world.session(NAME);
            world.ok(["stop", NAME]);
            let id = session["vendor_session_id"].as_str().unwrap();
            let transcript = conversation::transcript(world, id).unwrap();
            archive::wait_archived(world, &session, &transcript);
            fs::remove_file(transcript).unwrap();
            launches::remove_guards(world, &session);
        },
        act: |world| world.segue(["resume", NAME, "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        repeat: |_| {},
    },
    Scenario {
        name: "archive-purge",
        prepare: |world| {
            with_session(world);
            world.ok(["stop", NAME]);
        },
        act: |world| world.segue(["rm", NAME, "--purge", "--yes"]),
        settle: |_| {},
        check: |world, outcome| {
            if outcome.status == 0 {
                assert_purged(world);
            }
        },
        repeat: |world| {
            let again = world.segue(["rm", NAME, "--purge", "--yes"]);
            assert!([0, 3].contains(&again.status), "{again:#?}");
            assert_purged(world);
        },
    },
    Scenario {
        name: "leftovers",
        prepare: with_leftovers,
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        repeat: |_| {},
    },
    Scenario {
        name: "reconcile",
        prepare: |world| {
            with_session(world);
            kill_waiting_daemon(world);
        },
        act: |world| world.segue(["ls", "--all", "--json"]),
        settle: |_| {},
        check: |world, outcome| {
            if outcome.status == 0 {
                let list: Value = serde_json::from_str(&outcome.stdout).unwrap();
                let listed = list["sessions"][0]["name"].as_str();
                assert_eq!(listed, Some(NAME), "{outcome:#?}");
                world.session(NAME);
            }
        },
        repeat: |_| {},
    },
    Scenario {
        name: "stop",
        prepare: with_session,
        act: |world| world.segue(["stop", NAME]),
        settle: wait_no_holder,
        check: stop_was_true,
        repeat: |world| {
            world.ok(["stop", NAME]);
            let session = world.session(NAME);
            assert_eq!((&session["status"], &session["pid"]), (&"ended".into(), &Value::Null));
        },
    },
    Scenario {
        name: "send",
        prepare: with_session,
        act: |world| world.segue(["send", NAME, MESSAGE]),
        settle: wait_at_rest,
        check: message_was_received,
        repeat: message_is_received_if_recorded,
    },
    Scenario {
        name: "send-headless",
        prepare: |world| drop(world.ok(["run", "--headless", "--name", NAME, &prompt(NAME)])),
        act: |world| world.segue(["send", NAME, "--wait", MESSAGE]),
        settle: wait_no_holder,
        check: message_was_received,
        repeat: message_is_received_if_recorded,
    },
    Scenario {
        name: "handoff",
        prepare: with_session,
        act: |world| world.segue(["handoff", NAME, "--to", "demo", "--json"]),
        settle: wait_at_rest,
        check: handoff_was_true,
        repeat: hand_over_again,
    },
    Scenario {
        name: "handoff-digest",
        prepare: with_session,
        act: |world| world.segue(["handoff", NAME, "--to", "demo", "--mode", "digest", "--json"]),
        settle: wait_at_rest,
        check: handoff_was_true,
        repeat: hand_over_again,
    },
    Scenario {
        name: "handoff-back",
        prepare: with_handed_over_session,
        act: |world| world.segue(["handoff", NEXT, "--to", "demo", "--json"]),
        settle: wait_at_rest,
        check: handoff_was_true,
        repeat: hand_back_again,
    },
    Scenario {
        name: "attach",
        prepare: with_session,
        act: attach_and_detach,
        settle: |_| {},
        check: |world, outcome| {
            if outcome.status == 0 {
                assert_eq!(world.session(NAME)["status"], "idle", "{outcome:#?}");
            }
        },
        repeat: |_| {},
    },
    Scenario {
        name: "rm",
        prepare: |world| {
            with_session(world);
            world.ok(["stop", NAME]);
        },
        act: |world| world.segue(["rm", NAME, "--yes"]),
        settle: |_| {},
        check: |world, outcome| {
            if outcome.status == 0 {
                assert_removed(world);
            }
        },
        repeat: |world| {
            let again = world.segue(["rm", NAME, "--yes"]);
            assert!([0, 3].contains(&again.status), "{again:#?}");
            assert_removed(world);
        },
    },
];

/// The name of the session that continues the conversation after a handoff.
const NEXT: &str = "alpha-demo";

/// The message that a session is sent once.
const MESSAGE: &str = "this is said once";

/// Returns the word that a session is to remember.
pub(crate) fn word(name: &str) -> String {
    // A conversation that was handed over knows the word of the session that it comes from.
    format!("heron-of-{}", name.split('-').next().unwrap_or(name))
}

/// Returns the message that tells a session to remember its word.
pub(crate) fn prompt(name: &str) -> String {
    format!("remember the word {}", word(name))
}

/// Returns a prompt that is too long for an argument of an agent, but not for one of `segue`.
fn long_prompt() -> String {
    format!("{} {}", prompt(NAME), "and this ".repeat(12_000))
}

/// The outcome of an action without a command.
fn no_outcome() -> CommandOutcome {
    CommandOutcome { status: -1, stdout: String::new(), stderr: String::new() }
}

/// Creates a session that has completed its first turn.
fn with_session(world: &World) {
    world.ok(["run", "-d", "--name", NAME, &prompt(NAME)]);
    wait_at_rest(world);
}

/// Creates a session without any process. Returns its transcript.
fn with_dead_session(world: &World) -> PathBuf {
    with_session(world);
    let id = world.session(NAME)["vendor_session_id"].as_str().unwrap().to_owned();
    world.kill_everything();
    conversation::transcript(world, &id).unwrap()
}

/// Creates a session whose agent chose its own id, which Segue has not seen.
fn with_unknown_id(world: &World) {
    let hold = Hold::pipe_in(world);
    let mut run = world.command(["run", "-d", "--name", NAME, &prompt(NAME), "--", "--own-id"]);
    run.env("SEGUE_FAILPOINT", "launch.hold.after").env("SEGUE_FAILPOINT_ROLE", "daemon");
    run.env("SEGUE_FAILPOINT_HOLD", hold.pipe());
    run.env_remove("SEGUE_FAILPOINT_GATE").env_remove("SEGUE_FAILPOINT_LOG");
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The daemon dies before it knows the id.
    hold.while_held(|| {
        run.kill().and_then(|()| run.wait()).unwrap();
        kill_waiting_daemon(world);
    });
    conversation::wait_for_only_conversation(world);
    world.kill_everything();
}

fn doctor_again(world: &World) {
    world.ok(["doctor", "--fix"]);
}

fn with_project(world: &World) {
    let agents = ["alpha", "beta"].map(|name| {
        world.write(&format!("{name}.md"), &prompt(name));
        format!("[[agents]]\nname = \"{name}\"\nvendor = \"demo\"\nprompt = \"{name}.md\"\n")
    });
    write_project(world, &format!("[fleet]\nname = \"shop\"\n{}", agents.concat()));
}

/// Leaves only one process: a tool in a process session of its own.
fn with_leftovers(world: &World) {
    with_session(world);
    conversation::ask(world, &world.session(NAME), "/daemonize 600");
    processes::kill_all(|| {
        let is_tool = |pid: &u32| processes::command_line(*pid).iter().any(|it| it == "--tool");
        world.processes().into_iter().filter(|pid| !is_tool(pid)).collect()
    });
    assert_eq!(world.processes().len(), 1, "more than the tool is left");
}

/// Checks the report of `segue run`.
pub(crate) fn run_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        assert_eq!(outcome.stdout, "default/alpha\n");
        world.session(NAME);
    }
}

fn turn_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        assert_eq!(outcome.stdout, format!("I will remember {}.\n", word(NAME)));
        assert_eq!(world.session(NAME)["status"], "idle");
    }
}

/// Checks the report of `resume` or `up`.
fn report_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status != 0 {
        return;
    }
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["complete"], true, "{report}");
    for agent in report["agents"].as_array().unwrap() {
        let name = agent["name"].as_str().unwrap();
        assert_eq!(agent["vendor_session_id"], world.session(name)["vendor_session_id"]);
    }
}

/// Creates a session whose conversation was handed over, and has a message since then.
fn with_handed_over_session(world: &World) {
    with_session(world);
    world.ok(["handoff", NAME, "--to", "demo"]);
    conversation::ask(world, &world.session(NEXT), MESSAGE);
    wait_at_rest(world);
}

fn handoff_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let name = report["to"].as_str().unwrap().split('/').next_back().unwrap();
        assert_eq!(world.session(name)["id"], report["session"], "{report:#}");
    }
}

fn hand_over_again(world: &World) {
    if world.sessions().len() == 1 {
        let again = world.segue(["handoff", NAME, "--to", "demo", "--json"]);
        assert_eq!(again.status, 0, "{again:#?}");
    }
}

/// Repeats the handoff back. The message must still be in the conversation only once.
fn hand_back_again(world: &World) {
    let again = world.segue(["handoff", NEXT, "--to", "demo", "--json"]);
    assert_eq!(again.status, 0, "{again:#?}");
    let id = world.session(NAME)["vendor_session_id"].as_str().unwrap().to_owned();
    let received = conversation::user_messages(&conversation::transcript(world, &id).unwrap());
    assert_eq!(received.iter().filter(|text| *text == MESSAGE).count(), 1, "{received:?}");
}

fn stop_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        assert!(outcome.stdout.contains("stopped"), "{outcome:#?}");
        let session = world.session(NAME);
        assert_eq!(session["status"], "ended", "{session:#}");
        assert_eq!(session["pid"], Value::Null);
    }
}

/// Returns how often the message is in the conversations.
fn times_received(world: &World) -> usize {
    let all = conversation::transcripts(world);
    let received = all.iter().flat_map(|transcript| conversation::user_messages(transcript));
    received.filter(|text| text == MESSAGE).count()
}

fn message_was_received(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        message_is_received_if_recorded(world);
        assert_eq!(times_received(world), 1, "{outcome:#?}");
    }
    if outcome.status == 4 {
        let list = world.json(["messages", "--json"]);
        assert_eq!(list["messages"].as_array().map(Vec::len), Some(1), "{outcome:#?}");
    }
}

/// Checks that a recorded message is delivered exactly once, and one that is not recorded never.
fn message_is_received_if_recorded(world: &World) {
    assert_eq!(world.resume(["--all"]).status, 0);
    world.ok(["wait", NAME, "--for", "idle", "--timeout", "170s"]);
    let list = world.json(["messages", "--json"]);
    let all = list["messages"].as_array().unwrap();
    assert!(all.iter().all(|message| message["state"] == "delivered"), "{list:#}");
    assert_eq!(times_received(world), all.len());
}

/// Checks that nothing is left of the session.
fn assert_removed(world: &World) {
    assert_eq!(world.sessions(), Vec::<Value>::new());
    let launches = fs::read_dir(world.state().join("launches")).unwrap();
    assert_eq!(launches.count(), 0, "a launch folder is left");
}

fn assert_purged(world: &World) {
    assert_removed(world);
    assert_eq!(archive::manifests(world), Vec::<Value>::new());
    assert_eq!(conversation::transcripts(world), Vec::<PathBuf>::new());
}

fn run_unless_there(world: &World) {
    if world.sessions().is_empty() {
        world.ok(["run", "-d", "--name", NAME, &prompt(NAME)]);
    }
}

/// Adds a task for the agent `alpha` and waits for its end. A repeated command finds the same task.
fn add_task(world: &World) -> CommandOutcome {
    world.segue(["task", "add", "--agent", NAME, "--key", TASK, "--wait", &prompt(NAME)])
}

/// Checks that the task has ended once, and that its answer is the printed one.
fn task_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        let task = &world.json(["task", "show", TASK, "--json"])["task"];
        let answer = task["result"]["answer"].as_str().unwrap();
        assert_eq!(outcome.stdout, format!("{answer}\n"));
        assert_eq!((&task["state"], &task["attempts"]), (&json!("done"), &json!(1)), "{task:#}");
        assert_eq!(world.sessions().len(), 1, "{:#?}", world.sessions());
    }
}

fn run_headless_unless_there(world: &World) {
    if world.sessions().is_empty() {
        world.ok(["run", "--headless", "--name", NAME, &prompt(NAME)]);
    }
}

fn attach_and_detach(world: &World) -> CommandOutcome {
    let mut terminal = Terminal::start(&world.command(["attach", NAME]), 24, 80);
    if terminal.shows(&word(NAME)) {
        terminal.write("\x1cd");
    }
    let status = terminal.wait();
    CommandOutcome { status, stdout: terminal.contents(), stderr: String::new() }
}

/// Waits until every session is idle, waiting, interrupted or ended.
pub(crate) fn wait_at_rest(world: &World) {
    wait_all(world, |session| {
        ["idle", "waiting", "interrupted", "ended"]
            .iter()
            .any(|status| session["status"] == *status)
    });
}

fn wait_restarted(world: &World) {
    wait_all(world, |session| {
        let is_back = session["launches"] == 2 && session["status"] == "idle";
        is_back || session["status"] == "waiting" || session["status"] == "interrupted"
    });
}

/// Waits until `is_wanted` accepts all sessions, or until the daemon ends.
fn wait_all(world: &World, is_wanted: impl Fn(&Value) -> bool) {
    let mut events = Events::of(world);
    while !quiet_sessions(world).is_none_or(|sessions| sessions.iter().all(&is_wanted)) {
        if events.wait_for(|event| event["kind"] == "status_changed").is_none() {
            return;
        }
    }
}

/// Returns all sessions, with a command that passes no failpoint. `None` if the command fails.
fn quiet_sessions(world: &World) -> Option<Vec<Value>> {
    let mut command = world.command(["ls", "--all", "--json"]);
    let outcome = CommandOutcome::of(command.env_remove("SEGUE_FAILPOINT"));
    let list: Value = serde_json::from_str(&outcome.stdout).ok()?;
    list["sessions"].as_array().cloned()
}

/// Waits until no holder runs.
fn wait_no_holder(world: &World) {
    pids_running(world, "hold").into_iter().for_each(processes::wait_gone);
}
