//! Starts, kills and resumes with settings, long folder names and a symlinked home.

use std::os::unix::fs::symlink;

use segue_testkit::{Outcome, isolated};
use serde_json::Value;

use crate::{Scenery, transcripts};

#[test]
fn settings_of_the_project_file_reach_the_model_and_survive_a_resume() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.world.write(
            "segue.toml",
            "[[agents]]\nname = \"coder\"\nvendor = \"pi\"\nmodel = \"scripted-1\"\n\
             permission = \"ask\"\ninstructions = \"i.md\"\nprompt = \"p.md\"\n\
             args = [\"--tools\", \"read\"]\n",
        );
        scenery.world.write("i.md", "ALWAYS BE KIND");
        scenery.world.write("p.md", "--help me");
        scenery.world.ok(["trust", "--yes"]);
        scenery.world.ok(["up"]);
        let first = scenery.model.wait_answered("--help me");
        scenery.wait_idle("coder");
        scenery.wait_spoke("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        let next = scenery.ask("coder", "and now?");
        for exchange in [&first, &next] {
            assert_eq!(exchange.body["model"], "scripted-1");
            assert_eq!(exchange.body["tools"].as_array().unwrap().len(), 1, "{exchange:?}");
            assert_eq!(exchange.body.to_string().matches("ALWAYS BE KIND").count(), 1);
        }
        let told = next.user_texts();
        assert_eq!(
            told.iter().map(|text| text.trim()).collect::<Vec<_>>(),
            ["--help me", "and now?"]
        );
    });
}

/// Pi has no argument for an id. The id is in the transcript that Pi is told to resume.
#[test]
fn pi_writes_only_to_the_transcript_that_segue_prepared() {
    isolated(|| {
        let scenery = Scenery::new();
        let turn = scenery.headless("coder", "remember ALPHA");
        assert_eq!(turn.status, 0, "{turn:#?}");
        let session = scenery.world.session("coder");
        let all = transcripts(scenery.home.folder());
        assert_eq!(all, [scenery.transcript(&session)]);
        let written = std::fs::read_to_string(&all[0]).unwrap();
        let first: Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
        assert_eq!(first["id"], session["vendor_session_id"]);
        assert_eq!(first["cwd"], scenery.world.project().to_str().unwrap());
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
        assert_eq!(transcripts(scenery.home.folder()), all);
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
        scenery.wait_spoke("coder");
        scenery.wait_idle("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["hello"], "and now?");
    });
}

/// Without Segue, Pi ends at once in such a folder.
#[test]
fn folder_with_a_name_too_long_for_pi_works_through_segue() {
    isolated(|| {
        let scenery = Scenery::new();
        let long = scenery.world.project().join("x".repeat(150)).join("ü".repeat(60));
        std::fs::create_dir_all(&long).unwrap();
        let words = ["run", "-d", "--vendor", "pi", "--name", "coder", "remember ALPHA"];
        let started = Outcome::of(scenery.world.command(words).current_dir(&long));
        assert_eq!(started.status, 0, "{started:#?}");
        scenery.model.wait_answered("remember ALPHA");
        scenery.wait_idle("coder");
        scenery.wait_spoke("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}

#[test]
fn config_dir_behind_a_symlink_is_the_same_config_dir() {
    isolated(|| {
        let mut scenery = Scenery::new();
        let link = scenery.world.root().join("link");
        symlink(scenery.home.folder(), &link).unwrap();
        scenery.world.set("PI_CODING_AGENT_DIR", link.to_str().unwrap());
        let before = scenery.told("coder", "remember ALPHA");
        assert_eq!(before["evidence"], "hook", "{before:#}");
        scenery.world.kill_everything();
        scenery.world.unset("PI_CODING_AGENT_DIR");
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}
