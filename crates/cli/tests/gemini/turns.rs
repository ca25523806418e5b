//! Questions before the first turn.

use segue_testkit::isolated;

use crate::place;

#[test]
fn untrusted_folder_fails_a_headless_turn_and_makes_an_interactive_agent_wait() {
    isolated(|| {
        let place = place();
        place.home.distrust(&place.world.project());
        let turn = place.headless("turn", "remember ALPHA");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("trusted directory"), "{turn:#?}");
        assert_eq!(place.model.exchanges().len(), 0);
        let started = place.run(&["-d", "--name", "coder"]);
        assert_eq!(started.status, 0, "{started:#?}");
        place.wait_session("coder", |session| {
            session["status"] == "waiting" && session["status_detail"] == "trust"
        });
        place.world.ok(["answer", "coder", "yes"]);
        place.wait_idle("coder");
        place.assert_carries("coder", &[], "remember ALPHA");
    });
}
