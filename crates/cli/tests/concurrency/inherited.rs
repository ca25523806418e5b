//! What a caller left open is not kept open by what its command started.

use std::fs;
use std::process::{Command, Stdio};

use segue_testkit::processes::is_alive;
use segue_testkit::{Outcome, World};

use super::{alive, daemons, world};

/// A shell with the environment and the folder of a world; `$SEGUE` is its program.
fn shell(world: &World, shell: &str, script: &str) -> Command {
    let mut command = Command::new(shell);
    command.args(["-c", script]).current_dir(world.project()).env_clear();
    command.envs(world.environment()).env("SEGUE", world.program()).stdin(Stdio::null());
    command
}

/// Returns what the open descriptors of a process lead to.
fn open_files(pid: u32) -> Vec<String> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let target = |entry: fs::DirEntry| fs::read_link(entry.path()).ok();
    let targets = descriptors.filter_map(|entry| target(entry.unwrap()));
    targets.map(|path| path.to_string_lossy().into_owned()).collect()
}

#[test]
fn a_command_substitution_ends_although_a_daemon_and_an_agent_were_started() {
    let world = world();
    // A shell waits until nobody has the other end of the pipe any more.
    let script = "x=$($SEGUE run -d --name coder hello 2>&1); echo \"[$x]\"";
    let outcome = Outcome::of(&mut shell(&world, "sh", script));
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert!(outcome.stdout.starts_with("[default/coder\n"), "{outcome:?}");
    alive(&world.session("coder"), "pid");
    assert_eq!(daemons(&world).len(), 1);
}

#[test]
fn nothing_that_was_open_at_the_start_stays_open() {
    let world = world();
    // Both streams are pipes here, and a script's own files and locks are open besides.
    let script = "exec 3>three 9>nine 12>twelve 13<>thirteen; $SEGUE run -d --name coder hello";
    let outcome = Outcome::of(&mut shell(&world, "bash", script));
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let session = world.session("coder");
    let started = [daemons(&world)[0], alive(&session, "holder_pid"), alive(&session, "pid")];
    for pid in started {
        assert!(is_alive(pid));
        let files = open_files(pid);
        let project = world.project();
        let foreign = |path: &&String| path.starts_with(project.to_str().unwrap());
        assert_eq!(files.iter().find(foreign), None, "{files:?}");
    }
}

#[test]
fn a_daemon_does_not_keep_the_small_limits_of_whoever_started_it() {
    let world = world();
    let outcome = Outcome::of(&mut shell(&world, "sh", "ulimit -S -n 30; $SEGUE ls"));
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let children: Vec<_> = (0..10).map(|_| world.start(["run", "-d", "hello"])).collect();
    for outcome in children.into_iter().map(super::ended) {
        assert_eq!(outcome.status, 0, "{outcome:?}");
    }
    assert_eq!(world.sessions().len(), 10);
}
