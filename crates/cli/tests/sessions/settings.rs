//! `segue set`: the model and the permission of a session change with its next launch.

use segue_testkit::stand_in::StandIn;
use segue_testkit::{World, launches, scene};
use serde_json::{Value, json};

use crate::world;

/// Returns the arguments of the newest launch of a session.
fn arguments(world: &World, session: &Value) -> Vec<String> {
    let launch = launches::newest_json(world, session);
    serde_json::from_value(launch["launch"]["argv"].clone()).unwrap()
}

#[test]
fn settings_take_effect_with_the_next_launch_in_the_same_conversation() {
    let world = world();
    let before = scene::start_with_word(&world, "fox", "amber");
    assert_eq!(before["permission"], "ask");
    let outcome = world.segue(["set", "fox", "--permission", "auto", "--model", "large"]);
    assert_eq!(outcome.stdout, "default/fox: model large, permission auto (changed)\n");
    assert_eq!(outcome.stderr, "the agent gets them with its next message\n");
    let changed = world.session("fox");
    let fields = |session: &Value| {
        json!([session["permission"], session["model"], session["settings_outdated"]])
    };
    assert_eq!(fields(&changed), json!(["auto", "large", true]));
    assert_eq!(changed["pid"], before["pid"], "the agent goes on");
    // Also after everything was killed.
    world.kill_everything();
    world.ok(["resume", "fox"]);
    let resumed = world.session("fox");
    assert_eq!(fields(&resumed), json!(["auto", "large", false]));
    let argv = arguments(&world, &resumed);
    assert!(argv.windows(2).any(|pair| pair == ["--permission", "auto"]), "{argv:?}");
    assert!(argv.contains(&"--model=large".to_owned()), "{argv:?}");
    scene::assert_knows(&world, "fox", "amber");
    let report = world.json(["set", "fox", "--model", "", "--json"]);
    assert_eq!((&report["model"], &report["changed"]), (&json!(null), &json!(["model"])));
    let report = world.json(["set", "fox", "--permission", "auto", "--json"]);
    assert_eq!(report["changed"], json!([]));
    let events = scene::event_texts(&world, "fox", "settings_changed");
    assert_eq!(events.len(), 2, "{events:?}");
}

#[test]
fn next_message_is_typed_after_the_agent_was_started_with_the_new_settings() {
    let world = world();
    scene::start_with_word(&world, "fox", "amber");
    // It asks nothing after the change, which it gets although it works when the message is sent.
    world.ok(["send", "fox", "--no-wait", "/slow 1"]);
    world.ok(["set", "fox", "--permission", "auto"]);
    let outcome = world.segue(["send", "fox", "--wait", "/ask"]);
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    let session = world.session("fox");
    assert_eq!((&session["launches"], &session["settings_outdated"]), (&json!(2), &json!(false)));
    scene::assert_knows(&world, "fox", "amber");
    // Another daemon has no environment of a command; it takes that of the agent.
    world.ok(["send", "fox", "/hang"]);
    world.ok(["set", "fox", "--permission", "ask"]);
    world.ok(["send", "fox", "--no-wait", "hello again"]);
    scene::kill_daemon(&world);
    world.ok(["interrupt", "fox"]);
    world.ok(["wait", "fox", "--for", "idle", "--timeout", "170s"]);
    assert_eq!(world.session("fox")["launches"], 3);
    let asked = world.segue(["send", "fox", "--wait", "/ask"]);
    assert_eq!(asked.status, 4, "{asked:#?}");
}

#[test]
fn settings_survive_a_lost_store() {
    let world = world();
    scene::start_with_word(&world, "fox", "amber");
    world.ok(["set", "fox", "--permission", "accept-edits"]);
    world.kill_everything();
    std::fs::remove_file(world.database()).unwrap();
    world.segue(["doctor", "--fix"]);
    assert_eq!(world.session("fox")["permission"], "accept-edits");
}

#[test]
fn wrong_settings_are_refused() {
    let world = world();
    scene::start_with_word(&world, "fox", "amber");
    let table = [
        ("fox", "--permission", "root", 2, "root"),
        ("fox", "--model", "-x", 2, "-x"),
        ("fox", "--model", "a\nb", 2, "model"),
        ("nobody", "--model", "x", 3, "`nobody`"),
    ];
    for (session, flag, value, status, part) in table {
        let outcome = world.segue(["set", session, flag, value]);
        assert_eq!(outcome.status, status, "{outcome:#?}");
        assert!(outcome.stderr.contains(part), "{outcome:#?}");
    }
    let outcome = world.segue(["set", "fox"]);
    assert_eq!(outcome.status, 2, "{outcome:#?}");
    assert_eq!(world.session("fox")["permission"], "ask");
}

#[test]
fn agent_may_not_change_settings() {
    let world = world();
    scene::start_with_word(&world, "fox", "amber");
    let fox = StandIn::with_new_daemon(&world, &world.session("fox"));
    let outcome = fox.run("$SEGUE set fox --permission auto");
    assert_eq!(outcome.status, 2, "{outcome:#?}");
    assert!(
        outcome.stderr.starts_with("error: an agent may not change the settings"),
        "{outcome:#?}"
    );
    assert_eq!(world.session("fox")["permission"], "ask");
}
