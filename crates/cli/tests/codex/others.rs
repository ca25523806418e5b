//! Other Codex processes in the same folder: sessions are never swapped or rebound, and no
//! conversation has two writers.

use segue_testkit::model::Stage;
use segue_testkit::vendors::{command, programs};
use segue_testkit::{Outcome, Terminal, isolated, processes};

use crate::{Scenery, rollouts};

const BY_HAND: [&str; 3] = ["exec", "--json", "--skip-git-repo-check"];

#[test]
fn newer_conversation_started_without_segue_is_not_resumed() {
    isolated(|| {
        let scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        let by_hand = BY_HAND.iter().chain(&["stray OMEGA"]);
        let stray = Outcome::of(&mut command(&scenery.world, "codex", by_hand));
        assert_eq!(stray.status, 0, "{stray:#?}");
        scenery.world.kill_everything();
        scenery.world.resume(["--all"]).assert_back("coder", "resumed");
        let back = scenery.world.session("coder");
        assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}

#[test]
fn an_agent_that_runs_codex_as_a_tool_stays_in_its_own_conversation() {
    isolated(|| {
        let scenery = Scenery::new();
        let bin = programs(&scenery.world);
        let inner = format!(
            "PATH={}:$PATH codex exec --json --skip-git-repo-check inner-OMEGA < /dev/null",
            bin.display()
        );
        let message = format!("ALPHA [[tool: {inner} > inner.log 2>&1]]");
        let danger = ["--vendor", "codex", "--", "-s", "danger-full-access"];
        let mut words = vec!["run", "-d", "--name", "coder", &message];
        words.extend(danger);
        let started = Outcome::of(&mut scenery.world.command(words));
        assert_eq!(started.status, 0, "{started:#?}");
        scenery.model.wait_for(|it| it.newest() == "inner-OMEGA" && it.stage == Stage::Whole);
        let session = scenery.wait_idle("coder");
        assert_eq!(rollouts(&scenery.world).len(), 2);
        scenery.wait_spoke("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["--all"]).assert_back("coder", "resumed");
        let back = scenery.world.session("coder");
        assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
        scenery.assert_carries("coder", &[&message], "which word?");
    });
}

#[test]
fn resume_is_refused_while_another_process_has_the_conversation_open() {
    isolated(|| {
        let scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        scenery.world.ok(["stop", "coder"]);
        let id = session["vendor_session_id"].as_str().unwrap();
        let by_hand = command(&scenery.world, "codex", ["--no-daemon", "resume", id, "by hand"]);
        let mut terminal = Terminal::start(&by_hand, 40, 120);
        assert!(terminal.shows("turns=2"), "{}", terminal.contents());
        let refused = scenery.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        let (_, named) = refused.stdout.split_once("is open in process ").unwrap();
        let digits: String = named.chars().take_while(char::is_ascii_digit).collect();
        drop(terminal);
        // Codex itself ends shortly after the script that started it.
        processes::wait_gone(digits.parse().unwrap());
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA", "by hand"], "which word?");
    });
}
