//! Every text arrives unchanged, or is refused with a reason.

use std::fs;

use segue_testkit::{World, conversation, processes};

use crate::scene::{agent, assert_error, assert_heard, headless, heard, messages, states};

const AWKWARD: [&str; 14] = [
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
    for text in AWKWARD {
        let told = world.with_input(["send", "alpha", "-"], text.as_bytes());
        assert_eq!(told.status, 0, "{text:?}: {told:#?}");
    }
    assert_heard(&world, &AWKWARD);
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
    assert_heard(&world, &["-dash", "- with spaces", "--wait", "-from nowhere"]);
}

#[test]
fn long_message_is_typed_and_a_very_long_one_is_passed_as_a_file() {
    let world = agent("alpha");
    let typed = format!("begin {} end", "long words \t and lines\n".repeat(2_200));
    assert!((50_000..60_000).contains(&typed.len()));
    assert_eq!(world.with_input(["send", "alpha", "-"], typed.as_bytes()).status, 0);
    let read = format!("remember the word otter {}", "x".repeat(200_000));
    assert_eq!(world.with_input(["send", "alpha", "-"], read.as_bytes()).status, 0);
    let heard = heard(&world);
    assert_eq!(heard[1], typed);
    assert_eq!(file_in(&heard[2]), read);
    assert_eq!(world.ok(["send", "alpha", "--wait", "what is the word?"]), "The word is otter.\n");
    assert_eq!(messages(&world)[1]["text"], read);
}

/// Returns the contents of the file that the agent is told to read.
fn file_in(told: &str) -> String {
    let path = told.strip_prefix("Read the file ").unwrap();
    fs::read_to_string(path.strip_suffix(" and do what it says.").unwrap()).unwrap()
}

#[test]
fn message_with_control_characters_is_passed_as_a_file() {
    let world = agent("alpha");
    let keys = ["red \u{1b}[31mtext", "end\u{1b}[201~\r\u{3}of a paste", "\u{1b}", "bell\u{7}"];
    for text in keys {
        assert_eq!(world.with_input(["send", "alpha", "-"], text.as_bytes()).status, 0, "{text:?}");
    }
    let heard = heard(&world);
    let read: Vec<String> = heard[1..].iter().map(|told| file_in(told)).collect();
    assert_eq!(read, keys);
}

#[test]
fn crlf_line_ends_become_line_feeds() {
    let world = agent("alpha");
    assert_eq!(world.with_input(["send", "alpha"], b"one\r\ntwo\r\n").status, 0);
    assert_heard(&world, &["one\ntwo"]);
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
    for (text, wanted) in table {
        assert_error(&world.with_input(["send", "alpha", "-"], text), 2, wanted);
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
    let mut wanted: Vec<String> = Vec::new();
    let control = "red \u{1b}[31mtext\u{1b}[201~\r\nand lines";
    for text in AWKWARD.into_iter().filter(|text| *text != "-").chain([control]) {
        let told = world.with_input(["send", "alpha", "--wait", "-"], text.as_bytes());
        assert_eq!(told.status, 0, "{text:?}: {told:#?}");
        wanted.push(text.to_owned());
    }
    assert_eq!(heard(&world)[1..], wanted);
    let long = format!("remember the word otter {}", "x".repeat(200_000));
    assert_eq!(world.with_input(["send", "alpha", "--wait"], long.as_bytes()).status, 0);
    assert_eq!(world.ok(["send", "alpha", "--wait", "what is the word?"]), "The word is otter.\n");
    assert_eq!(heard(&world).len(), wanted.len() + 3);
    assert_processes_gone(&world);
}

/// Checks that no agent process is left, and that there is one conversation.
fn assert_processes_gone(world: &World) {
    let is_agent = |pid: &u32| processes::command_line(*pid).iter().any(|it| it == "demo-agent");
    assert_eq!(world.processes().into_iter().filter(is_agent).count(), 0);
    assert_eq!(conversation::all(world).len(), 1, "not exactly one conversation");
}
