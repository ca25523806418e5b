//! The terminal UI in a real terminal, with the demo agent.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod acting;
mod resilience;
mod using;

use segue_testkit::{Terminal, World, conversation};

const ENTER: &str = "\r";
const ESCAPE: &str = "\x1b";
const DETACH: &str = "\x1cd";
const NOTHING: [&str; 0] = [];

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}

/// Starts an agent, and waits until it has answered.
fn start(world: &World, name: &str) {
    world.ok(["run", "-d", "--name", name, "remember the word amber"]);
    conversation::wait_turns(world, &world.session(name), 1);
    // A session that still works is above those that are idle.
    world.ok(["wait", name]);
}

/// Opens the UI in a terminal of this size, and waits until it shows the list.
fn open(world: &World, rows: u16, columns: u16) -> Terminal {
    let mut person = Terminal::start(&world.command(NOTHING), rows, columns);
    person.wait_for("sessions");
    person
}

/// Returns the row of the screen that contains a text. Empty if there is none.
fn row_with(screen: &vt100::Screen, text: &str) -> String {
    screen.contents().lines().find(|line| line.contains(text)).unwrap_or_default().to_owned()
}

/// Waits until a row of the screen contains all these texts.
fn wait_row(person: &mut Terminal, texts: &[&str]) {
    let has_all = |line: &str| texts.iter().all(|text| line.contains(text));
    person.wait_until(&format!("a row with {texts:?}"), |screen| {
        screen.contents().lines().any(has_all)
    });
}

/// Waits until the screen does not show a text any more.
fn wait_gone(person: &mut Terminal, text: &str) {
    person.wait_until(&format!("no {text}"), |screen| !screen.contents().contains(text));
}
