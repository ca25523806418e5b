//! A gate that waits for a person is where people look: in the list of what needs them, and in the
//! overview of its folder.

use segue_testkit::NetworkClient;
use serde_json::{Value, json};

use super::{apply, wait_state, world_with_agents};

const GATES: &str = r#"
name = "release"

[tasks.build]
agent = "coder"
prompt = "hello"

[tasks.looked-at]
needs = ["build"]
gate = "person"

[tasks.ship]
needs = ["looked-at"]
agent = "tester"
prompt = "hello"

[tasks.announce]
needs = ["ship", "looked-at"]
agent = "tester"
prompt = "hello"
"#;

#[test]
fn gate_is_listed_with_what_its_approval_starts_until_it_is_approved_or_the_plan_is_held() {
    let world = world_with_agents();
    let client = NetworkClient::listen(&world).with_scopes(&world, "reader", &["read"]);
    let gates = || client.get("/v1/attention").body["gates"].clone();
    assert_eq!(gates(), json!([]));
    apply(&world, GATES);
    wait_state(&world, "waiting");
    let listed = gates();
    let gate = &listed[0];
    assert_eq!(gate["plan_name"], "release");
    assert_eq!(gate["task"], "looked-at");
    assert_eq!((&gate["agent"], &gate["work"]), (&Value::Null, &Value::Null));
    // `announce` also waits for `ship`.
    assert_eq!(gate["releases"], json!(["ship"]));
    assert_eq!(gate["text"], "starts ship");
    let status: Value = world.json(["status", "--json"]);
    assert_eq!(status["gates"], listed);
    let text = world.segue(["status"]);
    let command = gate["command"].as_str().unwrap();
    assert!(text.stderr.contains(&format!("run `{command}`")), "{text:#?}");

    world.ok(["plan", "pause", "release"]);
    assert_eq!(gates(), json!([]), "an approval starts nothing while the plan is paused");
    world.ok(["plan", "resume", "release"]);
    assert_eq!(gates(), listed);
    assert_eq!(command, "segue plan approve shop/release looked-at");
    world.ok(["plan", "approve", "shop/release", "looked-at"]);
    assert_eq!(gates(), json!([]));
    wait_state(&world, "done");
}
