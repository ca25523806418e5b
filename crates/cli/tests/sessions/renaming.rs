//! `segue rename`: people find sessions by their new names, and `segue up` finds its agents.

use segue_testkit::stand_in::StandIn;
use segue_testkit::{Report, World, launches, scene};
use serde_json::Value;

use crate::world;

fn fleet_names(world: &World, fleet: &str) -> Vec<String> {
    let file = world.state().join(format!("fleets/{fleet}.json"));
    let record: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let names = record["agents"].as_array().unwrap().iter();
    names.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn renamed_session_continues_to_run_under_its_new_name() {
    let world = world();
    let before = scene::start_with_word(&world, "fox", "amber");
    assert_eq!(
        world.ok(["rename", "fox", "red-fox"]),
        "default/fox is called default/red-fox now\n"
    );
    let after = world.session("red-fox");
    assert_eq!((&after["id"], &after["pid"]), (&before["id"], &before["pid"]));
    assert_eq!(launches::newest_json(&world, &after)["session"]["name"], "red-fox");
    assert_eq!(fleet_names(&world, "default"), ["red-fox"]);
    let events = scene::event_texts(&world, "red-fox", "renamed");
    assert_eq!(events, ["default/fox is called red-fox now"]);
    scene::assert_knows(&world, "red-fox", "amber");
    // The same name again changes nothing.
    let report = world.json(["rename", "red-fox", "red-fox", "--json"]);
    assert_eq!(report["renamed_from"], "default/red-fox", "{report:#}");
    assert_eq!(scene::event_texts(&world, "red-fox", "renamed").len(), 1);
    // A lost store is rebuilt from the copies.
    world.kill_everything();
    std::fs::remove_file(world.database()).unwrap();
    world.segue(["doctor", "--fix"]);
    world.ok(["resume", "red-fox"]);
    scene::assert_knows(&world, "red-fox", "amber");
}

#[test]
fn name_of_another_session_is_a_conflict_and_an_invalid_name_a_usage_error() {
    let world = world();
    scene::start_with_word(&world, "fox", "amber");
    scene::start_with_word(&world, "owl", "heron");
    let table = [
        (["rename", "fox", "owl"], 4, "`owl`"),
        (["rename", "fox", "a/b"], 2, "`a/b`"),
        (["rename", "fox", ""], 2, "name"),
        (["rename", "nobody", "cat"], 3, "`nobody`"),
    ];
    for (command, status, part) in table {
        let outcome = world.segue(command);
        assert_eq!(outcome.status, status, "{command:?}: {outcome:#?}");
        assert!(outcome.stderr.contains(part), "{command:?}: {outcome:#?}");
    }
    assert_eq!(world.session("fox")["name"], "fox");
    assert_eq!(world.session("owl")["name"], "owl");
}

#[test]
fn up_finds_the_agent_whose_session_was_renamed() {
    let world = world();
    world.write("start.md", "remember the word {{agent}}");
    scene::write_shop(&world, "prompt = \"start.md\"\n");
    world.ok(["up"]);
    scene::wait_first_turns(&world);
    let before = world.session("coder");
    world.ok(["rename", "coder", "login-fix"]);
    // The agent's name is free for another session, which `up` does not take for the agent's.
    world.ok(["run", "-d", "--name", "coder", "remember the word other"]);
    world.kill_everything();
    let report = Report::of(&world.segue(["up", "--json"]));
    report.assert_back("login-fix", "resumed");
    assert_eq!(world.session("login-fix")["id"], before["id"]);
    scene::assert_knows(&world, "login-fix", "coder");
    assert_eq!(world.sessions().len(), 2);
    world.ok(["resume", "coder"]);
    world.ok(["rename", "coder", "spare"]);
    // More agents of the kind: the renamed session is the first of them.
    let scaled = Report::of(&world.segue(["scale", "coder", "2", "--json"]));
    scaled.assert_back("login-fix", "running");
    scaled.assert_back("coder-2", "started");
    // With its old name, the session is an agent as before.
    world.ok(["rename", "login-fix", "coder"]);
    Report::of(&world.segue(["up", "--json"])).assert_back("coder", "running");
    assert_eq!(world.sessions().len(), 3);
}

#[test]
fn agent_may_not_rename_sessions() {
    let world = world();
    scene::start_with_word(&world, "fox", "amber");
    let fox = StandIn::with_new_daemon(&world, &world.session("fox"));
    let outcome = fox.run("$SEGUE rename fox owl");
    assert_eq!(outcome.status, 2, "{outcome:#?}");
    assert!(outcome.stderr.starts_with("error: an agent may not rename"), "{outcome:#?}");
    assert_eq!(world.session("fox")["name"], "fox");
}
