//! `segue show`: a conversation as text for people and as JSON for programs.

mod addresses;
mod follow;
mod long_conversations;
mod pager;
mod story;
mod vendors;

use std::fs;
use std::path::PathBuf;

use segue_testkit::{World, conversation, scene};
use serde_json::{Value, json};

use crate::world;

/// Starts a conversation without Segue and replaces its transcript by these records. Returns its
/// address and the transcript's path.
fn conversation_with(world: &World, records: &[Value]) -> (String, PathBuf) {
    let id = scene::turn_without_segue(world, "hello");
    let path = conversation::transcript(world, &id).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: String = records.iter().map(|it| format!("{it}\n")).collect();
    fs::write(&path, format!("{}\n{lines}", text.lines().next().unwrap())).unwrap();
    (format!("demo:{id}"), path)
}

/// Returns a record of the demo agent's transcript.
fn record(kind: &str, text: &str, second: u32) -> Value {
    json!({"type": kind, "text": text, "at": format!("2026-01-02T03:04:{second:02}Z")})
}

/// Returns the turns that `segue show --json` prints.
fn turns(world: &World, arguments: &[&str]) -> Vec<Value> {
    let outcome = segue_testkit::CommandOutcome::of(
        &mut world.command([&["show", "--json"], arguments].concat()),
    );
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn texts(turns: &[Value]) -> Vec<&str> {
    turns.iter().map(|turn| turn["text"].as_str().unwrap()).collect()
}

#[test]
fn show_prints_a_session_as_text_as_json_and_raw() {
    let world = world();
    scene::start_with_word(&world, "fox", "amber");
    let shown = world.ok(["show", "fox"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("1  user  20") && lines[0].ends_with('Z'), "{shown}");
    assert_eq!(lines[1..3], ["    remember the word amber", ""], "{shown}");
    assert!(lines[3].starts_with("2  assistant  "), "{shown}");
    assert_eq!(lines[4..], ["    I will remember amber.", ""], "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let turns = turns(&world, &["fox"]);
    assert_eq!(texts(&turns), ["remember the word amber", "I will remember amber."]);
    assert_eq!(turns[0]["role"], "user");
    assert_eq!(turns[1]["index"], 2);
    assert_eq!(turns[1]["tool"], Value::Null);
    let session = world.session("fox");
    let raw = world.ok(["show", "fox", "--raw"]);
    assert_eq!(raw, fs::read_to_string(scene::transcript(&world, &session)).unwrap());
}

#[test]
fn show_shortens_tool_output_unless_full_is_given() {
    let world = world();
    let output: String = (1..=50).map(|number| format!("row {number}\n")).collect();
    let (address, _) = conversation_with(
        &world,
        &[
            record("user", "list", 1),
            record("tool_call", "{\"command\":\"ls\",\"deep\":true}", 2),
            record("tool_result", &output, 3),
            record("assistant", "done", 4),
        ],
    );
    let shown = world.ok(["show", &address]);
    assert!(shown.contains("2  tool call  shell  2026-01-02 03:04:02Z\n"), "{shown}");
    assert!(shown.contains("\n    command: ls\n    deep: true\n"), "{shown}");
    assert!(shown.contains("\n    row 10\n    … 40 more lines, "), "{shown}");
    assert!(world.ok(["show", &address, "--full"]).contains("\n    row 50\n"));
    let result = &turns(&world, &[&address])[2];
    assert_eq!(result["text"], output.as_str());
    assert_eq!((&result["tool"], &result["failed"]), (&json!("shell"), &json!(false)));
}

#[test]
fn show_removes_control_characters_from_text_and_keeps_them_in_json() {
    let world = world();
    let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}b\u{9b}31mc\u{202e}d\r\u{8}";
    let (address, _) = conversation_with(&world, &[record("user", hostile, 1)]);
    let shown = world.ok(["show", &address]);
    assert!(shown.contains("\n    abcd\n"), "{shown:?}");
    assert!(!shown.contains(|c: char| c != '\n' && c.is_control()), "{shown:?}");
    let line = world.ok(["show", &address, "--json"]);
    assert!(!line.contains(|c: char| c != '\n' && c.is_control()), "{line:?}");
    assert_eq!(turns(&world, &[&address])[0]["text"], hostile);
}

#[test]
fn show_reports_an_empty_conversation_and_fails_for_a_lost_one() {
    let world = world();
    world.ok(["run", "-d", "--name", "mute"]);
    let outcome = world.segue(["show", "mute"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, ""), "{outcome:#?}");
    assert_eq!(outcome.stderr, "nothing was said in default/mute yet\n");
    let outcome = world.segue(["show", "mute", "--json"]);
    assert_eq!((outcome.status, outcome.stdout, outcome.stderr), (0, String::new(), String::new()));

    let session = scene::start_with_word(&world, "fox", "amber");
    world.ok(["stop", "fox"]);
    fs::remove_file(scene::transcript(&world, &session)).unwrap();
    // The guard in the launch folder still has it.
    assert!(world.ok(["show", "fox"]).contains("remember the word amber"));
    assert_eq!(turns(&world, &["fox", "--last", "1"])[0]["index"], 2);
    segue_testkit::launches::remove_copies(&world, &session);
    let outcome = world.segue(["show", "fox"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (3, ""), "{outcome:#?}");
    assert!(outcome.stderr.contains("`default/fox` has no transcript"), "{outcome:#?}");
    assert!(outcome.stderr.contains("hint: run `segue resume default/fox --plan`"), "{outcome:#?}");
    let error = world.json(["show", "fox", "--json"]);
    assert_eq!(error["error"]["kind"], "not_found");
}
