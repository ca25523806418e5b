//! `segue.toml`: mistakes in it, and trust in it.

use segue_testkit::World;

use super::{assert_nothing_started, assert_refused};
use crate::world;

const CODER: &str = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n";

#[test]
fn mistake_is_reported_with_file_and_line_and_nothing_is_started() {
    let world = world();
    let table = [
        ("colour = \"red\"\n", 4, "unknown key `colour`, expected one of `name`, `vendor`"),
        ("count = \"two\"\n", 4, "invalid type: string \"two\", expected a whole number"),
        ("permission = \"all\"\n", 4, "unknown variant `all`, expected one of `ask`"),
        ("prompt = \"gone.md\"\n", 4, "cannot read `"),
        ("effort = \"high\"\n", 4, "`effort` is not built yet"),
        ("\nfallback = [\"demo\"]\n", 5, "`fallback` is not built yet"),
        ("args = [\"--api-key\", \"abc\"]\n", 4, "`--api-key` would put a secret"),
        (&format!("count = 2\n\n{CODER}count = 3\n"), 7, "a second agent is called `coder-1`"),
        ("[[agents]]\nname = \"a b\"\nvendor = \"demo\"\n", 5, "`a b` cannot be the name of an"),
        ("[[agents]]\nname = \"a\"\nvendor = \"nobody\"\n", 6, "there is no vendor `nobody`"),
    ];
    let file = world.project().join("segue.toml");
    for (lines, number, error) in table {
        world.write("segue.toml", &format!("{CODER}{lines}"));
        let expected = format!("`{}` line {number}: {error}", file.display());
        assert_refused(&world.segue(["up"]), 5, &expected);
        // A file that cannot be parsed cannot be trusted, and nothing can be started below it.
        assert_refused(&world.segue(["trust", "--yes"]), 5, &expected);
        assert_refused(&world.segue(["run", "-d", "hello"]), 5, &expected);
    }
    world.write("segue.toml", "[fleet]\nname = \"shop\"\n");
    assert_refused(&world.segue(["up"]), 5, "there are no agents in `");
    assert_nothing_started(&world);
}

#[test]
fn mistyped_vendor_gets_the_nearest_name_as_a_hint() {
    let world = world();
    world.write("segue.toml", &CODER.replace("demo", "clade"));
    let outcome = world.segue(["up"]);
    assert!(outcome.stderr.contains("hint: did you mean `claude`?\n"), "{outcome:#?}");
    world.write("segue.toml", &CODER.replace("demo", "nobody"));
    let outcome = world.segue(["up"]);
    assert!(!outcome.stderr.contains("did you mean"), "{outcome:#?}");
}

#[test]
fn missing_or_unreadable_project_file_is_refused_with_a_hint() {
    let world = world();
    assert_refused(&world.segue(["up"]), 5, "no `segue.toml` is in this folder or above it\n");
    assert_refused(&world.segue(["trust"]), 3, "no `segue.toml` is in `");
    std::fs::create_dir(world.project().join("segue.toml")).unwrap();
    assert_refused(&world.segue(["up"]), 5, "cannot read `");
    assert_nothing_started(&world);
}

#[test]
fn changed_project_file_must_be_trusted_again() {
    let world = world();
    let write_args = |args: &str| world.write("segue.toml", &format!("{CODER}args = {args}\n"));
    write_args("[]");
    assert_untrusted(&world);
    assert_refused(&world.segue(["run", "-d", "--agent", "coder"]), 5, "`");
    let outcome = world.segue(["trust"]);
    assert_eq!(outcome.status, 5, "{outcome:?}");
    assert!(outcome.stderr.contains("agent coder: runs demo, asks before acting"), "{outcome:?}");
    assert_nothing_started(&world);

    world.ok(["trust", "--yes"]);
    world.ok(["up"]);
    world.ok(["stop", "--all"]);
    // A changed comment needs no new trust. Changed arguments, permission or environment need it.
    world.write("segue.toml", &format!("# a comment\n{CODER}args = []\n"));
    world.ok(["up"]);
    world.ok(["stop", "--all"]);
    write_args("[\"--own-id\"]");
    assert_untrusted(&world);
    world.write("segue.toml", &format!("{CODER}permission = \"auto\"\n"));
    assert_untrusted(&world);
    world.write("segue.toml", &format!("{CODER}env = {{ EXAMPLE = \"1\" }}\n"));
    assert_untrusted(&world);
    write_args("[]");
    world.ok(["up"]);
}

fn assert_untrusted(world: &World) {
    let file = world.project().join("segue.toml");
    let outcome = world.segue(["up"]);
    assert_refused(&outcome, 5, &format!("`{}` is not trusted as it is now\n", file.display()));
    let hint = format!("run `segue trust {}`", world.project().display());
    assert!(outcome.stderr.contains(&hint), "{outcome:?}");
}

#[test]
fn up_at_a_terminal_shows_the_project_file_and_asks_for_trust() {
    let world = world();
    world.write("segue.toml", &format!("{CODER}args = [\"--own-id\"]\n"));
    let up = |answer: &str| {
        let mut terminal = segue_testkit::Terminal::start(&world.command(["up"]), 24, 120);
        terminal.wait_for("--own-id");
        terminal.wait_for("allow this?");
        terminal.write(answer);
        (terminal.wait(), terminal.contents())
    };
    let (status, screen) = up("n\r");
    assert_eq!(status, 5, "{screen}");
    assert_nothing_started(&world);
    let (status, screen) = up("y\r");
    assert_eq!(status, 0, "{screen}");
    assert_eq!(world.sessions().len(), 1);
}
