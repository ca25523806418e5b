//! Copilot processes that a person started: their conversations can be adopted, and no conversation
//! has two writers.

use segue_testkit::vendors::command;
use segue_testkit::{CommandOutcome, Terminal, isolated, processes};

use super::scene;
use crate::pid_of_opener;

const ID: &str = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";

#[test]
fn adopted_conversation_is_not_resumed_while_another_process_has_it_open() {
    isolated(|| {
        let scene = scene();
        let arguments = [format!("--session-id={ID}"), "--prompt=remember ALPHA".to_owned()];
        let turn = CommandOutcome::of(&mut command(&scene.world, "copilot", arguments));
        assert_eq!(turn.status, 0, "{turn:#?}");
        let listed = scene.world.json(["adopt", "--json"]);
        assert_eq!(listed["candidates"][0]["vendor_session_id"], ID, "{listed:#}");
        assert_eq!(listed["candidates"][0]["begins"], "remember ALPHA", "{listed:#}");
        scene.world.ok(["adopt", &format!("copilot:{ID}"), "--name", "coder"]);
        // Copilot takes no lock, because no message is sent in this process.
        let resume = command(&scene.world, "copilot", [format!("--resume={ID}")]);
        let mut terminal = Terminal::start(&resume, 40, 120);
        terminal.wait_for("/ commands");
        assert!(terminal.shows("remember ALPHA"), "{}", terminal.contents());
        let refused = scene.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        drop(terminal);
        // Copilot itself ends shortly after the script that started it.
        processes::wait_gone(pid_of_opener(&refused));
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}
