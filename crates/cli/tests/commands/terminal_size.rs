//! The size of the terminal with which an agent starts.

use segue_core::model::TerminalSize;
use segue_testkit::events::Events;
use segue_testkit::stand_in::StandIn;
use segue_testkit::{Terminal, World, launches, scene};

use crate::world;

const ROWS: u16 = 33;
const COLUMNS: u16 = 91;

/// Returns the size of the terminal of a session's newest launch, as rows and columns.
fn size(world: &World, name: &str) -> (u16, u16) {
    let TerminalSize { rows, cols } = launches::snapshot(world, &world.session(name)).size;
    (rows, cols)
}

/// Runs a command in a terminal of this size until it ends.
#[track_caller]
fn run_in_terminal(world: &World, words: &[&str], (rows, columns): (u16, u16)) {
    let mut person = Terminal::start(&world.command(words), rows, columns);
    assert_eq!(person.wait(), 0, "{person:?}");
}

#[test]
fn a_detached_agent_starts_with_the_size_of_its_callers_terminal() {
    let world = world();
    run_in_terminal(&world, &["run", "-d", "--name", "fox", "hello"], (ROWS, COLUMNS));
    assert_eq!(size(&world, "fox"), (ROWS, COLUMNS));
}

#[test]
fn run_without_a_terminal_uses_the_default_size_or_lines_and_columns() {
    let mut world = world();
    world.ok(["run", "-d", "--name", "fox", "hello"]);
    assert_eq!(size(&world, "fox"), (40, 120));
    world.set("LINES", "50");
    world.set("COLUMNS", "200");
    world.ok(["run", "-d", "--name", "owl", "hello"]);
    assert_eq!(size(&world, "owl"), (50, 200));
}

#[test]
fn terminal_size_is_limited_to_500_rows_and_1000_columns() {
    let mut world = world();
    world.set("LINES", "65535");
    world.set("COLUMNS", "65535");
    world.ok(["run", "-d", "--name", "fox", "hello"]);
    assert_eq!(size(&world, "fox"), (500, 1000));
}

#[test]
fn up_scale_and_resume_start_agents_with_the_size_of_their_terminals() {
    let world = world();
    scene::write_agents(&world, "shop", &["coder"]);
    run_in_terminal(&world, &["up"], (ROWS, COLUMNS));
    assert_eq!(size(&world, "coder"), (ROWS, COLUMNS));
    run_in_terminal(&world, &["scale", "coder", "2"], (26, 76));
    assert_eq!(size(&world, "coder-2"), (26, 76));
    scene::wait_first_turns(&world);
    world.kill_everything();
    run_in_terminal(&world, &["resume", "shop"], (27, 77));
    assert_eq!(size(&world, "coder"), (27, 77));
}

#[test]
fn restart_after_a_crash_keeps_the_terminal_size() {
    let world = world();
    scene::start_with_word(&world, "fox", "amber");
    let mut person = Terminal::start(&world.command(["attach", "fox"]), ROWS, COLUMNS);
    person.wait_for("I will remember amber.");
    let mut events = Events::of(&world);
    person.write("/crash\r");
    person.wait();
    for _launch in 0..2 {
        events.wait_for(|event| event["kind"] == "launch_started").unwrap();
    }
    assert_eq!(world.session("fox")["launches"], 2);
    assert_eq!(size(&world, "fox"), (ROWS, COLUMNS));
}

#[test]
fn child_of_an_agent_starts_with_the_size_of_the_agents_terminal() {
    let mut world = world();
    world.set("LINES", "31");
    world.set("COLUMNS", "101");
    let parent = scene::start_with_word(&world, "parent", "amber");
    let agent = StandIn::with_new_daemon(&world, &parent);
    let asked = agent.run("LINES=65535 COLUMNS=3 $SEGUE run -d --vendor demo --name child hello");
    assert_eq!(asked.status, 0, "{asked:?}");
    let TerminalSize { rows, cols } = StandIn::SIZE;
    assert_eq!(size(&world, "child"), (rows, cols));
}
