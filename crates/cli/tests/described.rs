//! Agent CLIs that a project file describes.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use segue_testkit::{World, launches};
use serde_json::Value;

/// An agent that nobody knows: it remembers what it is told in a file of its own.
const TOOL: &str = r#"#!/bin/sh
id=$3
[ "$2" = --resume ] && word=resumed || word=new
echo "$word $id $4" >> "$HOME/starts"
printf '{"role":"user","text":"%s"}\n' "$4" >> "$HOME/.mytool-$id.jsonl"
printf 'ready> '
while read -r line; do
  printf '{"role":"user","text":"%s"}\n' "$line" >> "$HOME/.mytool-$id.jsonl"
  printf 'heard %s\nready> ' "$line"
done
"#;

fn world(extra: &str) -> World {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    let program = world.home().join("mytool");
    fs::write(&program, TOOL).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display();
    world.write(
        "segue.toml",
        &format!(
            "[[agents]]\nname = \"coder\"\nvendor = \"mytool\"\nprompt = \"p.md\"\n\
             [vendors.mytool]\ncommand = [\"{program}\", \"chat\"]\n\
             new = [\"--session\", \"{{id}}\"]\nresume = [\"--resume\", \"{{id}}\"]\n{extra}"
        ),
    );
    world.write("p.md", "begin");
    world
}

fn starts(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.home().join("starts")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn only_agent(report: &Value) -> &Value {
    &report["agents"][0]
}

#[test]
fn it_runs_only_when_the_file_is_trusted() {
    let world = world("");
    assert_eq!(world.segue(["up"]).status, 5);
    assert_eq!(world.segue(["run", "-d", "--vendor", "mytool", "x"]).status, 5);
    assert_eq!(starts(&world), Vec::<String>::new());
}

#[test]
fn it_is_resumed_by_its_id_and_that_is_noted_unverified() {
    let world = world("");
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    let id = world.session("coder")["vendor_session_id"].as_str().unwrap().to_owned();
    world.kill_everything();
    let report = world.json(["resume", "--json"]);
    assert_eq!(only_agent(&report)["outcome"], "resumed", "{report}");
    assert_eq!(only_agent(&report)["note"], "unverified", "{report}");
    assert_eq!(only_agent(&report)["vendor_session_id"], id.as_str());
}

#[test]
fn with_a_transcript_it_is_verified_and_messages_are_confirmed() {
    let world = world("transcript = \"~/.mytool-{id}.jsonl\"\n");
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    world.ok(["send", "coder", "remember the fox"]);
    let sent = world.json(["messages", "--json"]);
    assert_eq!(sent["messages"][0]["state"], "delivered", "{sent}");
    world.kill_everything();
    let report = world.json(["resume", "--json"]);
    assert_eq!(only_agent(&report)["outcome"], "resumed", "{report}");
    assert_eq!(only_agent(&report)["note"], Value::Null, "{report}");
}

#[test]
fn without_a_transcript_a_message_is_unconfirmed_at_once_and_the_next_one_follows() {
    let world = world("");
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    let id = world.session("coder")["vendor_session_id"].as_str().unwrap().to_owned();
    for text in ["the first", "the second"] {
        let sent = world.segue(["send", "coder", text, "--timeout", "20s"]);
        assert_eq!(sent.status, 4, "{sent:#?}");
        let why = "it was typed; `mytool` has no transcript that could confirm it";
        assert!(sent.stderr.starts_with("error: nobody can tell whether"), "{sent:#?}");
        assert!(sent.stderr.contains(why), "{sent:#?}");
    }
    let sent = world.json(["messages", "--json"]);
    let states = sent["messages"].as_array().unwrap().iter().map(|it| it["state"].clone());
    assert_eq!(states.collect::<Vec<_>>(), ["uncertain", "uncertain"]);
    let heard = || fs::read_to_string(world.home().join(format!(".mytool-{id}.jsonl"))).unwrap();
    let line = |text| format!("{{\"role\":\"user\",\"text\":\"{text}\"}}\n");
    let wanted = ["begin", "the first", "the second"].map(line).concat();
    launches::wait_until(&[&world.home()], "both messages", || heard() == wanted);
}

#[test]
fn its_transcript_is_guarded_too() {
    let world = world("transcript = \"~/.mytool-{id}.jsonl\"\n");
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    world.ok(["send", "coder", "remember the fox"]);
    let id = world.session("coder")["vendor_session_id"].as_str().unwrap().to_owned();
    world.ok(["stop", "coder"]);
    let transcript = world.home().join(format!(".mytool-{id}.jsonl"));
    fs::remove_file(&transcript).unwrap();
    let report = world.json(["resume", "coder", "--json"]);
    assert_eq!(only_agent(&report)["outcome"], "restored", "{report}");
    assert!(fs::read_to_string(transcript).unwrap().contains("remember the fox"));
}

#[test]
fn two_of_a_vendor_without_ids_run_beside_each_other() {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    world.write("segue.toml", "[vendors.mytool]\ncommand = [\"cat\"]\n");
    world.ok(["trust", "--yes"]);
    for name in ["one", "two"] {
        world.ok(["run", "-d", "--vendor", "mytool", "--name", name]);
    }
    assert!(world.sessions().iter().all(|it| it["pid"].is_u64()), "{:#?}", world.sessions());
}

#[test]
fn missing_program_is_named() {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    world.write("segue.toml", "[vendors.mytool]\ncommand = [\"no-such-program\"]\n");
    world.ok(["trust", "--yes"]);
    let refused = world.segue(["run", "-d", "--vendor", "mytool", "hello"]);
    assert_eq!(refused.status, 6, "{refused:#?}");
    let cause = "caused by: `no-such-program` is neither in PATH nor in the usual places";
    assert!(refused.stderr.contains(cause), "{refused:#?}");
}
