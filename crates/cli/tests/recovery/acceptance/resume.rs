//! Which conversation an agent resumes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use segue_core::model::Resumes;
use segue_core::rules::recovery::{
    Decision, FolderPresence, History, OpeningProcess, RecoveryFacts, TranscriptLocation,
    TurnState, Unproven, decide,
};
use segue_testkit::events::Events;
use segue_testkit::hold::kill_both_at;
use segue_testkit::scene::{
    assert_knows, kill, pid, start_with_word, text, transcript, turn_without_segue, wait_event,
    wait_first_turns, write_agents,
};
use segue_testkit::{RawClient, Report, World, conversation, files, launches};
use serde_json::{Value, json};

use crate::world;

/// Returns the command line of a session's newest launch.
fn argv(world: &World, name: &str) -> Vec<String> {
    launches::newest(world, &world.session(name)).1.cli_command
}

/// Returns whether a command line has a flag with this value.
fn has_flag(argv: &[String], flag: &str, value: &str) -> bool {
    argv.windows(2).any(|pair| pair == [flag, value])
}

#[test]
fn up_resume_starts_each_agent_with_its_vendors_resume_arguments() {
    let mut world = world();
    write_agents(&world, "shop", &["coder", "tester"]);
    world.ok(["up", "--session", "night"]);
    wait_first_turns(&world);
    world.kill_everything();
    let run = ["run", "-d", "--name", "early", "hi", "--", "--own-id"];
    kill_both_at(&mut world, "launch.record.after", |world| world.start(run));
    let report = Report::of(&world.segue(["up", "--resume", "night", "--json"]));
    for name in ["coder", "tester"] {
        report.assert_back(name, "resumed");
        let session = world.session(name);
        let argv = argv(&world, name);
        assert!(has_flag(&argv, "--resume", text(&session, "vendor_session_id")), "{argv:?}");
        assert!(!argv.iter().any(|word| word == "--session-id"), "{argv:?}");
        assert_knows(&world, name, name);
    }
    // A session without an id has nothing to resume.
    world.resume(["early"]).assert_back("early", "started");
    assert!(!argv(&world, "early").iter().any(|word| word == "--resume"));
}

#[test]
fn up_resume_of_an_unknown_fleet_is_an_error_and_starts_nothing() {
    let world = world();
    start_with_word(&world, "coder", "fox");
    world.ok(["stop", "coder"]);
    let before = (launches::all(&world).len(), world.sessions());
    let outcome = world.segue(["up", "--resume", "nigth"]);
    assert_eq!(outcome.status, 3, "{outcome:#?}");
    assert!(
        outcome.stderr.contains("`nigth`") && outcome.stderr.contains("hint: "),
        "{outcome:#?}"
    );
    assert_eq!((launches::all(&world).len(), world.sessions()), before);
}

#[test]
fn resume_uses_the_stored_id_although_another_transcript_was_touched_later() {
    let world = world();
    let older = turn_without_segue(&world, "remember the word owl");
    let session = start_with_word(&world, "coder", "fox");
    world.kill_everything();
    let newest = transcript(&world, &session).metadata().unwrap().modified().unwrap();
    let path = conversation::transcript(&world, &older).unwrap();
    let touched = File::options().append(true).open(&path).unwrap();
    touched.set_modified(newest + Duration::from_secs(60)).unwrap();
    world.resume(["--all"]).assert_back("coder", "resumed");
    assert!(has_flag(&argv(&world, "coder"), "--resume", text(&session, "vendor_session_id")));
    assert_knows(&world, "coder", "fox");
}

/// The demo vendor can always resume, so this checks the recovery rule itself: neither decision has
/// an id to resume.
#[test]
fn vendor_that_cannot_resume_starts_without_an_id() {
    let facts = |has_content| RecoveryFacts {
        process: OpeningProcess::None,
        folder: FolderPresence::There,
        proven: None,
        transcript: TranscriptLocation::Gone,
        has_content,
        unproven: Unproven::default(),
        vendor: Resumes::No,
        turn: TurnState::Interactive,
        history: History::Unremarkable,
    };
    assert_eq!(decide(&facts(true)), Decision::Fresh);
    assert_eq!(decide(&facts(false)), Decision::StartAgain);
}

#[test]
fn siblings_in_one_folder_resume_their_own_conversations() {
    let world = world();
    let names = ["fox", "owl", "elk", "bee"];
    for (number, name) in names.into_iter().enumerate() {
        let word = format!("remember the word {name}");
        let own_id = if number % 2 == 0 { ["--", "--own-id"].as_slice() } else { &[] };
        let all = ["run", "-d", "--name", name, &word].into_iter().chain(own_id.iter().copied());
        assert!(world.command(all).status().unwrap().success());
    }
    let mut events = Events::of(&world);
    let mut bound: Vec<Value> = Vec::new();
    while bound.len() < 4 {
        let event = wait_event(&mut events, "bound", "");
        if text(&event, "text").ends_with("(registry)") {
            bound.push(event["session"].clone());
        }
    }
    wait_first_turns(&world);
    let ids =
        || world.sessions().iter().map(|it| it["vendor_session_id"].clone()).collect::<Vec<_>>();
    let before = ids();
    world.kill_everything();
    let report = world.resume(["--all"]);
    for name in names {
        report.assert_back(name, "resumed");
        assert_knows(&world, name, name);
    }
    assert_eq!(ids(), before);
}

/// Everything that a plan must not change.
#[derive(Debug, PartialEq)]
struct Everything {
    sessions: Vec<Value>,
    events: String,
    processes: Vec<u32>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

fn everything(world: &World) -> Everything {
    let paths = [world.state(), world.home()].iter().flat_map(|it| files::below(it)).collect();
    let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    let files = Vec::into_iter(paths).map(read).collect();
    let (sessions, events) = (world.sessions(), world.ok(["log", "--json"]));
    Everything { sessions, events, processes: world.processes(), files }
}

#[test]
fn plan_requested_over_the_socket_resumes_nothing() {
    let world = world();
    start_with_word(&world, "fox", "amber");
    world.kill_everything();
    // Start a daemon.
    world.ok(["ls"]);
    let caller = json!({"cwd": world.project(), "environment": {}});
    let request = json!({"caller": caller, "selection": "all", "fresh": [], "plan": true});
    let mut client = RawClient::connect(&world);
    client.ask("POST /v1/resume", &request);
    let (status, answer) = client.answer();
    assert_eq!((status, text(&answer["plan"][0], "decision")), (200, "resume"), "{answer:#}");
    let fox = world.session("fox");
    assert_eq!((&fox["pid"], &fox["launches"]), (&Value::Null, &json!(1)), "{fox:#}");
}

#[test]
fn resume_plan_changes_nothing_and_resume_leaves_live_agents_running() {
    let world = world();
    let live = start_with_word(&world, "live", "fox");
    let killed = start_with_word(&world, "killed", "owl");
    start_with_word(&world, "stopped", "elk");
    world.ok(["stop", "stopped"]);
    let mut events = Events::of(&world);
    kill(pid(&killed, "holder_pid"));
    wait_event(&mut events, "status_changed", "interrupted");
    drop(events);
    let before = everything(&world);
    let plan = world.json(["resume", "--all", "--stopped", "--plan", "--json"]);
    let decisions: BTreeMap<&str, &str> = plan["plan"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(it, "address"), text(it, "decision")))
        .collect();
    let expected =
        [("default/killed", "resume"), ("default/live", "running"), ("default/stopped", "resume")];
    assert_eq!(decisions, BTreeMap::from(expected));
    assert_eq!(everything(&world), before);

    let report = world.resume(["--all", "--stopped"]);
    report.assert_back("live", "running");
    for (name, word) in [("killed", "owl"), ("stopped", "elk")] {
        report.assert_back(name, "resumed");
        assert_knows(&world, name, word);
    }
    assert_eq!(world.session("live")["pid"], live["pid"]);
}
