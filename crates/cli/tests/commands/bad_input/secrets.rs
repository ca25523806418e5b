//! Secrets on command lines and in project files are refused, and are not written to disk.

use std::path::PathBuf;

use segue_testkit::{files, scene};

use super::{assert_nothing_started, assert_refused};
use crate::world;

const SECRET: &str = "sk-0123456789abcdefghij";

#[test]
fn secret_in_vendor_arguments_is_refused_and_not_written_to_disk() {
    let world = world();
    let flag = format!("--api-key={SECRET}");
    let table: [&[&str]; 5] = [
        &["--api-key", SECRET],
        &[&flag],
        &["--some_token", SECRET],
        &["--model", "m", SECRET],
        &["--header", "Authorization: Bearer 0123"],
    ];
    for arguments in table {
        let mut command = world.command(["run", "-d", "--name", "coder", "hello", "--"]);
        let outcome = segue_testkit::CommandOutcome::of(command.args(arguments));
        assert_refused(&outcome, 2, "`");
        assert!(outcome.stderr.contains("would put a secret on a command line"), "{outcome:?}");
        assert!(!outcome.stderr.contains("0123"), "{outcome:?}");
    }
    assert_nothing_started(&world);
    assert_eq!(files::containing(world.root(), SECRET), Vec::<PathBuf>::new());
}

#[test]
fn secret_in_a_project_file_is_refused_and_not_copied() {
    let world = world();
    let agent = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n";
    world.write("segue.toml", &format!("{agent}env = {{ SHOP_API_KEY = \"{SECRET}\" }}\n"));
    let outcome = world.segue(["up"]);
    assert_refused(&outcome, 5, "`");
    assert!(outcome.stderr.contains("`SHOP_API_KEY` would put a secret"), "{outcome:?}");
    assert!(!outcome.stderr.contains(SECRET), "{outcome:?}");
    assert_nothing_started(&world);
    assert_eq!(files::containing(&world.segue_home(), SECRET), Vec::<PathBuf>::new());
}

#[test]
fn environment_values_are_not_written_to_disk() {
    let mut world = world();
    world.set("SHOP_API_KEY", SECRET);
    world.ok(["run", "-d", "--name", "coder", "remember the word date"]);
    let session = world.session("coder");
    segue_testkit::conversation::wait_turns(&world, &session, 1);
    let pid = scene::pid(&session, "pid");
    let value = segue_testkit::processes::variable(pid, "SHOP_API_KEY");
    assert_eq!(value.as_deref(), Some(SECRET));
    world.ok(["stop", "--all"]);
    world.ok(["daemon", "stop"]);
    assert_eq!(files::containing(world.root(), SECRET), Vec::<PathBuf>::new());
    assert!(!files::containing(&world.segue_home(), "SHOP_API_KEY").is_empty());
}
