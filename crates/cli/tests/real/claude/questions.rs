//! Tasks of a headless Claude Code that may not act without a permission.

use std::path::PathBuf;

use segue_testkit::scene::{share_environment, text, write_project};
use segue_testkit::vendors::install_previous;
use segue_testkit::{World, isolated};
use serde_json::Value;

use super::{ClaudeScene, scene};

/// Writes a trusted project with an agent that has to ask, and gives tasks the environment of the
/// test.
pub(crate) fn prepare_tasks(world: &World, vendor: &str) {
    share_environment(world);
    let agent = format!("[[agents]]\nname = \"coder\"\nvendor = \"{vendor}\"\n");
    write_project(world, &format!("[fleet]\nname = \"shop\"\n{agent}permission = \"ask\"\n"));
}

/// Adds a task whose agent calls a tool that needs a permission, and waits for the question.
fn asking(scene: &ClaudeScene) -> (String, Value, PathBuf) {
    prepare_tasks(&scene.world, "claude");
    let prompt = "[[tool: touch made]] [[say: it is over]]";
    let id = scene.world.ok(["task", "add", "--agent", "coder", prompt]).trim().to_owned();
    let waiting = wait(&scene.world, &id);
    assert_eq!(waiting["state"], "waiting", "{waiting:#}");
    let reason = text(&waiting, "reason");
    assert!(reason.contains("Allow Bash? command: touch made"), "{reason}");
    let made = scene.world.project().join("made");
    assert!(!made.exists(), "nobody has allowed it");
    (id, waiting, made)
}

/// Waits until a task has ended or needs a person, and returns its record.
pub(super) fn wait(world: &World, task: &str) -> Value {
    let outcome = world.segue(["task", "wait", task, "--json"]);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    report["task"].clone()
}

#[test]
fn headless_task_waits_for_a_permission_and_its_tool_runs_after_yes() {
    isolated(|| {
        let scene = scene();
        let (id, waiting, made) = asking(&scene);
        let sessions = scene.world.sessions();
        let session = &sessions[0];
        assert_eq!(session["dialog"]["choices"][0], "Yes", "{session:#}");
        scene.world.ok(["answer", text(&waiting, "address"), "yes"]);
        let done = wait(&scene.world, &id);
        assert_eq!(done["state"], "done", "{done:#}");
        assert!(made.exists());
        assert_eq!(scene.world.sessions()[0]["launches"], 1);
    });
}

#[test]
fn headless_tool_does_not_run_after_no_and_the_turn_goes_on() {
    isolated(|| {
        let scene = scene();
        let (id, waiting, made) = asking(&scene);
        scene.world.ok(["answer", text(&waiting, "address"), "no"]);
        let done = wait(&scene.world, &id);
        assert_eq!(done["state"], "done", "{done:#}");
        assert!(!made.exists());
    });
}

#[test]
fn question_of_a_headless_task_is_answered_through_the_next_daemon() {
    isolated(|| {
        let scene = scene();
        let (id, waiting, made) = asking(&scene);
        segue_testkit::scene::kill_daemon(&scene.world);
        scene.world.ok(["answer", text(&waiting, "address"), "yes"]);
        let done = wait(&scene.world, &id);
        assert_eq!(done["state"], "done", "{done:#}");
        assert!(made.exists());
    });
}

#[test]
fn tool_does_not_run_if_everything_is_killed_while_a_person_is_asked() {
    isolated(|| {
        let scene = scene();
        let (id, waiting, made) = asking(&scene);
        scene.world.kill_everything();
        let brought_back = wait(&scene.world, &id);
        assert_eq!(brought_back["session"], waiting["session"], "{brought_back:#}");
        assert!(!made.exists());
    });
}

#[test]
fn earlier_release_that_cannot_ask_headless_is_refused() {
    isolated(|| {
        let scene = scene();
        install_previous(&scene.world, "claude");
        prepare_tasks(&scene.world, "claude");
        let refused = scene.world.segue(["task", "add", "--agent", "coder", "fix it"]);
        assert!(refused.stderr.contains("`claude` cannot ask a person"), "{refused:#?}");
    });
}
