//! Folders to work in that are gone, are none, or are closed.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
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

/// A folder that is closed for a while: whoever clears up must get into it.
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
fn a_folder_that_may_not_be_entered_or_read_is_refused() {
    let mut world = world();
    world.drop_privileges();
    // One may be entered but not read, one neither.
    for (name, mode) in [("dark", 0o311), ("closed", 0o000)] {
        let folder = world.project().join(name);
        fs::create_dir(&folder).unwrap();
        let _opened_again = Closed::with(&folder, mode);
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
fn a_folder_whose_name_is_not_utf8_is_refused_with_words() {
    let world = world();
    let folder = world.project().join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&folder).unwrap();
    for arguments in [&["run", "-d", "hello"][..], &["resume"], &["stop", "coder"]] {
        let outcome = Outcome::of(world.command(arguments).current_dir(&folder));
        let expected = "a folder whose name is not UTF-8 cannot be worked in\n";
        assert_refused(&outcome, 2, expected);
    }
    // What has nothing to do with the folder works there.
    let outcome = Outcome::of(world.command(["ls", "--json"]).current_dir(&folder));
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, "{\"sessions\":[]}\n"));
}

#[test]
fn a_folder_with_spaces_and_quotes_works_and_what_is_said_about_it_can_be_pasted() {
    let world = world();
    let folder = world.project().join("it's a (\"ü\") $HOME");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("segue.toml"), "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n")
        .unwrap();
    let up = || Outcome::of(world.command(["up", "--json"]).current_dir(&folder));
    let outcome = up();
    let cure = outcome.stderr.split("then run `segue").nth(1).unwrap();
    let cure = format!("\"$0\" {} --yes", cure.split("`\n").next().unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &cure]).arg(world.program()).env_clear().envs(world.environment());
    let trusted = Outcome::of(shell.current_dir(world.root()));
    assert_eq!(trusted.status, 0, "{cure}: {trusted:?}");
    let outcome = up();
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert_eq!(world.session("coder")["cwd"], folder.to_str().unwrap());
}

#[test]
fn two_folders_of_one_name_are_told_apart() {
    let world = world();
    for folder in ["a/shop", "b/shop"] {
        let file = format!("{folder}/segue.toml");
        world.write(&file, "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n");
        let trust = Outcome::of(&mut world.command(["trust", "--yes", folder]));
        assert_eq!(trust.status, 0, "{trust:?}");
    }
    let up = |folder: &str, more: &[&str]| {
        let mut command = world.command(["up"]);
        Outcome::of(command.args(more).current_dir(world.project().join(folder)))
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
