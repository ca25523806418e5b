//! First messages that are long, begin with a dash, or are not plain text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use segue_testkit::conversation::{ask, user_messages, wait_turns};
use segue_testkit::processes::variable;
use segue_testkit::{CommandOutcome, World, scene};
use serde_json::Value;

use super::{assert_nothing_started, assert_refused};
use crate::world;

/// Returns a prompt of a megabyte that ends with a word to remember.
fn megabyte(word: &str) -> Vec<u8> {
    format!("{}\nremember the word {word}\n", "all work and no play\n".repeat(50_000)).into_bytes()
}

/// Waits for the first turn of a session. Returns the user messages of its conversation.
fn messages_of(world: &World, session: &Value) -> Vec<String> {
    wait_turns(world, session, 1);
    user_messages(&scene::transcript(world, session))
}

#[test]
fn megabyte_prompt_reaches_an_interactive_agent_and_is_known_after_a_resume() {
    let world = world();
    let outcome = world.with_input(["run", "-d", "--name", "coder", "-"], &megabyte("quince"));
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let session = world.session("coder");
    let messages = messages_of(&world, &session);
    assert_eq!(messages.len(), 1);
    let file = messages[0].strip_prefix("Read the file ").unwrap();
    let file = file.strip_suffix(" and do what it says.").unwrap();
    let expected = megabyte("quince");
    assert_eq!(std::fs::read(file).unwrap(), expected[..expected.len() - 1]);
    assert!(ask(&world, &session, "which word?").contains("quince"));

    world.kill_everything();
    let report = world.json(["resume", "--all", "--json"]);
    assert_eq!(report["agents"][0]["outcome"], "resumed", "{report}");
    assert!(ask(&world, &world.session("coder"), "which word?").contains("quince"));
}

#[test]
fn megabyte_prompt_reaches_a_headless_agent() {
    let world = world();
    let outcome = world.with_input(["run", "--headless", "-"], &megabyte("medlar"));
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, "I will remember medlar.\n"));
}

#[test]
fn prompt_with_special_characters_arrives_unchanged() {
    let world = world();
    let prompts = [
        "- fix this\n- and that",
        "--help me with this",
        "-d is a flag",
        "-- and this is none",
        "tab\there, bell\u{7}, escape\u{1b}[31m, delete\u{7f}, C1\u{9b}31m, return\rhere",
        "line\nbreaks\n\nand \u{2028} others",
        "$HOME `id` $(id) 'quotes\" \\ % !",
        "\u{1f9d1}\u{200d}\u{1f680} e\u{301} \u{202e}right to left",
    ];
    for (number, prompt) in prompts.iter().enumerate() {
        let (first, second) = (format!("argument-{number}"), format!("input-{number}"));
        world.ok(["run", "-d", "--name", &first, prompt]);
        assert_eq!(messages_of(&world, &world.session(&first)), [*prompt]);
        let outcome = world.with_input(["run", "-d", "--name", &second, "-"], prompt.as_bytes());
        assert_eq!(outcome.status, 0, "{outcome:?}");
        assert_eq!(messages_of(&world, &world.session(&second)), [*prompt]);
    }
}

#[test]
fn one_word_prompt_with_a_leading_dash_works_through_standard_input() {
    let world = world();
    let outcome = world.segue(["run", "-d", "-x"]);
    assert_refused(&outcome, 2, "unexpected argument '-x' found\n");
    assert!(outcome.stderr.contains("echo"), "{outcome:?}");
    assert!(!world.state().exists(), "the command started something");
    let outcome = world.with_input(["run", "-d", "--name", "coder", "-"], b"-x\n");
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert_eq!(messages_of(&world, &world.session("coder")), ["-x"]);
    let help = world.ok(["run", "--help"]);
    assert!(help.contains("begins with a dash"), "{help}");
}

#[test]
fn invalid_prompt_starts_nothing() {
    let world = world();
    for (input, error) in [
        (&b"a\0b"[..], "the prompt has a zero byte at offset 1\n"),
        (b"caf\xe9", "the prompt on standard input is not UTF-8\n"),
        (b" \n", "the prompt is empty\n"),
    ] {
        let outcome = world.with_input(["run", "-d", "-"], input);
        assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
        assert!(outcome.stderr.starts_with(&format!("error: {error}")), "{outcome:?}");
    }
    let too_long = vec![b'x'; (16 << 20) + 1];
    assert_refused(&world.with_input(["run", "-d", "-"], &too_long), 2, "the prompt is longer");
    assert_nothing_started(&world);
}

#[test]
fn environment_variable_that_is_not_utf8_is_left_out_with_a_warning() {
    let world = world();
    let mut command = world.command(["run", "-d", "--name", "coder", "hello"]);
    command.env("TORN", OsStr::from_bytes(b"caf\xe9")).env("WHOLE", "1");
    let outcome = CommandOutcome::of(&mut command);
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let expected = "agents do not get these environment variables, which are not UTF-8: TORN\n";
    assert!(outcome.stderr.starts_with(expected), "{outcome:?}");
    let pid = scene::pid(&world.session("coder"), "pid");
    assert_eq!(variable(pid, "WHOLE").as_deref(), Some("1"));
    assert_eq!(variable(pid, "TORN"), None);
}
