//! A task with a verify command is done only if the command succeeds.

use std::os::unix::fs::PermissionsExt as _;
use std::{fs, iter};

use segue_testkit::World;
use serde_json::{Value, json};

use super::{received, wait, world_with_coder};

/// Adds a task with a verify command, and waits for its end.
fn verified(world: &World, command: &str) -> Value {
    let add = ["task", "add", "--agent", "coder", "--verify", command, "remember the word amber"];
    wait(world, world.ok(add).trim())
}

#[test]
fn task_is_done_if_its_verify_command_succeeds_in_the_folder_of_the_session() {
    let world = world_with_coder();
    let done = verified(&world, "test -f segue.toml && echo fine >&2");
    assert_eq!(done["state"], "done", "{done:#}");
    let verify = &done["result"]["verify"];
    assert_eq!((&verify["passed"], &verify["runs"]), (&json!(true), &json!(1)), "{done:#}");
    assert_eq!(verify["output"], "fine");
    assert_eq!(received(&world, &done).len(), 1);
}

#[test]
fn output_of_a_failed_verify_command_goes_back_to_the_agent_three_times() {
    let world = world_with_coder();
    let failed = verified(&world, "echo broken; exit 3");
    assert_eq!(failed["state"], "failed", "{failed:#}");
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("exit status: 3"), "{reason}");
    let verify = &failed["result"]["verify"];
    assert_eq!((&verify["passed"], &verify["runs"]), (&json!(false), &json!(4)), "{failed:#}");
    let received = received(&world, &failed);
    assert_eq!(received.len(), 4, "{received:?}");
    assert!(received[1..].iter().all(|text| text.contains("broken")), "{received:?}");
}

#[test]
fn verify_command_that_succeeds_later_makes_the_task_done() {
    let world = world_with_coder();
    let done = verified(&world, "test -f tried || { touch tried; echo missing; exit 1; }");
    assert_eq!(done["state"], "done", "{done:#}");
    assert_eq!(done["result"]["verify"]["runs"], 2, "{done:#}");
    assert_eq!(received(&world, &done).len(), 2);
}

#[test]
fn verify_command_and_its_background_processes_may_not_use_segue() {
    let world = world_with_coder();
    let script = world.project().join("verify.sh");
    let segue = world.program().display();
    let lines = [
        "#!/bin/sh".to_owned(),
        format!("{segue} task add --agent coder --key stolen x 2>&1"),
        format!("env -i HOME=$HOME SEGUE_HOME=$SEGUE_HOME {segue} trust --yes 2>&1"),
        "exit 1".to_owned(),
    ];
    let text: String =
        lines.iter().flat_map(|line| iter::once(line.as_str()).chain(["\n"])).collect();
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let failed = verified(&world, "./verify.sh");
    let output = failed["result"]["verify"]["output"].as_str().unwrap();
    assert_eq!(output.matches("may not use Segue").count(), 2, "{output}");
    let tasks = world.json(["task", "ls", "--all", "--json"]);
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1, "{tasks:#}");
}
