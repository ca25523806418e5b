//! `segue scale`: more or fewer instances of an agent, without an edit of the project file.

use segue_testkit::{CommandOutcome, Report, World, scene};
use serde_json::Value;

use crate::world;

/// Writes and trusts a project file with the agents `coder`, whose table has this further line, and
/// `tester`.
fn write_agents(world: &World, line: &str) {
    world.write("start.md", "remember the word {{agent}}");
    let tester = "[[agents]]\nname = \"tester\"\nvendor = \"demo\"\n";
    scene::write_shop(world, &format!("prompt = \"start.md\"\n{line}{tester}"));
}

fn scale(world: &World, count: &str) -> Report {
    Report::of(&world.segue(["scale", "coder", count, "--json"]))
}

/// Returns the sorted names of the sessions that run.
fn running(world: &World) -> Vec<String> {
    let has_process = |session: &Value| session["pid"].is_u64();
    let all = world.sessions().into_iter().filter(has_process);
    let mut names: Vec<String> = all.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn scale_starts_and_stops_agents_and_keeps_their_conversations() {
    let world = world();
    write_agents(&world, "count = 2\n");
    world.ok(["up"]);
    let report = scale(&world, "4");
    report.assert_back("coder-1", "running");
    report.assert_back("coder-4", "started");
    scene::wait_first_turns_except(&world, &["tester"]);
    assert_eq!(running(&world), ["coder-1", "coder-2", "coder-3", "coder-4", "tester"]);
    let report = scale(&world, "1");
    let stopped: Vec<&str> = report.json["stopped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(stopped, ["coder-2", "coder-3", "coder-4"], "{report:#?}");
    assert_eq!(running(&world), ["coder-1", "tester"]);
    // `resume` and `up` keep the number.
    world.kill_everything();
    world.ok(["resume", "shop"]);
    world.ok(["up"]);
    assert_eq!(running(&world), ["coder-1", "tester"]);
    let record = std::fs::read_to_string(world.state().join("fleets/shop.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["counts"]["coder"], 1, "{record:#}");
    let report = scale(&world, "3");
    report.assert_back("coder-3", "resumed");
    scene::assert_knows(&world, "coder-3", "coder-3");
    let report = scale(&world, "0");
    assert_eq!(report.json["agents"], Value::Array(Vec::new()), "{report:#?}");
    assert_eq!(report.status, 0, "{report:#?}");
    assert_eq!(running(&world), ["tester"]);
}

#[test]
fn scale_keeps_a_single_agent_as_the_first_of_several() {
    let world = world();
    write_agents(&world, "");
    world.ok(["up"]);
    scale(&world, "2").assert_back("coder", "running");
    assert_eq!(running(&world), ["coder", "coder-2", "tester"]);
    scale(&world, "1").assert_back("coder", "running");
    assert_eq!(running(&world), ["coder", "tester"]);
}

#[test]
fn invalid_scale_is_refused_and_changes_nothing() {
    let world = world();
    write_agents(&world, "count = 2\n");
    let table = [
        (vec!["scale", "nobody", "2"], 3, "nobody"),
        (vec!["scale", "coder-1", "2"], 3, "coder-1"),
        (vec!["scale", "coder", "101"], 5, "101"),
        (vec!["scale", "coder", "-1"], 2, "-1"),
        (vec!["scale", "coder", "many"], 2, "many"),
        (vec!["scale", "coder"], 2, "N"),
    ];
    for (arguments, status, value) in table {
        let outcome = CommandOutcome::of(&mut world.command(&arguments));
        assert_eq!(outcome.status, status, "{arguments:?}: {outcome:#?}");
        assert!(outcome.stderr.contains(value), "{arguments:?}: {outcome:#?}");
        assert!(outcome.stderr.contains("hint: "), "{arguments:?}: {outcome:#?}");
    }
    assert!(world.sessions().is_empty());
    world.write("segue.toml", "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n[[agents]]\nname = \"coder-7\"\nvendor = \"demo\"\n");
    let outcome = world.segue(["scale", "coder", "2"]);
    assert_eq!(outcome.status, 5, "`coder-7` looks like an instance of `coder`: {outcome:#?}");
    std::fs::remove_file(world.project().join("segue.toml")).unwrap();
    assert_eq!(world.segue(["scale", "coder", "2"]).status, 5);
}

#[test]
fn up_with_an_agent_name_or_its_prefix_starts_all_instances_of_the_agent() {
    let world = world();
    write_agents(&world, "count = 2\n");
    for name in ["coder", "cod"] {
        let report = Report::of(&world.segue(["up", name, "--json"]));
        let agents = report.json["agents"].as_array().unwrap();
        let names: Vec<&str> = agents.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["coder-1", "coder-2"], "{report:#?}");
    }
    assert_eq!(running(&world), ["coder-1", "coder-2"]);
    assert_eq!(world.segue(["up", "coder-"]).status, 2, "the prefix is ambiguous");
}

#[test]
fn lowered_count_in_the_project_file_reports_the_surplus_session() {
    let world = world();
    write_agents(&world, "count = 2\n");
    world.ok(["up"]);
    scene::wait_first_turns_except(&world, &["tester"]);
    write_agents(&world, "count = 1\n");
    let report = Report::of(&world.segue(["up", "--json"]));
    // The first agent goes on, and no new conversation is started.
    report.assert_back("coder-1", "running");
    assert_eq!(running(&world), ["coder-1", "coder-2", "tester"]);
    let surplus = &report.json["surplus"];
    assert_eq!(surplus.as_array().unwrap().len(), 1, "{surplus:#}");
    assert_eq!(surplus[0]["address"], "shop/coder-2");
    assert_eq!(surplus[0]["stop"], "segue stop shop/coder-2");
    let shown = world.segue(["up"]);
    for part in ["shop/coder-2 runs, and the", "run `segue stop shop/coder-2` to end it"] {
        assert!(shown.stderr.contains(part), "{shown:#?}");
    }
    world.ok(["stop", "shop/coder-2"]);
    let report = Report::of(&world.segue(["up", "coder", "--json"]));
    report.assert_back("coder-1", "running");
    assert_eq!(Report::of(&world.segue(["up", "--json"])).json["surplus"], Value::Array(vec![]));
}
