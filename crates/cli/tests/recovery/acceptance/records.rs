//! The records that Segue keeps of each agent.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use segue_testkit::hold::kill_both_at;
use segue_testkit::scene::{text, write_agents, write_shop};
use segue_testkit::{World, launches};
use serde_json::Value;

use crate::world;

/// Checks that the record of each session's newest launch agrees with the list of sessions.
fn assert_recorded(world: &World) {
    for session in world.sessions() {
        let (folder, _) = launches::newest(world, &session);
        let record = launches::newest_json(world, &session);
        let agent = session["agent"].as_str().unwrap_or(text(&session, "name"));
        assert_eq!(record["agent_id"], agent);
        let argv = record["cli_command"].as_array().unwrap();
        assert!(argv.len() > 1 && argv.iter().all(Value::is_string), "{record:#}");
        let name = format!("{}/{}", text(&session, "fleet"), text(&session, "name"));
        assert_eq!(record["session_name"], name);
        assert_eq!(record["session_id"], session["vendor_session_id"]);
        let spawned: jiff::Timestamp = text(&record, "spawned_at").parse().unwrap();
        assert!(spawned >= text(&session, "created_at").parse().unwrap());
        let metadata = fs::metadata(folder.join("session.json")).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn every_launch_has_a_record_started_alone_or_with_a_fleet() {
    let world = world();
    world.ok(["run", "-d", "--name", "alone", "hello"]);
    write_shop(&world, "count = 2\n");
    world.ok(["up"]);
    let names: Vec<_> = world.sessions().iter().map(|it| text(it, "name").to_owned()).collect();
    assert_eq!(names, ["alone", "coder-1", "coder-2"]);
    assert_recorded(&world);
    world.kill_everything();
    world.resume(["--all"]);
    assert_eq!(launches::all(&world).len(), 6);
    assert_recorded(&world);
}

#[test]
fn state_has_the_name_and_id_of_every_agent_and_loads_without_an_id() {
    let mut world = world();
    write_agents(&world, "shop", &["coder", "tester"]);
    world.ok(["up"]);
    world.kill_everything();
    // This agent chooses its own id. The daemon is killed before the agent has one.
    let run = ["run", "-d", "--name", "early", "hi", "--", "--own-id"];
    kill_both_at(&mut world, "launch.record.after", |world| world.start(run));
    let ids: BTreeMap<_, _> = world
        .sessions()
        .iter()
        .map(|it| (text(it, "name").to_owned(), it["vendor_session_id"].clone()))
        .collect();
    assert_eq!(ids.keys().collect::<Vec<_>>(), ["coder", "early", "tester"]);
    assert!(ids["coder"].is_string() && ids["tester"].is_string() && ids["early"].is_null());
    let (_, record) = launches::newest(&world, &world.session("early"));
    assert_eq!(record.session_id, None);
}

#[test]
fn fleet_file_lists_every_agent_with_vendor_and_id() {
    let world = world();
    write_agents(&world, "shop", &["coder", "tester"]);
    world.ok(["up", "--session", "night"]);
    let path = world.state().join("fleets").join("night.json");
    let record = || serde_json::from_slice::<Value>(&fs::read(&path).unwrap()).unwrap();
    let listed = |record: &Value| -> Vec<[Value; 4]> {
        let agents = record["agents"].as_array().unwrap();
        agents
            .iter()
            .map(|it| ["name", "vendor", "session", "session_id"].map(|key| it[key].clone()))
            .collect()
    };
    let known: Vec<[Value; 4]> = world
        .sessions()
        .iter()
        .map(|it| ["name", "vendor", "id", "vendor_session_id"].map(|key| it[key].clone()))
        .collect();
    assert_eq!(known.len(), 2);
    assert_eq!(listed(&record()), known);
    assert_eq!(record()["fleet"], "night");
    // The file is written again when an agent gets a new conversation.
    world.resume(["--fresh", "night/coder"]);
    let fresh = world.session("coder")["vendor_session_id"].clone();
    assert_ne!(fresh, known[0][3]);
    assert_eq!(listed(&record())[0][3], fresh);
}
