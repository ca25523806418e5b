//! What an agent may do with Segue. It cannot exceed its own permission.
//!
//! A shell below a real holder takes the place of a session's own agent.

use segue_testkit::scene::{kill_daemon, pids_running, write_project};
use segue_testkit::stand_in::{Mark, StandIn};
use segue_testkit::{CommandOutcome, World, launches};
use serde_json::Value;

/// Creates a world with two sessions: `coder`, which asks for permission, and `loose`, which does
/// not. Neither is the child of another session.
fn world() -> World {
    let world = crate::world();
    world.ok(["run", "-d", "--name", "coder", "hello"]);
    world.ok(["run", "-d", "--name", "loose", "--permission", "auto", "hello"]);
    world
}

fn names(world: &World) -> Vec<String> {
    let name = |session: &Value| session["name"].as_str().unwrap().to_owned();
    let mut names: Vec<String> = world.sessions().iter().map(name).collect();
    names.sort();
    names
}

#[track_caller]
fn assert_refused(outcome: &CommandOutcome, error: &str) {
    assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""), "{outcome:#?}");
    let expected = format!("error: an agent may not {error}\n");
    assert!(outcome.stderr.starts_with(&expected), "{outcome:#?}");
    assert!(outcome.stderr.contains("called from inside `default/coder`"), "{outcome:#?}");
    assert!(outcome.stderr.contains("hint: "), "{outcome:#?}");
}

#[test]
fn agent_may_not_start_a_child_with_a_looser_permission_than_its_own() {
    let world = world();
    let coder = world.session("coder");
    let agent = StandIn::with_new_daemon(&world, &coder);
    let looser = "start an agent with a looser permission than its own";
    for permission in ["auto", "accept-edits"] {
        let outcome = agent.run(&format!("$SEGUE run -d --permission {permission} hello"));
        assert_refused(&outcome, looser);
    }
    let outcome = agent.run("$SEGUE run -d hello -- --permission auto");
    assert_refused(&outcome, "give arguments to the vendor's program");
    assert_eq!(names(&world), ["coder", "loose"]);

    let outcome = agent.run("$SEGUE run -d --name child hello");
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, "default/child\n"), "{outcome:#?}");
    let child = record_of(&world, "child");
    assert_eq!(child["session"]["parent"], coder["id"]);
    assert_eq!(child["session"]["permission"], "ask");
}

#[test]
fn agent_may_not_start_a_project_agent_with_a_looser_permission() {
    let world = world();
    let agent = |name: &str, line: &str| {
        format!("[[agents]]\nname = \"{name}\"\nvendor = \"demo\"\n{line}\n")
    };
    let agents = [
        agent("free", "permission = \"auto\""),
        agent("flagged", "args = [\"--permission\", \"auto\"]"),
        agent("plain", ""),
    ];
    write_project(&world, &agents.concat());
    let coder = StandIn::with_new_daemon(&world, &world.session("coder"));
    let outcome = coder.run("$SEGUE run -d --agent free");
    assert_refused(&outcome, "start an agent with a looser permission than its own");
    let outcome = coder.run("$SEGUE run -d --agent flagged");
    assert_refused(&outcome, "give arguments to the vendor's program");
    assert_eq!(names(&world), ["coder", "loose"]);
    let outcome = coder.run("$SEGUE run -d --agent plain --name child");
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    assert_eq!(record_of(&world, "child")["session"]["permission"], "ask");
}

#[test]
fn agent_with_permission_auto_may_start_a_child_with_permission_auto() {
    let world = world();
    let agent = StandIn::with_new_daemon(&world, &world.session("loose"));
    let outcome = agent.run("$SEGUE run -d --name child --permission auto --model m hello");
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    assert_eq!(record_of(&world, "child")["session"]["permission"], "auto");
    // The child gets the looser permission only if the agent asks for it.
    assert_eq!(agent.run("$SEGUE run -d --name second hello").status, 0);
    assert_eq!(record_of(&world, "second")["session"]["permission"], "ask");
}

/// Returns the `session.json` of a session's newest launch.
fn record_of(world: &World, name: &str) -> Value {
    launches::newest_json(world, &world.session(name))
}

#[test]
fn commands_that_only_a_person_may_use_are_refused_to_an_agent() {
    let world = world();
    world.write("segue.toml", "[[agents]]\nname = \"other\"\nvendor = \"demo\"\n");
    let agent = StandIn::of(&world, &world.session("coder"), Mark::Kept);
    let daemon = world.json(["daemon", "start", "--json"])["pid"].clone();
    let other = "reach a session that is neither its own nor its child";
    let all = "act on sessions that are not its own";
    let table = [
        ("rm coder --yes", "remove a session"),
        ("rm loose --yes", other),
        ("trust --yes", "trust a project file"),
        ("doctor --fix", "repair the store"),
        ("daemon stop", "stop the daemon"),
        ("sweep", "remove old worktrees, clones and copies"),
        ("sweep --dry-run", "remove old worktrees, clones and copies"),
        ("reset --agent coder --repo . --issue 17", "use tasks"),
        ("du", "read the events of all sessions"),
        ("resume --all", all),
        ("resume --all --plan", all),
        ("resume", all),
        ("stop --all", all),
        ("up", all),
        ("stop loose", other),
        ("stop coder loose", other),
        ("stop default", other),
        ("resume loose", other),
        ("resume --fresh loose", other),
        ("log loose", other),
    ];
    for (command, error) in table {
        assert_refused(&agent.run(&format!("$SEGUE {command}")), error);
    }
    let attach = "attach to a terminal, where it could answer for a person";
    for (name, error) in [("coder", attach), ("loose", other)] {
        let script = format!("$SEGUE attach {name} </dev/tty >/dev/tty");
        assert_refused(&agent.run(&script), error);
    }
    assert_eq!(world.json(["daemon", "status", "--json"])["pid"], daemon);
    assert_eq!(names(&world), ["coder", "loose"]);
    assert!(world.sessions().iter().all(|it| it["launches"] == 1 && it["pid"].is_u64()));
}

#[test]
fn agent_sees_only_itself_and_its_children() {
    let world = world();
    let coder = world.session("coder");
    let agent = StandIn::with_new_daemon(&world, &coder);
    assert_eq!(agent.run("$SEGUE run -d --name child hello").status, 0);
    let outcome = agent.run("$SEGUE ls --all --json");
    let list: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let sessions = list["sessions"].as_array().unwrap();
    let names: Vec<&Value> = sessions.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["coder", "child"]);
    for command in ["log coder", "log child", "doctor", "daemon status", "resume coder"] {
        let outcome = agent.run(&format!("$SEGUE {command}"));
        assert_eq!(outcome.status, 0, "{command}: {outcome:#?}");
    }
    let log = agent.run("$SEGUE log --json").stdout;
    let session_of = |line: &str| serde_json::from_str::<Value>(line).unwrap()["session"].clone();
    assert!(log.lines().count() > 3, "{log}");
    assert!(log.lines().all(|line| session_of(line) == coder["id"]), "{log}");

    let outcome = agent.run("$SEGUE stop child");
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    assert_eq!(world.session("child")["status"], "ended");
}

/// Returns ways in which an agent can call Segue without its own mark, or with the mark of another
/// launch.
fn disguises(world: &World) -> [String; 5] {
    let loose = launches::newest_id(world, &world.session("loose"));
    [
        "$SEGUE".to_owned(),
        "env -u SEGUE_LAUNCH -u SEGUE_SESSION $SEGUE".to_owned(),
        "env -i HOME=$HOME SEGUE_HOME=$SEGUE_HOME $SEGUE".to_owned(),
        format!("env SEGUE_LAUNCH={loose} $SEGUE"),
        // In a process session of its own, as a background job.
        "setsid -w sh -c '\"$@\" & wait $!' sh env -u SEGUE_LAUNCH $SEGUE".to_owned(),
    ]
}

/// Checks that an agent with or without a mark in its environment is recognised with every disguise.
fn assert_recognised(mark: Mark) {
    let world = world();
    let disguises = disguises(&world);
    let agent = StandIn::of(&world, &world.session("coder"), mark);
    // Without a daemon: an agent may not start one.
    for segue in &disguises {
        let outcome = agent.run(&format!("{segue} ls"));
        assert_eq!((outcome.status, outcome.stdout.as_str()), (7, ""), "{segue}: {outcome:#?}");
        let expected = "error: the daemon does not run\n  caused by: an agent may not start it\n";
        assert!(outcome.stderr.starts_with(expected), "{segue}: {outcome:#?}");
        let outcome = agent.run(&format!("{segue} daemon run"));
        assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""), "{segue}: {outcome:#?}");
    }
    assert_eq!(pids_running(&world, "daemon"), Vec::<u32>::new());

    world.ok(["ls"]);
    for segue in &disguises {
        let outcome = agent.run(&format!("{segue} run -d --permission auto hello"));
        assert_refused(&outcome, "start an agent with a looser permission than its own");
        assert_refused(&agent.run(&format!("{segue} daemon stop")), "stop the daemon");
    }
    assert_eq!(names(&world), ["coder", "loose"]);
}

#[test]
fn agent_is_recognised_whatever_it_does_to_the_mark_in_its_environment() {
    assert_recognised(Mark::Kept);
}

#[test]
fn agent_without_a_mark_is_recognised_by_its_holder() {
    assert_recognised(Mark::TakenAway);
}

#[test]
fn mark_of_a_launch_without_its_holder_allows_nothing() {
    let world = world();
    let coder = launches::newest_id(&world, &world.session("coder"));
    let marked = |arguments: &[&str]| {
        CommandOutcome::of(world.command(arguments).env("SEGUE_LAUNCH", coder.to_string()))
    };
    for arguments in [&["ls"][..], &["run", "-d", "hello"], &["daemon", "stop"]] {
        let outcome = marked(arguments);
        assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""), "{outcome:#?}");
        let expected = "error: an agent whose launch is over may not use Segue\n";
        assert!(outcome.stderr.starts_with(expected), "{outcome:#?}");
    }
    kill_daemon(&world);
    assert_eq!(marked(&["ls"]).status, 7);
    assert_eq!(names(&world), ["coder", "loose"]);
}
