//! Which conversation an address selects, and who may see it.

use segue_testkit::stand_in::StandIn;
use segue_testkit::{CommandOutcome, conversation, scene};

use super::{texts, turns};
use crate::world;

#[test]
fn show_accepts_session_names_session_ids_and_vendor_session_ids() {
    let world = world();
    let session = scene::start_with_word(&world, "fox", "amber");
    let own = scene::text(&session, "vendor_session_id").to_owned();
    let by_vendor = format!("demo:{own}");
    for address in ["fox", "default/fox", &own, &by_vendor, scene::text(&session, "id")] {
        assert_eq!(turns(&world, &[address]).len(), 2, "{address}");
    }
    // No session has adopted this conversation.
    let id = scene::turn_without_segue(&world, "by hand");
    assert_eq!(texts(&turns(&world, &[&format!("demo:{id}")]))[0], "by hand");
    for address in ["nobody", "demo:unknown", "demo:", &id] {
        let outcome = CommandOutcome::of(&mut world.command(["show", address]));
        assert_eq!((outcome.status, outcome.stdout.as_str()), (3, ""), "{address}: {outcome:#?}");
        assert!(outcome.stderr.contains("hint: "), "{address}: {outcome:#?}");
    }
    for arguments in [&["show", "vendor:x"][..], &["show", "fox", "--raw", "--json"]] {
        let outcome = CommandOutcome::of(&mut world.command(arguments));
        assert_eq!(outcome.status, 2, "{arguments:?}: {outcome:#?}");
    }
}

#[test]
fn earlier_conversation_of_a_session_is_shown_by_its_vendor_session_id() {
    let world = world();
    let session = scene::start_with_word(&world, "fox", "amber");
    let before = scene::text(&session, "vendor_session_id").to_owned();
    let mut events = segue_testkit::events::Events::of(&world);
    conversation::type_text(&world, &session, "/clear\r");
    events
        .wait_for(|event| event["kind"] == "bound" && !event["text"].to_string().contains(&before));
    assert_eq!(turns(&world, &["fox"]).len(), 0);
    assert_eq!(turns(&world, &[&format!("demo:{before}")]).len(), 2);
}

#[test]
fn agent_may_show_only_its_own_conversation() {
    let world = world();
    let session = scene::start_with_word(&world, "coder", "amber");
    let other = scene::start_with_word(&world, "other", "heron");
    let foreign = scene::turn_without_segue(&world, "by hand");
    let other = scene::text(&other, "vendor_session_id").to_owned();
    let agent = StandIn::with_new_daemon(&world, &session);
    let own = agent.run("$SEGUE show coder --json");
    assert_eq!((own.status, own.stdout.lines().count()), (0, 2), "{own:#?}");
    // All get the same error, because an agent must not learn whether a session exists.
    let expected =
        "error: an agent may not reach a session that is neither its own nor its child\n";
    let addresses =
        ["other", "other --story", &format!("demo:{other}"), &format!("demo:{foreign}")];
    for address in addresses {
        let outcome = agent.run(&format!("$SEGUE show {address}"));
        assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""), "{address}: {outcome:#?}");
        assert!(outcome.stderr.starts_with(expected), "{address}: {outcome:#?}");
    }
}
