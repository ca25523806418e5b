//! A machine on which no inotify watch or no inotify instance is left.
//!
//! The tests lower the limits of a user namespace of their own.

use std::fs;
use std::time::Instant;

use segue_testkit::world::DEADLINE;
use segue_testkit::{World, isolated};
use serde_json::Value;

use crate::world;

/// Sets the maximum number of inotify `watches` or `instances` of this namespace.
fn set_limit(resource: &str, maximum: u32) {
    fs::write(format!("/proc/sys/user/max_inotify_{resource}"), maximum.to_string()).unwrap();
}

/// Checks that a session works without inotify, and is watched when the limit is raised.
fn assert_works_without(world: &World, resource: &str) {
    world.ok(["run", "-d", "--name", "fox", "remember the word amber"]);
    world.ok(["wait", "fox", "--for", "idle"]);
    let cause =
        format!("cannot watch files: the limit `fs.inotify.max_user_{resource}` is reached");
    let session = world.session("fox");
    let detail = session["status_detail"].as_str().unwrap();
    assert_eq!(detail, format!("{cause}; looked at every 3 s"));
    let outcome = world.segue(["doctor"]);
    assert_eq!(outcome.status, 1, "{outcome:#?}");
    let finding = format!("warning: {cause}: 1 session is looked at every 3 s\n");
    assert!(outcome.stdout.contains(&finding), "{outcome:#?}");
    let cure = format!("  cure: raise the limit: `sudo sysctl -w fs.inotify.max_user_{resource}=");
    assert!(outcome.stdout.contains(&cure), "{outcome:#?}");
    let answer = world.ok(["send", "fox", "--wait", "what is the word?"]);
    assert!(answer.contains("amber"), "{answer}");

    set_limit(resource, 1 << 20);
    let end = Instant::now() + DEADLINE;
    while world.session("fox")["status_detail"] != Value::Null {
        assert!(Instant::now() < end, "fox is not watched: {:#?}", world.session("fox"));
    }
    assert_eq!(world.segue(["doctor"]).status, 0);
    let answer = world.ok(["send", "fox", "--wait", "what is the word?"]);
    assert!(answer.contains("amber"), "{answer}");
    world.ok(["stop", "fox"]);
}

#[test]
fn session_works_without_inotify_watches_and_its_status_names_the_limit() {
    isolated(|| {
        let world = world();
        world.ok(["daemon", "start"]);
        set_limit("watches", 0);
        assert_works_without(&world, "watches");
    });
}

#[test]
fn daemon_starts_and_session_works_without_inotify_instances() {
    isolated(|| {
        let world = world();
        set_limit("instances", 0);
        assert_works_without(&world, "instances");
    });
}

#[test]
fn only_sessions_that_cannot_be_watched_are_polled() {
    isolated(|| {
        let world = world();
        world.ok(["run", "-d", "--name", "owl", "remember the word amber"]);
        world.ok(["wait", "owl", "--for", "idle"]);
        set_limit("watches", 0);
        world.ok(["run", "-d", "--name", "fox", "remember the word amber"]);
        world.ok(["wait", "fox", "--for", "idle"]);
        assert_eq!(world.session("owl")["status_detail"], Value::Null);
        assert_ne!(world.session("fox")["status_detail"], Value::Null);
        world.ok(["stop", "fox"]);
        assert_eq!(world.segue(["doctor"]).status, 0);
    });
}
