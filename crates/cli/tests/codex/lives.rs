//! Starts, kills and resumes: each session resumes its own conversation and no other.

use std::os::unix::fs::symlink;

use segue_testkit::isolated;
use segue_testkit::scene::text;

use crate::Scenery;

#[test]
fn two_agents_in_one_folder_resume_their_own_conversations() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.start("alpha", "remember ALPHA");
        scenery.start("beta", "remember BETA");
        for (name, word) in [("alpha", "ALPHA"), ("beta", "BETA")] {
            scenery.model.wait_answered(word);
            scenery.wait_idle(name);
            scenery.wait_spoke(name);
        }
        let before = [scenery.world.session("alpha"), scenery.world.session("beta")];
        scenery.world.kill_everything();

        let report = scenery.world.resume(["--all"]);
        report.assert_back("alpha", "resumed");
        report.assert_back("beta", "resumed");
        for session in &before {
            let back = scenery.world.session(text(session, "name"));
            assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
        }
        scenery.assert_carries("alpha", &["remember ALPHA"], "which word, alpha?");
        scenery.assert_carries("beta", &["remember BETA"], "which word, beta?");
    });
}

#[test]
fn two_headless_sessions_resume_their_own_conversations() {
    isolated(|| {
        let scenery = Scenery::new();
        for (name, word) in [("alpha", "ALPHA"), ("beta", "BETA")] {
            let turn = scenery.headless(name, &format!("remember {word}"));
            assert_eq!(turn.status, 0, "{turn:#?}");
            let answer = format!("turns=1 first=<<remember {word}>> last=<<remember {word}>>");
            assert!(turn.stdout.contains(&answer), "{turn:#?}");
            assert_eq!(scenery.world.session(name)["status"], "idle");
        }
        scenery.world.kill_everything();
        scenery.world.resume(["--all"]);
        scenery.assert_carries("alpha", &["remember ALPHA"], "which word, alpha?");
        scenery.assert_carries("beta", &["remember BETA"], "which word, beta?");
    });
}

#[test]
fn two_killed_headless_turns_continue_their_own_conversations() {
    isolated(|| {
        let scenery = Scenery::new();
        let names = ["alpha", "beta"];
        let message = |name: &str| format!("remember {name} [[hold: {name}]]");
        let mut turns: Vec<_> = names
            .iter()
            .map(|name| {
                let words = ["run", "--headless", "--vendor", "codex", "--name", name];
                let [a, b, c, d, e, f] = words;
                scenery.world.start([a, b, c, d, e, f, &message(name)])
            })
            .collect();
        for name in names {
            scenery.model.wait_held(name);
            scenery.wait_spoke(name);
        }
        scenery.world.kill_everything();
        turns.iter_mut().for_each(|turn| assert!(!turn.wait().unwrap().success()));

        let report = scenery.world.resume(["--all"]);
        for name in names {
            report.assert_back(name, "resumed");
            let nudged = scenery.model.wait_for(|it| {
                it.newest().contains("started again") && it.user_texts()[0] == message(name)
            });
            assert_eq!(nudged.user_texts().len(), 2, "{:?}", nudged.user_texts());
            let session = scenery.wait_idle(name);
            assert_eq!(nudged.session.as_deref(), session["vendor_session_id"].as_str());
        }
    });
}

#[test]
fn three_concurrent_starts_on_a_fresh_home_all_succeed() {
    isolated(|| {
        let scenery = Scenery::new();
        let names = ["one", "two", "three"];
        let mut starts: Vec<_> = names
            .iter()
            .map(|name| {
                let message = format!("I am {name}.");
                let words = ["run", "-d", "--name", name, "--vendor", "codex", &message];
                scenery.world.start(words)
            })
            .collect();
        for start in &mut starts {
            assert!(start.wait().unwrap().success());
        }
        for name in names {
            scenery.model.wait_answered(&format!("I am {name}."));
            let session = scenery.wait_idle(name);
            assert_eq!(session["launches"], 1, "{session:#}");
        }
    });
}

#[test]
fn settings_of_the_project_file_reach_the_model_and_survive_a_resume() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.world.write(
            "segue.toml",
            "[[agents]]\nname = \"coder\"\nvendor = \"codex\"\nmodel = \"scripted-2\"\n\
             permission = \"ask\"\ninstructions = \"i.md\"\nprompt = \"p.md\"\n",
        );
        scenery.world.write("i.md", "ALWAYS BE KIND");
        scenery.world.write("p.md", "--help me");
        scenery.world.ok(["trust", "--yes"]);
        scenery.world.ok(["up"]);
        let exchange = scenery.model.wait_answered("--help me");
        assert_eq!(exchange.body["model"], "scripted-2");
        let sent = exchange.body.to_string();
        assert_eq!(sent.matches("ALWAYS BE KIND").count(), 1, "{sent}");
        assert!(sent.contains("`sandbox_mode` is `read-only`"), "{sent}");
        scenery.wait_idle("coder");
        scenery.wait_spoke("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        let next = scenery.ask("coder", "and now?");
        assert_eq!(next.body["model"], "scripted-2");
        assert_eq!(next.user_texts(), ["--help me", "and now?"]);
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
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["hello"], "and now?");
    });
}

#[test]
fn config_dir_behind_a_symlink_is_the_same_config_dir() {
    isolated(|| {
        let mut scenery = Scenery::new();
        let link = scenery.world.root().join("link");
        symlink(scenery.world.home().join(".codex"), &link).unwrap();
        scenery.world.set("CODEX_HOME", link.to_str().unwrap());
        let before = scenery.told("coder", "remember ALPHA");
        assert_eq!(before["evidence"], "lock", "{before:#}");
        scenery.world.kill_everything();
        scenery.world.unset("CODEX_HOME");
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}
