//! Sessions of demo agents that were told to remember a word, and helpers to check and kill them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::events::Events;
use crate::{CommandOutcome, World, conversation, launches, processes};

/// Starts a session whose first message tells it to remember a word. Waits until it has answered
/// and its transcript is guarded.
pub fn told(world: &World, name: &str, word: &str) -> Value {
    world.ok(["run", "-d", "--name", name, &format!("remember the word {word}")]);
    let session = world.session(name);
    assert_eq!(conversation::wait_turns(world, &session, 1), format!("I will remember {word}."));
    launches::wait_guarded(world, &session);
    session
}

/// Writes a project file with these agents and trusts it. The prompt of each agent tells it to
/// remember its own name.
pub fn project(world: &World, fleet: &str, agents: &[&str]) {
    let mut file = vec![format!("[fleet]\nname = \"{fleet}\"\n")];
    for name in agents {
        world.write(&format!("{name}.md"), &format!("remember the word {name}"));
        file.push("[[agents]]\nvendor = \"demo\"\n".to_owned());
        file.push(format!("name = \"{name}\"\nprompt = \"{name}.md\"\n"));
    }
    world.write("segue.toml", &file.concat());
    world.ok(["trust", "--yes"]);
}

/// Waits until every session has answered once and its transcript is guarded.
pub fn wait_all_told(world: &World) {
    for session in world.sessions() {
        conversation::wait_turns(world, &session, 1);
        launches::wait_guarded(world, &session);
    }
}

/// Like `wait_all_told`, but skips the sessions in `others`, which get no message.
pub fn wait_all_told_but(world: &World, others: &[&str]) {
    let is_told = |session: &Value| !others.contains(&text(session, "name"));
    for session in world.sessions().into_iter().filter(is_told) {
        conversation::wait_turns(world, &session, 1);
        launches::wait_guarded(world, &session);
    }
}

/// Asks a session for its word, and asserts that it answers with this one. This proves that the
/// session continues the conversation in which it was told the word.
pub fn assert_knows(world: &World, name: &str, word: &str) {
    let answer = conversation::ask(world, &world.session(name), "what is the word?");
    assert_eq!(answer, format!("The word is {word}."));
}

/// Returns the process id in a field of a session: `pid` or `holder_pid`.
pub fn process(session: &Value, which: &str) -> u32 {
    let pid = session[which].as_u64().and_then(|pid| u32::try_from(pid).ok());
    pid.unwrap_or_else(|| panic!("no {which} in {session:#}"))
}

/// Returns the string in a field of a session or an event.
pub fn text<'a>(session: &'a Value, key: &str) -> &'a str {
    session[key].as_str().unwrap_or_else(|| panic!("no {key} in {session:#}"))
}

/// Sends SIGKILL to a process and waits until it is gone.
pub fn kill(pid: u32) {
    processes::kill(pid);
    processes::wait_gone(pid);
}

/// Sends SIGKILL to the daemon and waits until it is gone.
pub fn kill_daemon(world: &World) {
    kill(process(&world.json(["daemon", "status", "--json"]), "pid"));
}

/// Returns the path of the transcript of a session's conversation.
pub fn transcript(world: &World, session: &Value) -> PathBuf {
    conversation::transcript(world, text(session, "vendor_session_id")).expect("a transcript")
}

/// Runs one turn of the demo agent in the project folder without Segue. Returns the id of its
/// conversation.
pub fn by_hand(world: &World, message: &str) -> String {
    let outcome = CommandOutcome::of(&mut world.command(["demo-agent", "--print", "--", message]));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    let init: Value =
        serde_json::from_str(outcome.stdout.lines().next().unwrap_or_default()).expect("a line");
    text(&init, "session_id").to_owned()
}

/// Waits for the next event of this kind whose text starts with `text`.
pub fn wait_event(events: &mut Events, kind: &str, text: &str) -> Value {
    let is_it = |event: &Value| {
        event["kind"] == kind && event["text"].as_str().is_some_and(|it| it.starts_with(text))
    };
    events.wait_for(is_it).unwrap_or_else(|| panic!("the daemon ended before: {kind} {text}"))
}

/// Returns the texts of a session's events of this kind.
pub fn told_events(world: &World, name: &str, kind: &str) -> Vec<String> {
    let events = world.events(name).into_iter().filter(|event| event["kind"] == kind);
    events.map(|event| text(&event, "text").to_owned()).collect()
}

/// Returns the sorted names of the files in a folder. A missing folder has none.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}
