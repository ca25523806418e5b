//! Sessions are stopped and removed.

use std::fs;
use std::path::PathBuf;

use segue_testkit::world::CommandOutcome;
use segue_testkit::{World, archive, conversation};
use serde_json::Value;

use super::{NAME, Scenario, wait_no_holder, with_session};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "stop",
        prepare: with_session,
        act: |world| world.segue(["stop", NAME]),
        settle: wait_no_holder,
        check: stop_was_true,
        repeat: |world| {
            world.ok(["stop", NAME]);
            let session = world.session(NAME);
            assert_eq!((&session["status"], &session["pid"]), (&"ended".into(), &Value::Null));
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "rm",
        prepare: |world| {
            with_session(world);
            world.ok(["stop", NAME]);
        },
        act: |world| world.segue(["rm", NAME, "--yes"]),
        check: |world, outcome| {
            if outcome.status == 0 {
                assert_removed(world);
            }
        },
        repeat: |world| {
            let again = world.segue(["rm", NAME, "--yes"]);
            assert!([0, 3].contains(&again.status), "{again:#?}");
            assert_removed(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "archive-purge",
        prepare: |world| {
            with_session(world);
            world.ok(["stop", NAME]);
        },
        act: |world| world.segue(["rm", NAME, "--purge", "--yes"]),
        check: |world, outcome| {
            if outcome.status == 0 {
                assert_purged(world);
            }
        },
        repeat: |world| {
            let again = world.segue(["rm", NAME, "--purge", "--yes"]);
            assert!([0, 3].contains(&again.status), "{again:#?}");
            assert_purged(world);
        },
        ..Scenario::PLAIN
    },
];

fn stop_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        assert!(outcome.stdout.contains("stopped"), "{outcome:#?}");
        let session = world.session(NAME);
        assert_eq!(session["status"], "ended", "{session:#}");
        assert_eq!(session["pid"], Value::Null);
    }
}

/// Checks that nothing is left of the session.
fn assert_removed(world: &World) {
    assert_eq!(world.sessions(), Vec::<Value>::new());
    let launches = fs::read_dir(world.state().join("launches")).unwrap();
    assert_eq!(launches.count(), 0, "a launch folder is left");
}

fn assert_purged(world: &World) {
    assert_removed(world);
    assert_eq!(archive::manifests(world), Vec::<Value>::new());
    assert_eq!(conversation::transcripts(world), Vec::<PathBuf>::new());
}
