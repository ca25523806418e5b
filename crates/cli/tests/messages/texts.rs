//! Every text arrives unchanged, or is refused with a reason.

use std::fs;

use segue_testkit::{World, conversation, scene};

use crate::scene::{agent, assert_error, assert_received, headless, messages, received, states};

/// Texts that a shell, a terminal or a vendor's program could take for a command or an option.
const SPECIAL_TEXTS: [&str; 14] = [
    "/home/x is a folder",
    "/home/x",
    "!ls",
    "#note",
    "?",
    "- a list\n- of things",
    "--- yaml",
    "-",
    "two\nlines\n\n  and an end",
    "tab\there",
    "  spaces before",
    "quotes ' \" ` $HOME \\n %s",
    "é 漢字 🦆 e\u{301}",
    "a trailing backslash \\",
];

#[test]
fn message_with_special_characters_arrives_unchanged() {
    let world = agent("alpha");
    for text in SPECIAL_TEXTS {
        let sent = world.with_input(["send", "alpha", "-"], text.as_bytes());
        assert_eq!(sent.status, 0, "{text:?}: {sent:#?}");
    }
    assert_received(&world, &SPECIAL_TEXTS);
    assert!(states(&world).iter().all(|state| state == "delivered"));
}

#[test]
fn message_may_begin_with_a_dash_as_argument_and_on_standard_input() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "--", "-dash"]);
    world.ok(["send", "alpha", "- with spaces"]);
    world.ok(["send", "--no-wait", "alpha", "--", "--wait"]);
    assert_eq!(world.with_input(["send", "alpha"], b"-from nowhere").status, 0);
    let flag = world.segue(["send", "alpha", "--wiat"]);
    assert_error(&flag, 2, "unexpected argument '--wiat' found");
    assert_received(&world, &["-dash", "- with spaces", "--wait", "-from nowhere"]);
}

#[test]
fn long_message_is_typed_and_a_very_long_one_is_passed_as_a_file() {
    let world = agent("alpha");
    let typed = format!("begin {} end", "long words \t and lines\n".repeat(2_200));
    assert!((50_000..60_000).contains(&typed.len()));
    assert_eq!(world.with_input(["send", "alpha", "-"], typed.as_bytes()).status, 0);
    let read = format!("remember the word otter {}", "x".repeat(200_000));
    assert_eq!(world.with_input(["send", "alpha", "-"], read.as_bytes()).status, 0);
    let received = received(&world);
    assert_eq!(received[1], typed);
    assert_eq!(file_in(&received[2]), read);
    assert_eq!(world.ok(["send", "alpha", "--wait", "what is the word?"]), "The word is otter.\n");
    assert_eq!(messages(&world)[1]["text"], read);
}

/// Returns the contents of the file that a message asks the agent to read.
fn file_in(message: &str) -> String {
    let path = message.strip_prefix("Read the file ").unwrap();
    fs::read_to_string(path.strip_suffix(" and do what it says.").unwrap()).unwrap()
}

#[test]
fn message_with_control_characters_is_passed_as_a_file() {
    let world = agent("alpha");
    let texts = ["red \u{1b}[31mtext", "end\u{1b}[201~\r\u{3}of a paste", "\u{1b}", "bell\u{7}"];
    for text in texts {
        assert_eq!(world.with_input(["send", "alpha", "-"], text.as_bytes()).status, 0, "{text:?}");
    }
    let received = received(&world);
    let read: Vec<String> = received[1..].iter().map(|message| file_in(message)).collect();
    assert_eq!(read, texts);
}

#[test]
fn crlf_line_ends_become_line_feeds() {
    let world = agent("alpha");
    assert_eq!(world.with_input(["send", "alpha"], b"one\r\ntwo\r\n").status, 0);
    assert_received(&world, &["one\ntwo"]);
}

#[test]
fn invalid_message_is_refused_and_not_recorded() {
    let world = agent("alpha");
    let long = "x".repeat(16 * 1024 * 1024 + 1);
    let table: [(&[u8], &str); 5] = [
        (b"", "the message is empty"),
        (b" \n\t\n", "the message is empty"),
        (b"a\0b", "the message has a zero byte"),
        (b"caf\xe9", "the message on standard input is not UTF-8"),
        (long.as_bytes(), "the message is longer than 16 MiB"),
    ];
    for (text, error) in table {
        assert_error(&world.with_input(["send", "alpha", "-"], text), 2, error);
    }
    assert_error(&world.segue(["send", "alpha", ""]), 2, "the message is empty");
    assert_error(
        &world.segue(["send", "nobody", "hi"]),
        3,
        "there is no session or fleet `nobody`",
    );
    assert_eq!(states(&world), Vec::<String>::new());
}

#[test]
fn headless_agent_gets_special_characters_and_long_messages_unchanged() {
    let world = headless("alpha");
    let mut expected: Vec<String> = Vec::new();
    let control = "red \u{1b}[31mtext\u{1b}[201~\r\nand lines";
    for text in SPECIAL_TEXTS.into_iter().filter(|text| *text != "-").chain([control]) {
        let sent = world.with_input(["send", "alpha", "--wait", "-"], text.as_bytes());
        assert_eq!(sent.status, 0, "{text:?}: {sent:#?}");
        expected.push(text.to_owned());
    }
    assert_eq!(received(&world)[1..], expected);
    let long = format!("remember the word otter {}", "x".repeat(200_000));
    assert_eq!(world.with_input(["send", "alpha", "--wait"], long.as_bytes()).status, 0);
    assert_eq!(world.ok(["send", "alpha", "--wait", "what is the word?"]), "The word is otter.\n");
    assert_eq!(received(&world).len(), expected.len() + 3);
    assert_one_conversation_without_process(&world);
}

/// Checks that no agent process is left, and that there is one conversation.
fn assert_one_conversation_without_process(world: &World) {
    assert_eq!(scene::pids_running(world, "demo-agent"), Vec::<u32>::new());
    assert_eq!(conversation::transcripts(world).len(), 1, "not exactly one conversation");
}
