//! `segue editor install`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use segue_testkit::{CommandOutcome, World};
use serde_json::Value;

use crate::world;

/// Writes a command of an editor that keeps the file that it installs.
fn write_editor(world: &World, name: &str, script: &str) {
    let path = world.project().join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn install<'a>(flag: &'a str, value: &'a str) -> [&'a str; 5] {
    ["editor", "install", "vscode", flag, value]
}

#[test]
fn editor_install_gives_the_extension_to_the_command_of_the_editor_and_leaves_no_file() {
    let world = world();
    write_editor(&world, "my-editor", "cp \"$2\" installed.vsix && echo \"$1 $3\" >words");
    let report = world.ok(install("--program=./my-editor", "--json"));
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["program"], world.project().join("./my-editor").to_str().unwrap());
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    let words = fs::read_to_string(world.project().join("words")).unwrap();
    assert_eq!(words, "--install-extension --force\n");
    world.ok(install("--to", "written.vsix"));
    let [installed, written] =
        ["installed.vsix", "written.vsix"].map(|it| fs::read(world.project().join(it)).unwrap());
    assert!(installed == written && installed.starts_with(b"PK"));
    let temporary = world.root().join("temporary");
    let left = fs::read_dir(temporary).unwrap().flatten();
    let left: Vec<_> =
        left.filter(|it| it.file_name().as_encoded_bytes().ends_with(b"vsix")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn editor_install_without_an_editor_names_what_to_do_and_starts_no_daemon() {
    let world = world();
    let mut command = world.command(["editor", "install", "vscode"]);
    let outcome = CommandOutcome::of(command.env("PATH", "/nonexistent"));
    assert_eq!(outcome.status, 3, "{outcome:#?}");
    assert!(outcome.stderr.contains("no editor was found"), "{outcome:#?}");
    assert!(outcome.stderr.contains("segue editor install vscode --to FILE"), "{outcome:#?}");
    let outcome = world.segue(install("--program", "no-such-editor"));
    assert_eq!(outcome.status, 3, "{outcome:#?}");
    assert_eq!(world.json(["daemon", "status", "--json"])["running"], false);
}

#[test]
fn editor_that_refuses_the_extension_is_reported_with_its_words() {
    let world = world();
    write_editor(&world, "my-editor", "echo 'the extension is not compatible' >&2; exit 1");
    let outcome = world.segue(install("--program", "./my-editor"));
    assert_eq!(outcome.status, 7, "{outcome:#?}");
    assert!(outcome.stderr.contains("the extension is not compatible"), "{outcome:#?}");
}
