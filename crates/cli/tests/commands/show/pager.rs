//! `segue show` on a terminal prints long conversations through a pager.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use segue_testkit::{Terminal, World, files};
use serde_json::Value;

use super::{conversation_with, record};

/// Creates a world whose `SEGUE_PAGER` runs this script with the argument `word`.
fn world(script: &str) -> World {
    let mut world = crate::world();
    let pager = world.root().join("pager");
    files::write_program(&pager, &format!("#!/bin/sh\n{script}\n"));
    world.set("PAGER", "false");
    world.set("SEGUE_PAGER", format!("{} word", pager.display()));
    world
}

/// Creates a conversation with this many turns. Returns its address.
fn long_conversation(world: &World, turns: u32) -> String {
    let records: Vec<Value> =
        (1..=turns).map(|n| record("user", &format!("turn {n}"), 1)).collect();
    conversation_with(world, &records).0
}

#[test]
fn only_output_longer_than_the_screen_goes_through_the_pager() {
    let world = world("echo \"paged: $1\"; tail -n 2");
    let address = long_conversation(&world, 50);
    let mut person = Terminal::start(&world.command(["show", &address]), 24, 80);
    assert_eq!(person.wait(), 0, "{person:?}");
    let shown = person.contents();
    assert!(shown.contains("paged: word") && shown.contains("turn 50"), "{shown}");
    assert!(!shown.contains("turn 49"), "{shown}");

    for arguments in [["-n", "3"], ["--no-pager", "--full"], ["--json", "--full"]] {
        let mut person =
            Terminal::start(&world.command([&["show", &address][..], &arguments].concat()), 24, 80);
        assert_eq!(person.wait(), 0, "{person:?}");
        assert!(!person.contents().contains("paged"), "{arguments:?}: {person:?}");
        assert!(person.contents().contains("turn 50"), "{arguments:?}: {person:?}");
    }
    assert!(!world.ok(["show", &address]).contains("paged"));
}

#[test]
fn pager_that_exits_early_is_no_error_and_a_missing_pager_is_one() {
    let mut world = world("head -n 1; exit 3");
    let address = long_conversation(&world, 20_000);
    let mut person = Terminal::start(&world.command(["show", &address]), 24, 80);
    assert_eq!(person.wait(), 0, "{person:?}");
    assert!(!person.contents().contains("error"), "{person:?}");
    world.set("SEGUE_PAGER", "/absent/pager");
    let mut person = Terminal::start(&world.command(["show", &address]), 24, 80);
    assert_eq!(person.wait(), 5, "{person:?}");
    assert!(person.contents().contains("--no-pager"), "{person:?}");
    world.set("SEGUE_PAGER", "cat");
    let mut person = Terminal::start(&world.command(["show", &address, "-n", "40"]), 24, 80);
    assert_eq!(person.wait(), 0, "{person:?}");
    assert!(person.contents().contains("turn 20000"), "{person:?}");
}

#[test]
fn ctrl_c_while_the_pager_runs_does_not_end_show() {
    let world = world("trap : INT; head -n 1; echo waiting; read line </dev/tty; echo left");
    let address = long_conversation(&world, 20_000);
    let mut person = Terminal::start(&world.command(["show", &address]), 24, 80);
    person.wait_for("waiting");
    person.write("\x03");
    person.write("q\r");
    person.wait_for("left");
    assert_eq!(person.wait(), 0, "{person:?}");
}

#[test]
fn show_colours_roles_and_raw_output_has_no_control_characters_on_a_terminal() {
    let mut world = world("cat");
    let (address, path) = conversation_with(&world, &[record("user", "words", 1)]);
    fs::write(&path, fs::read_to_string(&path).unwrap() + "\u{1b}]0;title\u{7}\u{9b}2J end\n")
        .unwrap();
    let mut person = Terminal::start(&world.command(["show", &address]), 24, 80);
    assert_eq!(person.wait(), 0);
    person.wait_written("\u{1b}[32muser\u{1b}[0m");
    world.set("NO_COLOR", "1");
    let mut person = Terminal::start(&world.command(["show", &address, "--raw"]), 24, 80);
    assert_eq!(person.wait(), 0);
    person.wait_written("]0;title2J end");
    assert!(!person.raw().contains(&0x1b), "{person:?}");
}

#[test]
fn closed_pipe_ends_show_without_an_error() {
    let world = crate::world();
    let address = long_conversation(&world, 20_000);
    for flag in ["--json", "--raw", "--full"] {
        let mut command = world.command(["show", &address, flag]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{flag}: {output:?}");
        assert!(output.stderr.is_empty(), "{flag}: {output:?}");
    }
}

#[test]
fn show_into_a_pipe_draws_its_progress_on_the_terminal() {
    let world = crate::world();
    let address = long_conversation(&world, 20_000);
    // The reader starts late, and the buffer of the pipe is too small for all of the output.
    let script = "\"$0\" show \"$1\" | { sleep 1.5; cat >/dev/null; }";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(world.program()).arg(&address);
    command.current_dir(world.project()).envs(world.environment());
    let mut person = Terminal::start(&command, 24, 80);
    person.wait_written("s) reading: ");
    assert_eq!(person.wait(), 0, "{person:?}");
    assert_eq!(person.contents(), "");
}
