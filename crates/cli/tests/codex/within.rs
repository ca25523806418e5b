//! Conversations that a person starts inside the vendor's process: the session follows them.

use segue_testkit::{Terminal, isolated};

use crate::Scenery;

#[test]
fn resume_uses_the_conversation_that_was_started_inside_the_process() {
    isolated(|| {
        let scenery = Scenery::new();
        let before = scenery.told("coder", "remember ALPHA");
        let mut terminal = Terminal::start(&scenery.world.command(["attach", "coder"]), 40, 120);
        terminal.wait_for("turns=1");
        terminal.write("/new");
        terminal.wait_for("› /new");
        terminal.write("\r");
        terminal.wait_until("an empty screen", |screen| !screen.contents().contains("turns=1"));
        drop(terminal);
        scenery.ask("coder", "remember BETA");
        let after = scenery.wait_session("coder", |session| {
            session["status"] == "idle"
                && session["vendor_session_id"] != before["vendor_session_id"]
        });
        scenery.wait_spoke("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        let back = scenery.world.session("coder");
        assert_eq!(back["vendor_session_id"], after["vendor_session_id"]);
        scenery.assert_carries("coder", &["remember BETA"], "which word?");
    });
}
