//! `segue attach` in a terminal, with the demo agent.

use std::num::NonZeroU16;

use segue_core::model::TerminalSize;
use segue_core::ports::{TerminalAccess, TerminalEvent, TerminalSnapshot, Terminals as _};
use segue_host::hold::{LocalTerminals, Snapshot};
use segue_testkit::runtime::block_on;
use segue_testkit::{Terminal, World, conversation, launches, processes, scene};

const ROWS: u16 = 30;
const COLUMNS: u16 = 100;
const DETACH: &str = "\x1cd";

/// Creates a world with the agent `fox`, which has completed a turn.
fn world() -> World {
    let world = crate::world();
    world.ok(["run", "-d", "--name", "fox", "remember the word amber"]);
    conversation::wait_turns(&world, &world.session("fox"), 1);
    world
}

/// Attaches from a terminal of this size, and waits until it shows the agent's answer.
fn attach(world: &World, rows: u16, columns: u16) -> Terminal {
    let mut person = Terminal::start(&world.command(["attach", "fox"]), rows, columns);
    person.wait_for("I will remember amber.");
    person
}

/// Returns the agent's screen from its holder.
fn snapshot(world: &World) -> Snapshot {
    launches::snapshot(world, &world.session("fox"))
}

/// Waits until the person's terminal shows exactly the agent's screen.
fn wait_agents_screen(world: &World, person: &mut Terminal) {
    let rows = |screen: &vt100::Screen| -> Vec<String> {
        let (_, columns) = screen.size();
        screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
    };
    person.wait_until("the agent's own screen", |screen| {
        let held = snapshot(world).rows;
        let held: Vec<String> = held.iter().map(|row| row.trim_end().to_owned()).collect();
        rows(screen) == held
    });
}

#[test]
fn typed_text_reaches_the_agent_and_detach_leaves_it_running() {
    let world = world();
    let before = world.session("fox");
    let mut person = attach(&world, ROWS, COLUMNS);
    person.write("what is the word?\r");
    person.wait_for("The word is amber.");
    person.write(DETACH);
    assert_eq!(person.wait(), 0);
    let after = world.session("fox");
    assert_eq!(after["pid"], before["pid"]);
    assert_eq!(after["launches"], 1);
}

#[test]
fn second_attach_and_resize_show_the_agents_screen() {
    let world = world();
    let mut first = attach(&world, ROWS, COLUMNS);
    first.write("/fill 20\r");
    wait_agents_screen(&world, &mut first);
    first.write(DETACH);
    assert_eq!(first.wait(), 0);

    let mut second = Terminal::start(&world.command(["attach", "fox"]), ROWS, COLUMNS);
    wait_agents_screen(&world, &mut second);
    second.resize(20, 70);
    second.wait_until("the smaller screen", |_| snapshot(&world).rows.len() == 20);
    wait_agents_screen(&world, &mut second);
}

#[test]
fn two_attached_terminals_share_the_smaller_size() {
    let world = world();
    let mut wide = attach(&world, 40, 120);
    let mut narrow = attach(&world, 24, 80);
    narrow.write("what is the word?\r");
    wide.wait_for("The word is amber.");
    narrow.wait_for("The word is amber.");
    assert_eq!(snapshot(&world).rows.len(), 24);
    narrow.write(DETACH);
    assert_eq!(narrow.wait(), 0);
    wide.wait_until("its own size again", |_| snapshot(&world).rows.len() == 40);
    wide.write("what is the word?\r");
    wait_agents_screen(&world, &mut wide);
}

/// Checks that the person's terminal is as it was before `segue attach`.
fn assert_restored(person: &Terminal, before: &rustix::termios::Termios) {
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

fn kill_holder(world: &World) {
    processes::kill(scene::pid(&world.session("fox"), "holder_pid"));
}

#[test]
fn terminal_is_restored_after_detach_holder_death_and_agent_exit() {
    let world = world();
    let detach: &dyn Fn(&mut Terminal) = &|person| person.write(DETACH);
    let kill_holder: &dyn Fn(&mut Terminal) = &|_| kill_holder(&world);
    let exit: &dyn Fn(&mut Terminal) = &|person| person.write("/exit\r");
    for end_attach in [detach, kill_holder, exit] {
        world.ok(["resume", "fox"]);
        let mut person = Terminal::start(&world.command(["attach", "fox"]), ROWS, COLUMNS);
        let before = person.settings();
        person.wait_for("demo agent");
        person.write("/mouse\r");
        end_attach(&mut person);
        person.wait();
        assert_restored(&person, &before);
    }
}

#[test]
fn detach_key_works_in_both_encodings_and_is_sent_if_pressed_twice() {
    let world = world();
    for keys in ["\x1cd", "\x1b[92;5ud", "\x1b[92;5u\x1b[100u"] {
        let mut person = attach(&world, ROWS, COLUMNS);
        person.write(keys);
        assert_eq!(person.wait(), 0, "{keys:?}");
    }
    let mut person = attach(&world, ROWS, COLUMNS);
    person.write("\x1c\x1cstill here?\r");
    person.wait_for("still here?");
}

#[test]
fn attach_to_a_stopped_or_unknown_session_or_without_a_terminal_fails() {
    let world = world();
    world.ok(["stop", "fox"]);
    let mut person = Terminal::start(&world.command(["attach", "fox"]), ROWS, COLUMNS);
    assert_eq!(person.wait(), 4, "{person:?}");
    assert!(person.contents().contains("segue resume default/fox"), "{person:?}");
    let mut person = Terminal::start(&world.command(["attach", "nobody"]), ROWS, COLUMNS);
    assert_eq!(person.wait(), 3, "{person:?}");
    let without_terminal = world.segue(["attach", "fox"]);
    assert_eq!(without_terminal.status, 2, "{without_terminal:?}");
}

/// Returns whether the last row is the status line of scroll mode.
fn is_scrolling(screen: &vt100::Screen) -> bool {
    let (_, columns) = screen.size();
    screen.rows(0, columns.get()).last().is_some_and(|row| row.starts_with(" scroll "))
}

/// Returns whether scroll mode highlights a search match.
fn has_match(screen: &vt100::Screen) -> bool {
    let (rows, columns) = screen.size();
    let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |col| (row, col)));
    let mut cells = cells.filter_map(|(row, col)| screen.cell(row, col));
    cells.any(|cell| cell.bgcolor() == vt100::Color::Idx(3))
}

#[test]
fn scroll_mode_finds_and_copies_earlier_lines() {
    let world = world();
    let mut person = attach(&world, 24, 80);
    person.write("/fill 100\r");
    wait_agents_screen(&world, &mut person);
    person.write("\x1c[");
    person.wait_until("scroll mode", is_scrolling);
    person.write("?remember amber\r");
    person.wait_until("a search match", has_match);
    assert!(person.contents().contains("I will remember amber."), "{person:?}");
    person.write("vy");
    person.wait_for("copied 1 line");
    person.wait_written("\x1b]52;c;");
    person.write("q");
    wait_agents_screen(&world, &mut person);
    person.write("what is the word?\r");
    person.wait_for("The word is amber.");
    person.write("\x1c[");
    person.wait_until("scroll mode", is_scrolling);
    person.write(DETACH);
    assert_eq!(person.wait(), 0);
}

#[test]
fn scroll_mode_of_a_full_screen_agent_reports_that_no_earlier_screens_are_kept() {
    let world = world();
    let mut person = attach(&world, 24, 80);
    person.write("/alt\r");
    person.wait_until("the alternate screen", |_| snapshot(&world).alternate);
    wait_agents_screen(&world, &mut person);
    person.write("\x1b[5~");
    person.write("\x1c\x1b[5~");
    person.wait_for("its earlier screens are not kept");
    person.write("q");
    wait_agents_screen(&world, &mut person);
}

#[test]
fn key_that_closes_the_key_help_is_not_typed() {
    let world = world();
    let mut person = attach(&world, 24, 80);
    person.write("\x1c?");
    person.wait_for("Any key closes this.");
    person.write("x");
    wait_agents_screen(&world, &mut person);
    person.write("what is the word?\r");
    person.wait_for("The word is amber.");
    assert!(!person.contents().contains("xwhat"), "{person:?}");
}

#[test]
fn notice_on_attach_does_not_cover_the_input_line() {
    let world = world();
    for (rows, columns) in [(24, 80), (40, 120)] {
        let mut person = Terminal::start(&world.command(["attach", "fox"]), rows, columns);
        person.wait_for("detach with Ctrl-\\ d");
        let held = snapshot(&world);
        let (row, _) = person.screen().cursor_position();
        let shown = |screen: &vt100::Screen| screen.rows(0, columns).nth(usize::from(row)).unwrap();
        let input = held.rows[usize::from(held.cursor.row)].clone();
        assert_eq!(shown(person.screen()).trim_end(), input, "{person:?}");
        person.write(DETACH);
        assert_eq!(person.wait(), 0);
    }
}

/// Opens a stream that only watches the agent's terminal. Returns its size and its first screen.
fn viewed(world: &World) -> (TerminalSize, Vec<String>) {
    let launch = launches::newest_id(world, &world.session("fox"));
    let terminals = LocalTerminals::new(launches::paths(world).launches());
    let first = block_on(async {
        terminals.open(launch, TerminalAccess::View).await.unwrap().next().await
    });
    let snapshot = match first {
        Some(TerminalEvent::Snapshot(snapshot)) => Some(snapshot),
        _ => None,
    };
    let TerminalSnapshot { size, painted } = snapshot.unwrap();
    let non_zero = |number| NonZeroU16::new(number).unwrap();
    let mut parser = vt100::Parser::new(non_zero(size.rows), non_zero(size.cols), 0);
    parser.process(&painted);
    let rows = parser.screen().rows(0, size.cols).map(|row| row.trim_end().to_owned()).collect();
    (size, rows)
}

#[test]
fn viewer_sees_the_agents_screen_and_leaves_its_size_alone() {
    let world = world();
    let before = snapshot(&world);
    let mut person = attach(&world, ROWS, COLUMNS);
    person.write("what is the word?\r");
    person.wait_for("The word is amber.");
    wait_agents_screen(&world, &mut person);
    let attached = snapshot(&world);
    assert_ne!(attached.size, before.size);
    assert_eq!(viewed(&world), (attached.size, attached.rows));
    assert_eq!(snapshot(&world).size, attached.size);
}
