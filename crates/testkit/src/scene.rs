//! Sessions of demo agents that were told to remember a word, and helpers to check and kill them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Child;

use serde_json::Value;

use crate::events::Events;
use crate::{CommandOutcome, World, conversation, launches, processes};

/// Starts a session whose first message tells it to remember a word. Waits until it has answered
/// and its transcript is guarded.
pub fn start_with_word(world: &World, name: &str, word: &str) -> Value {
    world.ok(["run", "-d", "--name", name, &format!("remember the word {word}")]);
    let session = world.session(name);
    assert_eq!(conversation::wait_turns(world, &session, 1), format!("I will remember {word}."));
    launches::wait_guarded(world, &session);
    session
}

/// Writes a project file and trusts it.
pub fn write_project(world: &World, text: &str) {
    world.write("segue.toml", text);
    world.ok(["trust", "--yes"]);
}

/// Writes a file of variables for launches without a person, and settings that name the file. It has
/// these lines.
pub fn write_variables(world: &World, lines: &str) {
    let file = world.home().join("agents.env");
    fs::write(&file, lines).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a closed file");
    let settings = "[environment]\nshell = false\nfiles = [\"~/agents.env\"]\n";
    fs::write(world.segue_home().join("config.toml"), settings).expect("settings");
}

/// Gives launches without a person, such as those of tasks, the environment of the world's commands.
pub fn share_environment(world: &World) {
    let variables = world.environment();
    let shared = variables.iter().filter(|(name, _)| !name.starts_with("SEGUE_"));
    let lines = shared.map(|(name, value)| format!("{name}={value}\n"));
    write_variables(world, &lines.collect::<String>());
}

/// Writes and trusts a project file with the fleet `shop`. Its only agent is the demo agent `coder`,
/// whose table has these further lines.
pub fn write_shop(world: &World, lines: &str) {
    let agent = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n";
    write_project(world, &format!("[fleet]\nname = \"shop\"\n{agent}{lines}"));
}

/// Writes and trusts a project file with these demo agents. The prompt of each agent tells it to
/// remember its own name.
pub fn write_agents(world: &World, fleet: &str, agents: &[&str]) {
    write_agents_with(world, fleet, agents, "");
}

/// Like `write_agents`. The table of each agent has these further lines.
pub fn write_agents_with(world: &World, fleet: &str, agents: &[&str], lines: &str) {
    let mut file = format!("[fleet]\nname = \"{fleet}\"\n");
    for name in agents {
        world.write(&format!("{name}.md"), &format!("remember the word {name}"));
        let agent = format!("vendor = \"demo\"\nname = \"{name}\"\nprompt = \"{name}.md\"\n");
        file = format!("{file}[[agents]]\n{agent}{lines}");
    }
    write_project(world, &file);
}

/// Waits until every session has answered its first message and its transcript is guarded.
pub fn wait_first_turns(world: &World) {
    wait_first_turns_except(world, &[]);
}

/// Like `wait_first_turns`, but skips the sessions in `others`, which get no message.
pub fn wait_first_turns_except(world: &World, others: &[&str]) {
    let has_message = |session: &Value| !others.contains(&text(session, "name"));
    for session in world.sessions().into_iter().filter(has_message) {
        conversation::wait_turns(world, &session, 1);
        launches::wait_guarded(world, &session);
    }
}

/// Waits until `is_wanted` accepts the session. Calls it again after each event.
pub fn wait_session(world: &World, name: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let waited = world.wait_session(name, is_wanted);
    waited.unwrap_or_else(|session| panic!("the daemon ended; the session is {session:#}"))
}

/// Asks a session for its word, and asserts that it answers with this one. This proves that the
/// session continues the conversation in which it was told the word.
pub fn assert_knows(world: &World, name: &str, word: &str) {
    let answer = conversation::ask(world, &world.session(name), "what is the word?");
    assert_eq!(answer, format!("The word is {word}."));
}

/// Returns the process id in a field of a session, which is `pid` or `holder_pid`, or in the field
/// `pid` of the daemon's status.
pub fn pid(value: &Value, key: &str) -> u32 {
    let pid = value[key].as_u64().and_then(|pid| u32::try_from(pid).ok());
    pid.unwrap_or_else(|| panic!("no {key} in {value:#}"))
}

/// Returns the string in a field of a session or an event.
pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value:#}"))
}

/// Sends SIGKILL to a process and waits until it is gone.
pub fn kill(pid: u32) {
    processes::kill(pid);
    processes::wait_gone(pid);
}

/// Returns the process id of the daemon. Starts no daemon.
///
/// # Panics
///
/// If no daemon runs.
pub fn daemon_pid(world: &World) -> u32 {
    pid(&world.json(["daemon", "status", "--json"]), "pid")
}

/// Sends SIGKILL to the daemon and waits until it is gone.
///
/// # Panics
///
/// If no daemon runs.
pub fn kill_daemon(world: &World) {
    kill(daemon_pid(world));
}

/// Returns the processes of a world that run this subcommand of `segue`: `daemon`, `hold` or
/// `demo-agent`.
pub fn pids_running(world: &World, subcommand: &str) -> Vec<u32> {
    let runs_it =
        |pid: &u32| processes::command_line(*pid).get(1).is_some_and(|word| word == subcommand);
    world.processes().into_iter().filter(runs_it).collect()
}

/// Waits for the end of a command that was started before. Returns its exit status and its output.
pub fn finish(command: Child) -> CommandOutcome {
    CommandOutcome::from(command.wait_with_output().expect("an output"))
}

/// Returns the path of the transcript of a session's conversation.
pub fn transcript(world: &World, session: &Value) -> PathBuf {
    conversation::transcript(world, text(session, "vendor_session_id")).expect("a transcript")
}

/// Runs one turn of the demo agent in the project folder without Segue. Returns the id of its
/// conversation.
pub fn turn_without_segue(world: &World, message: &str) -> String {
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
pub fn event_texts(world: &World, name: &str, kind: &str) -> Vec<String> {
    let events = world.events(name).into_iter().filter(|event| event["kind"] == kind);
    events.map(|event| text(&event, "text").to_owned()).collect()
}
