//! Many concurrent commands, and what they share: one daemon, and one session of each name.

mod another_version;
mod gates;
mod headless;
mod inherited;
mod interrupted;
mod side_by_side;

use std::collections::HashSet;
use std::process::Child;

use segue_testkit::conversation::{said, transcript, wait_turns};
use segue_testkit::processes::{command_line, is_alive};
use segue_testkit::stand_in::kill_daemon;
use segue_testkit::{CommandOutcome, World};
use serde_json::Value;

use crate::world;

fn ended(child: Child) -> CommandOutcome {
    let output = child.wait_with_output().unwrap();
    CommandOutcome {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn text<'a>(session: &'a Value, key: &str) -> &'a str {
    session[key].as_str().unwrap_or_else(|| panic!("no {key} in {session}"))
}

/// Returns the pid in this field. The process must be alive.
fn alive(session: &Value, key: &str) -> u32 {
    let pid = session[key].as_u64().unwrap_or_else(|| panic!("no {key} in {session}"));
    let pid = u32::try_from(pid).unwrap();
    assert!(is_alive(pid), "{session}");
    pid
}

fn daemons(world: &World) -> Vec<u32> {
    let is_daemon =
        |pid: &u32| command_line(*pid).get(1..) == Some(&["daemon", "run"].map(String::from));
    world.processes().into_iter().filter(is_daemon).collect()
}

#[test]
fn fifty_concurrent_runs_create_fifty_sessions() {
    let world = world();
    let prompts: Vec<String> = (0..50).map(|n| format!("remember the word apple{n}")).collect();
    let children: Vec<Child> = prompts
        .iter()
        .enumerate()
        .map(|(number, prompt)| match number % 2 {
            0 => world.start(["run", "-d", prompt, "--json"]),
            _ => world.start(["run", "-d", prompt, "--json", "--name", &format!("n{number}")]),
        })
        .collect();
    let outcomes: Vec<CommandOutcome> = children.into_iter().map(ended).collect();

    let mut seen = HashSet::new();
    for (prompt, outcome) in prompts.iter().zip(&outcomes) {
        assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
        let session: Value = serde_json::from_str(&outcome.stdout).unwrap();
        wait_turns(&world, &session, 1);
        let conversation = transcript(&world, text(&session, "vendor_session_id")).unwrap();
        assert_eq!(said(&conversation), [prompt.as_str()]);
        seen.insert(text(&session, "name").to_owned());
    }
    let sessions = world.sessions();
    let different =
        |key: &str| sessions.iter().map(|it| it[key].to_string()).collect::<HashSet<_>>();
    assert_eq!((sessions.len(), seen.len()), (50, 50));
    for key in ["id", "vendor_session_id", "pid", "holder_pid"] {
        assert_eq!(different(key).len(), 50, "{key}");
    }
    assert!(sessions.iter().all(|session| alive(session, "pid") > 0));
    assert_eq!(daemons(&world).len(), 1);
}

#[test]
fn of_ten_concurrent_runs_with_one_name_nine_are_refused() {
    let world = world();
    let children: Vec<Child> =
        (0..10).map(|_| world.start(["run", "-d", "--name", "coder", "hello"])).collect();
    let outcomes: Vec<CommandOutcome> = children.into_iter().map(ended).collect();
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.iter().partition(|outcome| outcome.status == 0);
    assert_eq!(won.len(), 1, "{outcomes:#?}");
    assert_eq!(won[0].stdout, "default/coder\n");
    for outcome in lost {
        let expected = "\
error: the name `coder` is taken in fleet `default`
hint: choose another name with `--name NAME`
hint: run `segue resume default/coder` to go on with the session that has it
";
        assert_eq!((outcome.status, outcome.stdout.as_str()), (4, ""), "{outcome:?}");
        assert_eq!(outcome.stderr, expected);
    }
    assert_eq!(world.sessions().len(), 1);
    // The refused commands leave no launch folder and no process.
    let folders = std::fs::read_dir(world.state().join("launches")).unwrap();
    assert_eq!(folders.count(), 1);
}

#[test]
fn two_concurrent_ups_start_each_agent_once() {
    let world = world();
    let agents =
        "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\ncount = 4\nprompt = \"start.md\"\n";
    world.write("segue.toml", agents);
    world.write("start.md", "hello");
    world.ok(["trust", "--yes"]);
    for round in 1..=2 {
        let children = [(); 2].map(|()| world.start(["up", "--stopped", "--json"]));
        let outcomes = children.map(ended);
        let mut verbs: Vec<String> = Vec::new();
        for outcome in &outcomes {
            assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
            let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
            assert_eq!(report["complete"], true, "{report}");
            let agents = report["agents"].as_array().unwrap();
            verbs.extend(agents.iter().map(|agent| text(agent, "outcome").to_owned()));
        }
        verbs.sort();
        let begun = if round == 1 { "started" } else { "resumed" };
        let mut expected = [["running"; 4], [begun; 4]].concat();
        expected.sort_unstable();
        assert_eq!(verbs, expected);

        let sessions = world.sessions();
        assert_eq!(sessions.len(), 4);
        assert!(sessions.iter().all(|it| it["launches"] == round), "{sessions:#?}");
        let agents: HashSet<u32> = sessions.iter().map(|it| alive(it, "pid")).collect();
        assert_eq!(agents.len(), 4);
        for session in &sessions {
            wait_turns(&world, session, 1);
        }
        world.ok(["stop", "--all"]);
    }
}

#[test]
fn twenty_concurrent_clients_start_one_daemon() {
    let world = world();
    // In the second round a killed daemon has left its socket and its lock file.
    for _ in 0..2 {
        let children: Vec<Child> = (0..20).map(|_| world.start(["ls", "--json"])).collect();
        for outcome in children.into_iter().map(ended) {
            assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
            assert_eq!(outcome.stdout, "{\"sessions\":[]}\n");
        }
        assert_eq!(daemons(&world).len(), 1);
        let log = std::fs::read_to_string(world.state().join("daemon.log")).unwrap();
        assert_eq!(log, "");
        kill_daemon(&world);
    }
}
