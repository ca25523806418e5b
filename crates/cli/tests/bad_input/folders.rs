//! Folders to work in that are gone, are none, or are closed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use segue_testkit::Outcome;

use super::{assert_nothing_started, assert_refused, world};

#[test]
fn a_folder_that_is_none_is_named() {
    let world = world();
    world.write("file", "");
    let table = [
        ("gone", 3, "the folder `{}` does not exist\n"),
        ("file", 2, "`{}` is not a folder\n"),
        ("file/below", 2, "`{}` is not a folder\n"),
    ];
    for (name, status, error) in table {
        let path = world.project().join(name);
        let outcome = world.segue(["run", "-d", "--cwd", name, "hello"]);
        assert_refused(&outcome, status, &error.replace("{}", path.to_str().unwrap()));
    }
    assert_nothing_started(&world);
}

#[test]
fn a_folder_that_was_removed_under_the_command_is_said_to_be() {
    let world = world();
    let gone = world.root().join("gone");
    fs::create_dir(&gone).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "rmdir \"$PWD\" && exec \"$0\" run -d hello"]).arg(world.program());
    shell.current_dir(&gone).env_clear().envs(world.environment()).stdin(Stdio::null());
    let outcome = Outcome::of(&mut shell);
    let expected = "cannot tell which folder this is: it was removed or may not be read\n";
    assert_refused(&outcome, 2, expected);
    assert!(!world.segue_home().exists());
}

#[test]
fn a_folder_that_went_while_its_agent_was_away_is_asked_for() {
    let world = world();
    let place = world.project().join("place");
    fs::create_dir(&place).unwrap();
    world.ok(["run", "-d", "--name", "coder", "--cwd", "place", "remember the word sloe"]);
    segue_testkit::conversation::wait_turns(&world, &world.session("coder"), 1);
    world.ok(["stop", "coder"]);
    fs::rename(&place, world.project().join("elsewhere")).unwrap();
    let outcome = world.segue(["resume", "coder"]);
    assert_eq!(outcome.status, 8, "{outcome:?}");
    assert!(outcome.stdout.contains("the folder it works in is gone"), "{outcome:?}");
    fs::rename(world.project().join("elsewhere"), &place).unwrap();
    assert_eq!(world.json(["resume", "coder", "--json"])["complete"], true);
}

#[test]
fn a_folder_that_may_not_be_entered_or_read_is_refused() {
    let mut world = world();
    world.drop_privileges();
    // One may be entered but not read, one neither.
    for (name, mode) in [("dark", 0o311), ("closed", 0o000)] {
        let folder = world.project().join(name);
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&folder, Some(65534), Some(65534)).unwrap();
        }
        let expected = format!("the folder `{}` may not be entered or read\n", folder.display());
        let outcome = world.segue(["run", "-d", "--cwd", name, "hello"]);
        assert_refused(&outcome, 2, &expected);
    }
    assert_nothing_started(&world);
}
