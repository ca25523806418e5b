//! The daemon, the holder and the agent do not keep the caller's file descriptors open.

use std::fs;
use std::process::{Command, Stdio};

use segue_testkit::processes::is_alive;
use segue_testkit::scene::finish;
use segue_testkit::{CommandOutcome, World};

use super::{daemons, live_pid};
use crate::world;

/// Returns a shell command with the environment and the folder of a world. `$SEGUE` is its program.
fn shell(world: &World, shell: &str, script: &str) -> Command {
    let mut command = Command::new(shell);
    command.args(["-c", script]).current_dir(world.project()).env_clear();
    command.envs(world.environment()).env("SEGUE", world.program()).stdin(Stdio::null());
    command
}

/// Returns the targets of a process's open file descriptors.
fn open_files(pid: u32) -> Vec<String> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let target = |entry: fs::DirEntry| fs::read_link(entry.path()).ok();
    let targets = descriptors.filter_map(|entry| target(entry.unwrap()));
    targets.map(|path| path.to_string_lossy().into_owned()).collect()
}

#[test]
fn command_substitution_ends_while_the_daemon_and_the_agent_run() {
    let world = world();
    // The shell waits until no process has the other end of the pipe open.
    let script = "x=$($SEGUE run -d --name coder hello 2>&1); echo \"[$x]\"";
    let outcome = CommandOutcome::of(&mut shell(&world, "sh", script));
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert!(outcome.stdout.starts_with("[default/coder\n"), "{outcome:?}");
    live_pid(&world.session("coder"), "pid");
    assert_eq!(daemons(&world).len(), 1);
}

#[test]
fn daemon_holder_and_agent_inherit_no_open_files_of_the_caller() {
    let world = world();
    // Standard output and error are pipes here. The script also has files open, like a script with
    // lock files.
    let script = "exec 3>three 9>nine 12>twelve 13<>thirteen; $SEGUE run -d --name coder hello";
    let outcome = CommandOutcome::of(&mut shell(&world, "bash", script));
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let session = world.session("coder");
    let started = [daemons(&world)[0], live_pid(&session, "holder_pid"), live_pid(&session, "pid")];
    for pid in started {
        assert!(is_alive(pid));
        let files = open_files(pid);
        let project = world.project();
        let is_callers = |path: &&String| path.starts_with(project.to_str().unwrap());
        assert_eq!(files.iter().find(is_callers), None, "{files:?}");
    }
}

#[test]
fn daemon_does_not_inherit_a_low_limit_of_open_files() {
    let world = world();
    let outcome = CommandOutcome::of(&mut shell(&world, "sh", "ulimit -S -n 30; $SEGUE ls"));
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let children: Vec<_> = (0..10).map(|_| world.start(["run", "-d", "hello"])).collect();
    for outcome in children.into_iter().map(finish) {
        assert_eq!(outcome.status, 0, "{outcome:?}");
    }
    assert_eq!(world.sessions().len(), 10);
}
