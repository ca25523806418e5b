//! `segue show --follow`: turns are printed as they happen.

use segue_testkit::{Terminal, conversation, scene};

use super::{conversation_with, record};
use crate::world;

#[test]
fn follow_prints_new_turns_until_it_is_interrupted() {
    let world = world();
    let session = scene::start_with_word(&world, "fox", "amber");
    let mut person = Terminal::start(&world.command(["show", "fox", "--follow"]), 40, 100);
    person.wait_for("2  assistant");
    conversation::ask(&world, &session, "what is the word?");
    person.wait_for("The word is amber.");
    let shown = person.contents();
    assert!(shown.contains("3  user") && shown.contains("4  assistant"), "{shown}");
    assert_eq!(shown.matches("what is the word?").count(), 1, "{shown}");
    person.write("\x03");
    assert_eq!(person.wait(), 0, "{person:?}");
}

#[test]
fn follow_waits_for_a_conversation_that_has_not_started() {
    let world = world();
    world.ok(["run", "-d", "--name", "mute"]);
    let mut person = Terminal::start(&world.command(["show", "mute", "-f", "--json"]), 40, 200);
    world.ok(["send", "mute", "--wait", "remember the word heron"]);
    person.wait_for("I will remember heron.");
    assert!(person.contents().contains("{\"index\":1,\"role\":\"user\""), "{person:?}");
    person.write("\x03");
    assert_eq!(person.wait(), 0, "{person:?}");
}

#[test]
fn follow_continues_after_the_transcript_is_replaced() {
    let world = world();
    let (address, path) =
        conversation_with(&world, &[record("user", "one", 1), record("user", "two", 2)]);
    let mut person = Terminal::start(&world.command(["show", &address, "-f", "-n", "1"]), 40, 100);
    person.wait_for("2  user");
    assert!(!person.contents().contains("1  user"), "{person:?}");
    let replace = |texts: &[&str]| {
        let lines =
            (1..).zip(texts).map(|(second, text)| format!("{}\n", record("user", text, second)));
        let new = path.with_extension("new");
        std::fs::write(&new, lines.collect::<String>()).unwrap();
        std::fs::rename(new, &path).unwrap();
    };
    replace(&["one", "two", "three"]);
    person.wait_for("3  user");
    std::fs::remove_file(&path).unwrap();
    replace(&["compacted", "four"]);
    person.wait_for("was rewritten");
    person.wait_for("2  user  2026-01-02 03:04:02\n    four");
    person.write("\x03");
    assert_eq!(person.wait(), 0, "{person:?}");
}
