//! Interactive agents. Each start takes several seconds, so each test checks many things.

use std::fs;

use segue_testkit::scene::told_events;
use segue_testkit::{Terminal, isolated};

use crate::{OpencodeScene, scenery};

/// Segue's plugin submits the first message in the imported conversation. Later messages are typed.
/// An agent that runs as a tool has the same environment, but reports nothing for this session.
#[test]
fn session_resumes_after_permission_questions_a_new_conversation_and_a_kill() {
    isolated(|| {
        let scenery = scenery();
        let first = "ALPHA  \"exactly\"\n [[tool: echo one | tee made]]";
        scenery.start("coder", first);
        let waits = |it: &serde_json::Value| it["status"] == "waiting";
        let before = scenery.wait_session("coder", waits);
        assert_eq!(before["evidence"], "hook", "{before:#}");
        assert!(!scenery.world.project().join("made").exists());
        scenery.world.ok(["answer", "coder", "yes"]);
        scenery.wait_idle("coder");
        assert_eq!(fs::read_to_string(scenery.world.project().join("made")).unwrap(), "one\n");
        let id = before["vendor_session_id"].as_str();
        assert_eq!(scenery.model.wait_answered("ALPHA").session.as_deref(), id);

        scenery.world.ok(["send", "coder", "[[tool: echo two | tee other]]"]);
        scenery.wait_session("coder", waits);
        scenery.world.ok(["answer", "coder", "no"]);
        scenery.wait_idle("coder");
        assert!(!scenery.world.project().join("other").exists());
        let told = scenery.wait_spoke("coder");
        assert_eq!(told["vendor_session_id"], before["vendor_session_id"]);

        begin_anew(&scenery);
        scenery.assert_carries("coder", &[], "remember BETA");
        let after = scenery.wait_idle("coder");
        assert_ne!(after["vendor_session_id"], before["vendor_session_id"]);
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember BETA"], "which\nword, /new?");
        scenery.wait_idle("coder");
        assert!(told_events(&scenery.world, "coder", "binding_refused").is_empty());
    });
}

/// Starts another conversation in the same process, as a person would.
fn begin_anew(scenery: &OpencodeScene) {
    let attach = scenery.world.command(["attach", "coder"]);
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
        let scenery = scenery();
        scenery.world.write(
            "segue.toml",
            "[[agents]]\nname = \"coder\"\nvendor = \"opencode\"\nmodel = \"scripted/scripted-2\"\n\
             instructions = \"i.md\"\nprompt = \"p.md\"\n",
        );
        scenery.world.write("i.md", "ALWAYS BE KIND");
        scenery.world.write("p.md", "--help me [[hold: door]]");
        scenery.world.ok(["trust", "--yes"]);
        scenery.world.ok(["up"]);
        scenery.wait_session("coder", |it| it["status"] == "working");
        scenery.model.wait_held("door");
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        let nudged = scenery.model.wait_for(|it| it.newest().contains("started again"));
        assert_eq!(nudged.user_texts().len(), 2, "{:?}", nudged.user_texts());
        assert_eq!(nudged.user_texts()[0], "--help me [[hold: door]]");
        assert_eq!(nudged.body["model"], "scripted-2");
        assert_eq!(nudged.body.to_string().matches("ALWAYS BE KIND").count(), 1);
    });
}

#[test]
fn first_start_in_a_new_home_needs_no_network_and_does_not_delay_a_second() {
    isolated(|| {
        let scenery = scenery();
        scenery.home.forget_installed();
        scenery.start("first", "remember ALPHA");
        scenery.start("second", "remember BETA");
        scenery.model.wait_answered("remember ALPHA");
        scenery.model.wait_answered("remember BETA");
        scenery.wait_idle("first");
        scenery.wait_idle("second");
        let turn = scenery.headless("turn", "remember GAMMA");
        assert_eq!(turn.status, 0, "{turn:#?}");
        // The npm settings that limit the installation must not reach the agent's tools.
        let limits = "[[tool: env | grep -i -c npm_config_fetch > limits; true]]";
        scenery.world.ok(["send", "first", "--no-wait", limits]);
        scenery.wait_session("first", |session| session["status_detail"] == "permission");
        scenery.world.ok(["answer", "first", "yes"]);
        scenery.wait_idle("first");
        let found = fs::read_to_string(scenery.world.project().join("limits")).unwrap();
        assert_eq!(found.trim(), "0");
    });
}
