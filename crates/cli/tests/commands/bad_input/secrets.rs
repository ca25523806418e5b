//! Secrets on command lines and in project files are refused, and are not written to disk.

use std::fs;
use std::path::Path;

use super::{assert_nothing_started, assert_refused};
use crate::world;

const SECRET: &str = "sk-0123456789abcdefghij";

/// Returns the paths of all files below a folder that contain the text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if path.is_file() {
            let content = fs::read(&path).unwrap();
            if content.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

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
    assert_eq!(files_with(world.root(), SECRET), Vec::<String>::new());
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
    assert_eq!(files_with(&world.segue_home(), SECRET), Vec::<String>::new());
}

#[test]
fn environment_values_are_not_written_to_disk() {
    let mut world = world();
    world.set("SHOP_API_KEY", SECRET);
    world.ok(["run", "-d", "--name", "coder", "remember the word date"]);
    let session = world.session("coder");
    segue_testkit::conversation::wait_turns(&world, &session, 1);
    let pid = u32::try_from(session["pid"].as_u64().unwrap()).unwrap();
    let given = segue_testkit::processes::variable(pid, "SHOP_API_KEY");
    assert_eq!(given.as_deref(), Some(SECRET));
    world.ok(["stop", "--all"]);
    world.ok(["daemon", "stop"]);
    assert_eq!(files_with(world.root(), SECRET), Vec::<String>::new());
    assert!(!files_with(&world.segue_home(), "SHOP_API_KEY").is_empty());
}
