//! Messages: what is sent arrives as it is, once, and never into a dialog or a draft.

use std::fs;

use crate::trial::Trial;

/// A text of each kind that some vendor takes for something else.
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

/// Sends a text and returns what the model was told.
fn heard(trial: &Trial, text: &str, unique: &str) -> String {
    let words = ["send", "a", "--wait", "--timeout", "55s", "-"];
    let sent = trial.world.with_input(words, text.as_bytes());
    assert_eq!(sent.status, 0, "{text:?}: {sent:#?}\n{}", trial.log("a"));
    let asked = trial.model.conversation_of(unique).unwrap_or_else(|| panic!("{text:?} is lost"));
    let told = asked.user_texts();
    assert!(told[0].contains("remember ALPHA"), "{told:?}");
    let times = told.iter().filter(|it| it.contains(unique)).count();
    assert_eq!(times, 1, "{text:?} arrived {times} times");
    told.last().map(|text| (*text).to_owned()).unwrap_or_default()
}

pub(super) fn texts(trial: &mut Trial) {
    trial.told("a", "remember ALPHA");
    for (number, text) in TEXTS.iter().enumerate() {
        let told = heard(trial, text, &format!("number{number}"));
        // What begins a command is put behind something that nobody sees.
        assert_eq!(told.trim_start_matches('\u{200b}').trim(), text.trim());
    }
    let told = heard(trial, "a\ttab in tabbed", "tabbed");
    assert_eq!(told.replace("    ", "\t").trim(), "a\ttab in tabbed");
    assert_all_delivered(trial);
}

pub(super) fn long(trial: &mut Trial) {
    trial.told("a", "remember ALPHA");
    let lines: String = (0..2_000).map(|n| format!("line {n} of a long text\n")).collect();
    let text = format!("long50 begins\n{lines}");
    let words = ["send", "a", "--wait", "--timeout", "55s", "-"];
    let sent = trial.world.with_input(words, text.as_bytes());
    assert_eq!(sent.status, 0, "{sent:#?}\n{}", trial.log("a"));
    let asked = trial.model.conversations().pop().expect("a request");
    assert_eq!(whole(asked.newest()).trim(), text.trim());
    assert_all_delivered(trial);
}

/// Returns what the model was told, or the file that it was told to read in its place.
fn whole(told: &str) -> String {
    let file = told.split('"').find(|part| part.starts_with('/') && !part.contains('\n'));
    match file {
        Some(file) if told.len() < 1_000 => fs::read_to_string(file).expect("the file it names"),
        _ => told.to_owned(),
    }
}

fn assert_all_delivered(trial: &Trial) {
    let messages = trial.world.json(["messages", "--json"]);
    let states = messages["messages"].as_array().expect("messages");
    assert!(states.iter().all(|it| it["state"] == "delivered"), "{messages:#}");
}

pub(super) fn while_down(trial: &mut Trial) {
    trial.told("a", "remember ALPHA");
    trial.world.ok(["stop", "a"]);
    for text in ["sent down one", "sent down two"] {
        let queued = trial.world.segue(["send", "a", text]);
        assert_eq!(queued.status, 4, "{queued:#?}");
    }
    trial.world.resume(["a"]).assert_back("a", "resumed");
    let last = trial.model.wait_answered("sent down two");
    let told: Vec<&str> = last.user_texts().into_iter().map(str::trim).collect();
    assert_eq!(told, ["remember ALPHA", "sent down one", "sent down two"]);
}

pub(super) fn draft(trial: &mut Trial) {
    trial.told("a", "remember ALPHA");
    let mut person = trial.attach("a");
    person.wait_for("remember ALPHA");
    person.write("half a thou");
    person.wait_for("half a thou");
    let early = trial.world.segue(["send", "a", "--timeout", "2s", "sent during the draft"]);
    assert_eq!(early.status, 4, "{early:#?}");
    assert!(trial.model.conversation_of("sent during the draft").is_none());
    // What comes all at once is taken for a paste, and the Enter in it for a new line.
    person.write("ght");
    person.wait_for("half a thought");
    person.press_enter();
    let sent = trial.model.wait_answered("sent during the draft");
    let told: Vec<&str> = sent.user_texts().into_iter().map(str::trim).collect();
    assert_eq!(told, ["remember ALPHA", "half a thought", "sent during the draft"]);
}

pub(super) fn permission(trial: &mut Trial) {
    trial.told("a", "remember ALPHA");
    let file = trial.world.project().join("made");
    let command = format!("[[ask: touch {}]] please", file.display());
    trial.world.ok(["send", "a", &command]);
    let asked = wait_for_question(trial);
    assert_eq!(asked["status_detail"], "permission", "{asked}");
    let early = trial.world.segue(["send", "a", "--timeout", "2s", "sent during the dialog"]);
    assert_eq!(early.status, 4, "{early:#?}");
    assert!(!file.exists(), "the question was answered by a message");
    trial.world.ok(["answer", "a", "yes"]);
    let told = trial.model.wait_answered("sent during the dialog");
    assert!(file.exists(), "it was not approved");
    assert!(told.newest().contains("sent during the dialog"), "{told:?}");
    trial.wait_idle("a");
    fs::remove_file(&file).expect("a file");
    trial.world.ok(["send", "a", &command]);
    wait_for_question(trial);
    trial.world.ok(["answer", "a", "no"]);
    trial.wait_idle("a");
    assert!(!file.exists(), "it was not refused");
    let again = trial.world.segue(["answer", "a", "yes"]);
    assert_eq!(again.status, 4, "there is nothing to answer: {again:#?}");
}

fn wait_for_question(trial: &Trial) -> serde_json::Value {
    trial.world.json(["wait", "a", "--for", "waiting", "--timeout", "50s", "--json"])
}
