//! Sessions that are started, killed and resumed, and then asked what they remember.

use segue_testkit::vendors::install_previous;
use segue_testkit::{Terminal, conversation, isolated};
use serde_json::Value;

use super::{ClaudeScene, scene};

#[test]
fn resume_after_clear_uses_the_new_conversation() {
    isolated(|| {
        let scene = scene();
        let before = scene.start_and_wait("coder", "remember ALPHA");
        conversation::type_text(&scene.world, &before, "/clear\r");
        let old_id = before["vendor_session_id"].clone();
        let cleared = scene.wait_session("coder", |session| session["vendor_session_id"] != old_id);
        assert_eq!(cleared["launches"], 1, "the process is the same");
        scene.assert_carries("coder", &[], "remember OMEGA");
        scene.wait_turns("coder", 1);
        scene.world.kill_everything();
        scene.world.resume(["--all"]).assert_back("coder", "resumed");
        scene.wait_idle("coder");
        scene.assert_carries("coder", &["remember OMEGA"], "what was it?");
        assert_eq!(scene.world.session("coder")["vendor_session_id"], cleared["vendor_session_id"]);
    });
}

#[test]
fn resume_after_clear_without_a_new_message_is_empty() {
    isolated(|| {
        let scene = scene();
        let before = scene.start_and_wait("coder", "remember ALPHA");
        conversation::type_text(&scene.world, &before, "/clear\r");
        let old_id = before["vendor_session_id"].clone();
        scene.wait_session("coder", |session| session["vendor_session_id"] != old_id);
        scene.world.kill_everything();
        let report = scene.world.resume(["--all"]);
        assert_eq!(report.status, 0, "{report:#?}");
        scene.wait_idle("coder");
        scene.assert_carries("coder", &[], "remember OMEGA");
    });
}

#[test]
fn status_follows_a_permission_question_and_its_answer() {
    isolated(|| {
        let scene = scene();
        let message = "[[tool: touch made]]";
        scene.world.ok(["run", "-d", "--name", "coder", "--vendor", "claude", message]);
        let asks = scene.wait_session("coder", |session| session["status"] == "waiting");
        assert_eq!(asks["status_detail"], "permission");
        conversation::type_text(&scene.world, &asks, "1");
        scene.wait_turns("coder", 1);
        assert!(scene.world.project().join("made").is_file());
        let log = scene.world.ok(["log", "coder"]);
        assert!(log.contains("reported by the vendor's registry"), "{log}");
    });
}

#[test]
fn trust_question_is_reported_and_not_answered() {
    isolated(|| {
        let scene = scene();
        scene.home.distrust(&scene.world.project());
        scene.home.forget_key();
        scene.start("coder", "remember ALPHA");
        let asks = scene.wait_session("coder", |session| session["status"] == "waiting");
        assert_eq!(asks["status_detail"], "trust");
        assert!(scene.model.conversations().is_empty());
    });
}

#[test]
fn ctrl_z_does_not_suspend_an_attached_agent() {
    isolated(|| {
        let scene = scene();
        scene.start_and_wait("fox", "hello");
        let mut person = Terminal::start(&scene.world.command(["attach", "fox"]), 40, 120);
        person.wait_written("detach with");
        person.write("\x1a");
        person.wait_written("suspended");
        scene.ask("fox", "are you still there?");
        scene.wait_idle("fox");
        assert_eq!(scene.world.session("fox")["status_detail"], Value::Null);
    });
}

#[test]
fn theme_question_of_the_first_start_is_reported_with_the_answer_command() {
    isolated(|| assert_theme_question_is_reported(&scene()));
}

#[test]
fn theme_question_of_the_previous_release_is_reported_with_the_answer_command() {
    isolated(|| {
        let scene = scene();
        install_previous(&scene.world, "claude");
        assert_theme_question_is_reported(&scene);
    });
}

fn assert_theme_question_is_reported(scene: &ClaudeScene) {
    scene.home.forget_onboarding();
    let run = ["run", "--wait", "--vendor", "claude", "--name", "coder", "remember ALPHA"];
    let asked = scene.world.segue(run);
    assert_eq!(asked.status, 4, "{asked:#?}");
    for part in ["it waits for an answer (question)", "segue answer default/coder"] {
        assert!(asked.stderr.contains(part), "{asked:#?}");
    }
    let dialog = &scene.world.session("coder")["dialog"];
    assert!(dialog["choices"].as_array().unwrap().len() > 1, "{dialog:#}");
    assert!(scene.model.conversations().is_empty());
}
