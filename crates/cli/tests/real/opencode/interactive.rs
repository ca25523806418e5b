//! Interactive agents. Each start takes several seconds, so each test checks many things.

use std::fs;

use segue_testkit::scene::event_texts;
use segue_testkit::{Terminal, isolated};

use super::{OpencodeScene, scene};

/// Segue's plugin submits the first message in the imported conversation. Later messages are typed.
/// An agent that runs as a tool has the same environment, but reports nothing for this session.
#[test]
fn session_resumes_after_permission_questions_a_new_conversation_and_a_kill() {
    isolated(|| {
        let scene = scene();
        let first = "ALPHA  \"exactly\"\n [[tool: echo one | tee made]]";
        scene.start("coder", first);
        let is_waiting = |it: &serde_json::Value| it["status"] == "waiting";
        let before = scene.wait_session("coder", is_waiting);
        assert_eq!(before["evidence"], "hook", "{before:#}");
        assert!(!scene.world.project().join("made").exists());
        scene.world.ok(["answer", "coder", "yes"]);
        scene.wait_idle("coder");
        assert_eq!(fs::read_to_string(scene.world.project().join("made")).unwrap(), "one\n");
        let id = before["vendor_session_id"].as_str();
        assert_eq!(scene.model.wait_answered("ALPHA").session.as_deref(), id);

        scene.world.ok(["send", "coder", "[[tool: echo two | tee other]]"]);
        scene.wait_session("coder", is_waiting);
        scene.world.ok(["answer", "coder", "no"]);
        scene.wait_idle("coder");
        assert!(!scene.world.project().join("other").exists());
        let session = scene.wait_has_content("coder");
        assert_eq!(session["vendor_session_id"], before["vendor_session_id"]);

        begin_another(&scene);
        scene.assert_carries("coder", &[], "remember BETA");
        let after = scene.wait_idle("coder");
        assert_ne!(after["vendor_session_id"], before["vendor_session_id"]);
        scene.world.kill_everything();
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.assert_carries("coder", &["remember BETA"], "which\nword, /new?");
        scene.wait_idle("coder");
        assert!(event_texts(&scene.world, "coder", "binding_refused").is_empty());
    });
}

/// Starts another conversation in the same process, as a person would.
fn begin_another(scene: &OpencodeScene) {
    let attach = scene.world.command(["attach", "coder"]);
    let mut terminal = Terminal::start(&attach, 40, 120);
    terminal.wait_for("ctrl+p commands");
    terminal.write("/new");
    terminal.wait_for("New session");
    terminal.write("\r");
    terminal.wait_for("Ask anything");
}

#[test]
fn killed_turn_continues_once_with_its_instructions_and_its_model() {
    isolated(|| {
        let scene = scene();
        scene.world.write(
            "segue.toml",
            "[[agents]]\nname = \"coder\"\nvendor = \"opencode\"\nmodel = \"scripted/scripted-2\"\n\
             instructions = \"i.md\"\nprompt = \"p.md\"\n",
        );
        scene.world.write("i.md", "ALWAYS BE KIND");
        scene.world.write("p.md", "--help me [[hold: door]]");
        scene.world.ok(["trust", "--yes"]);
        scene.world.ok(["up"]);
        scene.wait_session("coder", |it| it["status"] == "working");
        scene.model.wait_held("door");
        scene.world.kill_everything();
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        let nudged = scene.model.wait_for(|it| it.newest().contains("started again"));
        assert_eq!(nudged.user_texts().len(), 2, "{:?}", nudged.user_texts());
        assert_eq!(nudged.user_texts()[0], "--help me [[hold: door]]");
        assert_eq!(nudged.body["model"], "scripted-2");
        assert_eq!(nudged.body.to_string().matches("ALWAYS BE KIND").count(), 1);
    });
}

#[test]
fn first_start_in_a_new_home_needs_no_network_and_does_not_delay_a_second() {
    isolated(|| {
        let scene = scene();
        scene.home.forget_installed();
        scene.start("first", "remember ALPHA");
        scene.start("second", "remember BETA");
        scene.model.wait_answered("remember ALPHA");
        scene.model.wait_answered("remember BETA");
        scene.wait_idle("first");
        scene.wait_idle("second");
        let turn = scene.headless("turn", "remember GAMMA");
        assert_eq!(turn.status, 0, "{turn:#?}");
        // The npm settings that limit the installation must not reach the agent's tools.
        let message = "[[tool: env | grep -i -c npm_config_fetch > limits; true]]";
        scene.world.ok(["send", "first", "--no-wait", message]);
        scene.wait_session("first", |session| session["status_detail"] == "permission");
        scene.world.ok(["answer", "first", "yes"]);
        scene.wait_idle("first");
        let found = fs::read_to_string(scene.world.project().join("limits")).unwrap();
        assert_eq!(found.trim(), "0");
    });
}
