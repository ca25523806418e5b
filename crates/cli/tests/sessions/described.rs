//! Vendors that a project file describes.

use std::fs;

use segue_testkit::{World, files, launches, scene};
use serde_json::Value;

/// A script that acts as an agent. It records each message in a file of its own.
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

/// Creates a project with an agent of the vendor `mytool`. Its description has these further lines.
fn world(lines: &str) -> World {
    let world = crate::world();
    let program = world.home().join("mytool");
    files::write_program(&program, TOOL);
    let program = program.display();
    world.write(
        "segue.toml",
        &format!(
            "[[agents]]\nname = \"coder\"\nvendor = \"mytool\"\nprompt = \"p.md\"\n\
             [vendors.mytool]\ncommand = [\"{program}\", \"chat\"]\n\
             new = [\"--session\", \"{{id}}\"]\nresume = [\"--resume\", \"{{id}}\"]\n{lines}"
        ),
    );
    world.write("p.md", "begin");
    world
}

/// Returns one line for each start of the program.
fn starts(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.home().join("starts")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn only_agent(report: &Value) -> &Value {
    &report["agents"][0]
}

#[test]
fn described_vendor_runs_only_if_the_project_file_is_trusted() {
    let world = world("");
    assert_eq!(world.segue(["up"]).status, 5);
    assert_eq!(world.segue(["run", "-d", "--vendor", "mytool", "x"]).status, 5);
    assert_eq!(starts(&world), Vec::<String>::new());
}

#[test]
fn resume_of_a_vendor_without_a_transcript_is_marked_unverified() {
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
fn transcript_of_a_described_vendor_verifies_resume_and_confirms_messages() {
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
fn message_to_a_vendor_without_a_transcript_is_uncertain_at_once() {
    let world = world("");
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    let id = world.session("coder")["vendor_session_id"].as_str().unwrap().to_owned();
    for text in ["the first", "the second"] {
        let sent = world.segue(["send", "coder", text, "--timeout", "20s"]);
        assert_eq!(sent.status, 4, "{sent:#?}");
        let cause = "it was typed, but `mytool` has no transcript that could confirm it";
        assert!(sent.stderr.starts_with("error: it is not known whether"), "{sent:#?}");
        assert!(sent.stderr.contains(cause), "{sent:#?}");
    }
    let sent = world.json(["messages", "--json"]);
    let states = sent["messages"].as_array().unwrap().iter().map(|it| it["state"].clone());
    assert_eq!(states.collect::<Vec<_>>(), ["uncertain", "uncertain"]);
    let received = || fs::read_to_string(world.home().join(format!(".mytool-{id}.jsonl"))).unwrap();
    let line = |text| format!("{{\"role\":\"user\",\"text\":\"{text}\"}}\n");
    let expected = ["begin", "the first", "the second"].map(line).concat();
    launches::wait_until(&[&world.home()], "both messages", || received() == expected);
}

#[test]
fn deleted_transcript_of_a_described_vendor_is_restored() {
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
fn rm_purge_of_a_vendor_without_a_transcript_keeps_the_project_folder() {
    let world = world("");
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    world.ok(["stop", "coder"]);
    world.ok(["rm", "coder", "--purge", "--yes"]);
    assert!(world.sessions().is_empty(), "{:#?}", world.sessions());
    assert!(world.project().join("segue.toml").is_file(), "the project folder was deleted");
}

#[test]
fn handoff_from_a_vendor_without_a_transcript_is_refused() {
    let world = world("");
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    let refused = world.segue(["handoff", "coder", "--to", "demo"]);
    assert_eq!(refused.status, 6, "{refused:#?}");
    assert_eq!(world.sessions().len(), 1, "{:#?}", world.sessions());
}

#[test]
fn resume_of_a_vendor_that_cannot_resume_begins_without_the_first_message() {
    let world = world("");
    let path = world.project().join("segue.toml");
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("resume"));
    world.write("segue.toml", &lines.map(|line| format!("{line}\n")).collect::<String>());
    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    world.kill_everything();
    let report = world.json(["resume", "--json"]);
    assert_eq!(only_agent(&report)["outcome"], "fresh", "{report}");
    let has_started_twice =
        || starts(&world).iter().filter(|line| line.starts_with("new")).count() == 2;
    launches::wait_until(&[&world.home()], "two starts", has_started_twice);
    assert!(!starts(&world)[1].ends_with("begin"), "{:#?}", starts(&world));
}

#[test]
fn two_sessions_of_a_vendor_without_ids_run_side_by_side() {
    let world = crate::world();
    scene::write_project(&world, "[vendors.mytool]\ncommand = [\"cat\"]\n");
    for name in ["one", "two"] {
        world.ok(["run", "-d", "--vendor", "mytool", "--name", name]);
    }
    assert!(world.sessions().iter().all(|it| it["pid"].is_u64()), "{:#?}", world.sessions());
}

#[test]
fn missing_program_of_a_described_vendor_is_named() {
    let world = crate::world();
    scene::write_project(&world, "[vendors.mytool]\ncommand = [\"no-such-program\"]\n");
    let refused = world.segue(["run", "-d", "--vendor", "mytool", "hello"]);
    assert_eq!(refused.status, 6, "{refused:#?}");
    let cause = "caused by: `no-such-program` is neither in PATH nor in the usual places";
    assert!(refused.stderr.contains(cause), "{refused:#?}");
}
