//! Sessions that are started, killed and resumed, and then asked what they remember.

use segue_testkit::vendors::install_previous;
use segue_testkit::{Terminal, conversation, isolated};
use serde_json::Value;

use crate::{ClaudeScene, stage};

#[test]
fn resume_after_clear_uses_the_new_conversation() {
    isolated(|| {
        let stage = stage();
        let before = stage.told("coder", "remember ALPHA");
        conversation::type_text(&stage.world, &before, "/clear\r");
        let left = before["vendor_session_id"].clone();
        let cleared = stage.wait_session("coder", |session| session["vendor_session_id"] != left);
        assert_eq!(cleared["launches"], 1, "the process is the same");
        stage.assert_carries("coder", &[], "remember OMEGA");
        stage.wait_turns("coder", 1);
        stage.world.kill_everything();
        stage.world.resume(["--all"]).assert_back("coder", "resumed");
        stage.wait_idle("coder");
        stage.assert_carries("coder", &["remember OMEGA"], "what was it?");
        assert_eq!(stage.world.session("coder")["vendor_session_id"], cleared["vendor_session_id"]);
    });
}

#[test]
fn resume_after_clear_without_a_new_message_is_empty() {
    isolated(|| {
        let stage = stage();
        let before = stage.told("coder", "remember ALPHA");
        conversation::type_text(&stage.world, &before, "/clear\r");
        let left = before["vendor_session_id"].clone();
        stage.wait_session("coder", |session| session["vendor_session_id"] != left);
        stage.world.kill_everything();
        let report = stage.world.resume(["--all"]);
        assert_eq!(report.status, 0, "{report:#?}");
        stage.wait_idle("coder");
        stage.assert_carries("coder", &[], "remember OMEGA");
    });
}

#[test]
fn status_follows_a_permission_question_and_its_answer() {
    isolated(|| {
        let stage = stage();
        let [vendor, claude] = ["--vendor", "claude"];
        let tool = "[[tool: touch made]]";
        stage.world.ok(["run", "-d", "--name", "coder", vendor, claude, tool]);
        let asks = stage.wait_session("coder", |session| session["status"] == "waiting");
        assert_eq!(asks["status_detail"], "permission");
        conversation::type_text(&stage.world, &asks, "1");
        stage.wait_turns("coder", 1);
        assert!(stage.world.project().join("made").is_file());
        let log = stage.world.ok(["log", "coder"]);
        assert!(log.contains("says the vendor's registry"), "{log}");
    });
}

#[test]
fn trust_question_is_reported_and_not_answered() {
    isolated(|| {
        let stage = stage();
        stage.home.distrust(&stage.world.project());
        stage.home.forget_key();
        stage.start("coder", "remember ALPHA");
        let asks = stage.wait_session("coder", |session| session["status"] == "waiting");
        assert_eq!(asks["status_detail"], "trust");
        assert!(stage.model.conversations().is_empty());
    });
}

#[test]
fn ctrl_z_does_not_suspend_an_attached_agent() {
    isolated(|| {
        let stage = stage();
        stage.told("fox", "hello");
        let mut person = Terminal::start(&stage.world.command(["attach", "fox"]), 40, 120);
        person.wait_written("detach with");
        person.write("\x1a");
        person.wait_written("suspended");
        stage.ask("fox", "are you still there?");
        stage.wait_idle("fox");
        assert_eq!(stage.world.session("fox")["status_detail"], Value::Null);
    });
}

#[test]
fn theme_question_of_the_first_start_is_reported_with_the_answer_command() {
    isolated(|| assert_theme_is_asked_for(&stage()));
}

#[test]
fn theme_question_of_the_previous_release_is_reported_with_the_answer_command() {
    isolated(|| {
        let stage = stage();
        install_previous(&stage.world, "claude");
        assert_theme_is_asked_for(&stage);
    });
}

fn assert_theme_is_asked_for(stage: &ClaudeScene) {
    stage.home.forget_onboarding();
    let words = ["run", "--wait", "--vendor", "claude", "--name", "coder", "remember ALPHA"];
    let asked = stage.world.segue(words);
    assert_eq!(asked.status, 4, "{asked:#?}");
    for words in ["it waits for an answer (question)", "segue answer default/coder"] {
        assert!(asked.stderr.contains(words), "{asked:#?}");
    }
    let dialog = &stage.world.session("coder")["dialog"];
    assert!(dialog["choices"].as_array().unwrap().len() > 1, "{dialog:#}");
    assert!(stage.model.conversations().is_empty());
}
