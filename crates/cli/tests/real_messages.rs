//! Messages to the real agents: what is sent arrives as it is, once, and never into a dialog.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use segue_testkit::model::Model;
use segue_testkit::vendors::{with_claude, with_codex};
use segue_testkit::{World, isolated};
use serde_json::Value;

/// The vendors that these tests are about.
#[derive(Clone, Copy, Debug)]
enum Vendor {
    Claude,
    Codex,
}

impl Vendor {
    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// A world with one agent that was told something and is idle again.
fn with_agent(vendor: Vendor) -> (World, Model) {
    let (mut world, model) = (World::new(env!("CARGO_BIN_EXE_segue")), Model::start());
    match vendor {
        Vendor::Claude => drop(with_claude(&mut world, &model)),
        Vendor::Codex => drop(with_codex(&mut world, &model)),
    }
    world.ok(["run", "-d", "--vendor", vendor.name(), "--name", "a", "the word is fox"]);
    world.ok(["wait", "a", "--for", "idle", "--timeout", "60s"]);
    (world, model)
}

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
