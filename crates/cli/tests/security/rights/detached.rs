//! Processes of an agent that detach from it, hide, or kill its holder and the daemon.

use std::fs;
use std::path::PathBuf;

use segue_testkit::World;
use segue_testkit::processes::wait_gone;
use segue_testkit::scene::daemon_pid;
use serde_json::Value;

use super::{holder_of, start_as_agent, wait_for_file, world};

/// A process of `coder` that runs a script in a new process session and an empty environment.
pub(super) struct Fugitive<'a> {
    world: &'a World,
    folder: PathBuf,
}

impl<'a> Fugitive<'a> {
    /// Starts the process. `$SEGUE` is the program, and the files `out` and `err` get its output.
    fn start(world: &'a World, script: &str) -> Self {
        Self::start_through(world, |start| format!("setsid {start} &"), script)
    }

    /// Starts the process with the command that `through` makes from the command line that clears
    /// the environment.
    pub(super) fn start_through(
        world: &'a World,
        through: impl FnOnce(&str) -> String,
        script: &str,
    ) -> Self {
        let folder = world.project();
        let text = format!(
            "echo $$ >pid.new; mv pid.new pid; exec >>out 2>>err; SEGUE={}\n{script}\n",
            world.program().display()
        );
        world.write("fugitive.sh", &text);
        let home =
            format!("HOME={} SEGUE_HOME={}", world.home().display(), world.segue_home().display());
        let start = through(&format!("env -i {home} PATH=$PATH sh ./fugitive.sh"));
        // This does not wait, because the agent may end with its holder before it writes its status.
        start_as_agent(world, "start.sh", &start);
        Self { world, folder }
    }

    /// Waits until the process has started; returns its pid.
    pub(super) fn pid(&self) -> u32 {
        wait_for_file(&self.folder.join("pid"));
        self.read("pid").trim().parse().unwrap()
    }

    pub(super) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_default()
    }

    /// Waits until the process is gone. Checks that it learned nothing about other sessions. It may see
    /// its own session until its killed holder is gone.
    #[track_caller]
    pub(super) fn assert_ended_with_nothing(&self) {
        wait_gone(self.pid());
        let is_own = |line: &str| line.starts_with("NAME ") || line.contains("/coder ");
        let out = self.read("out");
        assert!(out.lines().all(is_own), "{out}{}", self.read("err"));
        let names: Vec<Value> = self.world.sessions().iter().map(|it| it["name"].clone()).collect();
        assert_eq!(names, ["coder", "loose"]);
        assert_eq!(self.world.session("loose")["launches"], 1);
    }
}

/// Requests everything that an agent must not get, until the process is ended.
const REQUEST_FOREVER: &str = "while :; do \
    $SEGUE ls --all; $SEGUE stop loose; \
    $SEGUE run -d --permission auto --vendor demo --name out hello; done";

/// An agent's process kills its holder. Checks that it gets nothing and is ended.
fn assert_killed_holder_gives_no_rights(is_privileged: bool) {
    let world = world(is_privileged);
    let holder = holder_of(&world, "coder");
    let fugitive = Fugitive::start(&world, &format!("kill -9 {holder}; {REQUEST_FOREVER}"));
    fugitive.assert_ended_with_nothing();
}

#[test]
fn killing_its_holder_gives_an_agent_no_rights_and_ends_its_processes() {
    assert_killed_holder_gives_no_rights(true);
}

#[test]
fn killing_its_holder_gives_an_agent_without_a_cgroup_no_rights_and_ends_its_processes() {
    assert_killed_holder_gives_no_rights(false);
}

#[test]
fn killing_daemon_and_holder_gives_an_agent_in_a_cgroup_no_rights() {
    if segue_host::cgroup::check().is_err() {
        return;
    }
    let world = world(true);
    let holder = holder_of(&world, "coder");
    let daemon = daemon_pid(&world);
    let script = format!("kill -9 {daemon} {holder}; echo >killed; {REQUEST_FOREVER}");
    let fugitive = Fugitive::start(&world, &script);
    wait_for_file(&world.project().join("killed"));
    // A person starts the next daemon, which finds the processes that are left.
    world.ok(["ls"]);
    fugitive.assert_ended_with_nothing();
}

#[test]
fn nested_cgroup_with_any_name_gives_an_agent_no_rights() {
    if segue_host::cgroup::check().is_err() {
        return;
    }
    let world = world(true);
    let holder = holder_of(&world, "coder");
    let daemon = daemon_pid(&world);
    let script = format!(
        "mount=$(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \\([^ ]*\\) .* - cgroup2 .*/\\1/p' /proc/self/mountinfo)\n\
         own=$mount$(sed -n 's/^0:://p' /proc/self/cgroup)/$(printf '\\377')\n\
         mkdir \"$own\" && echo 0 >\"$own/cgroup.procs\" || exit\n\
         kill -9 {daemon} {holder}; echo >killed; {REQUEST_FOREVER}"
    );
    let fugitive = Fugitive::start(&world, &script);
    wait_for_file(&world.project().join("killed"));
    world.ok(["ls"]);
    fugitive.assert_ended_with_nothing();
}

#[test]
fn variable_of_an_attention_command_does_not_protect_an_agents_process() {
    let world = world(false);
    let holder = holder_of(&world, "coder");
    let through = |start: &str| format!("setsid {} &", start.replace("-i", "-i SEGUE_REASON=x"));
    let script = format!("kill -9 {holder}; {REQUEST_FOREVER}");
    Fugitive::start_through(&world, through, &script).assert_ended_with_nothing();
}

#[test]
fn unmarked_child_of_a_marked_process_is_ended_with_the_launch() {
    let world = world(false);
    let holder = holder_of(&world, "coder");
    let through = |start: &str| {
        format!("setsid sh -c 'trap \"\" HUP TERM; {start} & while :; do sleep 600; done' &")
    };
    let script = format!("kill -9 {holder}; {REQUEST_FOREVER}");
    Fugitive::start_through(&world, through, &script).assert_ended_with_nothing();
}
