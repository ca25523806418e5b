//! Text from names, folders and agents cannot send control sequences to the terminal that shows it.

use std::fs;

use segue_testkit::{Terminal, World};

use crate::world;

const RED: &str = "\u{1b}[31m";

/// Returns the bytes that a command writes to a terminal.
fn output_on_a_terminal(world: &World, arguments: &[&str]) -> String {
    let mut command = world.command(arguments);
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(&command, 50, 200);
    let status = terminal.wait();
    let shown = String::from_utf8(terminal.raw().to_vec()).unwrap();
    assert_eq!(status, 0, "{arguments:?}: {shown}");
    shown
}

#[test]
fn control_sequences_in_a_folder_name_do_not_reach_the_terminal() {
    let world = world();
    let folder = format!("evil{RED}\u{7}\u{9b}2Jfolder");
    fs::create_dir(world.project().join(&folder)).unwrap();
    world.ok(["run", "-d", "--name", "coder", "--cwd", &folder, "hello"]);
    for command in [&["ls"][..], &["log"], &["log", "coder"], &["status"], &["resume", "coder"]] {
        let shown = output_on_a_terminal(&world, command);
        let is_control = |c: char| c.is_control() && !matches!(c, '\r' | '\n');
        assert!(!shown.contains(is_control), "{command:?}: {shown:?}");
    }
    let shown = output_on_a_terminal(&world, &["ls"]);
    assert!(shown.contains("evil"), "{shown}");
    // JSON output has the unchanged name.
    let listed = world.session("coder");
    assert!(listed["cwd"].as_str().unwrap().ends_with(&folder), "{listed}");
}

#[test]
fn control_sequences_in_an_answer_are_removed_on_a_terminal_but_not_in_a_pipe() {
    let world = world();
    let prompt = format!("remember the word r{RED}ed");
    let shown = output_on_a_terminal(&world, &["run", "--headless", &prompt]);
    assert_eq!(shown, "I will remember red.\r\n");
    let piped = world.ok(["run", "--headless", &prompt]);
    assert_eq!(piped, format!("I will remember r{RED}ed.\n"));
}
