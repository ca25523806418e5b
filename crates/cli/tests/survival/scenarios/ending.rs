//! Sessions are stopped and removed.

use std::fs;
use std::path::PathBuf;

use segue_testkit::world::CommandOutcome;
use segue_testkit::{World, archive, conversation, launches, scene};
use serde_json::Value;

use super::{NAME, Scenario, wait_all, wait_no_holder, with_session};

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
        name: "rename",
        prepare: with_session,
        act: rename,
        check: |world, outcome| {
            if outcome.status == 0 {
                assert_renamed(world);
            }
        },
        repeat: |world| {
            let again = rename(world);
            assert_eq!(again.status, 0, "{again:#?}");
            assert_renamed(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "interrupt",
        prepare: |world| {
            with_session(world);
            world.ok(["send", NAME, "/hang"]);
            scene::wait_session(world, NAME, |it| it["status"] == "working");
        },
        act: |world| world.segue(["interrupt", NAME]),
        settle: |world| wait_all(world, |session| session["status"] != "working"),
        check: |world, outcome| {
            if outcome.status == 0 {
                wait_not_working(world);
            }
        },
        repeat: |world| {
            let again = world.segue(["interrupt", NAME]);
            // The first command may have ended the turn.
            assert!([0, 4].contains(&again.status), "{again:#?}");
            wait_not_working(world);
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

/// The name that [`rename`] gives to the session.
const NEW_NAME: &str = "alpha-renamed";

fn rename(world: &World) -> CommandOutcome {
    world.segue(["rename", NAME, NEW_NAME])
}

/// Checks that the store and all copies have the new name.
fn assert_renamed(world: &World) {
    let session = world.session(NEW_NAME);
    assert_eq!(session["address"], format!("default/{NEW_NAME}"));
    let record = launches::newest_json(world, &session);
    assert_eq!(record["session"]["name"], NEW_NAME, "{record:#}");
    let fleet = fs::read_to_string(world.state().join("fleets/default.json")).unwrap();
    let fleet: Value = serde_json::from_str(&fleet).unwrap();
    assert_eq!(fleet["agents"][0]["name"], NEW_NAME, "{fleet:#}");
}

/// Waits until the turn is over. A session that did not survive is resumed later.
fn wait_not_working(world: &World) {
    let waited = world.segue(["wait", NAME, "--for", "idle", "--timeout", "170s"]);
    assert!([0, 4].contains(&waited.status), "{waited:#?}");
}

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
