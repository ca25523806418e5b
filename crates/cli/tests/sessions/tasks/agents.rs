//! Forms ask for the agents of a project file, so that a person need not know their names.

use std::fs;

use segue_testkit::{NetworkClient, scene};
use serde_json::json;

use crate::world;

#[test]
fn agents_of_the_project_around_a_folder_are_listed_for_those_who_may_add_tasks() {
    let world = world();
    scene::write_agents(&world, "shop", &["coder", "tester"]);
    let below = world.project().join("src");
    fs::create_dir(&below).unwrap();
    let network = NetworkClient::listen(&world);
    let worker = network.with_scopes(&world, "worker", &["work"]);
    let expected = json!([
        { "name": "coder", "vendor": "demo" },
        { "name": "tester", "vendor": "demo" },
    ]);
    for folder in [world.project(), below.clone()] {
        let answer = worker.post("/v1/agents", &json!({ "folder": folder }));
        assert_eq!(answer.body["agents"], expected, "{}", answer.text);
        assert!(answer.body["project"].is_string(), "{}", answer.text);
    }
    let elsewhere = worker.post("/v1/agents", &json!({ "folder": world.root() }));
    assert_eq!(elsewhere.body, json!({ "project": null, "agents": [] }));
    let missing = worker.post("/v1/agents", &json!({ "folder": world.root().join("gone") }));
    assert!((400..500).contains(&missing.status), "{}", missing.text);
    let reader = network.with_scopes(&world, "reader", &["read"]);
    assert_eq!(reader.post("/v1/agents", &json!({ "folder": below })).status, 403);
}
