//! One agent after a crash, a clean exit, the death of its holder, or a killed turn.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use segue_testkit::hold::{Hold, kill_both_at, kill_waiting_daemon};
use segue_testkit::{World, conversation, files, launches, processes, scene};
use serde_json::Value;

use crate::{invariants, world};

/// Waits until the session `alpha` is idle in this launch.
fn wait_idle(world: &World, launches: u64) -> Value {
    scene::wait_session(world, "alpha", |it| it["status"] == "idle" && it["launches"] == launches)
}

/// Returns the user messages of a session's conversation.
fn messages_of(world: &World, session: &Value) -> Vec<String> {
    conversation::user_messages(&scene::transcript(world, session))
}

#[test]
fn killed_turn_is_nudged_once_and_an_idle_agent_never() {
    let world = world();
    let session = scene::start_with_word(&world, "alpha", "heron");
    conversation::type_text(&world, &session, "/slow 600\r");
    let transcript = scene::transcript(&world, &session);
    let has_message = || conversation::user_messages(&transcript).len() == 2;
    launches::wait_until(&[transcript.parent().unwrap()], "the message", has_message);
    world.kill_everything();

    world.resume(["--all"]).assert_back("alpha", "resumed");
    wait_idle(&world, 2);
    let nudged = messages_of(&world, &session);
    assert_eq!(nudged.len(), 3, "{nudged:?}");
    assert!(nudged[2].contains("started again"), "{nudged:?}");

    world.kill_everything();
    world.resume(["--all"]).assert_back("alpha", "resumed");
    wait_idle(&world, 3);
    assert_eq!(messages_of(&world, &session), nudged);
    scene::assert_knows(&world, "alpha", "heron");
}

#[test]
fn crashed_agent_restarts_with_its_environment_which_is_not_on_disk() {
    const SECRET: &str = "a-secret-that-is-on-no-disk";
    let mut world = world();
    world.set("API_KEY", SECRET);
    let session = scene::start_with_word(&world, "alpha", "heron");
    world.unset("API_KEY");
    conversation::type_text(&world, &session, "/crash\r");
    let back = wait_idle(&world, 2);
    assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
    let value = processes::variable(scene::pid(&back, "pid"), "API_KEY");
    assert_eq!(value.as_deref(), Some(SECRET));
    scene::assert_knows(&world, "alpha", "heron");
    assert_eq!(files::containing(&world.segue_home(), SECRET), Vec::<PathBuf>::new());
    let record = launches::newest_json(&world, &back).to_string();
    assert!(record.contains("API_KEY"), "the name of the variable is not recorded");
}

#[test]
fn agent_restarts_although_the_daemon_dies_between_crash_and_restart() {
    for point in ["observe.commit.after", "launch.commit.after", "holders.spawn.before"] {
        let mut world = world();
        world.set("API_KEY", "kept");
        let session = scene::start_with_word(&world, "alpha", "heron");
        world.unset("API_KEY");
        scene::kill_daemon(&world);
        let hold = Hold::at(&mut world, point);
        // The next daemon is held at this failpoint. Before that, it has found the agent alive.
        let mut list = world.start(["ls"]);
        if point == "observe.commit.after" {
            processes::kill(scene::pid(&session, "pid"));
        } else {
            conversation::type_text(&world, &session, "/crash\r");
        }
        hold.meanwhile(&mut world, kill_waiting_daemon);
        list.wait().unwrap();
        let back = scene::wait_session(&world, "alpha", |it| {
            let has_new_process = it["pid"].is_number() && it["pid"] != session["pid"];
            has_new_process && it["status"] == "idle"
        });
        let value = processes::variable(scene::pid(&back, "pid"), "API_KEY");
        assert_eq!(value.as_deref(), Some("kept"), "{point}");
        scene::assert_knows(&world, "alpha", "heron");
        invariants::check(&world, |_| "heron".to_owned());
    }
}

#[test]
fn agent_that_a_person_quit_is_not_restarted() {
    let world = world();
    let session = scene::start_with_word(&world, "alpha", "heron");
    conversation::type_text(&world, &session, "/exit\r");
    let ended = scene::wait_session(&world, "alpha", |it| it["status"] == "ended");
    assert_eq!(ended["status_detail"], "quit");
    // Only the holder has the environment. Without the holder, the agent cannot be restarted.
    processes::wait_gone(scene::pid(&session, "holder_pid"));
    assert_eq!(scene::event_texts(&world, "alpha", "restart_planned"), Vec::<String>::new());
    assert_eq!(world.session("alpha")["launches"], 1);

    let nothing = world.resume(["--all"]);
    assert_eq!(nothing.json["agents"], Value::Array(Vec::new()), "a quit session was resumed");
    world.resume(["alpha"]).assert_back("alpha", "resumed");
    scene::assert_knows(&world, "alpha", "heron");
}

#[test]
fn session_waits_for_a_choice_after_three_crashes_in_a_row() {
    let world = world();
    let session = scene::start_with_word(&world, "alpha", "heron");
    for launches in 1..=3 {
        let session = wait_idle(&world, launches);
        conversation::type_text(&world, &session, "/crash\r");
    }
    let waiting = scene::wait_session(&world, "alpha", |it| it["status"] == "waiting");
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
    let session = scene::start_with_word(&world, "alpha", "heron");
    processes::kill(scene::pid(&session, "holder_pid"));
    let interrupted = scene::wait_session(&world, "alpha", |it| it["status"] == "interrupted");
    assert_eq!(interrupted["status_detail"], Value::Null);
    assert_eq!(interrupted["waiting_for"], Value::Null);
    // The session would never be idle, so `wait` returns an error.
    let wait = world.segue(["wait", "alpha", "--for", "idle"]);
    assert_eq!(wait.status, 4, "{wait:#?}");
    assert!(wait.stderr.contains("segue resume default/alpha"), "{wait:#?}");
    processes::wait_gone(scene::pid(&session, "pid"));
    assert_eq!(
        scene::event_texts(&world, "alpha", "launch_ended"),
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
        late = scene::pids_running(world, "hold");
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
        let is_waiting =
            || fs::read_to_string(&log).is_ok_and(|it| it.contains("holders.abandon.wait"));
        launches::wait_until(&[world.root()], "a daemon that waits for the holder", is_waiting);
    });
    let resumed = scene::finish(resume.unwrap());
    assert!(resumed.stdout.contains("\"running\""), "{resumed:#?}");
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
    let beta = scene::wait_session(&world, "beta", |it| it["status"] == "idle");
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
