//! Other processes of Claude Code in the folder of a session.

use segue_testkit::scene::event_texts;
use segue_testkit::vendors::command;
use segue_testkit::{Terminal, isolated};

use super::scene;

#[test]
fn agent_that_runs_claude_as_a_tool_stays_bound_to_its_own_conversation() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        let message = "[[tool: claude -p 'nested OMEGA']]";
        scene.world.ok(["send", "coder", message]);
        scene.model.wait_answered("nested OMEGA");
        scene.wait_turns("coder", 2);
        assert_eq!(scene.world.session("coder")["vendor_session_id"], session["vendor_session_id"]);
        let bound = event_texts(&scene.world, "coder", "bound");
        let id = session["vendor_session_id"].as_str().unwrap();
        assert!(bound.iter().all(|text| text.starts_with(id)), "{bound:#?}");
        scene.world.kill_everything();
        scene.world.resume(["--all"]).assert_back("coder", "resumed");
        scene.wait_idle("coder");
        scene.assert_carries("coder", &["remember ALPHA", message], "what was it?");
    });
}

#[test]
fn resume_is_refused_while_another_process_has_the_conversation_open() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        scene.world.ok(["stop", "coder"]);
        let id = session["vendor_session_id"].as_str().unwrap();
        let resume = command(&scene.world, "claude", ["--resume", id]);
        let mut terminal = Terminal::start(&resume, 40, 120);
        // The line below the input names the mode, which depends on the version. So the test waits
        // for the input itself.
        terminal.wait_until("its input", |screen| {
            let shown = screen.contents();
            shown.contains("remember ALPHA") && shown.lines().any(|row| row.trim() == "❯")
        });
        let report = scene.world.resume(["coder"]);
        report.assert_not_back("coder", "refused");
        assert!(report.note("coder").contains(&terminal.pid().to_string()), "{report:#?}");
        drop(terminal);
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
    });
}
