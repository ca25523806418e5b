//! Messages are sent to agents, and people attach to them.

use segue_testkit::world::CommandOutcome;
use segue_testkit::{Terminal, World, conversation};

use super::{MESSAGE, NAME, Scenario, prompt, wait_at_rest, wait_no_holder, with_session, word};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "send",
        prepare: with_session,
        act: |world| world.segue(["send", NAME, MESSAGE]),
        settle: wait_at_rest,
        check: message_was_received,
        repeat: message_is_received_if_recorded,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "send-headless",
        prepare: |world| drop(world.ok(["run", "--headless", "--name", NAME, &prompt(NAME)])),
        act: |world| world.segue(["send", NAME, "--wait", MESSAGE]),
        settle: wait_no_holder,
        check: message_was_received,
        repeat: message_is_received_if_recorded,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "attach",
        prepare: with_session,
        act: attach_and_detach,
        check: |world, outcome| {
            if outcome.status == 0 {
                assert_eq!(world.session(NAME)["status"], "idle", "{outcome:#?}");
            }
        },
        ..Scenario::PLAIN
    },
];

/// Returns how often the message is in the conversations.
fn times_received(world: &World) -> usize {
    let all = conversation::transcripts(world);
    let received = all.iter().flat_map(|transcript| conversation::user_messages(transcript));
    received.filter(|text| text == MESSAGE).count()
}

fn message_was_received(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        message_is_received_if_recorded(world);
        assert_eq!(times_received(world), 1, "{outcome:#?}");
    }
    if outcome.status == 4 {
        let list = world.json(["messages", "--json"]);
        assert_eq!(list["messages"].as_array().map(Vec::len), Some(1), "{outcome:#?}");
    }
}

/// Checks that a recorded message is delivered exactly once, and one that is not recorded never.
fn message_is_received_if_recorded(world: &World) {
    assert_eq!(world.resume(["--all"]).status, 0);
    world.ok(["wait", NAME, "--for", "idle", "--timeout", "170s"]);
    let list = world.json(["messages", "--json"]);
    let all = list["messages"].as_array().unwrap();
    assert!(all.iter().all(|message| message["state"] == "delivered"), "{list:#}");
    assert_eq!(times_received(world), all.len());
}

fn attach_and_detach(world: &World) -> CommandOutcome {
    let mut terminal = Terminal::start(&world.command(["attach", NAME]), 24, 80);
    if terminal.shows(&word(NAME)) {
        terminal.write("\x1cd");
    }
    let status = terminal.wait();
    CommandOutcome { status, stdout: terminal.contents(), stderr: String::new() }
}
