//! `segue adopt`: conversations that were started without Segue become sessions and can be resumed.

use segue_testkit::{World, scene};
use serde_json::Value;

use crate::world;

fn candidates(world: &World) -> Vec<Value> {
    let list = world.json(["adopt", "--json"]);
    list["candidates"].as_array().unwrap().clone()
}

#[test]
fn conversation_started_without_segue_is_listed_adopted_and_resumed() {
    let world = world();
    let id = scene::by_hand(&world, "remember the word heron");
    let listed = candidates(&world);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["vendor_session_id"], id.as_str());
    assert_eq!(listed[0]["begins"], "remember the word heron");
    let taken = world.json(["adopt", &format!("demo:{id}"), "--name", "alpha", "--json"]);
    assert_eq!(taken["adopted"][0]["evidence"], "adopted", "{taken}");
    assert_eq!(world.session("alpha")["pid"], Value::Null, "a process was started");
    assert_eq!(candidates(&world), Vec::<Value>::new());
    world.resume(["alpha"]).assert_back("alpha", "resumed");
    scene::assert_knows(&world, "alpha", "heron");
}

#[test]
fn adopt_of_an_adopted_unknown_or_malformed_conversation_fails_with_a_hint() {
    let world = world();
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
        let outcome = segue_testkit::CommandOutcome::of(&mut world.command(&arguments));
        assert_eq!(outcome.status, status, "{arguments:?}: {outcome:#?}");
        assert!(outcome.stderr.contains("hint: "), "{outcome:#?}");
    }
}

#[test]
fn adopt_all_takes_each_conversation_once_and_skips_those_with_a_missing_folder() {
    let world = world();
    let [one, two] = ["one", "two"].map(|word| scene::by_hand(&world, word));
    let gone = world.project().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let mut lost = world.command(["demo-agent", "--print", "--", "three"]);
    let lost = segue_testkit::CommandOutcome::of(lost.current_dir(&gone));
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

/// Writes a trusted project with these agents of the built-in vendor.
fn project(world: &World, agents: &[&str]) {
    let agent = |name: &&str| format!("[[agents]]\nname = \"{name}\"\nvendor = \"demo\"\n");
    let agents: Vec<String> = agents.iter().map(agent).collect();
    world.write("segue.toml", &format!("[fleet]\nname = \"shop\"\n{}", agents.concat()));
    world.ok(["trust", "--yes"]);
}

fn up(world: &World) -> segue_testkit::Report {
    segue_testkit::Report::of(&world.segue(["up", "--json"]))
}

#[test]
fn up_adopts_the_only_conversation_of_a_folder_with_one_agent() {
    let world = world();
    let id = scene::by_hand(&world, "remember the word heron");
    project(&world, &["coder"]);
    let report = up(&world);
    report.assert_back("coder", "adopted");
    assert!(report.note("coder").contains("remember the word heron"), "{report:#?}");
    let session = world.session("coder");
    assert_eq!(session["vendor_session_id"], id.as_str());
    assert_eq!(session["agent"], "coder");
    scene::assert_knows(&world, "coder", "heron");
    world.kill_everything();
    up(&world).assert_back("coder", "resumed");
    scene::assert_knows(&world, "coder", "heron");
}

#[test]
fn up_adopts_nothing_if_several_agents_or_conversations_could_match() {
    let world = world();
    scene::by_hand(&world, "one");
    project(&world, &["coder", "tester"]);
    let report = up(&world);
    report.assert_back("coder", "started");
    report.assert_back("tester", "started");
    assert_eq!(report.note("coder"), "", "either agent could own the conversation");
    let world = crate::world();
    scene::by_hand(&world, "one");
    scene::by_hand(&world, "two");
    project(&world, &["coder"]);
    let report = up(&world);
    report.assert_back("coder", "started");
    assert!(report.note("coder").contains("2 others"), "{report:#?}");
    assert!(report.note("coder").contains("segue adopt demo"), "{report:#?}");
}

#[test]
fn up_does_not_adopt_a_conversation_that_is_open_in_another_process() {
    let world = world();
    let mut terminal = segue_testkit::Terminal::start(&world.command(["demo-agent"]), 24, 80);
    terminal.wait_for("/help shows");
    terminal.write("remember the word heron");
    terminal.wait_for("> remember the word heron");
    terminal.write("\r");
    terminal.wait_for("I will remember heron.");
    let listed = candidates(&world);
    assert!(listed[0]["open_in"].is_u64(), "{listed:?}");
    let shown = world.ok(["adopt"]);
    assert!(shown.contains("OPEN IN") && shown.contains("process "), "{shown}");
    project(&world, &["coder"]);
    let report = up(&world);
    report.assert_back("coder", "started");
    assert!(report.note("coder").contains("is open in process"), "{report:#?}");
    assert_ne!(world.session("coder")["vendor_session_id"], listed[0]["vendor_session_id"]);
}

#[test]
fn refused_resume_names_the_config_dir_that_has_the_conversation() {
    let mut world = world();
    let session = scene::told(&world, "alpha", "heron");
    let id = scene::text(&session, "vendor_session_id").to_owned();
    world.kill_everything();
    let (own, other) = (world.home().join(".segue-demo"), world.root().join("other"));
    std::fs::rename(&own, &other).unwrap();
    segue_testkit::launches::remove_copies(&world, &session);
    world.set("SEGUE_DEMO_HOME", other.to_str().unwrap());
    let report = world.resume(["alpha"]);
    report.assert_not_back("alpha", "refused");
    let note = report.note("alpha").to_owned();
    assert!(note.contains(other.to_str().unwrap()), "{note}");
    let cure = format!("segue rm --yes default/alpha && segue adopt demo:{id} --name alpha");
    assert!(note.contains(&cure), "{note}");
    world.ok(["rm", "--yes", "default/alpha"]);
    world.ok(["adopt", &format!("demo:{id}"), "--name", "alpha"]);
    world.resume(["alpha"]).assert_back("alpha", "resumed");
    assert_eq!(world.session("alpha")["vendor_session_id"], id.as_str());
    assert!(world.ok(["send", "alpha", "--wait", "what is the word?"]).contains("heron"));
}
