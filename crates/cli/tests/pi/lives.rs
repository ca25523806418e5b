//! Starts, kills and resumes in every kind of place.

use std::os::unix::fs::symlink;

use segue_testkit::{Outcome, isolated};
use serde_json::Value;

use crate::{Scenery, transcripts};

#[test]
fn the_command_line_says_what_the_session_is_to_be() {
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

/// Pi has no argument for an id: it is in the file that Pi is told to go on with.
#[test]
fn the_file_is_there_before_pi_and_pi_makes_no_other() {
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
fn one_that_was_never_told_anything_is_begun_again_under_its_id() {
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

/// Pi alone ends at once in such a folder.
#[test]
fn a_folder_with_a_name_that_is_too_long_for_pi_is_none_for_us() {
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
fn a_home_behind_a_link_is_the_same_home() {
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
