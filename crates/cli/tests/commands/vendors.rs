//! `segue vendors`: which vendors are installed, and which of them cannot be checked.

use std::fs;
use std::os::unix::fs::symlink;

use segue_testkit::{World, files};
use serde_json::Value;

use crate::world;

/// Creates a world in which a program of this name is installed as a package of this version.
fn with_program(name: &str, version: &str) -> World {
    let mut world = world();
    let package = world.root().join("lib/node_modules/package");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("package.json"), format!("{{\"version\": \"{version}\"}}")).unwrap();
    let script = package.join("bin/program.js");
    let text = "#!/bin/sh\necho it must not be started > \"$HOME/started\"\n";
    files::write_program(&script, text);
    let bin = world.root().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(script, bin.join(name)).unwrap();
    world.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    world
}

/// Returns the entry of a vendor in the list of `segue vendors`.
fn listed(world: &World, name: &str) -> Value {
    let list = world.json(["vendors", "--json"]);
    let vendors = list["vendors"].as_array().unwrap();
    let found = vendors.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {list:#}")).clone()
}

#[test]
fn vendors_lists_installed_versions_without_starting_anything() {
    let world = with_program("codex", "0.166.0");
    let codex = listed(&world, "codex");
    assert_eq!(codex["installed"], true);
    assert_eq!(codex["version"], "0.166.0");
    assert_eq!(codex["path"], world.root().join("bin/codex").to_str().unwrap());
    assert_eq!(codex["capabilities"]["resume"], true);
    let claude = listed(&world, "claude");
    assert_eq!((&claude["installed"], &claude["path"]), (&Value::Bool(false), &Value::Null));
    assert!(claude["install"].as_str().unwrap().contains("npm install"), "{claude:#}");
    assert!(!world.home().join("started").exists(), "a program was started");
    assert!(!world.state().exists(), "the list started a daemon");
}

#[test]
fn vendors_prints_how_to_install_a_missing_vendor() {
    let world = with_program("codex", "0.166.0");
    let outcome = world.segue(["vendors"]);
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    let line = |word: &str| outcome.stdout.lines().find(|line| line.starts_with(word));
    assert!(line("codex").unwrap().contains("0.166.0"), "{outcome:#?}");
    assert!(line("cursor").unwrap().contains("not tried"), "{outcome:#?}");
    assert!(outcome.stderr.contains("Claude Code is not installed: npm install"), "{outcome:#?}");
}

#[test]
fn installed_version_newer_than_the_tried_one_is_marked() {
    for (version, is_newer) in [("99.0.1", true), ("0.166.0", false), ("0.1.0", false)] {
        let world = with_program("codex", version);
        assert_eq!(listed(&world, "codex")["newer_than_tried"], is_newer, "{version}");
        let outcome = world.segue(["vendors"]);
        let line = outcome.stdout.lines().find(|line| line.starts_with("codex")).unwrap();
        assert_eq!(line.contains("(newer)"), is_newer, "{outcome:#?}");
        let hint = outcome.stderr.contains("run `segue vendors check codex` to try it");
        assert_eq!(hint, is_newer, "{outcome:#?}");
    }
}

#[test]
fn check_of_an_unknown_untestable_or_missing_vendor_fails_with_the_reason() {
    let world = with_program("codex", "0.166.0");
    for (arguments, status, error) in [
        (["check", "nobody"].as_slice(), 3, "there is no vendor `nobody`"),
        (&["check", "demo"], 2, "`demo` cannot be tried"),
        (&["check", "cursor"], 2, "`cursor` cannot be tried"),
        (&["check", "claude"], 6, "`claude` is not installed"),
        (&["check", "codex", "--only", "flying"], 2, "`flying` is not a behaviour"),
    ] {
        let arguments = ["vendors"].iter().chain(arguments);
        let outcome = segue_testkit::CommandOutcome::of(&mut world.command(arguments));
        assert_eq!(outcome.status, status, "{outcome:#?}");
        assert!(outcome.stderr.contains(error), "{outcome:#?}");
    }
}

/// The installed program is not Codex, so the behaviour fails. The report shows what was seen.
#[test]
fn a_failing_check_reports_what_was_expected_and_what_was_seen() {
    let world = with_program("codex", "0.166.0");
    let words = ["vendors", "check", "codex", "--only", "headless", "--json"];
    let outcome = world.segue(words);
    assert_eq!(outcome.status, 6, "{outcome:#?}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let cell = &report["cells"][0];
    assert_eq!((&cell["vendor"], &cell["behaviour"]), (&"codex".into(), &"headless".into()));
    assert_eq!(cell["verdict"], "FAIL", "{report:#}");
    let note = cell["note"].as_str().unwrap();
    assert!(note.starts_with("expected: a headless turn succeeds"), "{note}");
    assert!(note.contains("\nseen:     exit status 6\n"), "{note}");
    let debug_output = ["assertion", "Outcome {", "Some(", ".rs:", "\\n"];
    assert!(!debug_output.iter().any(|word| note.contains(word)), "{note}");
}
