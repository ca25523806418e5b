//! Many concurrent commands share one daemon, and create one session of each name.

mod gates;
mod headless;
mod inherited_files;
mod interrupted;
mod other_version;
mod side_by_side;

use std::collections::HashSet;
use std::process::Child;

use segue_testkit::conversation::{user_messages, wait_turns};
use segue_testkit::processes::is_alive;
use segue_testkit::scene::{finish, kill_daemon, pid, pids_running, text, transcript, write_shop};
use segue_testkit::{CommandOutcome, World};
use serde_json::Value;

use crate::world;

/// Returns the pid in this field. Checks that the process is alive.
fn live_pid(session: &Value, key: &str) -> u32 {
    let pid = pid(session, key);
    assert!(is_alive(pid), "{session}");
    pid
}

fn daemons(world: &World) -> Vec<u32> {
    pids_running(world, "daemon")
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
    let outcomes: Vec<CommandOutcome> = children.into_iter().map(finish).collect();

    let mut names = HashSet::new();
    for (prompt, outcome) in prompts.iter().zip(&outcomes) {
        assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
        let session: Value = serde_json::from_str(&outcome.stdout).unwrap();
        wait_turns(&world, &session, 1);
        assert_eq!(user_messages(&transcript(&world, &session)), [prompt.as_str()]);
        names.insert(text(&session, "name").to_owned());
    }
    let sessions = world.sessions();
    let different =
        |key: &str| sessions.iter().map(|it| it[key].to_string()).collect::<HashSet<_>>();
    assert_eq!((sessions.len(), names.len()), (50, 50));
    for key in ["id", "vendor_session_id", "pid", "holder_pid"] {
        assert_eq!(different(key).len(), 50, "{key}");
    }
    assert!(sessions.iter().all(|session| live_pid(session, "pid") > 0));
    assert_eq!(daemons(&world).len(), 1);
}

#[test]
fn of_ten_concurrent_runs_with_one_name_nine_are_refused() {
    let world = world();
    let children: Vec<Child> =
        (0..10).map(|_| world.start(["run", "-d", "--name", "coder", "hello"])).collect();
    let outcomes: Vec<CommandOutcome> = children.into_iter().map(finish).collect();
    let (succeeded, refused): (Vec<_>, Vec<_>) = outcomes.iter().partition(|it| it.status == 0);
    assert_eq!(succeeded.len(), 1, "{outcomes:#?}");
    assert_eq!(succeeded[0].stdout, "default/coder\n");
    for outcome in refused {
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
    world.write("start.md", "hello");
    write_shop(&world, "count = 4\nprompt = \"start.md\"\n");
    for round in 1..=2 {
        let children = [(); 2].map(|()| world.start(["up", "--stopped", "--json"]));
        let outcomes = children.map(finish);
        let mut reported: Vec<String> = Vec::new();
        for outcome in &outcomes {
            assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
            let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
            assert_eq!(report["complete"], true, "{report}");
            let agents = report["agents"].as_array().unwrap();
            reported.extend(agents.iter().map(|agent| text(agent, "outcome").to_owned()));
        }
        reported.sort();
        let started = if round == 1 { "started" } else { "resumed" };
        let mut expected = [["running"; 4], [started; 4]].concat();
        expected.sort_unstable();
        assert_eq!(reported, expected);

        let sessions = world.sessions();
        assert_eq!(sessions.len(), 4);
        assert!(sessions.iter().all(|it| it["launches"] == round), "{sessions:#?}");
        let agents: HashSet<u32> = sessions.iter().map(|it| live_pid(it, "pid")).collect();
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
        for outcome in children.into_iter().map(finish) {
            assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
            assert_eq!(outcome.stdout, "{\"sessions\":[]}\n");
        }
        assert_eq!(daemons(&world).len(), 1);
        let log = std::fs::read_to_string(world.state().join("daemon.log")).unwrap();
        assert_eq!(log, "");
        kill_daemon(&world);
    }
}
