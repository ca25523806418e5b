//! Names that would leave their folder, look like flags, or send control sequences to the terminal.

use super::{assert_nothing_started, assert_refused};
use crate::world;

#[test]
fn session_name_with_spaces_slashes_or_control_characters_is_refused() {
    let world = world();
    let long = "x".repeat(65);
    let table = [
        ("a b", "`a b`", "`a-b`"),
        ("a/b", "`a/b`", "`a-b`"),
        ("../../etc/passwd", "`../../etc/passwd`", "`etc-passwd`"),
        ("-rf", "`-rf`", "`rf`"),
        ("", "``", "`coder`"),
        ("ä", "`ä`", "`coder`"),
        ("a\u{1b}[31m", "`a\\u{1b}[31m`", "`a-31m`"),
        ("a\nb", "`a\\nb`", "`a-b`"),
        (&long, &format!("`{}…`", &long[1..]), &format!("`{}`", &long[..24])),
    ];
    for (name, shown, suggested) in table {
        let outcome = world.segue(["run", "-d", &format!("--name={name}"), "hello"]);
        assert_refused(&outcome, 2, &format!("{shown} cannot be the name of a session\n"));
        assert!(outcome.stderr.contains(&format!("use a name such as {suggested}")), "{outcome:?}");
    }
    let outcome = world.segue(["run", "-d", "--name=coder", "--agent=a b", "hello"]);
    assert_refused(&outcome, 5, "there is no agent `a b`");
    assert_nothing_started(&world);
}

#[test]
fn fleet_name_with_a_space_and_unknown_agent_are_refused() {
    let world = world();
    world.write("segue.toml", "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n");
    world.ok(["trust", "--yes"]);
    let outcome = world.segue(["up", "--fleet", "night shift"]);
    assert_refused(&outcome, 2, "`night shift` cannot be the name of a fleet\n");
    let outcome = world.segue(["up", "coder", "a/b"]);
    assert_refused(&outcome, 3, "there is no agent `a/b` in ");
    assert_nothing_started(&world);
}

#[test]
fn malformed_address_is_not_found_or_refused() {
    let world = world();
    for address in ["a b", "a/b/c", "../x", "0198", "segue://session/x"] {
        for command in ["stop", "log", "resume"] {
            let outcome = world.segue([command, "--", address]);
            assert_refused(&outcome, 3, "there is no session or fleet `");
        }
        let outcome = world.segue(["rm", "--yes", "--", address]);
        assert_refused(&outcome, 3, "there is no session or fleet `");
    }
    for address in ["", "-x", "\u{1b}]0;x\u{7}"] {
        let outcome = world.segue(["stop", "--", address]);
        assert_refused(&outcome, 2, "`");
        assert!(!outcome.stderr.contains(['\u{1b}', '\u{7}']), "{outcome:?}");
    }
}

#[test]
fn rm_without_a_terminal_or_yes_is_refused() {
    let world = world();
    world.ok(["run", "-d", "--name", "coder", "hello"]);
    let outcome = world.segue(["rm", "coder"]);
    let expected = "`default/coder` is not removed: there is no terminal to ask on\n";
    assert_refused(&outcome, 2, expected);
    assert!(outcome.stderr.contains("segue rm default/coder --yes"), "{outcome:?}");
    let outcome = world.segue(["rm", "coder", "--yes"]);
    assert_refused(&outcome, 4, "`default/coder` is running\n");
    world.ok(["stop", "coder"]);
    world.ok(["rm", "coder", "--yes"]);
    assert_nothing_started(&world);
}
