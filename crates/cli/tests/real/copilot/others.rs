//! Copilot processes that a person started: their conversations can be adopted, and no conversation
//! has two writers.

use segue_testkit::vendors::command;
use segue_testkit::{CommandOutcome, Terminal, isolated, processes};

use super::scenery;

const ID: &str = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";

#[test]
fn adopted_conversation_is_not_resumed_while_another_process_has_it_open() {
    isolated(|| {
        let scenery = scenery();
        let by_hand = [format!("--session-id={ID}"), "--prompt=remember ALPHA".to_owned()];
        let said = CommandOutcome::of(&mut command(&scenery.world, "copilot", by_hand));
        assert_eq!(said.status, 0, "{said:#?}");
        let listed = scenery.world.json(["adopt", "--json"]);
        assert_eq!(listed["candidates"][0]["vendor_session_id"], ID, "{listed:#}");
        assert_eq!(listed["candidates"][0]["begins"], "remember ALPHA", "{listed:#}");
        scenery.world.ok(["adopt", &format!("copilot:{ID}"), "--name", "coder"]);
        // Copilot takes no lock, because no message is sent in this process.
        let by_hand = command(&scenery.world, "copilot", [format!("--resume={ID}")]);
        let mut terminal = Terminal::start(&by_hand, 40, 120);
        terminal.wait_for("/ commands");
        assert!(terminal.shows("remember ALPHA"), "{}", terminal.contents());
        let refused = scenery.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        drop(terminal);
        processes::wait_gone(opener(&refused));
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}

/// Returns the pid in the note of a refused resume. That process is Copilot itself, which ends
/// shortly after the script that started it.
fn opener(refused: &CommandOutcome) -> u32 {
    let (_, named) = refused.stdout.split_once("is open in process ").unwrap();
    let digits: String = named.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
