//! Folders for Segue's files: paths that are too long, missing, accessible to others, or of another
//! user.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

use segue_testkit::conversation::wait_turns;
use segue_testkit::{CommandOutcome, World};

use super::{assert_answers, assert_refused};
use crate::world;

#[test]
fn segue_home_longer_than_a_socket_path_works() {
    let mut world = world();
    let home = world.root().join("d".repeat(200)).join("e".repeat(200));
    world.set("SEGUE_HOME", home.to_str().unwrap());
    world.ok(["run", "-d", "--name", "coder", "remember the word pomelo"]);
    wait_turns(&world, &world.session("coder"), 1);
    world.ok(["stop", "coder"]);
    world.ok(["daemon", "stop"]);
    assert_eq!(world.json(["resume", "--all", "--stopped", "--json"])["complete"], true);
    assert_answers(&world, "coder", "which word was it?", "pomelo");
    assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));
}

#[test]
fn folder_that_is_open_to_other_users_is_refused_with_a_chmod_hint() {
    let world = world();
    world.ok(["ls"]);
    world.ok(["daemon", "stop"]);
    let (home, state) = (world.segue_home(), world.state());
    let data = home.join("data");
    for (folder, mode) in [(&state, 0o777), (&data, 0o750), (&home, 0o777)] {
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
        let outcome = world.segue(["run", "-d", "hello"]);
        let shown = folder.display();
        assert_refused(
            &outcome,
            5,
            &format!("the folder `{shown}` has mode {mode:04o}: other users"),
        );
        let hint = outcome.stderr.split("hint: run `").nth(1).unwrap().split('`').next().unwrap();
        assert_eq!(hint, format!("chmod 700 {shown}"));
        let run = std::process::Command::new("sh").args(["-c", hint]).status().unwrap();
        assert!(run.success());
        assert_eq!(world.ok(["ls", "--json"]), "{\"sessions\":[]}\n");
    }
}

#[test]
fn state_folder_of_another_user_is_refused() {
    let world = world();
    world.ok(["ls"]);
    world.ok(["daemon", "stop"]);
    if chown(world.state(), Some(12345), None).is_err() {
        // Only root can change the owner of a folder.
        return;
    }
    let expected = format!(
        "the folder `{}` belongs to user 12345, but the current user is",
        world.state().display()
    );
    assert_refused(&world.segue(["run", "-d", "hello"]), 5, &expected);
}

#[test]
fn relative_segue_home_and_segue_home_that_is_a_file_are_refused() {
    let world = world();
    world.write("file", "");
    let with_home = |home: &Path| {
        CommandOutcome::of(world.command(["run", "-d", "hello"]).env("SEGUE_HOME", home))
    };
    let outcome = with_home(Path::new("here/below"));
    assert_refused(&outcome, 5, "SEGUE_HOME is `here/below`, which is not an absolute path\n");
    assert!(outcome.stderr.contains("export SEGUE_HOME=\"$PWD\"/here/below"), "{outcome:?}");
    let file = world.project().join("file");
    assert_refused(&with_home(&file), 5, &format!("`{}` is not a folder\n", file.display()));
    assert_refused(&with_home(&file.join("x")), 5, &format!("`{}` is not", file.display()));
}

#[test]
fn missing_home_variable_is_reported_with_the_variable_to_set() {
    let world = world();
    let mut command = world.command(["ls"]);
    let outcome = CommandOutcome::of(command.env_remove("HOME").env_remove("SEGUE_HOME"));
    assert_refused(&outcome, 5, "there is no folder for files: neither HOME nor ");
    assert!(outcome.stderr.contains("export SEGUE_HOME="), "{outcome:?}");
    // With `SEGUE_HOME`, `segue ls` needs no `HOME`. An agent that keeps its files there needs it.
    let mut command = world.command(["ls", "--json"]);
    let outcome = CommandOutcome::of(command.env_remove("HOME"));
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, "{\"sessions\":[]}\n"));
    let outcome = CommandOutcome::of(world.command(["run", "-d", "hello"]).env_remove("HOME"));
    assert_refused(&outcome, 5, "cannot determine where the demo agent keeps its files\n");
    assert_eq!(world.sessions().len(), 0);
}

#[test]
fn segue_home_without_write_permission_is_an_error_until_it_is_writable() {
    let mut world = world();
    world.drop_privileges();
    world.ok(["run", "-d", "--name", "coder", "hello"]);
    world.ok(["stop", "coder"]);
    world.ok(["daemon", "stop"]);
    assert_error_while_closed(&world, &world.segue_home(), 0o500, "cannot write into the folder `");
    assert_error_while_closed(&world, &world.state(), 0o500, "cannot write into the folder `");
    assert_error_while_closed(
        &world,
        &world.segue_home().join("data"),
        0o500,
        "cannot write into the",
    );
    assert_error_while_closed(&world, &world.database(), 0o400, "the store `");
    assert_eq!(world.json(["resume", "--all", "--stopped", "--json"])["complete"], true);
}

/// Checks that a command reports `error` while `path` has `mode`, and works again afterwards.
fn assert_error_while_closed(world: &World, path: &Path, mode: u32, error: &str) {
    let before = fs::metadata(path).unwrap().permissions();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let outcome = world.segue(["ls"]);
    fs::set_permissions(path, before).unwrap();
    assert_refused(&outcome, 7, error);
    assert_eq!(world.sessions().len(), 1);
    world.ok(["daemon", "stop"]);
}

#[test]
fn files_are_accessible_only_to_their_owner_with_any_umask() {
    for mask in ["0", "077"] {
        let mut world = world();
        let script = format!("umask {mask}; exec \"$@\"");
        world.start_through(["sh", "-c", &script, "sh"].map(str::to_owned));
        world.ok(["run", "-d", "--name", "coder", "hello"]);
        let prompt = "x".repeat(200_000);
        let outcome =
            world.with_input(["run", "--headless", "--name", "long", "-"], prompt.as_bytes());
        assert_eq!(outcome.status, 0, "{outcome:?}");
        wait_turns(&world, &world.session("coder"), 1);
        assert_private(&world.segue_home());
        world.ok(["stop", "--all"]);
        assert_private(&world.segue_home());
    }
}

/// Checks that a folder and everything in it is accessible only to its owner.
fn assert_private(path: &Path) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(metadata.permissions().mode() & 0o777, expected, "{}", path.display());
    if metadata.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| assert_private(&entry.unwrap().path()));
    }
}
