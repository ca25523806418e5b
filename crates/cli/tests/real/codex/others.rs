//! Other Codex processes in the same folder: no conversation has two writers.

use segue_testkit::vendors::command;
use segue_testkit::{Terminal, isolated, processes};

use super::scene;

#[test]
fn resume_is_refused_while_another_process_has_the_conversation_open() {
    isolated(|| {
        let scene = scene();
        let session = scene.told("coder", "remember ALPHA");
        scene.world.ok(["stop", "coder"]);
        let id = session["vendor_session_id"].as_str().unwrap();
        let by_hand = command(&scene.world, "codex", ["--no-daemon", "resume", id, "by hand"]);
        let mut terminal = Terminal::start(&by_hand, 40, 120);
        assert!(terminal.shows("turns=2"), "{}", terminal.contents());
        let refused = scene.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        let (_, named) = refused.stdout.split_once("is open in process ").unwrap();
        let digits: String = named.chars().take_while(char::is_ascii_digit).collect();
        drop(terminal);
        // Codex itself ends shortly after the script that started it.
        processes::wait_gone(digits.parse().unwrap());
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.assert_carries("coder", &["remember ALPHA", "by hand"], "which word?");
    });
}
