//! A plan with many tasks, while daemons, holders and everything are killed at random times: every
//! task ends exactly once, and after the tasks that it needs.

use std::collections::BTreeMap;

use segue_testkit::chance::Chance;
use segue_testkit::passing::Passing;
use segue_testkit::{World, is_soak, processes, scene};
use serde_json::Value;

use crate::world;

const AGENTS: [&str; 4] = ["coder", "tester", "writer", "reviewer"];

/// More failpoints than pass between the starts of two tasks.
const MOST_FAILPOINTS: usize = 60;

#[test]
fn every_task_of_a_plan_ends_once_in_a_valid_order_after_random_kills() {
    let (tasks, kills) = if is_soak() { (200, 60) } else { (16, 8) };
    let mut world = world();
    let passing = Passing::count(&mut world);
    scene::write_agents(&world, "shop", &AGENTS);
    let mut chance = Chance::new();
    let needs = write_plan(&world, tasks, &mut chance);
    world.ok(["plan", "apply", "many.toml"]);
    for _ in 0..kills {
        let Some(task) = open(&world).pop() else { break };
        let mut waits = [world.start(["task", "wait", &task, "--json"])];
        passing.wait(1 + chance.below(MOST_FAILPOINTS), &waits);
        match chance.below(3) {
            0 => scene::kill_daemon(&world),
            1 => kill_one(&scene::pids_running(&world, "hold"), &mut chance),
            _ => world.kill_everything(),
        }
        waits[0].wait().unwrap();
    }
    while let Some(task) = open(&world).pop() {
        world.segue(["task", "wait", &task, "--json"]);
    }
    let view = world.json(["plan", "show", "many", "--json"]);
    assert_eq!(view["plan"]["state"], "done", "{view:#}");
    check_order(&world, &view, &needs);
    assert_eq!(scene::pids_running(&world, "hold"), Vec::<u32>::new());
}

/// Writes a plan in which each task needs up to two earlier ones. Returns the needs of each task.
fn write_plan(world: &World, count: usize, chance: &mut Chance) -> BTreeMap<String, Vec<String>> {
    let mut file = "name = \"many\"\nmax_parallel = 6\n".to_owned();
    let mut all = BTreeMap::new();
    for number in 0..count {
        let earlier = |chance: &mut Chance| format!("t{}", chance.below(number));
        let mut needs: Vec<String> = match number {
            0 => Vec::new(),
            _ => (0..chance.below(3)).map(|_| earlier(chance)).collect(),
        };
        needs.sort();
        needs.dedup();
        let agent = AGENTS[number % AGENTS.len()];
        let results: String =
            needs.iter().map(|need| format!(" {{{{ tasks.{need}.state }}}}")).collect();
        // A task that is killed twice has failed, as any task. The plan goes on.
        let task = format!(
            "[tasks.t{number}]\nagent = \"{agent}\"\nneeds = {needs:?}\n\
             on_failure = \"continue\"\nprompt = \"/slow 0.1{results}\"\n"
        );
        file.push_str(&task);
        all.insert(format!("t{number}"), needs);
    }
    world.write("many.toml", &file);
    all
}

/// Returns the ids of all tasks that have not ended.
fn open(world: &World) -> Vec<String> {
    let listed = world.json(["task", "ls", "--json"]);
    let tasks = listed["tasks"].as_array().unwrap();
    tasks.iter().map(|task| scene::text(task, "id").to_owned()).collect()
}

fn kill_one(pids: &[u32], chance: &mut Chance) {
    if !pids.is_empty() {
        processes::kill(pids[chance.below(pids.len())]);
    }
}

/// Checks with the log that each task ended once, and was queued after the ends of its needs.
fn check_order(world: &World, view: &Value, needs: &BTreeMap<String, Vec<String>>) {
    let log = world.ok(["log", "--json", "--last", "1000000"]);
    let mut ids = BTreeMap::new();
    for task in view["tasks"].as_array().unwrap() {
        ids.insert(scene::text(task, "task").to_owned(), scene::text(task, "name").to_owned());
    }
    assert_eq!(ids.len(), needs.len(), "{view:#}");
    let (mut queued, mut ended) = (BTreeMap::new(), BTreeMap::new());
    for (line, place) in log.lines().zip(0_usize..) {
        let event: Value = serde_json::from_str(line).unwrap();
        let data = &event["data"];
        let Some(name) = data["task"].as_str().and_then(|id| ids.get(id)) else { continue };
        match data["state"].as_str() {
            Some("queued") => drop(queued.entry(name.clone()).or_insert(place)),
            Some("done" | "failed" | "cancelled") => {
                assert_eq!(ended.insert(name.clone(), place), None, "{name} ended twice");
            }
            _ => {}
        }
    }
    for (name, needs) in needs {
        assert!(ended.contains_key(name), "{name} has not ended");
        for need in needs {
            assert!(ended[need] < queued[name], "{name} was queued before {need} ended");
        }
    }
}
