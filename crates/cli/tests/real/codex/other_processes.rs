//! Other Codex processes in the same folder: no conversation has two writers.

use segue_testkit::vendors::command;
use segue_testkit::{Terminal, isolated, processes};

use super::scene;
use crate::pid_of_opener;

#[test]
fn resume_is_refused_while_another_process_has_the_conversation_open() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        scene.world.ok(["stop", "coder"]);
        let id = session["vendor_session_id"].as_str().unwrap();
        let resume = command(&scene.world, "codex", ["--no-daemon", "resume", id, "by hand"]);
        let mut terminal = Terminal::start(&resume, 40, 120);
        assert!(terminal.shows("turns=2"), "{}", terminal.contents());
        let refused = scene.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        drop(terminal);
        // Codex itself ends shortly after the script that started it.
        processes::wait_gone(pid_of_opener(&refused));
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.assert_carries("coder", &["remember ALPHA", "by hand"], "which word?");
    });
}
