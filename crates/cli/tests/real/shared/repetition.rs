//! A program that repeats the same tool call is brought to a person. Gemini asks a person by itself, and
//! OpenCode writes its database without a report while a turn runs.

use segue_testkit::scene::event_texts;
use segue_testkit::vendor_scene::PinnedVendor;
use serde_json::Value;

use crate::scene;

fn repeated_tool_call_is_found_while_the_turn_runs<V: PinnedVendor>() {
    assert_found::<V>("[[tool: echo same]] ");
}

test_each!(repeated_tool_call_is_found_while_the_turn_runs: claude, codex, copilot, pi);

fn cycle_of_tool_calls_is_found_while_the_turn_runs<V: PinnedVendor>() {
    assert_found::<V>("[[tool: echo same]] [[tool: echo other]] ");
}

test_each!(cycle_of_tool_calls_is_found_while_the_turn_runs: claude, codex);

fn assert_found<V: PinnedVendor>(markers: &str) {
    let scene = scene::<V>();
    let repeated = markers.repeat(10);
    scene.start("coder", &format!("ALPHA {repeated}[[hold: door]]"));
    let session = scene.wait_session("coder", |session| session["repetition"]["is_known"] == false);
    assert_eq!(session["repetition"]["kind"], "tool_calls", "{session:#}");
    let what = session["repetition"]["what"].as_str().unwrap();
    assert!(what.contains("echo same"), "{what}");
    assert_eq!(event_texts(&scene.world, "coder", "repetition_found").len(), 1);
    scene.model.wait_held("door");
    scene.model.release("door");
    scene.wait_session("coder", |it| it["status"] == "idle" && it["repetition"] == Value::Null);
}

fn different_tool_calls_are_no_repetition<V: PinnedVendor>() {
    let scene = scene::<V>();
    let different: String = (0..12).map(|number| format!("[[tool: echo {number}]] ")).collect();
    let session = scene.start_and_wait("coder", &format!("ALPHA {different}"));
    assert_eq!(session["repetition"], Value::Null);
    assert_eq!(event_texts(&scene.world, "coder", "repetition_found"), [""; 0]);
}

test_each!(different_tool_calls_are_no_repetition: claude, codex);
