//! Launches of other machines: a copied store contains open launches whose processes are not on this
//! machine.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use segue_testkit::scene::{assert_knows, kill_daemon, pid, start_with_word, text};
use segue_testkit::{Terminal, World, launches, processes};

use crate::world;

/// The id of the machine to which the store is copied.
const NEW_MACHINE: &str = "7c1f6f7e-3a07-4d4b-9d5a-1f1c3a3f9b11";

/// Gives this machine another id, as if the store had been copied here. Returns the old id.
fn move_store(world: &World) -> String {
    let file = world.state().join("machine-id");
    let old = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{NEW_MACHINE}\n")).unwrap();
    old.trim().to_owned()
}

fn assert_refused<const N: usize>(world: &World, command: [&str; N]) {
    let outcome = world.segue(command);
    assert_eq!(outcome.status, 4, "{command:?}: {outcome:#?}");
    let error = "`default/coder` runs on another machine";
    assert!(outcome.stderr.contains(error), "{command:?}: {outcome:#?}");
}

#[test]
fn open_launch_of_another_machine_is_listed_and_left_alone() {
    let world = world();
    let before = start_with_word(&world, "coder", "fox");
    let agent = pid(&before, "pid");
    kill_daemon(&world);
    let old = move_store(&world);

    let listed = world.session("coder");
    assert_eq!(listed["status"], before["status"], "{listed:#}");
    assert!(text(&listed, "status_detail").contains("on another machine"), "{listed:#}");
    assert!(listed["pid"].is_null() && listed["holder_pid"].is_null(), "{listed:#}");
    assert_refused(&world, ["stop", "coder"]);
    assert_refused(&world, ["rm", "coder", "--yes"]);
    assert_refused(&world, ["send", "coder", "--no-wait", "are you here?"]);
    let mut person = Terminal::start(&world.command(["attach", "coder"]), 24, 100);
    person.wait_for("`default/coder` runs on another machine");
    assert_eq!(person.wait(), 4);
    let report = world.resume(["coder"]);
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains("it runs on another machine"), "{report:#?}");
    let all = world.json(["resume", "--all", "--json"]);
    assert_eq!(all["left_alone"][0]["why"], "other_machine", "{all:#}");
    let found = world.segue(["doctor", "--fix"]);
    assert!(!found.stdout.contains("coder"), "{found:#?}");
    assert!(processes::is_alive(agent), "the agent was ended");

    kill_daemon(&world);
    let mut ids = OpenOptions::new().append(true).open(world.state().join("machine-id")).unwrap();
    writeln!(ids, "{old}").unwrap();
    let after = world.session("coder");
    assert_eq!(pid(&after, "pid"), agent, "{after:#}");
    assert_knows(&world, "coder", "fox");
}

#[test]
fn rebuilt_store_keeps_the_machine_of_a_launch() {
    let world = world();
    let before = start_with_word(&world, "coder", "fox");
    let (_, record) = launches::newest(&world, &before);
    kill_daemon(&world);
    let old = move_store(&world);
    assert_eq!(record.launch.machine.unwrap().to_string(), old);
    fs::remove_dir_all(world.database().parent().unwrap()).unwrap();
    world.ok(["doctor", "--fix"]);
    let listed = world.session("coder");
    assert!(text(&listed, "status_detail").contains("on another machine"), "{listed:#}");
    assert!(processes::is_alive(pid(&before, "pid")), "the agent was ended");
}
