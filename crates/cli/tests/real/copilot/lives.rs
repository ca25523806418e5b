//! Settings and a Copilot home that a resume keeps.

use segue_testkit::isolated;

use super::scenery;

#[test]
fn resume_keeps_the_model_the_instructions_and_the_copilot_home() {
    isolated(|| {
        let mut scenery = scenery();
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
        let next = scenery.ask_and_wait("coder", "which word?");
        assert_eq!(next.user_texts(), ["--help me", "which word?"]);
        assert_eq!(next.body["model"], "gpt-5.4");
        assert!(next.body.to_string().contains("Speak like a heron."));
    });
}
