//! One agent after a crash, a clean exit, the death of its holder, or a killed turn.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use segue_testkit::events::Events;
use segue_testkit::hold::{Hold, kill_both_at};
use segue_testkit::{World, conversation, launches, processes, scene};
use serde_json::Value;

use crate::{invariants, world};

/// Waits until `is_wanted` accepts the session. Checks again after each change of a status.
fn wait_session(world: &World, name: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let mut events = Events::of(world);
    loop {
        let session = world.session(name);
        if is_wanted(&session) {
            return session;
        }
        let more = events.wait_for(|event| event["kind"] == "status_changed");
        assert!(more.is_some(), "the daemon ended; the session is {session:#}");
    }
}

fn wait_idle(world: &World, launches: u64) -> Value {
    wait_session(world, "alpha", |it| it["status"] == "idle" && it["launches"] == launches)
}

fn said(world: &World, session: &Value) -> Vec<String> {
    conversation::said(&scene::transcript(world, session))
}

#[test]
fn killed_turn_is_nudged_once_and_an_idle_agent_never() {
    let world = world();
    let session = scene::told(&world, "alpha", "heron");
    conversation::type_text(&world, &session, "/slow 600\r");
    let transcript = scene::transcript(&world, &session);
    let is_heard = || conversation::said(&transcript).len() == 2;
    launches::wait_until(&[transcript.parent().unwrap()], "the message", is_heard);
    world.kill_everything();

    world.resume(["--all"]).assert_back("alpha", "resumed");
    wait_idle(&world, 2);
    let nudged = said(&world, &session);
    assert_eq!(nudged.len(), 3, "{nudged:?}");
    assert!(nudged[2].contains("started again"), "{nudged:?}");

    world.kill_everything();
    world.resume(["--all"]).assert_back("alpha", "resumed");
    wait_idle(&world, 3);
    assert_eq!(said(&world, &session), nudged);
    scene::assert_knows(&world, "alpha", "heron");
}

#[test]
fn crashed_agent_restarts_with_its_environment_which_is_not_on_disk() {
    const SECRET: &str = "a-secret-that-is-on-no-disk";
    let mut world = world();
    world.set("API_KEY", SECRET);
    let session = scene::told(&world, "alpha", "heron");
    world.unset("API_KEY");
    conversation::type_text(&world, &session, "/crash\r");
    let back = wait_idle(&world, 2);
    assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
    let value = processes::variable(scene::process(&back, "pid"), "API_KEY");
    assert_eq!(value.as_deref(), Some(SECRET));
    scene::assert_knows(&world, "alpha", "heron");
    for file in files(&world.segue_home()) {
        let content = fs::read(&file).unwrap_or_default();
        let found = content.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!found, "the secret is in {}", file.display());
    }
    let names = fs::read_to_string(launches::of(&world, &back)[1].0.join("session.json")).unwrap();
    assert!(names.contains("API_KEY"), "the name of the variable is not recorded");
}

#[test]
fn agent_restarts_although_the_daemon_dies_between_crash_and_restart() {
    for point in ["observe.commit.after", "launch.commit.after", "holders.spawn.before"] {
        let mut world = world();
        world.set("API_KEY", "kept");
        let session = scene::told(&world, "alpha", "heron");
        world.unset("API_KEY");
        scene::kill_daemon(&world);
        let hold = Hold::at(&mut world, point);
        // The next daemon is held at this failpoint. Before that, it has found the agent alive.
        let mut list = world.start(["ls"]);
        if point == "observe.commit.after" {
            processes::kill(scene::process(&session, "pid"));
        } else {
            conversation::type_text(&world, &session, "/crash\r");
        }
        hold.meanwhile(&mut world, |world| {
            let is_daemon = |pid: &u32| processes::command_line(*pid).iter().any(|it| it == "run");
            processes::kill_all(|| world.processes().into_iter().filter(is_daemon).collect());
        });
        list.wait().unwrap();
        let back = wait_session(&world, "alpha", |it| {
            let has_other = it["pid"].is_number() && it["pid"] != session["pid"];
            has_other && it["status"] == "idle"
        });
        let value = processes::variable(scene::process(&back, "pid"), "API_KEY");
        assert_eq!(value.as_deref(), Some("kept"), "{point}");
        scene::assert_knows(&world, "alpha", "heron");
        invariants::check(&world, |_| "heron".to_owned());
    }
}

#[test]
fn agent_that_a_person_quit_is_not_restarted() {
    let world = world();
    let session = scene::told(&world, "alpha", "heron");
    conversation::type_text(&world, &session, "/exit\r");
    let ended = wait_session(&world, "alpha", |it| it["status"] == "ended");
    assert_eq!(ended["status_detail"], "quit");
    // Only the holder has the environment. Without the holder, the agent cannot be restarted.
    processes::wait_gone(scene::process(&session, "holder_pid"));
    assert_eq!(scene::told_events(&world, "alpha", "restart_planned"), Vec::<String>::new());
    assert_eq!(world.session("alpha")["launches"], 1);

    let nothing = world.resume(["--all"]);
    assert_eq!(nothing.json["agents"], Value::Array(Vec::new()), "a quit session was resumed");
    world.resume(["alpha"]).assert_back("alpha", "resumed");
    scene::assert_knows(&world, "alpha", "heron");
}

#[test]
fn session_waits_for_a_choice_after_three_crashes_in_a_row() {
    let world = world();
    let session = scene::told(&world, "alpha", "heron");
    for launches in 1..=3 {
        let session = wait_idle(&world, launches);
        conversation::type_text(&world, &session, "/crash\r");
    }
    let waiting = wait_session(&world, "alpha", |it| it["status"] == "waiting");
    assert_eq!(waiting["status_detail"], "choice");
    assert_eq!(waiting["waiting_for"], "choice");
    assert_eq!(waiting["pid"], Value::Null);
    // The session would never be idle, so `wait` returns an error.
    let wait = world.segue(["wait", "alpha", "--for", "idle"]);
    assert_eq!(wait.status, 4, "{wait:#?}");
    assert!(wait.stderr.contains("segue resume default/alpha"), "{wait:#?}");

    let refused = world.resume(["--all"]);
    refused.assert_not_back("alpha", "refused");
    for choice in ["segue log", "segue resume default/alpha", "--fresh"] {
        assert!(refused.note("alpha").contains(choice), "{refused:#?}");
    }
    world.resume(["alpha"]).assert_back("alpha", "resumed");
    assert_eq!(world.session("alpha")["vendor_session_id"], session["vendor_session_id"]);
    scene::assert_knows(&world, "alpha", "heron");
    invariants::check(&world, |_| "heron".to_owned());
}

#[test]
fn session_whose_holder_was_killed_is_interrupted() {
    let world = world();
    let session = scene::told(&world, "alpha", "heron");
    processes::kill(scene::process(&session, "holder_pid"));
    let interrupted = wait_session(&world, "alpha", |it| it["status"] == "interrupted");
    assert_eq!(interrupted["status_detail"], Value::Null);
    assert_eq!(interrupted["waiting_for"], Value::Null);
    // The session would never be idle, so `wait` returns an error.
    let wait = world.segue(["wait", "alpha", "--for", "idle"]);
    assert_eq!(wait.status, 4, "{wait:#?}");
    assert!(wait.stderr.contains("segue resume default/alpha"), "{wait:#?}");
    processes::wait_gone(scene::process(&session, "pid"));
    assert_eq!(
        scene::told_events(&world, "alpha", "launch_ended"),
        ["ended while Segue was not watching"]
    );

    world.resume(["--all"]).assert_back("alpha", "resumed");
    scene::assert_knows(&world, "alpha", "heron");
    invariants::check(&world, |_| "heron".to_owned());
}

/// The daemon dies while its holder is starting. The next daemon must not start a second agent, and
/// the late holder must not start one either.
#[test]
fn late_holder_of_an_abandoned_launch_starts_nothing() {
    let mut world = world();
    let hold = Hold::process_at(&mut world, "holder", "hold.lock.before");
    let mut run = world.start(["run", "-d", "--name", "alpha", "remember the word heron"]);
    let mut late = Vec::new();
    hold.meanwhile(&mut world, |world| {
        run.kill().and_then(|()| run.wait()).unwrap();
        scene::kill_daemon(world);
        assert_eq!(world.session("alpha")["status"], "interrupted");
        let is_holder = |pid: &u32| processes::command_line(*pid).iter().any(|it| it == "hold");
        late = world.processes().into_iter().filter(is_holder).collect();
        assert_eq!(late.len(), 1, "a holder that waits");
    });
    late.into_iter().for_each(processes::wait_gone);
    let conversations = world.home().join(".segue-demo");
    assert!(!conversations.exists(), "an agent was started");
    world.resume(["--all"]).assert_back("alpha", "started");
    invariants::check(&world, |_| "heron".to_owned());
}

/// The daemon dies while its holder is about to start the agent. The next daemon waits for that
/// holder.
#[test]
fn next_daemon_waits_for_a_holder_that_is_about_to_start_its_agent() {
    let mut world = world();
    let hold = Hold::process_at(&mut world, "holder", "hold.lock.after");
    let mut run = world.start(["run", "-d", "--name", "alpha", "remember the word heron"]);
    let log = world.root().join("points");
    let mut resume = None;
    hold.meanwhile(&mut world, |world| {
        run.kill().and_then(|()| run.wait()).unwrap();
        scene::kill_daemon(world);
        let mut command = world.command(["resume", "--all", "--json"]);
        command.env("SEGUE_FAILPOINT", "list").env("SEGUE_FAILPOINT_LOG", &log);
        resume = Some(command.stdout(Stdio::piped()).spawn().unwrap());
        let waits = || fs::read_to_string(&log).is_ok_and(|it| it.contains("holders.abandon.wait"));
        launches::wait_until(&[world.root()], "a daemon that waits for the holder", waits);
    });
    let output = resume.unwrap().wait_with_output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("\"running\""), "{report}");
    assert_eq!(world.session("alpha")["launches"], 1);
    scene::assert_knows(&world, "alpha", "heron");
    invariants::check(&world, |_| "heron".to_owned());
}

/// An agent that is killed after it created its transcript, and before it wrote to it, leaves an
/// empty file. It refuses to start a conversation under an id that has a file.
#[test]
fn empty_transcript_counts_as_no_message_and_no_loss() {
    let mut world = world();
    let run = ["run", "-d", "--name", "alpha", "remember the word heron"];
    kill_both_at(&mut world, "launch.commit.after", |world| world.start(run));
    make_empty_transcript(&world, &world.session("alpha"));
    world.resume(["--all"]).assert_back("alpha", "started");
    scene::assert_knows(&world, "alpha", "heron");

    // The same while a daemon runs, which guards the transcripts that it sees.
    world.ok(["run", "-d", "--name", "beta"]);
    let beta = wait_session(&world, "beta", |it| it["status"] == "idle");
    make_empty_transcript(&world, &beta);
    // The daemon handles changes in order. After this answer it has handled the empty file.
    conversation::ask(&world, &world.session("alpha"), "hello");
    world.kill_everything();
    world.resume(["--all"]).assert_back("beta", "started");
    let beta = world.session("beta");
    conversation::type_text(&world, &beta, "what is the word?\r");
    let answer = conversation::wait_turns(&world, &beta, 1);
    assert_eq!(answer, "I was told no word in this conversation.");
    assert!(world.segue(["doctor"]).stdout.starts_with("nothing is wrong\n"));
}

fn make_empty_transcript(world: &World, session: &Value) {
    let cwd = scene::text(session, "cwd");
    let folder: String =
        cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = world.home().join(".segue-demo/conversations").join(folder);
    fs::create_dir_all(&folder).unwrap();
    let name = format!("{}.jsonl", scene::text(session, "vendor_session_id"));
    fs::write(folder.join(name), "").unwrap();
}

/// Returns every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(files(&entry.path())),
            kind if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}
