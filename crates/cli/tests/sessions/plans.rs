//! Plans: tasks that start in the order of their needs, and are never lost.

mod changing;
mod failures;
mod gates;
mod holding;

use std::cell::Cell;
use std::fs;

use segue_testkit::events::Events;
use segue_testkit::scene::{self, text};
use segue_testkit::stand_in::StandIn;
use segue_testkit::{World, conversation, repositories};
use serde_json::{Value, json};

use crate::world;

/// Creates a world with a trusted project whose agents are `coder` and `tester`.
fn world_with_agents() -> World {
    let world = world();
    scene::write_agents(&world, "shop", &["coder", "tester"]);
    world
}

/// Writes a file, and applies it.
fn apply(world: &World, file: &str) -> Value {
    world.write("release.toml", file);
    world.json(["plan", "apply", "release.toml", "--json"])
}

fn show(world: &World) -> Value {
    world.json(["plan", "show", "release", "--json"])
}

/// Returns a task of the plan.
fn task(view: &Value, name: &str) -> Value {
    let tasks = view["tasks"].as_array().unwrap();
    let found = tasks.iter().find(|task| task["name"] == name);
    assert!(found.is_some(), "no task `{name}`: {view:#}");
    found.unwrap().clone()
}

/// Waits until the plan is as wanted. Looks again after each event of a task or a plan.
fn wait_plan(world: &World, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let mut events = Events::of(world);
    loop {
        let view = show(world);
        if is_wanted(&view) {
            return view;
        }
        let is_change = |event: &Value| {
            let kind = event["kind"].as_str().unwrap_or_default();
            kind == "task_changed" || kind.starts_with("plan_")
        };
        events.wait_for(is_change).unwrap();
    }
}

fn wait_state(world: &World, state: &str) -> Value {
    wait_plan(world, |view| view["plan"]["state"] == state)
}

fn wait_task(world: &World, name: &str, status: &str) -> Value {
    task(&wait_plan(world, |view| task(view, name)["status"] == status), name)
}

/// Returns the record of a task in the queue.
fn record(world: &World, task: &Value) -> Value {
    world.json(["task", "show", text(task, "task"), "--json"])["task"].clone()
}

const TWO: &str = r#"
name = "release"

[tasks.design]
agent = "coder"
prompt = "remember the word amber"

[tasks.build]
needs = ["design"]
agent = "tester"
prompt = "The design: {{ tasks.design.answer }}"
"#;

#[test]
fn task_starts_after_its_need_with_the_answer_quoted_in_its_prompt() {
    let world = world_with_agents();
    let report = apply(&world, TWO);
    assert_eq!(report["changes"], json!({"design": "added", "build": "added"}));
    let done = wait_state(&world, "done");
    let (design, build) = (task(&done, "design"), task(&done, "build"));
    let prompt = "The design: ```\nI will remember amber.\n```";
    assert_eq!(record(&world, &build)["prompt"], prompt);
    assert_eq!(record(&world, &build)["plan"], "release");
    let id = text(&world.session(&address(&world, &build)), "vendor_session_id").to_owned();
    let received = conversation::user_messages(&conversation::transcript(&world, &id).unwrap());
    assert_eq!(received, [prompt]);
    let ended: jiff::Timestamp = text(&design, "ended_at").parse().unwrap();
    let started: jiff::Timestamp = text(&build, "started_at").parse().unwrap();
    assert!(ended <= started, "{done:#}");
}

/// Returns the name of the session of a task.
fn address(world: &World, task: &Value) -> String {
    let address = record(world, task)["address"].as_str().unwrap().to_owned();
    address.rsplit('/').next().unwrap().to_owned()
}

#[test]
fn plan_can_be_json_from_standard_input() {
    let world = world_with_agents();
    let file = r#"{"name": "release", "tasks": {"a": {"agent": "coder", "prompt": "hello"}}}"#;
    let outcome = world.with_input(["plan", "apply", "-"], file.as_bytes());
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, "a added\nrelease is running\n"));
    wait_state(&world, "done");
}

#[test]
fn file_with_a_mistake_is_refused_with_its_line_and_stores_nothing() {
    let world = world_with_agents();
    let table = [
        (TWO.replace("[\"design\"]", "[\"build\"]"), "line 9: task `build`: `build` needs itself"),
        (TWO.replace("\"tester\"", "\"nobody\""), "line 10: task `build`: "),
        (TWO.replace("needs =", "neds ="), "line 9: unknown field `neds`"),
        (TWO.replace("tasks.design.answer", "tasks.x.answer"), "line 11: task `build`"),
        (TWO.replace("prompt = \"rem", "needs = [\"build\"]\nprompt = \"rem"), "need each other"),
    ];
    for (file, expected) in table {
        world.write("release.toml", &file);
        let outcome = world.segue(["plan", "apply", "release.toml"]);
        assert_ne!(outcome.status, 0, "{outcome:#?}");
        assert!(outcome.stderr.contains(expected), "{expected}: {outcome:#?}");
    }
    assert_eq!(world.json(["plan", "ls", "--all", "--json"]), json!({"plans": []}));
    assert_eq!(world.json(["task", "ls", "--all", "--json"])["tasks"], json!([]));
}

#[test]
fn plan_of_an_untrusted_project_is_refused() {
    let world = world();
    world.write("segue.toml", "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n");
    world.write("release.toml", &TWO.replace("tester", "coder"));
    let outcome = world.segue(["plan", "apply", "release.toml"]);
    assert_ne!(outcome.status, 0, "{outcome:#?}");
    assert!(outcome.stderr.contains("trust"), "{outcome:#?}");
    assert_eq!(world.json(["plan", "ls", "--all", "--json"]), json!({"plans": []}));
}

#[test]
fn agent_may_not_use_plans() {
    let world = world_with_agents();
    world.write("release.toml", TWO);
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "hello"]);
    let agent = StandIn::with_new_daemon(&world, &world.session("fox"));
    for command in ["apply release.toml", "ls", "show release", "cancel release"] {
        let outcome = agent.run(&format!("$SEGUE plan {command}"));
        assert!(outcome.stderr.contains("an agent may not use tasks"), "{command}: {outcome:#?}");
    }
    assert_eq!(world.json(["plan", "ls", "--all", "--json"]), json!({"plans": []}));
}

#[test]
fn no_more_tasks_than_max_parallel_run_at_the_same_time() {
    let world = world_with_agents();
    let settings = world.segue_home().join("config.toml");
    let known = fs::read_to_string(&settings).unwrap_or_default();
    fs::write(&settings, format!("{known}\n[tasks]\nper_agent = 8\n")).unwrap();
    let mut file = "name = \"release\"\nmax_parallel = 2\n".to_owned();
    for number in 0..5 {
        let task = format!("[tasks.t{number}]\nagent = \"coder\"\nprompt = \"/slow 0.1\"\n");
        file.push_str(&task);
    }
    apply(&world, &file);
    let most = Cell::new(0);
    wait_plan(&world, |view| {
        let released = view["plan"]["counts"]["released"].as_u64().unwrap();
        most.set(most.get().max(released));
        view["plan"]["state"] == "done"
    });
    assert!(most.get() <= 2, "{} tasks were released at the same time", most.get());
}

#[test]
fn tasks_that_share_a_worktree_run_one_after_the_other_on_one_branch() {
    let world = world_with_agents();
    repositories::make_repository(&world.project());
    let file = r#"
name = "release"

[tasks.first]
agent = "coder"
worktree = "own"
prompt = "/slow 0.2"

[tasks.second]
agent = "tester"
worktree_of = "first"
prompt = "hello"

[tasks.third]
agent = "coder"
worktree = "own"
branch = "another"
prompt = "hello"
"#;
    apply(&world, file);
    let done = wait_state(&world, "done");
    let [first, second, third] =
        ["first", "second", "third"].map(|name| record(&world, &task(&done, name)));
    assert_eq!(first["branch"], "plan/release/first");
    assert_eq!(second["branch"], first["branch"]);
    assert_eq!(second["worktree"], first["worktree"]);
    assert_eq!(third["branch"], "another");
    assert_ne!(third["worktree"], first["worktree"]);
    let at = |task: &Value, key: &str| text(task, key).parse::<jiff::Timestamp>().unwrap();
    let is_apart = at(&first, "ended_at") <= at(&second, "started_at")
        || at(&second, "ended_at") <= at(&first, "started_at");
    assert!(is_apart, "{first:#} {second:#}");
}
