//! Errors in the user's own settings.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::world;

#[test]
fn doctor_reports_settings_that_cannot_be_parsed_with_line_and_known_keys() {
    let world = world();
    world.ok(["ls"]);
    let file = world.segue_home().join("config.toml");
    let table = [
        ("vendor = \n", "line 1: "),
        ("vendor = \"demo\"\nvendro = \"demo\"\n", "line 2: unknown field `vendro`"),
        ("vendor = \"demo\"\n\nsilence = 5\n", "line 3: "),
        ("[attention]\ncommand = \"tell me\"\n", "line 2: "),
        ("archive_limit = \"much\"\n", "`much` is not a size"),
    ];
    for (written, expected) in table {
        fs::write(&file, written).unwrap();
        let found = world.segue(["doctor"]);
        assert_eq!(found.status, 1, "{written:?}: {found:#?}");
        let error = format!("cannot read `{}`", file.display());
        for part in [error.as_str(), expected, "its keys are `vendor"] {
            assert!(found.stdout.contains(part), "{written:?}: {found:#?}");
        }
    }
    fs::write(&file, b"vendor = \"\xff\"\n").unwrap();
    assert_eq!(world.segue(["doctor"]).status, 1, "not UTF-8");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let found = world.segue(["doctor"]);
    assert!(found.stdout.contains("Is a directory"), "{found:#?}");
    fs::remove_dir(&file).unwrap();
    assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));
}

#[test]
fn doctor_reports_settings_without_read_permission() {
    let mut world = world();
    world.drop_privileges();
    world.ok(["ls"]);
    let file = world.segue_home().join("config.toml");
    fs::write(&file, "vendor = \"demo\"\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let found = world.segue(["doctor"]);
    assert_eq!(found.status, 1, "{found:#?}");
    assert!(found.stdout.contains("Permission denied"), "{found:#?}");
}

#[test]
fn doctor_reports_an_invalid_silence_with_its_key() {
    let world = world();
    world.ok(["ls"]);
    let file = world.segue_home().join("config.toml");
    for (value, expected) in [("abc", "`silence`: `abc` is not"), ("0s", "longer than 0s")] {
        fs::write(&file, format!("silence = \"{value}\"\n")).unwrap();
        let found = world.segue(["doctor"]);
        assert_eq!(found.status, 1, "{found:#?}");
        assert!(found.stdout.contains(expected), "{found:#?}");
    }
}

#[test]
fn settings_with_an_unknown_vendor_or_program_are_findings_without_a_fix() {
    let world = world();
    world.ok(["ls"]);
    let file = world.segue_home().join("config.toml");
    fs::write(&file, "vendor = \"nope\"\n[attention]\ncommand = [\"no-such-program\"]\n").unwrap();
    let found = world.segue(["doctor"]);
    assert_eq!(found.status, 1, "{found:#?}");
    let cause = format!("it is the value of `vendor` in `{}`", file.display());
    for part in
        ["there is no vendor `nope`", cause.as_str(), "there is no program `no-such-program`"]
    {
        assert!(found.stdout.contains(part), "`{part}` is missing: {found:#?}");
    }
    assert!(!found.stderr.contains("doctor --fix"), "{found:#?}");
    let refused = world.segue(["run", "-d", "hello"]);
    assert_eq!(refused.status, 5, "{refused:#?}");
    assert!(refused.stderr.contains(&cause), "{refused:#?}");
    fs::write(&file, "vendor = \"demo\"\n[attention]\ncommand = [\"/bin/true\"]\n").unwrap();
    assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));
}
