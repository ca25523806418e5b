//! Sessions come back: with their conversation, or with a copy of it.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use segue_testkit::hold::{Hold, kill_waiting_daemon};
use segue_testkit::{World, archive, conversation, launches, processes};
use serde_json::Value;

use super::{
    NAME, Scenario, prompt, report_was_true, wait_at_rest, with_dead_session, with_session,
};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "resume",
        prepare: |world| drop(with_dead_session(world)),
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        ..Scenario::PLAIN
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
        ..Scenario::PLAIN
    },
    Scenario {
        name: "adopt",
        prepare: with_unknown_id,
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "restore",
        prepare: |world| fs::remove_file(with_dead_session(world)).unwrap(),
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        ..Scenario::PLAIN
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
        ..Scenario::PLAIN
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
        ..Scenario::PLAIN
    },
    Scenario {
        name: "leftovers",
        prepare: with_leftovers,
        act: |world| world.segue(["resume", "--all", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "reconcile",
        prepare: |world| {
            with_session(world);
            kill_waiting_daemon(world);
        },
        act: |world| world.segue(["ls", "--all", "--json"]),
        check: |world, outcome| {
            if outcome.status == 0 {
                let list: Value = serde_json::from_str(&outcome.stdout).unwrap();
                let listed = list["sessions"][0]["name"].as_str();
                assert_eq!(listed, Some(NAME), "{outcome:#?}");
                world.session(NAME);
            }
        },
        ..Scenario::PLAIN
    },
];

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
