//! The event loop in a real terminal, with a daemon in memory.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod fake_daemon;

use std::process::Command;
use std::sync::Arc;

use jiff::tz::TimeZone;
use rustix::termios::Termios;
use segue_conformance::Terminal;
use segue_tui::Surroundings;

use fake_daemon::{FakeDaemon, Mishap};

/// The name of the environment variable that makes this program show the UI.
const MISHAP: &str = "SEGUE_TUI_MISHAP";

/// Shows the UI in this process if a parent process asks for it. Otherwise it does nothing.
#[test]
fn ui_of_a_child_process() {
    let Some(mishap) = std::env::var_os(MISHAP) else { return };
    let mishap = if mishap == "panic" { Mishap::Panic } else { Mishap::None };
    let surroundings =
        Surroundings { home: None, cwd: "/".into(), zone: TimeZone::UTC, has_colours: true };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(segue_tui::run(Arc::new(FakeDaemon::new(mishap)), surroundings));
    runtime.shutdown_background();
    result.unwrap();
}

/// Starts this program again in a terminal. There it shows the UI.
fn open(mishap: &str) -> (Terminal, Termios) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "ui_of_a_child_process", "--nocapture", "--test-threads=1"]);
    command.env(MISHAP, mishap).env("TERM", "xterm-256color");
    let person = Terminal::start(&command, 30, 120);
    let before = person.settings();
    (person, before)
}

fn assert_restored(person: &Terminal, before: &Termios) {
    let screen = person.screen();
    assert!(!screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste());
    let after = person.settings();
    assert_eq!(after.local_modes, before.local_modes);
    assert_eq!(after.input_modes, before.input_modes);
}

#[test]
fn panic_of_a_request_restores_the_terminal_and_its_message_is_readable() {
    let (mut person, before) = open("panic");
    person.wait_for("fox");
    // The message of a stop is never answered: the daemon in memory panics.
    person.write("x");
    person.wait_for("stops fox");
    person.write("\r");
    assert_ne!(person.wait(), 0);
    assert_restored(&person, &before);
    assert!(person.contents().contains("the daemon in memory panics"), "{}", person.contents());
}

#[test]
fn quit_restores_the_terminal() {
    let (mut person, before) = open("none");
    person.wait_for("fox");
    person.write("q");
    assert_eq!(person.wait(), 0);
    assert_restored(&person, &before);
}
