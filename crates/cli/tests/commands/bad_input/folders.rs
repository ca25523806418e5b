//! Working directories that are missing, are not folders, or may not be entered.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use segue_testkit::CommandOutcome;

use super::{assert_nothing_started, assert_refused};
use crate::world;

#[test]
fn run_in_a_missing_folder_or_in_a_file_names_the_path() {
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
fn run_in_a_removed_current_folder_is_refused() {
    let world = world();
    let folder = world.root().join("gone");
    fs::create_dir(&folder).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "rmdir \"$PWD\" && exec \"$0\" run -d hello"]).arg(world.program());
    shell.current_dir(&folder).env_clear().envs(world.environment()).stdin(Stdio::null());
    let outcome = CommandOutcome::of(&mut shell);
    let expected = "the working folder is unknown: it was removed or may not be read\n";
    assert_refused(&outcome, 2, expected);
    assert!(!world.state().exists());
}

#[test]
fn resume_without_its_working_folder_is_refused_until_the_folder_is_back() {
    let world = world();
    let folder = world.project().join("place");
    fs::create_dir(&folder).unwrap();
    world.ok(["run", "-d", "--name", "coder", "--cwd", "place", "remember the word sloe"]);
    segue_testkit::conversation::wait_turns(&world, &world.session("coder"), 1);
    world.ok(["stop", "coder"]);
    fs::rename(&folder, world.project().join("elsewhere")).unwrap();
    let outcome = world.segue(["resume", "coder"]);
    assert_eq!(outcome.status, 8, "{outcome:?}");
    assert!(outcome.stdout.contains("the folder it works in is gone"), "{outcome:?}");
    fs::rename(world.project().join("elsewhere"), &folder).unwrap();
    assert_eq!(world.json(["resume", "coder", "--json"])["complete"], true);
}

/// A folder whose permissions are restricted. They are restored on drop, so that it can be deleted.
struct Closed<'a>(&'a Path);

impl<'a> Closed<'a> {
    fn with(folder: &'a Path, mode: u32) -> Self {
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
        Self(folder)
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        fs::set_permissions(self.0, Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn run_in_a_folder_that_may_not_be_entered_or_read_is_refused() {
    let mut world = world();
    world.drop_privileges();
    // The first folder may be entered but not read, the second neither.
    for (name, mode) in [("dark", 0o311), ("closed", 0o000)] {
        let folder = world.project().join(name);
        fs::create_dir(&folder).unwrap();
        let _closed = Closed::with(&folder, mode);
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&folder, Some(65534), Some(65534)).unwrap();
        }
        let expected = format!("the folder `{}` may not be entered or read\n", folder.display());
        let outcome = world.segue(["run", "-d", "--cwd", name, "hello"]);
        assert_refused(&outcome, 2, &expected);
    }
    assert_nothing_started(&world);
}

#[test]
fn folder_whose_name_is_not_utf8_is_refused() {
    let world = world();
    let folder = world.project().join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&folder).unwrap();
    for arguments in [&["run", "-d", "hello"][..], &["resume"], &["stop", "coder"]] {
        let outcome = CommandOutcome::of(world.command(arguments).current_dir(&folder));
        let expected = "Segue cannot work in a folder whose path is not UTF-8\n";
        assert_refused(&outcome, 2, expected);
    }
    // Commands that do not use the current folder work there.
    let outcome = CommandOutcome::of(world.command(["ls", "--json"]).current_dir(&folder));
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, "{\"sessions\":[]}\n"));
}

#[test]
fn hint_for_a_folder_with_spaces_and_quotes_can_be_pasted_into_a_shell() {
    let world = world();
    let folder = world.project().join("it's a (\"ü\") $HOME");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("segue.toml"), "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n")
        .unwrap();
    let up = || CommandOutcome::of(world.command(["up", "--json"]).current_dir(&folder));
    let outcome = up();
    let hint = outcome.stderr.split("then run `segue").nth(1).unwrap();
    let hint = format!("\"$0\" {} --yes", hint.split("`\n").next().unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &hint]).arg(world.program()).env_clear().envs(world.environment());
    let trusted = CommandOutcome::of(shell.current_dir(world.root()));
    assert_eq!(trusted.status, 0, "{hint}: {trusted:?}");
    let outcome = up();
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert_eq!(world.session("coder")["cwd"], folder.to_str().unwrap());
}

#[test]
fn up_refuses_a_fleet_name_that_another_folder_uses() {
    let world = world();
    for folder in ["a/shop", "b/shop"] {
        let file = format!("{folder}/segue.toml");
        world.write(&file, "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n");
        let trust = CommandOutcome::of(&mut world.command(["trust", "--yes", folder]));
        assert_eq!(trust.status, 0, "{trust:?}");
    }
    let up = |folder: &str, flags: &[&str]| {
        let mut command = world.command(["up"]);
        CommandOutcome::of(command.args(flags).current_dir(world.project().join(folder)))
    };
    assert_eq!(up("a/shop", &[]).status, 0);
    let expected = format!(
        "the fleet name `shop` is taken by the folder `{}/a/shop`",
        world.project().display()
    );
    let outcome = up("b/shop", &[]);
    assert_refused(&outcome, 4, &expected);
    assert!(outcome.stderr.contains("segue up --fleet NAME"), "{outcome:?}");
    assert_eq!(up("b/shop", &["--fleet", "other"]).status, 0);
    assert_eq!(world.sessions().len(), 2);
}
