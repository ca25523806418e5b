//! `segue adopt`: conversations that were started without Segue become sessions and can be resumed.

use segue_testkit::{CommandOutcome, Report, Terminal, World, launches, scene};
use serde_json::Value;

use crate::world;

/// Returns the conversations that `segue adopt` lists.
fn candidates(world: &World) -> Vec<Value> {
    let list = world.json(["adopt", "--json"]);
    list["candidates"].as_array().unwrap().clone()
}

#[test]
fn conversation_started_without_segue_is_listed_adopted_and_resumed() {
    let world = world();
    let id = scene::turn_without_segue(&world, "remember the word heron");
    let listed = candidates(&world);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["vendor_session_id"], id.as_str());
    assert_eq!(listed[0]["begins"], "remember the word heron");
    let report = world.json(["adopt", &format!("demo:{id}"), "--name", "alpha", "--json"]);
    assert_eq!(report["adopted"][0]["evidence"], "adopted", "{report}");
    assert_eq!(world.session("alpha")["pid"], Value::Null, "a process was started");
    assert_eq!(candidates(&world), Vec::<Value>::new());
    world.resume(["alpha"]).assert_back("alpha", "resumed");
    scene::assert_knows(&world, "alpha", "heron");
}

#[test]
fn adopt_of_an_adopted_unknown_or_malformed_conversation_fails_with_a_hint() {
    let world = world();
    let id = scene::turn_without_segue(&world, "remember the word heron");
    let address = format!("demo:{id}");
    world.ok(["adopt", &address, "--name", "alpha"]);
    let table = [
        (vec!["adopt", address.as_str()], 4),
        (vec!["adopt", "demo:unknown"], 3),
        (vec!["adopt", "demo:"], 2),
        (vec!["adopt", "nobody"], 2),
        (vec!["adopt", "--name", "x"], 2),
        (vec!["adopt", "--since", "yesterday"], 2),
    ];
    for (arguments, status) in table {
        let outcome = CommandOutcome::of(&mut world.command(&arguments));
        assert_eq!(outcome.status, status, "{arguments:?}: {outcome:#?}");
        assert!(outcome.stderr.contains("hint: "), "{outcome:#?}");
    }
}

#[test]
fn adopt_all_takes_each_conversation_once_and_skips_those_with_a_missing_folder() {
    let world = world();
    let [one, two] = ["one", "two"].map(|word| scene::turn_without_segue(&world, word));
    let folder = world.project().join("gone");
    std::fs::create_dir(&folder).unwrap();
    let mut turn = world.command(["demo-agent", "--print", "--", "three"]);
    let turn = CommandOutcome::of(turn.current_dir(&folder));
    assert_eq!(turn.status, 0, "{turn:#?}");
    std::fs::remove_dir(&folder).unwrap();
    let report = world.json(["adopt", "--all", "--since", "7d", "--json"]);
    let mut adopted: Vec<&str> = report["adopted"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["vendor_session_id"].as_str().unwrap())
        .collect();
    adopted.sort_unstable();
    let mut expected = [one.as_str(), two.as_str()];
    expected.sort_unstable();
    assert_eq!(adopted, expected, "{report:#}");
    assert_eq!(report["skipped"].as_array().unwrap().len(), 1, "{report:#}");
    let again = world.json(["adopt", "--all", "--json"]);
    assert_eq!(again["adopted"], Value::Array(Vec::new()), "{again:#}");
    assert_eq!(world.sessions().len(), 2);
}

fn up(world: &World) -> Report {
    Report::of(&world.segue(["up", "--json"]))
}

#[test]
fn up_adopts_the_only_conversation_of_a_folder_with_one_agent() {
    let world = world();
    let id = scene::turn_without_segue(&world, "remember the word heron");
    scene::write_shop(&world, "");
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
    scene::turn_without_segue(&world, "one");
    scene::write_shop(&world, "[[agents]]\nname = \"tester\"\nvendor = \"demo\"\n");
    let report = up(&world);
    report.assert_back("coder", "started");
    report.assert_back("tester", "started");
    assert_eq!(report.note("coder"), "", "either agent could own the conversation");
    let world = crate::world();
    scene::turn_without_segue(&world, "one");
    scene::turn_without_segue(&world, "two");
    scene::write_shop(&world, "");
    let report = up(&world);
    report.assert_back("coder", "started");
    assert!(report.note("coder").contains("2 others"), "{report:#?}");
    assert!(report.note("coder").contains("segue adopt demo"), "{report:#?}");
}

#[test]
fn up_does_not_adopt_a_conversation_that_is_open_in_another_process() {
    let world = world();
    let mut terminal = Terminal::start(&world.command(["demo-agent"]), 24, 80);
    terminal.wait_for("/help lists");
    terminal.write("remember the word heron");
    terminal.wait_for("> remember the word heron");
    terminal.write("\r");
    terminal.wait_for("I will remember heron.");
    let listed = candidates(&world);
    assert!(listed[0]["open_in"].is_u64(), "{listed:?}");
    let shown = world.ok(["adopt"]);
    assert!(shown.contains("OPEN IN") && shown.contains("process "), "{shown}");
    scene::write_shop(&world, "");
    let report = up(&world);
    report.assert_back("coder", "started");
    assert!(report.note("coder").contains("is open in process"), "{report:#?}");
    assert_ne!(world.session("coder")["vendor_session_id"], listed[0]["vendor_session_id"]);
}

#[test]
fn refused_resume_names_the_config_dir_that_has_the_conversation() {
    let mut world = world();
    let session = scene::start_with_word(&world, "alpha", "heron");
    let id = scene::text(&session, "vendor_session_id").to_owned();
    world.kill_everything();
    let (config_dir, other) = (world.home().join(".segue-demo"), world.root().join("other"));
    std::fs::rename(&config_dir, &other).unwrap();
    launches::remove_copies(&world, &session);
    world.set("SEGUE_DEMO_HOME", other.to_str().unwrap());
    let report = world.resume(["alpha"]);
    report.assert_not_back("alpha", "refused");
    let note = report.note("alpha").to_owned();
    assert!(note.contains(other.to_str().unwrap()), "{note}");
    let remedy = format!("segue rm --yes default/alpha && segue adopt demo:{id} --name alpha");
    assert!(note.contains(&remedy), "{note}");
    world.ok(["rm", "--yes", "default/alpha"]);
    world.ok(["adopt", &format!("demo:{id}"), "--name", "alpha"]);
    world.resume(["alpha"]).assert_back("alpha", "resumed");
    assert_eq!(world.session("alpha")["vendor_session_id"], id.as_str());
    assert!(world.ok(["send", "alpha", "--wait", "what is the word?"]).contains("heron"));
}
