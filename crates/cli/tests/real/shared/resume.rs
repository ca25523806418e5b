//! Starts, kills and resumes: each session resumes its own conversation and no other.

use std::os::unix::fs::symlink;

use segue_testkit::Terminal;
use segue_testkit::scene::text;
use segue_testkit::vendor_scene::PinnedVendor;

use super::facts::{AgentSettings, BeginsAnother, ConfigDir};
use crate::scene;

/// The names of two sessions, and their first messages.
const SESSIONS: [(&str, &str); 2] = [("alpha", "remember ALPHA"), ("beta", "remember BETA")];

fn two_agents_in_one_folder_resume_their_own_conversations<V: PinnedVendor>() {
    let scene = scene::<V>();
    let starts = SESSIONS.map(|(name, word)| {
        scene.world.start(["run", "-d", "--vendor", V::NAME, "--name", name, word])
    });
    for mut start in starts {
        assert!(start.wait().unwrap().success());
    }
    let before = SESSIONS.map(|(name, word)| scene.wait_first_turn(name, word));
    scene.world.kill_everything();

    let report = scene.world.resume(["--all"]);
    for ((name, word), session) in SESSIONS.into_iter().zip(before) {
        report.assert_back(name, "resumed");
        let back = scene.wait_idle(text(&session, "name"));
        assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
        scene.assert_carries(name, &[word], &format!("which word, {name}?"));
    }
}

test_each!(two_agents_in_one_folder_resume_their_own_conversations: claude, codex);

fn two_headless_sessions_resume_their_own_conversations<V: PinnedVendor>() {
    let scene = scene::<V>();
    for (name, word) in SESSIONS {
        let turn = scene.headless(name, word);
        assert_eq!(turn.status, 0, "{turn:#?}");
        let answer = format!("turns=1 first=<<{word}>> last=<<{word}>>");
        assert!(turn.stdout.contains(&answer), "{turn:#?}");
        assert_eq!(scene.world.session(name)["status"], "idle");
    }
    scene.world.kill_everything();
    scene.world.resume(["--all"]);
    for (name, word) in SESSIONS {
        scene.assert_carries(name, &[word], &format!("which word, {name}?"));
    }
}

test_each!(two_headless_sessions_resume_their_own_conversations: claude, codex);

fn settings_of_the_project_file_reach_the_model_and_survive_a_resume<V: AgentSettings>() {
    let scene = scene::<V>();
    let agent = format!(
        "[[agents]]\nname = \"coder\"\nvendor = \"{}\"\nmodel = \"{}\"\n\
         permission = \"ask\"\ninstructions = \"i.md\"\nprompt = \"p.md\"\n{}",
        V::NAME,
        V::MODEL,
        V::LINES
    );
    scene.world.write("segue.toml", &agent);
    scene.world.write("i.md", "ALWAYS BE KIND");
    scene.world.write("p.md", "--help me");
    scene.world.ok(["trust", "--yes"]);
    scene.world.ok(["up"]);
    let first = scene.model.wait_answered("--help me");
    scene.wait_idle("coder");
    scene.wait_has_content("coder");
    scene.world.kill_everything();
    scene.world.resume(["coder"]).assert_back("coder", "resumed");
    let next = scene.ask("coder", "and now?");
    for exchange in [&first, &next] {
        assert_eq!(exchange.body["model"], V::MODEL);
        assert_eq!(exchange.body.to_string().matches("ALWAYS BE KIND").count(), 1);
        V::check(exchange);
    }
    let texts: Vec<&str> = next.user_texts().into_iter().map(str::trim).collect();
    assert_eq!(texts, ["--help me", "and now?"]);
}

test_each!(settings_of_the_project_file_reach_the_model_and_survive_a_resume: codex, pi);

fn session_without_a_message_restarts_with_the_same_vendor_session_id<V: PinnedVendor>() {
    let scene = scene::<V>();
    let started = scene.run(&["-d", "--name", "coder"]);
    assert_eq!(started.status, 0, "{started:#?}");
    let before = scene.wait_idle("coder");
    scene.world.kill_everything();
    scene.world.resume(["coder"]);
    let back = scene.wait_idle("coder");
    assert_eq!(back["vendor_session_id"], before["vendor_session_id"]);
    scene.assert_carries("coder", &[], "hello");
    scene.wait_has_content("coder");
    scene.wait_idle("coder");
    scene.world.kill_everything();
    scene.world.resume(["coder"]).assert_back("coder", "resumed");
    scene.assert_carries("coder", &["hello"], "and now?");
}

test_each!(session_without_a_message_restarts_with_the_same_vendor_session_id: codex, copilot, pi);

fn config_dir_behind_a_symlink_is_the_same_config_dir<V: ConfigDir>() {
    let mut scene = scene::<V>();
    let link = scene.world.root().join("link");
    symlink(scene.world.home().join(V::CONFIG_DIR), &link).unwrap();
    scene.world.set(V::VARIABLE, link.to_str().unwrap());
    let before = scene.start_and_wait("coder", "remember ALPHA");
    assert_eq!(before["evidence"], V::EVIDENCE, "{before:#}");
    scene.world.kill_everything();
    scene.world.unset(V::VARIABLE);
    scene.world.resume(["coder"]).assert_back("coder", "resumed");
    scene.assert_carries("coder", &["remember ALPHA"], "which word?");
}

test_each!(config_dir_behind_a_symlink_is_the_same_config_dir: codex, pi);

fn resume_uses_the_conversation_that_was_started_inside_the_process<V: BeginsAnother>() {
    let scene = scene::<V>();
    let before = scene.start_and_wait("coder", "remember ALPHA");
    let mut terminal = Terminal::start(&scene.world.command(["attach", "coder"]), 40, 120);
    terminal.wait_for("remember ALPHA");
    let (command, shown) = V::COMMAND;
    terminal.write(command);
    terminal.wait_for(shown);
    terminal.press_enter();
    V::wait_begun(&scene, terminal, &before);
    scene.ask_and_wait("coder", "remember BETA");
    let after = scene.wait_session("coder", |session| {
        session["status"] == "idle" && session["vendor_session_id"] != before["vendor_session_id"]
    });
    scene.wait_has_content("coder");
    scene.world.kill_everything();
    scene.world.resume(["coder"]).assert_back("coder", "resumed");
    let back = scene.world.session("coder");
    assert_eq!(back["vendor_session_id"], after["vendor_session_id"]);
    scene.assert_carries("coder", &["remember BETA"], "which word?");
}

test_each!(resume_uses_the_conversation_that_was_started_inside_the_process: codex, copilot);
