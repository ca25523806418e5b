//! Clients that other people wrote, with `segue acp` and the demo agent.

use std::process::{Child, Command, Output, Stdio};

use rustix::process::Signal;
use segue_testkit::acp_packages::{modules, node, script};
use segue_testkit::{World, processes, scene};
use serde_json::{Value, json};

use super::{name, wait_status};
use crate::world;

/// The release of acpx that is pinned. Old releases do not know `session/resume`.
const ACPX_VERSION: &str = "0.19.1";

/// Returns a command of acpx, whose agent is `segue acp`.
fn acpx(world: &World, words: &[&str]) -> Command {
    let package = modules().join("acpx");
    let about = std::fs::read_to_string(package.join("package.json")).unwrap();
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["version"], ACPX_VERSION);
    let mut command = Command::new(node());
    command.arg(package.join(about["bin"]["acpx"].as_str().unwrap()));
    command.arg("--agent").arg(format!("{} acp --vendor demo", world.program().display()));
    // Longer than a test: its process in the background must not end while a prompt reaches it. The
    // end of the world ends it.
    command.args(["--ttl", "600"]).args(words).current_dir(world.project());
    command.env_clear().envs(world.environment());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn ok(world: &World, words: &[&str]) -> String {
    let output: Output = acpx(world, words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Begins a prompt of acpx, and waits until the agent works on it.
fn begin(world: &World, session: &str, prompt: &str) -> Child {
    let child = acpx(world, &["prompt", prompt]).spawn().unwrap();
    wait_status(world, session, "working");
    child
}

#[test]
fn acpx_continues_the_same_session_after_its_agent_was_killed() {
    let world = world();
    let made = ok(&world, &["sessions", "new"]);
    let session = made.lines().last().unwrap().to_owned();
    assert!(session.starts_with("segue://session/"), "{made}");
    let said = ok(&world, &["prompt", "remember the word amber"]);
    assert!(said.contains("I will remember amber."), "{said}");
    let child = begin(&world, &session, "/hang");
    for pid in scene::pids_running(&world, "acp") {
        processes::send(pid, Signal::KILL);
    }
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    world.ok(["interrupt", &name(&world, &session)]);
    wait_status(&world, &session, "idle");
    let said = ok(&world, &["prompt", "what is the word?"]);
    assert!(said.contains("The word is amber."), "{said}");
    assert_eq!(world.sessions().len(), 1, "no other session was begun");
    assert_eq!(world.sessions()[0]["launches"], 1, "acpx kills the descendants of its agent");
}

#[test]
fn acpx_opens_a_session_of_segue_by_its_id() {
    let world = world();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "remember the word amber"]);
    world.ok(["wait", "fox", "--for", "idle", "--timeout", "170s"]);
    let session = format!("segue://session/{}", world.session("fox")["id"].as_str().unwrap());
    let made = ok(&world, &["sessions", "new", "--resume-session", &session]);
    assert!(made.contains(&session), "{made}");
    let said = ok(&world, &["prompt", "what is the word?"]);
    assert!(said.contains("The word is amber."), "{said}");
    let said = ok(&world, &["--approve-all", "prompt", "/ask"]);
    assert!(said.contains("I edited notes.txt."), "{said}");
    assert_eq!(world.sessions().len(), 1);
}

#[test]
fn client_of_the_protocols_library_prompts_answers_cancels_and_loads() {
    let world = world();
    let mut command = Command::new(node());
    command.arg(script("client.mjs")).arg(modules()).arg(world.project());
    command.arg(world.program()).args(["acp", "--vendor", "demo"]);
    let output = command.env_clear().envs(world.environment()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let steps = String::from_utf8(output.stdout).unwrap();
    let steps: Vec<Value> = steps.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let step = |name: &str| steps.iter().find(|it| it["step"] == name).unwrap();
    assert_eq!(step("prompt")["texts"], json!(["I will remember amber."]));
    assert_eq!(step("permission")["questions"], 1);
    assert_eq!(step("permission")["stopReason"], "end_turn");
    assert_eq!(step("cancel")["stopReason"], "cancelled");
    let (before, after) = (&step("load")["before"], &step("load")["after"]);
    assert_eq!(before[0], "I will remember amber.");
    assert_eq!(before, after, "the history is the same");
    assert_eq!(step("again")["text"], "The word is amber.");
    assert_eq!(step("list")["ids"], json!([step("prompt")["sessionId"]]));
}
