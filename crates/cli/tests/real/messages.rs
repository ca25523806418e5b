//! Messages to the real agents: what is sent arrives as it is, once, and never into a dialog.

use segue_testkit::{Model, Terminal, World, isolated};
use serde_json::Value;

use crate::{Vendor, with_agent};

/// Sends a text and returns what the model was told.
fn heard(world: &World, model: &Model, text: &str, unique: &str) -> String {
    let sent = world.with_input(["send", "a", "--wait", "--timeout", "60s", "-"], text.as_bytes());
    assert_eq!(sent.status, 0, "{text:?}: {sent:#?}");
    let exchange = model.conversation_of(unique).unwrap_or_else(|| panic!("{text:?} is lost"));
    let told = exchange.user_texts();
    assert!(told[0].contains("the word is fox"), "{told:?}");
    told.last().map(|text| (*text).to_owned()).unwrap()
}

fn every_text_arrives(vendor: Vendor) {
    let (world, model) = with_agent(vendor);
    let texts = [
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
    for (number, text) in texts.iter().enumerate() {
        let told = heard(&world, &model, text, &format!("number{number}"));
        // What begins a command is put behind something that nobody sees.
        assert_eq!(told.trim_start_matches('\u{200b}').trim(), text.trim(), "{vendor:?}");
    }
    let told = heard(&world, &model, "a\ttab in tabbed", "tabbed");
    assert_eq!(told.replace("    ", "\t").trim(), "a\ttab in tabbed", "{vendor:?}");
    let long: String = (0..2_000).map(|n| format!("line {n} of a long text\n")).collect();
    let told = heard(&world, &model, &format!("long50 begins\n{long}"), "long50");
    assert_eq!(told.trim(), format!("long50 begins\n{long}").trim(), "{vendor:?}");
    let messages = world.json(["messages", "--json"]);
    let states = messages["messages"].as_array().unwrap();
    assert!(states.iter().all(|it| it["state"] == "delivered"), "{messages}");
}

#[test]
fn claude_hears_every_text_as_it_is() {
    isolated(|| every_text_arrives(Vendor::Claude));
}

#[test]
fn codex_hears_every_text_as_it_is() {
    isolated(|| every_text_arrives(Vendor::Codex));
}

/// Waits until the agent asks for permission.
fn wait_for_question(world: &World) -> Value {
    world.json(["wait", "a", "--for", "waiting", "--timeout", "60s", "--json"])
}

fn a_dialog_is_answered_and_not_typed_into(vendor: Vendor) {
    let (world, model) = with_agent(vendor);
    let file = world.project().join("made");
    let command = format!("[[ask: touch {}]] please", file.display());
    world.ok(["send", "a", &command]);
    let asked = wait_for_question(&world);
    assert_eq!(asked["status_detail"], "permission", "{asked}");
    let early = world.segue(["send", "a", "--timeout", "2s", "sent during the dialog"]);
    assert_eq!(early.status, 4, "{early:#?}");
    assert!(!file.exists(), "the dialog was answered by a message");
    assert!(model.conversation_of("sent during the dialog").is_none());
    world.ok(["answer", "a", "yes"]);
    world.ok(["wait", "a", "--for", "idle", "--timeout", "60s"]);
    assert!(file.exists(), "it was not approved");
    let told = model.conversation_of("sent during the dialog").unwrap();
    assert!(told.newest().contains("sent during the dialog"), "{told:?}");
    std::fs::remove_file(&file).unwrap();
    world.ok(["send", "a", &command]);
    wait_for_question(&world);
    world.ok(["answer", "a", "no"]);
    let ended = world.segue(["wait", "a", "--for", "idle", "--timeout", "60s"]);
    assert_eq!(ended.status, 0, "{ended:#?}");
    assert!(!file.exists(), "it was not refused");
    let again = world.segue(["answer", "a", "yes"]);
    assert_eq!(again.status, 4, "{again:#?}");
}

#[test]
fn claude_is_answered_and_not_typed_over() {
    isolated(|| a_dialog_is_answered_and_not_typed_into(Vendor::Claude));
}

#[test]
fn codex_is_answered_and_not_typed_over() {
    isolated(|| a_dialog_is_answered_and_not_typed_into(Vendor::Codex));
}

fn a_draft_is_not_typed_over(vendor: Vendor) {
    let (world, model) = with_agent(vendor);
    let mut person = Terminal::start(&world.command(["attach", "a"]), 40, 120);
    person.wait_for("the word is fox");
    person.write("half a thou");
    person.wait_for("half a thou");
    let early = world.segue(["send", "a", "--timeout", "2s", "sent during the draft"]);
    assert_eq!(early.status, 4, "{early:#?}");
    assert!(model.conversation_of("sent during the draft").is_none());
    // What comes all at once is taken for a paste, and the Enter in it for a new line.
    person.write("ght");
    person.wait_for("half a thought");
    person.write("\r");
    let person_was_heard = model.wait_asked("half a thought");
    assert!(!person_was_heard.newest().contains("sent during"), "{person_was_heard:?}");
    let sent = model.wait_answered("sent during the draft");
    assert_eq!(sent.newest(), "sent during the draft");
    assert!(sent.mentions("half a thought"), "{sent:?}");
}

#[test]
fn a_draft_for_claude_is_not_typed_over() {
    isolated(|| a_draft_is_not_typed_over(Vendor::Claude));
}

#[test]
fn a_draft_for_codex_is_not_typed_over() {
    isolated(|| a_draft_is_not_typed_over(Vendor::Codex));
}

fn what_was_sent_while_it_was_down_arrives_after_it_is_back(vendor: Vendor) {
    let (world, model) = with_agent(vendor);
    world.ok(["stop", "a"]);
    for text in ["sent down one", "sent down two"] {
        let queued = world.segue(["send", "a", text]);
        assert_eq!(queued.status, 4, "{queued:#?}");
        assert!(queued.stderr.contains("queued as "), "{queued:#?}");
    }
    world.resume(["a"]).assert_back("a", "resumed");
    let last = model.wait_answered("sent down two");
    let told = last.user_texts();
    assert_eq!(told, ["the word is fox", "sent down one", "sent down two"], "{vendor:?}");
}

#[test]
fn what_was_sent_while_claude_was_down_arrives_after_it_is_back() {
    isolated(|| what_was_sent_while_it_was_down_arrives_after_it_is_back(Vendor::Claude));
}

#[test]
fn what_was_sent_while_codex_was_down_arrives_after_it_is_back() {
    isolated(|| what_was_sent_while_it_was_down_arrives_after_it_is_back(Vendor::Codex));
}

fn a_headless_session_goes_on(vendor: Vendor) {
    let (world, model) = crate::with_vendor(vendor);
    let run = ["run", "--headless", "--vendor", vendor.name(), "--name", "h", "the word is owl"];
    world.ok(run);
    let answer = world.ok(["send", "h", "--wait", "second turn"]);
    assert!(answer.contains("turns=2"), "{answer}");
    let carried = model.conversation_of("second turn").unwrap();
    assert_eq!(carried.user_texts(), ["the word is owl", "second turn"]);
    let failed = world.segue(["send", "h", "--wait", "third [[status: 400]]"]);
    assert_eq!(failed.status, 6, "{failed:#?}");
    assert!(failed.stderr.contains("the request was refused"), "{failed:#?}");
}

#[test]
fn a_headless_claude_goes_on() {
    isolated(|| a_headless_session_goes_on(Vendor::Claude));
}

#[test]
fn a_headless_codex_goes_on() {
    isolated(|| a_headless_session_goes_on(Vendor::Codex));
}
