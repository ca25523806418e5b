//! Two Segue instances of one user in one folder that differ only in `SEGUE_HOME`.

use segue_testkit::conversation::{ask, wait_turns};
use segue_testkit::scene::text;
use segue_testkit::{CommandOutcome, World};

use super::{daemons, live_pid};
use crate::world;

/// Creates a second Segue with the `HOME` of the first.
fn second_segue(first: &World) -> World {
    let mut second = world();
    second.set("HOME", first.home().to_str().unwrap());
    second
}

#[test]
fn two_segue_homes_in_one_folder_do_not_affect_each_other() {
    let first = world();
    let second = second_segue(&first);
    let run_second = |arguments: &[&str]| {
        let outcome = CommandOutcome::of(second.command(arguments).current_dir(first.project()));
        assert_eq!(outcome.status, 0, "{arguments:?}: {outcome:#?}");
        outcome.stdout
    };
    first.ok(["run", "-d", "--name", "coder", "remember the word plum"]);
    run_second(&["run", "-d", "--name", "coder", "remember the word pear"]);
    let (own, other) = (first.session("coder"), second.session("coder"));
    assert_eq!(own["cwd"], other["cwd"]);
    assert_eq!((first.sessions().len(), second.sessions().len()), (1, 1));
    assert_ne!(daemons(&first), daemons(&second));
    wait_turns(&first, &own, 1);
    assert!(first.ok(["doctor"]).starts_with("nothing is wrong\n"));

    // Commands of the first instance for all of its sessions do not affect the second instance.
    first.ok(["stop", "--all"]);
    first.ok(["daemon", "stop"]);
    assert_eq!(live_pid(&second.session("coder"), "pid"), live_pid(&other, "pid"));
    let report = first.json(["resume", "--all", "--stopped", "--json"]);
    assert_eq!(report["agents"].as_array().unwrap().len(), 1, "{report}");
    let back = first.session("coder");
    assert_eq!(text(&back, "vendor_session_id"), text(&own, "vendor_session_id"));
    assert!(ask(&first, &back, "which word?").contains("plum"));
    assert!(run_second(&["doctor"]).starts_with("nothing is wrong\n"));
    assert_eq!(live_pid(&second.session("coder"), "pid"), live_pid(&other, "pid"));
}
