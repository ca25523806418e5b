//! A repository whose configuration names programs. No command of Segue may run them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use segue_testkit::{World, conversation, files, scene};

use super::with_and_without_privileges;

/// Runs git in the project folder as the world's user would.
fn git(world: &World, arguments: &[&str]) {
    let settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "safe.directory=*"];
    let mut command = Command::new("git");
    command.args(settings).args(arguments).current_dir(world.project());
    command.env("HOME", world.home()).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
}

/// Makes the project folder a repository whose configured programs and hooks create a mark file.
/// Returns the path of that file.
fn create_trap(world: &World) -> PathBuf {
    let mark = world.root().join("marks/mark");
    fs::create_dir(mark.parent().unwrap()).unwrap();
    fs::set_permissions(mark.parent().unwrap(), Permissions::from_mode(0o777)).unwrap();
    let trap = world.root().join("trap");
    files::write_program(&trap, &format!("#!/bin/sh\n: >{}\nexit 1\n", mark.display()));
    git(world, &["init", "-q", "-b", "feature/x"]);
    world.write("a", "1");
    git(world, &["add", "a"]);
    git(world, &["commit", "-q", "-m", "first step"]);
    world.write("a", "2");
    world.write(".gitattributes", "* filter=x diff=x\n");
    let trap = trap.to_str().unwrap();
    let keys = [
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "credential.helper",
        "gpg.program",
        "alias.status",
        "alias.log",
    ];
    for key in keys {
        git(world, &["config", key, trap]);
    }
    git(world, &["config", "log.showSignature", "true"]);
    let hooks = world.project().join(".git/hooks");
    for hook in ["post-index-change", "reference-transaction", "post-checkout", "pre-commit"] {
        fs::create_dir_all(&hooks).unwrap();
        fs::copy(trap, hooks.join(hook)).unwrap();
    }
    // The commands above may have run the trap.
    let _removed = fs::remove_file(&mark);
    mark
}

fn assert_no_command_runs_the_trap(world: &mut World) {
    let mark = create_trap(world);
    scene::write_project(world, "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n");
    scene::start_with_word(world, "a", "fox");
    let handoff = ["handoff", "a", "--to", "demo", "--mode", "digest"];
    let [verb, from, to, demo, mode, digest] = handoff;
    let report = world.json([verb, from, to, demo, mode, digest, "--dry-run", "--json"]);
    let content = report["content"].as_str().unwrap();
    for part in ["feature/x", "first step", " M a"] {
        assert!(content.contains(part), "the digest lacks the state of the folder: {content}");
    }
    world.ok(["handoff", "a", "--to", "demo", "--dry-run"]);
    world.ok(handoff);
    conversation::wait_turns(world, &world.session("a-demo"), 1);
    world.ok(["run", "--headless", "hello"]);
    world.ok(["up"]);
    world.ok(["ls", "--all"]);
    world.ok([]);
    world.ok(["show", "a-demo"]);
    world.ok(["log", "a"]);
    world.ok(["doctor"]);
    world.ok(["adopt"]);
    world.ok(["stop", "--all"]);
    world.ok(["resume", "a-demo"]);
    world.ok(["vendors"]);
    assert!(!mark.exists(), "a program of the repository was run");
    git(world, &["status"]);
    assert!(mark.exists(), "the trap does not work");
    assert!(!world.state().join("git-view").exists(), "the temporary git folder is left");
}

#[test]
fn no_command_runs_a_program_from_the_configuration_of_the_repository() {
    with_and_without_privileges(assert_no_command_runs_the_trap);
}
