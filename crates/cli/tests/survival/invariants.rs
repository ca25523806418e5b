//! Conditions that must hold after any kill.

use std::collections::BTreeMap;
use std::fs;

use segue_core::model::{Exit, LaunchEnd};
use segue_testkit::{World, conversation, launches, processes, scene};
use serde_json::Value;

use crate::scenarios::word;

/// The beginning of the message with which a task is tried again.
pub(crate) const TRIED_AGAIN: &str = "This task was tried before and is tried again.";

/// Resumes all sessions. Checks that nothing is lost, duplicated, left over or reported wrongly.
pub(crate) fn check_all(world: &World) {
    check(world, word);
}

/// Like `check_all`, but `word` returns the word that an agent must know.
pub(crate) fn check(world: &World, word: fn(&str) -> String) {
    check_marks(world);
    let report = resume(world, ["resume", "--all", "--stopped", "--json"]);
    // A session that was handed over is resumed only by its name.
    for session in report["left_alone"].as_array().unwrap() {
        let address = session["address"].as_str().unwrap();
        resume(world, ["resume", address, "--stopped", "--json"]);
    }
    check_marks(world);
    let sessions = world.sessions();
    for session in &sessions {
        assert!(session["vendor_session_id"].is_string(), "no id: {session:#}");
        if session["headless"] == true {
            check_headless(world, session, word);
        } else {
            check_interactive(world, session, word);
        }
    }
    check_processes(world, &sessions);
    check_exits(world);
    assert!(world.segue(["doctor"]).stdout.starts_with("nothing is wrong\n"));
}

/// Runs a command that resumes sessions. Checks that all of them are back, and returns its report.
fn resume<const N: usize>(world: &World, command: [&str; N]) -> Value {
    let outcome = world.segue(command);
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["complete"], true, "{report:#}");
    report
}

/// Checks that the agent runs and knows its word.
fn check_interactive(world: &World, session: &Value, word: fn(&str) -> String) {
    let pid = number(&session["pid"]);
    assert!(pid.is_some_and(processes::is_alive), "no agent: {session:#}");
    let answer = conversation::ask(world, session, "what is the word?");
    assert_eq!(answer, format!("The word is {}.", word(session["name"].as_str().unwrap())));
}

/// Checks that the turn is over, and that the conversation has its prompt once.
fn check_headless(world: &World, session: &Value, word: fn(&str) -> String) {
    assert_eq!(session["status"], "idle", "{session:#}");
    let id = session["vendor_session_id"].as_str().unwrap();
    let transcript = conversation::transcript(world, id).unwrap();
    let word = word(session["name"].as_str().unwrap());
    let received = conversation::user_messages(&transcript);
    // A task that is tried again gets its prompt again, in the same conversation.
    let is_prompt = |text: &&String| text.contains(&word) && !text.starts_with(TRIED_AGAIN);
    let times = received.iter().filter(is_prompt).count();
    assert_eq!(times, 1, "{received:?}");
}

/// Checks that every process with a mark has the mark of an open launch.
fn check_marks(world: &World) {
    loop {
        let before = world.sessions();
        let marked = marked(world);
        // If a session has changed meanwhile, the processes are listed again.
        if world.sessions() == before {
            return assert_open_marks(world, &before, marked);
        }
    }
}

/// Returns all processes with a mark, and their marks.
fn marked(world: &World) -> Vec<(u32, String)> {
    let mark = |pid| Some((pid, processes::variable(pid, "SEGUE_LAUNCH")?));
    world.processes().into_iter().filter_map(mark).collect()
}

fn assert_open_marks(world: &World, sessions: &[Value], marked: Vec<(u32, String)>) {
    let open: BTreeMap<String, String> = sessions
        .iter()
        .filter(|session| session["pid"].is_number() || session["status"] == "starting")
        .map(|session| {
            let launch = launches::newest_id(world, session);
            (launch.to_string(), scene::text(session, "id").to_owned())
        })
        .collect();
    let mut agents: BTreeMap<String, u32> = BTreeMap::new();
    for (pid, launch) in marked {
        let line = processes::command_line(pid);
        let session = open.get(&launch);
        assert!(session.is_some(), "process {pid} is left of launch {launch}: {line:?}");
        assert_eq!(processes::variable(pid, "SEGUE_SESSION").as_ref(), session);
        assert_eq!(processes::variable(pid, "SEGUE_FAILPOINT_LOG"), None, "an agent inherits it");
        if line.iter().any(|word| word == "--permission") {
            let other = agents.insert(launch, pid);
            assert_eq!(other, None, "two agents of one session: {line:?}");
        }
    }
}

/// Checks that there are one daemon, one holder for each agent, and no other processes.
fn check_processes(world: &World, sessions: &[Value]) {
    let holders: Vec<u32> =
        sessions.iter().filter_map(|session| number(&session["holder_pid"])).collect();
    let mut daemons = 0;
    for pid in world.processes() {
        match processes::command_line(pid).get(1).map(String::as_str) {
            Some("daemon") => daemons += 1,
            // A holder whose session was resumed by another holder may still be ending.
            Some("hold") if !holders.contains(&pid) => processes::wait_gone(pid),
            Some("hold" | "demo-agent") | None => {}
            Some(_) => panic!("an unexpected process: {:?}", processes::command_line(pid)),
        }
    }
    assert_eq!(daemons, 1, "daemons");
}

/// Checks that each reported exit is the one that was recorded in the launch folder.
fn check_exits(world: &World) {
    let log = world.ok(["log", "--json"]);
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    for event in events.filter(|event| event["kind"] == "launch_ended") {
        let text = event["text"].as_str().unwrap();
        let launch = event["launch"].as_str().unwrap();
        let folder = world.state().join("launches").join(launch);
        let recorded = fs::read(folder.join("end.json")).ok();
        let recorded: Option<LaunchEnd> = recorded.map(|it| serde_json::from_slice(&it).unwrap());
        match recorded.map_or(Exit::Unknown, |end| end.exit) {
            Exit::Unknown if !folder.exists() => {}
            Exit::Unknown => assert!(is_unknown(text), "no exit was recorded: {event}"),
            Exit::NeverStarted => assert!(is_unknown(text), "it never started: {event}"),
            exit => assert!(text.starts_with(&exit.to_string()), "{exit}, but: {event}"),
        }
    }
}

fn is_unknown(text: &str) -> bool {
    ["ended while Segue was not watching", "unknown", "not started"]
        .iter()
        .any(|word| text.starts_with(word))
}

fn number(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}
