//! Each session stays in its own conversation, whose id is proven and never guessed.

use std::path::Path;
use std::process::{Child, Command};

use serde_json::Value;

use crate::expectation::{expect, quoted, unmet};
use crate::processes;
use crate::terminal::Terminal;
use crate::trial::VendorTrial;

pub(super) fn proven_id(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    let session = trial.world.session("a");
    let evidence = session["evidence"].as_str().unwrap_or("nothing");
    let from_own_process = ["stream", "hook", "registry", "lock", "transcript"];
    let expected = "its own process proves which conversation it is in";
    expect(from_own_process.contains(&evidence), expected, || format!("only this: {evidence}"));
}

pub(super) fn two_at_once(trial: &mut VendorTrial) {
    let names = ["alpha", "beta"];
    let begin = |name: &str| -> Child {
        let message = format!("remember {name}");
        trial.world.start(["run", "-d", "--vendor", trial.vendor(), "--name", name, &message])
    };
    for mut child in names.map(begin) {
        let started = child.wait().is_ok_and(|status| status.success());
        expect(started, "two sessions start at the same time", || {
            "`segue run` failed for one of them".to_owned()
        });
    }
    let before = names.map(|name| {
        trial.wait_answered(name, &format!("remember {name}"));
        trial.wait_settled(name)
    });
    trial.kill_and_resume();
    for (name, before) in names.into_iter().zip(before) {
        trial.expect_same_conversation(name, &before);
        trial.expect_carried(name, &[&format!("remember {name}")], &format!("which one, {name}?"));
    }
}

/// A second Segue with the same home and project folder stands for a person who starts the vendor's
/// program manually.
pub(super) fn stray(trial: &mut VendorTrial) {
    let before = trial.start_and_settle("a", "remember ALPHA");
    let own = trial.world.segue_home();
    let other = trial.world.root().join("other");
    trial.world.set("SEGUE_HOME", other.to_str().expect("a plain path"));
    trial.start_and_settle("stray", "stray OMEGA");
    trial.world.ok(["stop", "stray"]);
    trial.world.set("SEGUE_HOME", own.to_str().expect("a plain path"));
    trial.kill_and_resume();
    trial.expect_same_conversation("a", &before);
    trial.expect_carried("a", &["remember ALPHA"], "which word was it?");
}

/// Runs manually the command with which Segue resumed the conversation. Segue must then refuse to
/// resume the conversation.
pub(super) fn open_elsewhere(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    trial.world.ok(["stop", "a"]);
    trial.world.resume(["a"]).assert_back("a", "resumed");
    trial.wait_idle("a");
    let session = trial.world.session("a");
    let by_hand = by_hand(trial, &session);
    trial.world.ok(["stop", "a"]);
    let mut terminal = Terminal::start(&by_hand, 40, 120);
    terminal.wait_for("remember ALPHA");
    terminal.write_until_shown("by hand");
    terminal.press_enter();
    trial.model.wait_answered("by hand");
    // The program is killed below. Only what it has recorded by then can be continued.
    trial.wait_recorded(&session, "by hand");
    let refused = trial.world.segue(["resume", "a"]);
    let expected = "`segue resume` refuses a conversation that a person has open (exit status 8)";
    expect(refused.status == 8, expected, || refused.to_string());
    let Some((_, named)) = refused.stdout.split_once("is open in process ") else {
        unmet("the report names the process that has it open", &refused.to_string());
    };
    let digits: String = named.chars().take_while(char::is_ascii_digit).collect();
    drop(terminal);
    // The program outlives the script that started it for a short time.
    processes::wait_gone(digits.parse().expect("a process"));
    trial.world.resume(["a"]).assert_back("a", "resumed");
    trial.wait_idle("a");
    let carried = trial.ask("a", "which word was it?");
    expect(
        carried.mentions("remember ALPHA") && carried.mentions("by hand"),
        "the conversation goes on with what was said by hand",
        || format!("the request carried {}", quoted(&carried.user_texts())),
    );
}

/// Returns the command of a session's newest launch, without the environment that Segue adds to a
/// launch.
fn by_hand(trial: &VendorTrial, session: &Value) -> Command {
    let folders = std::fs::read_dir(trial.world.state().join("launches")).expect("launches");
    let newest = folders.map(|entry| entry.expect("a launch").path()).max().expect("a launch");
    let record = record(&newest);
    assert_eq!(record["session_id"], session["vendor_session_id"]);
    let words: Vec<&str> =
        record["cli_command"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(trial.project()).env_clear();
    command.envs(trial.world.environment());
    command
}

fn record(folder: &Path) -> Value {
    let text = std::fs::read(folder.join("session.json")).expect("a record");
    serde_json::from_slice(&text).expect("a record")
}

pub(super) fn unknown_id(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    trial.world.kill_everything();
    trial.lose_home();
    forget_copies(trial);
    let requests = trial.model.exchanges().len();
    let refused = trial.world.segue(["resume", "a"]);
    expect(
        refused.status == 8 && refused.stdout.contains("--fresh"),
        "a lost conversation is refused (exit status 8), and `--fresh` is offered",
        || refused.to_string(),
    );
    let is_silent = trial.model.exchanges().len() == requests;
    let is_down = trial.world.session("a")["pid"].is_null();
    expect(is_silent && is_down, "no other conversation is started in its place", || {
        format!("a request: {}, a process: {}", !is_silent, !is_down)
    });
}

/// Deletes Segue's own copies of every conversation: the archive and the guards.
fn forget_copies(trial: &VendorTrial) {
    let archive = trial.world.database().with_file_name("archive");
    if archive.is_dir() {
        std::fs::remove_dir_all(archive).expect("an archive");
    }
    let folders = std::fs::read_dir(trial.world.state().join("launches")).expect("launches");
    for folder in folders {
        let guards = folder.expect("a launch").path().join("guard");
        if guards.is_dir() {
            std::fs::remove_dir_all(guards).expect("guards");
        }
    }
}

pub(super) fn new_inside(trial: &mut VendorTrial) {
    let typed = trial
        .rehearsal
        .new_conversation_command
        .expect("a way to begin anew, or a reason why there is none");
    let before = trial.start_and_settle("a", "remember ALPHA");
    let mut person = trial.attach("a");
    person.wait_for("remember ALPHA");
    person.write(typed);
    person.wait_for(typed);
    person.press_enter();
    person.wait_until("a new conversation", |screen| !screen.contents().contains("remember ALPHA"));
    drop(person);
    trial.wait_idle("a");
    trial.expect_carried("a", &[], "remember OMEGA");
    let newer = trial.wait_settled("a");
    trial.expect(
        "a",
        newer["vendor_session_id"] != before["vendor_session_id"],
        "the session follows to the new conversation",
        || format!("it is still in {}", before["vendor_session_id"]),
    );
    trial.kill_and_resume();
    trial.wait_idle("a");
    trial.expect_carried("a", &["remember OMEGA"], "which word was it?");
    trial.expect_same_conversation("a", &newer);
}
