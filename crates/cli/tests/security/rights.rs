//! An agent's processes get no more rights if they detach, hide or kill other processes.

mod connections;
mod detached;
mod ending;
mod own_daemons;

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use segue_testkit::scene::{pid, write_project};
use segue_testkit::{CommandOutcome, World, processes, wait};

use connections::CONNECT_AND_END;

/// The agent of `coder`. It runs the scripts whose names it reads from a pipe. Any user may write
/// to that pipe.
const AGENT: &str = r#"
while :; do
    # Nothing is read if the writer of the last name has not closed the pipe yet.
    read -r script <go || continue
    sh "./$script" >"$script.out" 2>"$script.err" </dev/null
    echo $? >"$script.new"
    mv "$script.new" "$script.status"
done
"#;

/// Creates a world with two sessions: `coder`, whose agent runs scripts and has permission `ask`,
/// and `loose`, which has permission `auto`.
fn world(is_privileged: bool) -> World {
    let mut world = crate::world();
    if !is_privileged {
        world.drop_privileges();
    }
    world.set("WITNESS", "amber-in-the-environment");
    world.write("agent.sh", AGENT);
    world.write("connect.pl", CONNECT_AND_END);
    let made = Command::new("mkfifo").args(["-m", "666"]).arg(world.project().join("go")).status();
    assert!(made.unwrap().success());
    write_project(&world, "[vendors.shell]\ncommand = [\"sh\", \"./agent.sh\"]\n");
    world.ok(["run", "-d", "--vendor", "shell", "--name", "coder"]);
    world.ok(["run", "-d", "--vendor", "demo", "--name", "loose", "--permission", "auto", "hello"]);
    world
}

/// Makes the agent of `coder` run a script. In it `$SEGUE` is the program under test.
fn start_as_agent(world: &World, name: &str, script: &str) {
    world.write(name, &format!("SEGUE={}\n{script}\n", world.program().display()));
    fs::write(world.project().join("go"), format!("{name}\n")).unwrap();
}

/// Makes the agent of `coder` run a script, and waits for its end.
fn run_as_agent(world: &World, name: &str, script: &str) -> CommandOutcome {
    start_as_agent(world, name, script);
    let file = |what: &str| world.project().join(format!("{name}.{what}"));
    wait_for_file(&file("status"));
    let read = |what: &str| String::from_utf8_lossy(&fs::read(file(what)).unwrap()).into_owned();
    let status = read("status").trim().parse().unwrap();
    CommandOutcome { status, stdout: read("out"), stderr: read("err") }
}

fn wait_for_file(path: &Path) {
    wait::until(&[path.parent().unwrap()], &path.display().to_string(), || path.exists());
}

/// Returns the pid of a session's holder.
fn holder_of(world: &World, name: &str) -> u32 {
    pid(&world.session(name), "holder_pid")
}

#[test]
fn doctor_shows_an_agent_nothing_about_other_sessions() {
    let world = world(true);
    let loose = holder_of(&world, "loose");
    // A stopped holder is a finding that names its session.
    processes::send(loose, Signal::STOP);
    let outcome = run_as_agent(&world, "doctor.sh", "$SEGUE doctor");
    let found = world.segue(["doctor"]).stdout;
    processes::send(loose, Signal::CONT);
    assert!(found.contains("project/loose"), "{found}");
    assert!(!outcome.stdout.contains("loose"), "{outcome:#?}");
}

#[test]
fn doctor_reports_which_protection_is_active() {
    let protection = |world: &World| {
        let report = world.ok(["doctor"]);
        report.lines().find(|line| line.contains("are identified by")).unwrap().to_owned()
    };
    let unprivileged = world(false);
    assert!(protection(&unprivileged).contains("by their ancestry: no cgroup can be made here"));
    drop(unprivileged);
    if segue_host::cgroup::check().is_ok() {
        assert!(protection(&world(true)).contains("by their cgroups"));
    }
}

#[test]
fn error_about_a_name_shows_an_agent_nothing_about_other_sessions() {
    let world = world(true);
    let loose = world.session("loose")["id"].as_str().unwrap().to_owned();
    // No other id has this prefix.
    let prefix = &loose[..30];
    let script = format!("$SEGUE show {prefix}; $SEGUE show loose; $SEGUE show nobody");
    let outcome = run_as_agent(&world, "run.sh", &script);
    assert!(!outcome.stderr.contains(&loose), "{outcome:#?}");
    let errors: Vec<&str> =
        outcome.stderr.lines().filter(|line| line.starts_with("error")).collect();
    assert!(errors.len() == 3 && errors.windows(2).all(|it| it[0] == it[1]), "{outcome:#?}");
}
