//! The UI while everything around it breaks.

use std::fs;

use rustix::process::Signal;
use rustix::termios::Termios;
use segue_testkit::{Terminal, World, files, processes, scene};

use crate::{DETACH, ENTER, NOTHING, open, start, wait_gone, wait_row, world};

const ROWS: u16 = 40;
const COLUMNS: u16 = 120;

/// Checks that the person's terminal is as it was before the UI was opened.
fn assert_restored(person: &Terminal, before: &Termios) {
    let screen = person.screen();
    assert!(!screen.alternate_screen(), "the alternate screen is left");
    assert!(!screen.hide_cursor(), "the cursor is shown");
    assert!(!screen.bracketed_paste(), "pasting is plain");
    assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    let after = person.settings();
    assert_eq!(after.local_modes, before.local_modes);
    assert_eq!(after.input_modes, before.input_modes);
    assert_eq!(after.output_modes, before.output_modes);
}

#[test]
fn terminal_is_restored_after_quit_sigterm_and_sighup() {
    let world = world();
    start(&world, "fox");
    let quit: fn(&mut Terminal) = |person| person.write("q");
    let terminate: fn(&mut Terminal) = |person| processes::send(person.pid(), Signal::TERM);
    let hang_up: fn(&mut Terminal) = |person| processes::send(person.pid(), Signal::HUP);
    for end in [quit, terminate, hang_up] {
        let mut person = Terminal::start(&world.command(NOTHING), ROWS, COLUMNS);
        let before = person.settings();
        wait_row(&mut person, &["fox", "idle"]);
        assert!(person.screen().alternate_screen());
        end(&mut person);
        assert_eq!(person.wait(), 0);
        assert_restored(&person, &before);
    }
}

#[test]
fn suspended_ui_gives_the_terminal_back_and_continues_at_the_same_place() {
    let world = world();
    start(&world, "fox");
    start(&world, "owl");
    let mut person = Terminal::start(&world.command(NOTHING), ROWS, COLUMNS);
    let before = person.settings();
    wait_row(&mut person, &["owl", "idle"]);
    person.write("j");
    person.wait_for("default/owl");
    let stop_by_key: fn(&mut Terminal) = |person| person.write("\x1a");
    let stop_by_signal: fn(&mut Terminal) = |person| processes::send(person.pid(), Signal::TSTP);
    for stop in [stop_by_key, stop_by_signal] {
        stop(&mut person);
        person.wait_until("its own screen", |screen| !screen.alternate_screen());
        wait_stopped(&mut person);
        assert_restored(&person, &before);
        processes::send(person.pid(), Signal::CONT);
        person.wait_until("the UI", |screen| screen.alternate_screen());
        person.wait_for("default/owl");
    }
    person.write("q");
    assert_eq!(person.wait(), 0);
    assert_restored(&person, &before);
}

/// Waits until the kernel has stopped the UI.
fn wait_stopped(person: &mut Terminal) {
    let is_stopped = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    };
    while !is_stopped(person.pid()) {
        person.drain();
        std::thread::yield_now();
    }
}

#[test]
fn killed_daemon_keeps_the_list_and_the_next_daemon_continues_it() {
    let world = world();
    start(&world, "fox");
    start(&world, "owl");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["owl", "idle"]);
    person.write("j");
    person.wait_for("default/owl");
    scene::kill_daemon(&world);
    person.wait_for("daemon ended");
    person.wait_for("default/owl");
    // Another command starts the next daemon.
    world.ok(["ls"]);
    wait_gone(&mut person, "daemon ended");
    person.wait_for("default/owl");
    world.ok(["send", "owl", "--no-wait", "/ask"]);
    person.wait_for("1 needs you");
}

#[test]
fn killed_agent_is_shown_and_comes_back() {
    let world = world();
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    person.wait_for("I will remember amber.");
    processes::kill(scene::pid(&world.session("fox"), "holder_pid"));
    wait_row(&mut person, &["◇ fox", "interrupted"]);
    person.write("r");
    person.wait_for("Resume 1 session");
    person.write(ENTER);
    wait_row(&mut person, &["○ fox", "idle"]);
    person.wait_for("resumed after");
}

#[test]
fn resize_storm_ends_with_a_complete_screen() {
    let world = world();
    start(&world, "fox");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["fox", "idle"]);
    for number in 0..60_u16 {
        person.resize(5 + number * 7 % 50, 10 + number * 31 % 180);
        processes::send(person.pid(), Signal::WINCH);
        person.write("j");
        person.drain();
    }
    person.resize(ROWS, COLUMNS);
    processes::send(person.pid(), Signal::WINCH);
    wait_row(&mut person, &["○ fox", "idle"]);
    person.wait_until("the keys in the last row", |screen| {
        screen.contents().lines().last().is_some_and(|it| it.contains("? keys"))
    });
    person.wait_for("I will remember amber.");
}

/// An agent that writes 100 MB when it gets a line, and then a mark.
const FLOOD: &str = r#"#!/bin/sh
printf 'ready> '
while read -r line; do
  yes '0123456789abcdefghijklmnopqrstuvwxyz 0123456789abcdefghijklmnopqrstuvwxyz' | head -c 100000000
  printf '\nthe flood is over\nready> '
done
"#;

#[test]
fn ui_answers_keys_and_stays_small_during_100_mb_of_output() {
    let world = world();
    flooding_agent(&world);
    start(&world, "owl");
    let mut person = open(&world, ROWS, COLUMNS);
    wait_row(&mut person, &["flood"]);
    person.write("/flood\r");
    person.wait_for("ready>");
    let before = resident(person.pid());
    person.write(ENTER);
    person.wait_for("detach with");
    person.write("go\r");
    person.wait_for("0123456789abcdefghijklmnopqrstuvwxyz");
    person.write(DETACH);
    person.wait_for("detached from");
    // A key is drawn while the output flows.
    person.write("?");
    person.wait_for("before a key: act at once");
    person.write("\x1b");
    wait_gone(&mut person, "before a key: act at once");
    person.wait_for("the flood is over");
    let growth = resident(person.pid()).saturating_sub(before);
    assert!(growth < 30_000_000, "the UI grew by {growth} bytes");
    person.write("q");
    person.write("q");
    assert_eq!(person.wait(), 0);
}

fn flooding_agent(world: &World) {
    let program = world.home().join("flood");
    files::write_program(&program, FLOOD);
    let project = format!(
        "[[agents]]\nname = \"flood\"\nvendor = \"flood\"\n\
         [vendors.flood]\ncommand = [\"{}\"]\n",
        program.display()
    );
    scene::write_project(world, &project);
    world.ok(["run", "-d", "--agent", "flood", "--name", "flood"]);
}

/// Returns the resident memory of a process in bytes.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_ascii_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}
