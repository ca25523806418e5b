//! Conversations of other processes, conversations that may belong to a session, and conversations
//! that another process has open.

use std::fs::{self, File};
use std::time::Duration;

use segue_testkit::files::names;
use segue_testkit::hold::kill_both_at;
use segue_testkit::scene::{
    assert_knows, event_texts, pid, start_with_word, text, transcript, turn_without_segue,
};
use segue_testkit::{Terminal, World, conversation, launches, processes};

use crate::world;

#[test]
fn newer_conversation_in_the_same_folder_is_not_resumed() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    world.kill_everything();
    let foreign = turn_without_segue(&world, "remember the word owl");
    let path = conversation::transcript(&world, &foreign).unwrap();
    assert_eq!(path.parent(), transcript(&world, &session).parent(), "different folders");
    let future = path.metadata().unwrap().modified().unwrap() + Duration::from_secs(3600);
    File::options().append(true).open(&path).unwrap().set_modified(future).unwrap();
    let before = fs::read(&path).unwrap();
    let report = world.resume(["--all"]);
    report.assert_back("coder", "resumed");
    assert_eq!(report.agent("coder")["vendor_session_id"], session["vendor_session_id"]);
    assert_knows(&world, "coder", "fox");
    assert_eq!(fs::read(&path).unwrap(), before, "the other conversation was written to");
}

/// Starts a session with a word to remember, whose conversation Segue does not know. Returns the id of
/// the conversation.
fn start_unbound(world: &mut World, name: &str, word: &str) -> String {
    start_unbound_with(world, name, &format!("remember the word {word}"))
}

/// Starts a session whose agent chooses its own id. Kills all processes after the first turn, and
/// before Segue has seen that id. Returns the id.
fn start_unbound_with(world: &mut World, name: &str, message: &str) -> String {
    let known = ids(world);
    let text = world.root().join("message");
    fs::write(&text, message).unwrap();
    kill_both_at(world, "launch.hold.after", |world| {
        let mut run = world.command(["run", "-d", "--name", name, "-", "--", "--own-id"]);
        run.stdin(fs::File::open(&text).unwrap()).spawn().unwrap()
    });
    let new_id = || ids(world).into_iter().find(|id| !known.contains(id));
    let folder = folder_of_conversations(world);
    launches::wait_until(&[&folder], "a transcript", || {
        let path = new_id().and_then(|id| conversation::transcript(world, &id));
        path.is_some_and(|path| fs::read_to_string(path).unwrap().contains("turn_end"))
    });
    let id = new_id().unwrap();
    world.kill_everything();
    id
}

/// Returns the ids of the conversations in the project folder.
fn ids(world: &World) -> Vec<String> {
    let names = names(&folder_of_conversations(world));
    names.iter().map(|name| name.trim_end_matches(".jsonl").to_owned()).collect()
}

fn folder_of_conversations(world: &World) -> std::path::PathBuf {
    let path = world.project().canonicalize().unwrap().to_str().unwrap().to_owned();
    let dashed = path.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    world.home().join(".segue-demo/conversations").join(dashed)
}

#[test]
fn only_matching_conversation_is_adopted_and_reported() {
    let mut world = world();
    let older = turn_without_segue(&world, "remember the word fox");
    let id = start_unbound(&mut world, "coder", "fox");
    let session = world.session("coder");
    assert!(session["vendor_session_id"].is_null() && session["evidence"].is_null(), "{session:#}");
    let report = world.resume(["--all"]);
    report.assert_back("coder", "adopted");
    assert_eq!(report.agent("coder")["vendor_session_id"], id.as_str());
    assert!(report.note("coder").contains("only conversation"), "{report:#?}");
    assert_knows(&world, "coder", "fox");
    let bound = event_texts(&world, "coder", "bound");
    assert_eq!(bound, [format!("{id} (discovered)"), format!("{id} (registry)")]);
    assert_ne!(older, id);
}

#[test]
fn conversation_whose_first_message_was_in_a_file_is_recognised_and_adopted() {
    let mut world = world();
    let padding = "so much to say ".repeat(10_000);
    let id = start_unbound_with(&mut world, "coder", &format!("{padding}remember the word fox"));
    let report = world.resume(["coder"]);
    report.assert_back("coder", "adopted");
    assert_eq!(report.agent("coder")["vendor_session_id"], id.as_str());
    assert_knows(&world, "coder", "fox");
}

#[test]
fn two_matching_conversations_are_listed_and_none_is_adopted() {
    let mut world = world();
    let own = start_unbound(&mut world, "coder", "fox");
    let foreign = turn_without_segue(&world, "remember the word fox");
    let report = world.resume(["--all"]);
    report.assert_not_back("coder", "refused");
    for part in [own.as_str(), foreign.as_str(), "2 conversations", "--fresh default/coder"] {
        assert!(report.note("coder").contains(part), "{part}: {report:#?}");
    }
    let session = world.session("coder");
    assert!(session["vendor_session_id"].is_null() && session["pid"].is_null(), "{session:#}");
    assert_eq!(session["launches"], 1);
    assert_eq!(event_texts(&world, "coder", "bound"), Vec::<String>::new());
}

#[test]
fn conversation_with_another_first_message_is_not_adopted() {
    let mut world = world();
    let own = start_unbound(&mut world, "coder", "fox");
    fs::remove_file(conversation::transcript(&world, &own).unwrap()).unwrap();
    let foreign = turn_without_segue(&world, "remember the word owl");
    let report = world.resume(["--all"]);
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains(&foreign), "{report:#?}");
    assert!(world.session("coder")["vendor_session_id"].is_null());
}

#[test]
fn two_sessions_without_an_id_in_one_folder_are_refused() {
    let mut world = world();
    let first = start_unbound(&mut world, "one", "fox");
    let second = start_unbound(&mut world, "two", "owl");
    let report = world.resume(["--all"]);
    for name in ["one", "two"] {
        report.assert_not_back(name, "refused");
        assert!(report.note(name).contains(&first) && report.note(name).contains(&second));
        assert!(world.session(name)["vendor_session_id"].is_null());
    }
}

#[test]
fn session_without_an_id_and_without_messages_starts_again_with_its_prompt() {
    let mut world = world();
    let run = ["run", "-d", "--name", "coder", "remember the word fox", "--", "--own-id"];
    kill_both_at(&mut world, "launch.record.after", |world| world.start(run));
    let report = world.resume(["coder"]);
    report.assert_back("coder", "started");
    conversation::wait_turns(&world, &world.session("coder"), 1);
    assert_knows(&world, "coder", "fox");
}

/// Opens a conversation in a terminal without Segue, as its user would.
fn open_without_segue(world: &World, id: &str) -> Terminal {
    let mut terminal = Terminal::start(&world.command(["demo-agent", "--resume", id]), 24, 80);
    terminal.wait_for("resumed after 1 message");
    terminal
}

/// Returns the process that has a conversation open, according to the demo agent's registry.
fn pid_of_opener(world: &World, id: &str) -> u32 {
    let entries = fs::read_dir(world.home().join(".segue-demo/live")).unwrap();
    // A file that is being written has a temporary name, and may be missing or empty.
    let texts = entries.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok());
    let entry = texts.filter_map(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let own = entry.filter(|entry| entry["id"] == id);
    let pids = own.map(|entry| pid(&entry, "pid"));
    pids.filter(|pid| processes::is_alive(*pid)).collect::<Vec<_>>()[0]
}

#[track_caller]
fn assert_shown_as_open_elsewhere(world: &World, name: &str, pid: u32) {
    let detail = format!("open elsewhere: process {pid} (");
    let session = world.session(name);
    assert!(text(&session, "status_detail").starts_with(&detail), "{session:#}");
    assert_eq!(session["open_in"], pid, "{session:#}");
    for shown in [world.ok(["ls"]), world.ok([])] {
        assert!(shown.contains(&detail), "{shown}");
    }
}

#[test]
fn adopted_conversation_that_is_open_in_a_terminal_is_shown_as_open_elsewhere() {
    let world = world();
    let id = turn_without_segue(&world, "remember the word fox");
    let mut terminal = open_without_segue(&world, &id);
    let pid = pid_of_opener(&world, &id);
    world.ok(["adopt", &format!("demo:{id}"), "--name", "taken"]);
    assert_shown_as_open_elsewhere(&world, "taken", pid);
    world.resume(["taken"]).assert_not_back("taken", "refused");
    terminal.write("/exit\r");
    assert_eq!(terminal.wait(), 0);
    let closed = world.session("taken");
    assert_eq!((text(&closed, "status_detail"), closed["open_in"].is_null()), ("quit", true));
    world.resume(["taken"]).assert_back("taken", "resumed");
}

#[test]
fn refused_resume_does_not_touch_the_process_that_has_the_conversation_open() {
    let world = world();
    let session = start_with_word(&world, "coder", "fox");
    let id = text(&session, "vendor_session_id");
    world.ok(["stop", "coder"]);
    let mut terminal = open_without_segue(&world, id);
    let pid = pid_of_opener(&world, id);
    assert_shown_as_open_elsewhere(&world, "coder", pid);
    let report = world.resume(["coder"]);
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains(&format!("process {pid} (")), "{report:#?}");
    assert!(report.note("coder").contains("(segue demo-agent)"), "{report:#?}");
    assert_eq!(world.session("coder")["launches"], 1);
    terminal.write("what is the word?\r");
    terminal.wait_for("The word is fox.");
    assert!(processes::is_alive(pid));
    terminal.write("/exit\r");
    assert_eq!(terminal.wait(), 0);
    world.resume(["coder"]).assert_back("coder", "resumed");
    assert_knows(&world, "coder", "fox");
}

#[test]
fn matching_conversation_is_not_adopted_while_another_process_has_it_open() {
    let mut world = world();
    let id = start_unbound(&mut world, "coder", "fox");
    let terminal = open_without_segue(&world, &id);
    let pid = pid_of_opener(&world, &id);
    let report = world.resume(["coder"]);
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains(&format!("process {pid} (")), "{report:#?}");
    assert!(world.session("coder")["vendor_session_id"].is_null());
    assert!(processes::is_alive(pid));
    drop(terminal);
    processes::wait_gone(pid);
    world.resume(["coder"]).assert_back("coder", "adopted");
}
