//! The store is rebuilt, and backed up.

use std::fs;
use std::os::unix::fs::FileExt as _;

use segue_testkit::World;

use super::{Scenario, with_dead_session, with_session};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "rebuild",
        prepare: |world| {
            with_dead_session(world);
            fs::remove_dir_all(world.database().parent().unwrap()).unwrap();
        },
        act: |world| world.segue(["doctor", "--fix"]),
        repeat: doctor_again,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "rebuild-broken",
        prepare: |world| {
            with_dead_session(world);
            fs::write(world.database(), "this is no database ".repeat(1000)).unwrap();
        },
        act: |world| world.segue(["doctor", "--fix"]),
        repeat: doctor_again,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "rebuild-salvaged",
        prepare: |world| {
            with_session(world);
            // A daemon that ends cleanly leaves a backup.
            world.ok(["daemon", "stop"]);
            world.kill_everything();
            let file = fs::File::options().write(true).open(world.database()).unwrap();
            file.write_all_at(&[0x55; 100], 0).unwrap();
        },
        act: |world| world.segue(["doctor", "--fix"]),
        repeat: doctor_again,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "backup",
        prepare: with_session,
        act: |world| world.segue(["daemon", "stop"]),
        ..Scenario::PLAIN
    },
];

fn doctor_again(world: &World) {
    world.ok(["doctor", "--fix"]);
}
