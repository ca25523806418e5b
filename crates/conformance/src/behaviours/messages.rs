//! Messages arrive unchanged and once. They are never typed into a dialog or a draft.

use std::fs;

use serde_json::Value;

use crate::expectation::{expect, quoted, unmet};
use crate::trial::VendorTrial;

/// Texts that some vendor could treat as a command, a file name or a list.
const TEXTS: [&str; 10] = [
    "plain words number0",
    "two lines of number1\nand the second",
    "/home/number2 is a path",
    "!number3 is an exclamation",
    "#number4 is a heading",
    "?number5 is a question",
    "-number6 is a dash",
    "@number7 is somebody",
    "- number8 is a list\n- of two things\n",
    "ünïcödé 日本語 🙂 number9",
];

/// The exit status of a command whose message was not delivered yet.
const QUEUED: i32 = 4;

/// Sends a text, waits for the end of its turn, and returns what the model received.
fn received(trial: &VendorTrial, text: &str, unique: &str) -> String {
    let words = ["send", "a", "--wait", "--timeout", "170s", "-"];
    let sent = trial.world.with_input(words, text.as_bytes());
    trial.expect("a", sent.status == 0, format!("the agent takes the message {text:?}"), || {
        sent.to_string()
    });
    let Some(asked) = trial.model.conversation_of(unique) else {
        unmet(format!("the message {text:?} reaches the model"), "no request has it");
    };
    let said = asked.user_texts();
    let times = said.iter().filter(|it| it.contains(unique)).count();
    expect(
        times == 1 && said[0].contains("remember ALPHA"),
        format!("{text:?} is in the conversation once"),
        || format!("the request carried {}", quoted(&said)),
    );
    said.last().map(|text| (*text).to_owned()).unwrap_or_default()
}

pub(super) fn messages(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    for (number, text) in TEXTS.iter().enumerate() {
        let received = received(trial, text, &format!("number{number}"));
        // A zero-width space stops a vendor from treating the text as a command.
        expect_same(received.trim_start_matches('\u{200b}'), text);
    }
    let received = received(trial, "a\ttab in tabbed", "tabbed");
    expect_same(&received.replace("    ", "\t"), "a\ttab in tabbed");
    expect_all_delivered(trial);
}

pub(super) fn long_message(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    let lines: String = (0..2_000).map(|n| format!("line {n} of a long text\n")).collect();
    let text = format!("long50 begins\n{lines}");
    let words = ["send", "a", "--wait", "--timeout", "170s", "-"];
    let sent = trial.world.with_input(words, text.as_bytes());
    trial.expect("a", sent.status == 0, "the agent takes a message of 50 KB", || sent.to_string());
    let asked = trial.model.conversations().pop().expect("a request");
    expect_same(&whole(asked.newest()), &text);
    expect_all_delivered(trial);
}

fn expect_same(received: &str, sent: &str) {
    expect(received.trim() == sent.trim(), format!("the model receives {:?}", start(sent)), || {
        format!("{:?} ({} of {} bytes)", start(received), received.len(), sent.len())
    });
}

/// Returns the beginning of a text.
fn start(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Returns the text that the model received. If the text only names a file, returns the content of
/// that file.
fn whole(received: &str) -> String {
    let file = received.split('"').find(|part| part.starts_with('/') && !part.contains('\n'));
    match file {
        Some(file) if received.len() < 1_000 => fs::read_to_string(file).unwrap_or_default(),
        _ => received.to_owned(),
    }
}

fn expect_all_delivered(trial: &VendorTrial) {
    let messages = trial.world.json(["messages", "--json"]);
    let states: Vec<&Value> =
        messages["messages"].as_array().into_iter().flatten().map(|it| &it["state"]).collect();
    let is_met = !states.is_empty() && states.iter().all(|state| *state == "delivered");
    expect(is_met, "every message is reported as delivered", || format!("{messages:#}"));
}

pub(super) fn while_down(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    trial.world.ok(["stop", "a"]);
    for text in ["sent down one", "sent down two"] {
        let queued = trial.world.segue(["send", "a", text]);
        let expected = "a message to a stopped agent is queued (exit status 4)";
        expect(queued.status == QUEUED, expected, || queued.to_string());
    }
    trial.world.resume(["a"]).assert_back("a", "resumed");
    let last = trial.wait_answered("a", "sent down two");
    expect_said(&last.user_texts(), &["remember ALPHA", "sent down one", "sent down two"]);
}

fn expect_said(said: &[&str], expected: &[&str]) {
    let said: Vec<&str> = said.iter().map(|text| text.trim()).collect();
    expect(said == expected, format!("the request carries {}", quoted(expected)), || {
        format!("it carried {}", quoted(&said))
    });
}

pub(super) fn draft(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    let mut person = trial.attach("a");
    person.wait_for("remember ALPHA");
    person.type_keys("", "half a thou");
    let early = trial.world.segue(["send", "a", "--timeout", "2s", "sent during the draft"]);
    let was_sent = trial.model.conversation_of("sent during the draft").is_some();
    let expected = "a message waits while a person's draft is in the input (exit status 4)";
    expect(early.status == QUEUED && !was_sent, expected, || early.to_string());
    person.type_keys("half a thou", "ght");
    person.press_enter();
    let sent = trial.wait_answered("a", "sent during the draft");
    let expected = ["remember ALPHA", "half a thought", "sent during the draft"];
    expect_said(&sent.user_texts(), &expected);
}

pub(super) fn permission(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    let file = trial.world.project().join("made");
    let command = format!("[[ask: touch {}]] please", file.display());
    trial.world.ok(["send", "a", &command]);
    let asked = wait_for_question(trial);
    let expected = "with `permission = \"ask\"` it asks before it runs a command";
    trial.expect("a", asked["status_detail"] == "permission", expected, || status(&asked));
    let dialog = &asked["dialog"];
    let question = dialog["question"].as_str().unwrap_or_default();
    let names_command = question.contains("touch") && question.contains("made");
    trial.expect("a", names_command, "the question has the command", || dialog.to_string());
    let early = trial.world.segue(["send", "a", "--timeout", "2s", "sent during the dialog"]);
    let expected = "a message waits while the agent asks, and answers nothing";
    expect(early.status == QUEUED && !file.exists(), expected, || early.to_string());
    expect_answer(trial, "yes");
    let next = trial.wait_answered("a", "sent during the dialog");
    expect(file.exists(), "after the answer `yes` the command runs", || "it did not".to_owned());
    let newest = next.newest().to_owned();
    let expected = "the message that waited is the next turn";
    expect(newest.contains("sent during the dialog"), expected, || newest.clone());
    trial.wait_idle("a");
    fs::remove_file(&file).expect("a file");
    trial.world.ok(["send", "a", &command]);
    wait_for_question(trial);
    expect_answer(trial, "no");
    trial.wait_idle("a");
    expect(!file.exists(), "after the answer `no` the command does not run", || {
        "it ran".to_owned()
    });
    let again = trial.world.segue(["answer", "a", "yes"]);
    let expected = "an answer to no question is refused (exit status 4)";
    expect(again.status == 4, expected, || again.to_string());
}

fn expect_answer(trial: &VendorTrial, answer: &str) {
    let outcome = trial.world.segue(["answer", "a", answer]);
    let expected = format!("`segue answer a {answer}` answers its question");
    trial.expect("a", outcome.status == 0, expected, || outcome.to_string());
}

fn wait_for_question(trial: &VendorTrial) -> Value {
    trial.world.json(["wait", "a", "--for", "waiting", "--timeout", "170s", "--json"])
}

fn status(session: &Value) -> String {
    let part = |key: &str| session[key].as_str().unwrap_or("unknown").to_owned();
    format!("its status is {} ({})", part("status"), part("status_detail"))
}
