//! `segue attach` without a name.

use segue_testkit::{Terminal, World};

use super::agents;

const DETACH: &str = "\u{1c}d";
const CTRL_C: &str = "\u{3}";

fn attach(world: &World) -> Terminal {
    Terminal::start(&world.command(["attach"]), 24, 100)
}

/// Detaches, and checks that the terminal was attached to this session.
fn assert_attached(mut person: Terminal, name: &str) {
    // The agent has drawn its prompt, so the terminal is attached and takes the detach key.
    person.wait_for("hello");
    person.write(DETACH);
    person.wait_for(&format!("detached from default/{name}"));
    assert_eq!(person.wait(), 0, "{person:?}");
}

#[test]
fn attach_without_a_name_takes_the_only_session() {
    let world = agents(&["fox"]);
    assert_attached(attach(&world), "fox");
    world.ok(["stop", "fox"]);
    let mut person = attach(&world);
    assert_eq!(person.wait(), 3, "{person:?}");
    assert!(person.contents().contains("no session with a terminal runs"));
}

#[test]
fn attach_without_a_name_takes_the_only_session_that_asks_a_question() {
    let world = agents(&["fox", "owl"]);
    world.ok(["send", "owl", "--no-wait", "/ask"]);
    world.ok(["wait", "owl", "--for", "waiting", "--timeout", "170s"]);
    assert_attached(attach(&world), "owl");
}

#[test]
fn attach_without_a_name_lets_a_person_choose_by_number_or_name() {
    let world = agents(&["fox", "owl"]);
    for (answer, name) in [("2\r", "owl"), ("fox\r", "fox"), ("9\r1\r", "fox")] {
        let mut person = attach(&world);
        person.wait_for("which session? number or name:");
        assert!(person.contents().contains("default/owl"), "{person:?}");
        person.write(answer);
        assert_attached(person, name);
    }
    let mut person = attach(&world);
    person.wait_for("which session? number or name:");
    person.write(CTRL_C);
    assert_ne!(person.wait(), 0, "{person:?}");
    assert_eq!(world.session("fox")["status"], "idle");
}
