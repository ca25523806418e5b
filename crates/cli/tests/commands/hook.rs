//! `segue hook` records its input in the launch folder. It prints nothing and exits with 0 for any
//! input.

use std::fs;

use segue_testkit::{World, conversation, scene};

use crate::world;

fn assert_silent(world: &World, input: &[u8]) {
    let outcome = world.with_input(["hook"], input);
    assert_eq!((outcome.status, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, "", ""));
}

#[test]
fn hook_without_a_launch_or_valid_input_prints_nothing_and_exits_with_0() {
    let mut world = world();
    assert_silent(&world, b"{}");
    for launch in ["", "nonsense", "01a1e1c2-e18d-7685-9753-b14b9d167d8f", "../../etc"] {
        world.set("SEGUE_LAUNCH", launch);
        for input in [&b"{}"[..], b"not json", b"", b"\xff\xfe", &[b'['; 100_000]] {
            assert_silent(&world, input);
        }
    }
    assert!(!world.segue_home().join("state/launches").exists(), "it created a launch folder");
    world.unset("SEGUE_HOME");
    world.set("SEGUE_HOME", "/dev/null/nowhere");
    assert_silent(&world, b"{}");
}

#[test]
fn hook_records_its_input_without_a_daemon() {
    let mut world = world();
    let session = scene::told(&world, "alpha", "heron");
    let launch = conversation::newest_launch(&world, session["id"].as_str().unwrap()).to_string();
    scene::kill_daemon(&world);
    world.set("SEGUE_LAUNCH", &launch);
    assert_silent(&world, br#"{"hook_event_name":"Stop","session_id":"x"}"#);
    let lines = world.state().join("launches").join(&launch).join("hooks.jsonl");
    let text = fs::read_to_string(lines).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains(r#""hook_event_name":"Stop""#), "{text}");
}
