//! Copilot sessions over several launches: a new conversation inside the process, settings and a
//! Copilot home that a resume keeps, and a session without a message.

use segue_testkit::isolated;
use segue_testkit::scene::text;

use crate::Scenery;

#[test]
fn resume_uses_the_conversation_that_was_started_inside_the_process() {
    isolated(|| {
        let scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        let old = text(&session, "vendor_session_id").to_owned();
        let mut person =
            segue_testkit::Terminal::start(&scenery.world.command(["attach", "coder"]), 40, 120);
        person.wait_for("remember ALPHA");
        person.write("/clear");
        person.wait_for("/clear");
        person.press_enter();
        scenery.wait_session("coder", |session| session["vendor_session_id"] != old.as_str());
        drop(person);
        scenery.ask("coder", "remember BETA");
        scenery.wait_idle("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember BETA"], "which word?");
    });
}

#[test]
fn resume_keeps_the_model_the_instructions_and_the_copilot_home() {
    isolated(|| {
        let mut scenery = Scenery::new();
        let other = scenery.world.root().join("other-home");
        let home = segue_testkit::vendors::CopilotHome::at(&other);
        home.trust(&scenery.world.project());
        scenery.world.set("COPILOT_HOME", other.to_str().unwrap());
        scenery.world.write(
            "segue.toml",
            "[[agents]]\nname = \"coder\"\nvendor = \"copilot\"\nmodel = \"gpt-5.4\"\n\
             permission = \"ask\"\ninstructions = \"i.md\"\nprompt = \"p.md\"\n",
        );
        scenery.world.write("i.md", "Speak like a heron.");
        scenery.world.write("p.md", "--help me");
        scenery.world.ok(["trust", "--yes"]);
        scenery.world.ok(["up"]);
        let first = scenery.model.wait_answered("--help me");
        assert_eq!(first.body["model"], "gpt-5.4");
        assert!(first.body.to_string().contains("Speak like a heron."));
        scenery.wait_idle("coder");
        scenery.wait_spoke("coder");
        scenery.world.kill_everything();
        scenery.world.unset("COPILOT_HOME");
        scenery.world.resume(["--all"]).assert_back("coder", "resumed");
        let next = scenery.ask("coder", "which word?");
        assert_eq!(next.user_texts(), ["--help me", "which word?"]);
        assert_eq!(next.body["model"], "gpt-5.4");
        assert!(next.body.to_string().contains("Speak like a heron."));
    });
}

#[test]
fn session_without_a_message_restarts_with_the_same_vendor_session_id() {
    isolated(|| {
        let scenery = Scenery::new();
        let started = scenery.run(&["-d", "--name", "coder"]);
        assert_eq!(started.status, 0, "{started:#?}");
        let before = scenery.wait_idle("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]);
        let back = scenery.wait_idle("coder");
        assert_eq!(back["vendor_session_id"], before["vendor_session_id"]);
        scenery.assert_carries("coder", &[], "hello");
    });
}
