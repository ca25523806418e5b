//! `segue hook` records its input in the launch folder. It prints nothing and exits with 0 for any
//! input.

use std::fs;

use segue_testkit::{World, launches, scene};

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
    let session = scene::start_with_word(&world, "alpha", "heron");
    let (folder, record) = launches::newest(&world, &session);
    scene::kill_daemon(&world);
    world.set("SEGUE_LAUNCH", record.launch.id.to_string());
    assert_silent(&world, br#"{"hook_event_name":"Stop","session_id":"x"}"#);
    let text = fs::read_to_string(folder.join("hooks.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains(r#""hook_event_name":"Stop""#), "{text}");
}
