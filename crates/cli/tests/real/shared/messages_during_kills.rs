//! Many messages while daemons and holders are killed: none is lost, and none arrives twice.

use std::collections::BTreeMap;

use segue_testkit::chance::Chance;
use segue_testkit::vendor_scene::PinnedVendor;
use segue_testkit::{Model, World, is_soak, scene};
use serde_json::Value;

use crate::with_vendor;

const NAMES: [&str; 2] = ["a", "b"];

/// Returns the number of messages. The long form sends about as many as a user sends in a day.
fn message_count() -> usize {
    if is_soak() { 500 } else { 16 }
}

fn messages_arrive_once_while_daemon_and_holders_are_killed<V: PinnedVendor>() {
    let (world, model) = with_vendor::<V>();
    for name in NAMES {
        let word = format!("the word of {name}");
        world.ok(["run", "-d", "--vendor", V::NAME, "--name", name, &word]);
        world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
    }
    let mut chance = Chance::new();
    for number in 0..message_count() {
        send(&world, NAMES[number % 2], &format!("message-{number:04}."));
        if number % 4 == 3 {
            kill_daemon_or_holder(&world, &mut chance);
        }
    }
    for name in NAMES {
        world.resume([name]);
        world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
    }
    check(&world, &model);
}

test_each!(messages_arrive_once_while_daemon_and_holders_are_killed: claude, codex);

/// Queues a message. The command starts a new daemon if the last one was killed.
fn send(world: &World, name: &str, text: &str) {
    let sent = world.segue(["send", name, "--no-wait", text]);
    assert_eq!(sent.status, 0, "{sent:#?}");
}

/// Kills the daemon or a holder. Resumes the session of a killed holder.
fn kill_daemon_or_holder(world: &World, chance: &mut Chance) {
    if chance.below(2) == 0 {
        return scene::kill_daemon(world);
    }
    let session = world.session(NAMES[chance.below(2)]);
    if session["holder_pid"].is_u64() {
        scene::kill(scene::pid(&session, "holder_pid"));
    }
    world.resume(["--all"]);
}

/// Checks that every message is delivered or uncertain, and that the newest request of each
/// conversation has each delivered message once.
fn check(world: &World, model: &Model) {
    let messages = world.json(["messages", "--json"]);
    let messages = messages["messages"].as_array().unwrap();
    assert_eq!(messages.len(), message_count());
    for (name, word) in NAMES.map(|name| (name, format!("the word of {name}"))) {
        let own: Vec<&Value> = messages.iter().filter(|it| it["name"] == name).collect();
        let last = model.conversation_of(&word).unwrap();
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for text in last.user_texts() {
            *times.entry(text.trim().to_owned()).or_default() += 1;
        }
        for message in own {
            let text = message["text"].as_str().unwrap();
            let found = times.get(text).copied().unwrap_or(0);
            match message["state"].as_str().unwrap() {
                "delivered" => assert_eq!(found, 1, "{text} of {name}: {times:#?}"),
                "uncertain" => println!("uncertain, and there {found} times: {text} of {name}"),
                other => panic!("{text} of {name} is {other}"),
            }
        }
    }
}
