//! Settings and a Copilot home that a resume keeps.

use segue_testkit::isolated;

use super::scene;

#[test]
fn resume_keeps_the_model_the_instructions_and_the_copilot_home() {
    isolated(|| {
        let mut scene = scene();
        let other = scene.world.root().join("other-home");
        let home = segue_testkit::vendors::CopilotHome::at(&other);
        home.trust(&scene.world.project());
        scene.world.set("COPILOT_HOME", other.to_str().unwrap());
        scene.world.write(
            "segue.toml",
            "[[agents]]\nname = \"coder\"\nvendor = \"copilot\"\nmodel = \"gpt-5.4\"\n\
             permission = \"ask\"\ninstructions = \"i.md\"\nprompt = \"p.md\"\n",
        );
        scene.world.write("i.md", "Speak like a heron.");
        scene.world.write("p.md", "--help me");
        scene.world.ok(["trust", "--yes"]);
        scene.world.ok(["up"]);
        let first = scene.model.wait_answered("--help me");
        assert_eq!(first.body["model"], "gpt-5.4");
        assert!(first.body.to_string().contains("Speak like a heron."));
        scene.wait_idle("coder");
        scene.wait_has_content("coder");
        scene.world.kill_everything();
        scene.world.unset("COPILOT_HOME");
        scene.world.resume(["--all"]).assert_back("coder", "resumed");
        let next = scene.ask_and_wait("coder", "which word?");
        assert_eq!(next.user_texts(), ["--help me", "which word?"]);
        assert_eq!(next.body["model"], "gpt-5.4");
        assert!(next.body.to_string().contains("Speak like a heron."));
    });
}
