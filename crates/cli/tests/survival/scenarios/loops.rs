//! Work that repeats itself is reported, and is over.

use std::fs;

use segue_testkit::World;
use segue_testkit::scene::{event_texts, wait_session};
use segue_testkit::world::CommandOutcome;

use super::{NAME, Scenario, wait_all, with_session};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "loop",
        prepare: |world| {
            set_limit(world, 0);
            with_session(world);
            begin_loop(world);
            wait_session(world, NAME, |it| it["status"] == "working");
        },
        act: notice_loop,
        settle: |world| {
            wait_all(world, |it| !it["repetition"].is_null() || it["status"] != "working");
        },
        check: |world, _| loop_is_reported_once(world),
        ..Scenario::PLAIN
    },
    Scenario {
        name: "loop-over",
        prepare: |world| {
            set_limit(world, CALLS);
            with_session(world);
            begin_loop(world);
            wait_session(world, NAME, |it| !it["repetition"].is_null());
        },
        act: |world| world.segue(["interrupt", NAME]),
        settle: |world| wait_all(world, |session| session["repetition"].is_null()),
        check: |world, outcome| {
            if outcome.status == 0 {
                loop_is_reported_once(world);
            }
        },
        repeat: loop_is_reported_once,
        ..Scenario::PLAIN
    },
];

/// This many equal tool calls are a loop.
const CALLS: usize = 5;

fn set_limit(world: &World, calls: usize) {
    let settings = format!("[loops]\ntool_calls = {calls}\n");
    fs::write(world.segue_home().join("config.toml"), settings).unwrap();
}

/// Begins a turn that repeats the same tool call, and does not end.
fn begin_loop(world: &World) {
    world.ok(["send", NAME, &format!("/repeat {CALLS}")]);
}

/// Replaces the daemon by one that looks for loops.
fn notice_loop(world: &World) -> CommandOutcome {
    let stopped = world.segue(["daemon", "stop"]);
    set_limit(world, CALLS);
    if stopped.status == 0 { world.segue(["ls"]) } else { stopped }
}

/// Interrupts the turn, if it still runs. Checks that the loop was reported once, and that it was
/// reported once that it is over.
fn loop_is_reported_once(world: &World) {
    let is_known = |kind| event_texts(world, NAME, kind).len();
    let noticed =
        wait_session(world, NAME, |it| !it["repetition"].is_null() || it["status"] != "working");
    // The agent may have died before anybody noticed that it repeats itself.
    let expected = if noticed["repetition"].is_null() { is_known("repetition_found") } else { 1 };
    assert!(expected <= 1, "{noticed:#}");
    assert_eq!(is_known("repetition_found"), expected, "{noticed:#}");
    let interrupted = world.segue(["interrupt", NAME]);
    // The turn may be over already.
    assert!([0, 4].contains(&interrupted.status), "{interrupted:#?}");
    wait_session(world, NAME, |it| it["status"] != "working" && it["repetition"].is_null());
    assert_eq!(is_known("repetition_found"), expected);
    assert_eq!(is_known("repetition_over"), expected);
}
