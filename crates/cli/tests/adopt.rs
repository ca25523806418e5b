//! Conversations that were begun by hand are taken in, and come back as sessions.

#![expect(clippy::unwrap_used, reason = "tests")]

use segue_testkit::{World, scene};
use serde_json::Value;

fn candidates(world: &World) -> Vec<Value> {
    let list = world.json(["adopt", "--json"]);
    list["candidates"].as_array().unwrap().clone()
}

#[test]
fn a_conversation_by_hand_is_listed_taken_in_and_resumed() {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    let id = scene::by_hand(&world, "remember the word heron");
    let listed = candidates(&world);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["vendor_session_id"], id.as_str());
    assert_eq!(listed[0]["begins"], "remember the word heron");
    let taken = world.json(["adopt", &format!("demo:{id}"), "--name", "alpha", "--json"]);
    assert_eq!(taken["adopted"][0]["evidence"], "adopted", "{taken}");
    assert_eq!(world.session("alpha")["pid"], Value::Null, "something was started");
    assert_eq!(candidates(&world), Vec::<Value>::new());
    world.resume(["alpha"]).assert_back("alpha", "resumed");
    scene::assert_knows(&world, "alpha", "heron");
}

#[test]
fn what_cannot_be_taken_in_is_told() {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    let id = scene::by_hand(&world, "remember the word heron");
    let which = format!("demo:{id}");
    world.ok(["adopt", &which, "--name", "alpha"]);
    let table = [
        (vec!["adopt", which.as_str()], 4),
        (vec!["adopt", "demo:unknown"], 3),
        (vec!["adopt", "demo:"], 2),
        (vec!["adopt", "nobody"], 2),
        (vec!["adopt", "--name", "x"], 2),
        (vec!["adopt", "--since", "yesterday"], 2),
    ];
    for (arguments, status) in table {
        let outcome = segue_testkit::Outcome::of(&mut world.command(&arguments));
        assert_eq!(outcome.status, status, "{arguments:?}: {outcome:#?}");
        assert!(outcome.stderr.contains("hint: "), "{outcome:#?}");
    }
}

#[test]
fn all_are_taken_in_once_and_those_without_a_folder_are_left() {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    let [one, two] = ["one", "two"].map(|word| scene::by_hand(&world, word));
    let gone = world.project().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let mut lost = world.command(["demo-agent", "--print", "--", "three"]);
    let lost = segue_testkit::Outcome::of(lost.current_dir(&gone));
    assert_eq!(lost.status, 0, "{lost:#?}");
    std::fs::remove_dir(&gone).unwrap();
    let report = world.json(["adopt", "--all", "--since", "7d", "--json"]);
    let mut taken: Vec<&str> = report["adopted"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["vendor_session_id"].as_str().unwrap())
        .collect();
    taken.sort_unstable();
    let mut wanted = [one.as_str(), two.as_str()];
    wanted.sort_unstable();
    assert_eq!(taken, wanted, "{report:#}");
    assert_eq!(report["skipped"].as_array().unwrap().len(), 1, "{report:#}");
    let again = world.json(["adopt", "--all", "--json"]);
    assert_eq!(again["adopted"], Value::Array(Vec::new()), "{again:#}");
    assert_eq!(world.sessions().len(), 2);
}
