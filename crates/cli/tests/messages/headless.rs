//! A headless session: each message is a turn, and turns run one after the other.

use segue_testkit::events::Events;
use segue_testkit::scene as kit;

use crate::scene::{
    assert_error, assert_queued, assert_received, headless, messages, received, states,
    times_received, wait_idle,
};

#[test]
fn message_is_the_next_turn_of_the_same_conversation() {
    let world = headless("alpha");
    let before = world.session("alpha")["vendor_session_id"].clone();
    let answer = world.ok(["send", "alpha", "--wait", "remember the word otter"]);
    assert_eq!(answer, "I will remember otter.\n");
    assert_eq!(world.ok(["send", "alpha", "--wait", "what is the word?"]), "The word is otter.\n");
    let session = world.session("alpha");
    assert_eq!((&session["vendor_session_id"], &session["status"]), (&before, &"idle".into()));
    assert_eq!(session["launches"], 3);
    assert_received(&world, &["remember the word otter", "what is the word?"]);
}

#[test]
fn concurrent_messages_run_one_after_the_other_and_get_their_own_answers() {
    let world = headless("alpha");
    world.ok(["send", "alpha", "/slow 1"]);
    let texts: Vec<String> = (0..4).map(|number| format!("remember the word w{number}")).collect();
    std::thread::scope(|threads| {
        for (number, text) in texts.iter().enumerate() {
            let world = &world;
            threads.spawn(move || {
                let answer = world.ok(["send", "alpha", "--wait", text]);
                assert_eq!(answer, format!("I will remember w{number}.\n"));
            });
        }
    });
    let mut received = received(&world)[2..].to_vec();
    received.sort();
    assert_eq!(received, texts);
    assert_eq!(world.session("alpha")["launches"], 6);
}

#[test]
fn failed_turn_leaves_later_messages_in_the_queue() {
    for (failing, cause) in [("/fail", "failed, as it was told to"), ("/crash 3", "exit status 3")]
    {
        let world = headless("alpha");
        world.ok(["send", "alpha", "/slow 1"]);
        world.ok(["send", "alpha", "--no-wait", "never mind"]);
        let failing_send = world.start(["send", "alpha", "--wait", failing]);
        let failed_id = loop {
            let all = messages(&world);
            if let Some(found) = all.iter().find(|it| it["text"] == failing) {
                break found["id"].clone();
            }
        };
        let rest = world.segue(["send", "alpha", "--wait", "the rest"]);
        let failed = kit::finish(failing_send);
        assert_error(&failed, 6, "the turn of `default/alpha` failed");
        assert!(failed.stderr.contains(cause), "{failed:#?}");
        assert_queued(&rest);
        assert!(rest.stderr.contains("it is not running"), "{rest:#?}");
        let all = messages(&world);
        let of = |text: &str| all.iter().find(|it| it["text"] == text).unwrap();
        assert_eq!((&of(failing)["id"], &of(failing)["state"]), (&failed_id, &"delivered".into()));
        assert_eq!(of("the rest")["state"], "queued");
        // The next message starts the queue again, in order.
        world.ok(["send", "alpha", "--wait", "go on"]);
        assert_received(&world, &["/slow 1", "never mind", failing, "the rest", "go on"]);
    }
}

#[test]
fn turn_survives_the_death_of_the_daemon_and_the_queue_waits_for_a_command() {
    let world = headless("alpha");
    world.ok(["send", "alpha", "/slow 2"]);
    world.ok(["send", "alpha", "--no-wait", "first"]);
    world.ok(["send", "alpha", "--no-wait", "second"]);
    kit::kill_daemon(&world);
    // The environment for the next turn was in the memory of the daemon, which is gone.
    let mut events = Events::of(&world);
    kit::wait_event(&mut events, "status_changed", "idle");
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    assert_received(&world, &["/slow 2", "first", "second"]);
    assert_eq!(states(&world), ["delivered"; 3]);
}

#[test]
fn send_with_interrupt_ends_the_turn_and_starts_the_next() {
    let world = headless("alpha");
    world.ok(["send", "alpha", "/hang"]);
    let answer = world.ok(["send", "alpha", "--interrupt", "--wait", "remember the word otter"]);
    assert_eq!(answer, "I will remember otter.\n");
    assert_received(&world, &["/hang", "remember the word otter"]);
}

#[test]
fn message_queued_during_a_killed_turn_is_delivered_once() {
    let world = headless("alpha");
    world.ok(["send", "alpha", "/hang"]);
    world.ok(["send", "alpha", "--no-wait", "after it"]);
    world.kill_everything();
    assert_eq!(world.resume(["alpha"]).status, 0);
    wait_idle(&world, "alpha");
    for text in ["/hang", "after it"] {
        assert_eq!(times_received(&world, text), 1, "{:?}", received(&world));
    }
}
