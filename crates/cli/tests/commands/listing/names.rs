//! Names that are given by a prefix, and the hint "did you mean".

use segue_testkit::{CommandOutcome, scene};

use super::agents;

#[track_caller]
fn assert_error(outcome: &CommandOutcome, status: i32, words: &[&str]) {
    assert_eq!(outcome.status, status, "{outcome:#?}");
    for word in words {
        assert!(outcome.stderr.contains(word), "no {word:?}: {outcome:#?}");
    }
}

#[test]
fn unique_prefix_of_a_session_name_is_enough_except_for_rm() {
    let world = agents(&["code", "coder", "writer"]);
    assert_eq!(world.json(["wait", "wri", "--json"])["name"], "writer");
    assert_eq!(world.json(["wait", "code", "--json"])["name"], "code");
    let ambiguous = world.segue(["stop", "cod"]);
    let candidates = ["`cod` can mean 2 sessions", "use `default/code`", "use `default/coder`"];
    assert_error(&ambiguous, 2, &candidates);
    assert_error(&world.segue(["show", "writre"]), 3, &["hint: did you mean `default/writer`?"]);
    let by_prefix = world.segue(["rm", "wri", "--yes"]);
    let hint = "hint: did you mean `default/writer`?";
    assert_error(&by_prefix, 3, &["there is no session or fleet `wri`", hint]);
    world.ok(["stop", "writer"]);
    let id = world.session("writer")["id"].as_str().unwrap().to_owned();
    world.ok(["rm", &id[..35], "--yes"]);
    assert_eq!(world.sessions().len(), 2);
}

#[test]
fn unique_prefix_of_an_agent_vendor_or_command_is_enough_except_for_fresh() {
    let world = crate::world();
    scene::write_agents(&world, "shop", &["coder", "tester"]);
    let report = world.json(["up", "cod", "--json"]);
    assert_eq!(report["agents"][0]["name"], "coder", "{report:#}");
    assert_eq!(report["agents"].as_array().unwrap().len(), 1, "{report:#}");
    let unknown = world.segue(["up", "codre"]);
    assert_error(&unknown, 3, &["there is no agent `codre`", "did you mean `coder`?"]);
    let started = world.json(["run", "-d", "--vendor", "dem", "--name", "fox", "hi", "--json"]);
    assert_eq!(started["vendor"], "demo");
    let unknown = world.segue(["run", "-d", "--vendor", "demi", "hi"]);
    assert_error(&unknown, 2, &["did you mean `demo`?"]);
    let list = world.json(["vend", "--json"]);
    assert!(list["vendors"].is_array(), "{list:#}");
    let unknown = world.segue(["resmue"]);
    assert_error(&unknown, 2, &["resmue", "did you mean `resume`"]);
    // A flag that replaces the conversation needs the whole name.
    assert_error(&world.segue(["up", "--fresh", "cod"]), 3, &["there is no agent `cod`"]);
    assert_error(&world.segue(["resume", "--fresh", "cod"]), 3, &["did you mean `shop/coder`?"]);
}

#[test]
fn prefix_of_a_built_in_and_of_a_described_vendor_is_refused() {
    let world = crate::world();
    world.write("segue.toml", "[vendors.demon]\ncommand = [\"cat\"]\n");
    let ambiguous = world.segue(["run", "-d", "--vendor", "dem", "hi"]);
    assert_error(&ambiguous, 2, &["`dem` can mean 2 names", "use `demo`", "use `demon`"]);
    assert!(world.sessions().is_empty());
}
