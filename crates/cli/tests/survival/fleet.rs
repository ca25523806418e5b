//! Ten agents in one folder, each with a word of its own. After processes are killed at any time,
//! all ten answers are right.

use std::collections::BTreeMap;
use std::process::Child;

use segue_testkit::chance::Chance;
use segue_testkit::passing::Passing;
use segue_testkit::{Report, World, conversation, is_soak, processes, scene};
use serde_json::Value;

use crate::scenarios::{prompt, word};
use crate::{invariants, world};

/// The number of agents.
const AGENTS: usize = 10;
/// More failpoints than a resume of ten agents passes.
const MOST_FAILPOINTS: usize = 700;

/// When all processes are killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    AtRest,
    /// While some agents are in the middle of a turn.
    Working,
    /// One process after the other, so that processes notice the deaths of others.
    OneByOne,
    /// While a command resumes the agents.
    ComingBack,
    /// While the agents are started for the first time.
    Starting,
}

const MOMENTS: [Moment; 5] =
    [Moment::AtRest, Moment::Working, Moment::OneByOne, Moment::ComingBack, Moment::Starting];

#[test]
fn fleet_survives_kills_of_all_processes_at_random_times() {
    let chance = Chance::new();
    let rounds = if is_soak() { 200 } else { 20 };
    // Two fleets in parallel use the time in which one of them waits for the disk.
    std::thread::scope(|threads| {
        for half in 0..2 {
            let mut chance = chance.branch(half);
            threads.spawn(move || {
                let mut fleet = None;
                for round in 0..rounds / 2 {
                    let moment = MOMENTS[round % MOMENTS.len()];
                    fleet = Some(survive(fleet, moment, &mut chance));
                }
            });
        }
    });
}

/// Kills all processes at this moment, and resumes the fleet.
fn survive(fleet: Option<World>, moment: Moment, chance: &mut Chance) -> World {
    let world = match moment {
        Moment::Starting => kill_while_starting(chance),
        moment => {
            let mut world = fleet.unwrap_or_else(start_fleet);
            kill(&mut world, moment, chance);
            world
        }
    };
    let ids = (!matches!(moment, Moment::Starting)).then(|| ids(&world));
    assert_all_back(&world, &world.resume(["--all"]));
    if let Some(ids) = ids {
        assert_eq!(self::ids(&world), ids);
    }
    invariants::check_all(&world);
    world
}

fn kill(world: &mut World, moment: Moment, chance: &mut Chance) {
    match moment {
        Moment::AtRest => {}
        Moment::Working => {
            for session in world.sessions() {
                if chance.below(2) == 0 {
                    conversation::type_text(world, &session, "/slow 600\r");
                }
            }
        }
        Moment::OneByOne => kill_one_by_one(world, chance),
        Moment::ComingBack => {
            world.kill_everything();
            let passing = Passing::count(world);
            let mut resume = [world.start(["resume", "--all", "--json"])];
            wait_some_failpoints(&passing, chance, &resume);
            kill_all(world, &mut resume);
        }
        Moment::Starting => unreachable!("there is no fleet yet"),
    }
    world.kill_everything();
}

/// Kills the daemon and the holders in random order. Agents end with their holders. A killed agent
/// would count as crashed, which other tests cover.
fn kill_one_by_one(world: &World, chance: &mut Chance) {
    let mut left =
        [scene::pids_running(world, "daemon"), scene::pids_running(world, "hold")].concat();
    while !left.is_empty() {
        scene::kill(left.swap_remove(chance.below(left.len())));
    }
}

/// Starts ten agents and kills all processes meanwhile. Then starts the agents that have no session
/// yet.
fn kill_while_starting(chance: &mut Chance) -> World {
    let mut world = world();
    let passing = Passing::count(&mut world);
    let mut runs: Vec<_> =
        names().map(|name| world.start(["run", "-d", "--name", &name, &prompt(&name)])).collect();
    wait_some_failpoints(&passing, chance, &runs);
    kill_all(&mut world, &mut runs);
    let known: Vec<Value> = world.sessions().iter().map(|it| it["name"].clone()).collect();
    for name in names().filter(|name| !known.contains(&Value::from(name.as_str()))) {
        world.ok(["run", "-d", "--name", &name, &prompt(&name)]);
    }
    world
}

/// Waits until a random number of failpoints is passed, or until the commands have ended.
fn wait_some_failpoints(passing: &Passing, chance: &mut Chance, commands: &[Child]) {
    let count = 1 + chance.below(MOST_FAILPOINTS);
    let still_runs = passing.wait(count, commands);
    println!("killed after {count} failpoints, while a command ran: {still_runs}");
}

fn kill_all(world: &mut World, commands: &mut [Child]) {
    world.kill_everything();
    for name in ["SEGUE_FAILPOINT", "SEGUE_FAILPOINT_LOG"] {
        world.unset(name);
    }
    for command in commands {
        command.wait().unwrap();
    }
}

#[test]
fn killed_daemon_leaves_all_agents_running() {
    let world = start_fleet();
    let mut chance = Chance::new();
    let before = processes_of(&world);
    for _ in 0..3 {
        if chance.below(2) == 0 {
            conversation::type_text(&world, &world.session("agent-0"), "/slow 2\r");
        }
        scene::kill_daemon(&world);
        let report = world.resume(["--all"]);
        assert_all_back(&world, &report);
        names().for_each(|name| report.assert_back(&name, "running"));
        assert_eq!(processes_of(&world), before);
    }
    invariants::check_all(&world);
}

#[test]
fn killed_holders_affect_only_their_own_agents() {
    let world = start_fleet();
    let mut chance = Chance::new();
    for _ in 0..3 {
        let before = processes_of(&world);
        let victims: Vec<String> = names().filter(|_| chance.below(3) == 0).collect();
        for name in &victims {
            processes::kill(before[name].1);
        }
        let report = world.resume(["--all"]);
        assert_all_back(&world, &report);
        let after = processes_of(&world);
        for name in names() {
            let outcome = if victims.contains(&name) { "resumed" } else { "running" };
            report.assert_back(&name, outcome);
            assert_eq!(after[&name] != before[&name], victims.contains(&name), "{name}");
        }
        invariants::check_all(&world);
    }
}

/// Starts ten agents and waits until each knows its word.
fn start_fleet() -> World {
    let world = world();
    for name in names() {
        world.ok(["run", "-d", "--name", &name, &prompt(&name)]);
    }
    scene::wait_first_turns(&world);
    world
}

fn names() -> impl Iterator<Item = String> {
    (0..AGENTS).map(|number| format!("agent-{number}"))
}

fn assert_all_back(world: &World, report: &Report) {
    assert_eq!(report.status, 0, "{report:#?}");
    assert_eq!(report.json["complete"], true, "{report:#?}");
    assert_eq!(report.json["agents"].as_array().map(Vec::len), Some(AGENTS), "{report:#?}");
    for name in names() {
        scene::assert_knows(world, &name, &word(&name));
    }
}

/// Returns the vendor session id of each agent.
fn ids(world: &World) -> BTreeMap<String, String> {
    let text = |session: &Value, key| scene::text(session, key).to_owned();
    world.sessions().iter().map(|it| (text(it, "name"), text(it, "vendor_session_id"))).collect()
}

/// Returns the pids of each agent and of its holder.
fn processes_of(world: &World) -> BTreeMap<String, (u32, u32)> {
    let of = |session: &Value| {
        let name = scene::text(session, "name").to_owned();
        (name, (scene::pid(session, "pid"), scene::pid(session, "holder_pid")))
    };
    world.sessions().iter().map(of).collect()
}
