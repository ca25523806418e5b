//! Draws the picture in the README: takes the README's tour in a real terminal, and writes the
//! screen as an SVG.
//!
//! `picture FILE` writes the SVG into `FILE`. The tour runs in namespaces of its own, because it
//! kills every process that is called `segue`.
#![expect(clippy::expect_used, reason = "a failed setup must print the reason and stop")]

mod svg;

use std::env;
use std::fs;
use std::process::ExitCode;

use segue_conformance::isolation;
use segue_testkit::Terminal;
use segue_testkit::readme::{self, TourWorld};

/// The environment variable that marks the process inside the namespaces.
const INSIDE: &str = "SEGUE_PICTURE_INSIDE";

/// The size of the terminal. Nothing may scroll out of it.
const ROWS: u16 = 40;
const COLUMNS: u16 = 88;

/// An empty line before each command separates the steps.
const PROMPT: &str = r"\n\[\e[35m\]$\[\e[0m\] ";

/// The last command of the picture. The tour asks the same question in the attached terminal.
const QUESTION: &str = "segue send fox --wait \"what is the word?\"";

fn main() -> ExitCode {
    let file = env::args().nth(1).expect("usage: picture FILE");
    if env::var_os(INSIDE).is_none() {
        isolation::check().expect("namespaces");
        let own = env::current_exe().expect("this program");
        let status = isolation::command().arg(own).arg(file).env(INSIDE, "1").status();
        let has_succeeded = status.expect("the tour starts").success();
        return if has_succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    fs::write(file, svg::draw(&take_the_tour().rows_above_cursor(), COLUMNS))
        .expect("a file that can be written");
    ExitCode::SUCCESS
}

/// Types every command of the tour except the last one, which attaches, and then [`QUESTION`].
fn take_the_tour() -> Terminal {
    let own = env::current_exe().expect("this program");
    let tour = TourWorld::new(own.with_file_name("segue"));
    let mut shell = tour.command("bash");
    shell.args(["--norc", "--noprofile", "-i"]).env("PS1", PROMPT).env("TERM", "xterm-256color");
    let mut terminal = Terminal::start(&shell, ROWS, COLUMNS);
    wait_for_prompt(&mut terminal, 0);
    let mut steps = readme::steps();
    let _attach = steps.pop();
    let commands = steps.into_iter().map(|step| step.command);
    for command in commands.chain([QUESTION.to_owned()]) {
        let (row, _) = terminal.screen().cursor_position();
        terminal.write(format!("{command}\r"));
        wait_for_prompt(&mut terminal, row + 1);
        if command.starts_with("segue run ") {
            // A person types more slowly than this program, so the agent is idle by then.
            tour.world.ok(["wait", "fox", "--for", "idle"]);
        }
    }
    let shown = terminal.contents();
    assert!(shown.contains("The word is amber."), "the agent has lost its word:\n{shown}");
    tour.world.ok(["stop", "--all"]);
    tour.world.ok(["daemon", "stop"]);
    terminal
}

/// Waits until the shell shows its prompt in this row or below.
fn wait_for_prompt(terminal: &mut Terminal, first: u16) {
    terminal.wait_until("the prompt", |screen| {
        let (row, column) = screen.cursor_position();
        let is_prompt = screen.cell(row, 0).is_some_and(|cell| cell.contents() == "$");
        is_prompt && column == 2 && row >= first
    });
}
