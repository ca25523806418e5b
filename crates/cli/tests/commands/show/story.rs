//! `segue show --story`: the turns from before and after a handoff.

use std::fs;

use segue_core::model::{Handoff, HandoffForm, VendorSessionId};
use segue_testkit::stand_in::StandIn;
use segue_testkit::{World, conversation, handoffs, scene};
use serde_json::Value;

use super::{texts, turns};
use crate::world;

/// Starts `first` and `second`, and records a handoff from one to the other. The conversation of
/// `second` begins with the carried turns. Returns both sessions.
fn handed_over(world: &World, form: HandoffForm) -> [Value; 2] {
    let first = scene::start_with_word(world, "first", "amber");
    let second = scene::start_with_word(world, "second", "heron");
    let target = scene::transcript(world, &second);
    let carried = fs::read_to_string(scene::transcript(world, &first)).unwrap();
    let text = fs::read_to_string(&target).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let carried = match form {
        HandoffForm::Native => carried.split_once('\n').unwrap().1.to_owned(),
        // Segue itself sent this message after the handoff.
        _ => rest.replacen("remember the word heron", "[Handed over by Segue]\\namber", 1),
    };
    fs::write(&target, format!("{header}\n{carried}{rest}")).unwrap();
    let last = conversation::records(&scene::transcript(world, &first)).pop().unwrap();
    let id = |session: &Value| scene::text(session, "id").parse().unwrap();
    let vendor_id = |session| VendorSessionId::new(scene::text(session, "vendor_session_id"));
    let handoff = Handoff {
        from: id(&first),
        to: id(&second),
        from_conversation: Some(vendor_id(&first)),
        to_conversation: Some(vendor_id(&second)),
        form,
        turns_carried: 2,
        turns_left_out: None,
        at: scene::text(&last, "at").parse().unwrap(),
    };
    handoffs::insert(world, &handoff);
    [first, second]
}

#[test]
fn story_prints_the_turns_of_both_sessions_in_order_and_once() {
    let world = world();
    handed_over(&world, HandoffForm::Native);
    assert_eq!(turns(&world, &["second"]).len(), 4, "it lacks the carried turns");
    let first = ["remember the word amber", "I will remember amber."];
    let all = [&first[..], &["remember the word heron", "I will remember heron."]].concat();
    for name in ["first", "second"] {
        let story = turns(&world, &[name, "--story"]);
        assert_eq!(texts(&story), all, "{name}");
        let sessions: Vec<&str> = story.iter().map(|it| scene::text(it, "conversation")).collect();
        assert_eq!(
            sessions,
            ["default/first", "default/first", "default/second", "default/second"]
        );
        assert_eq!(story[2]["index"], 3, "its own number: two were carried before it");
    }
    let end = turns(&world, &["second", "--story", "-n", "3"]);
    assert_eq!(texts(&end), all[1..]);
    assert_eq!(texts(&turns(&world, &["second", "--story", "-n", "2"])), all[2..]);

    let shown = world.ok(["show", "second", "--story"]);
    assert!(shown.starts_with("── default/first (demo) ──\n\n1  user"), "{shown}");
    let divider = "\n── default/second (demo), handed over (native) 20";
    let (before, after) = shown.split_once(divider).unwrap();
    assert!(before.contains("I will remember amber.") && !after.contains("amber"), "{shown}");
    assert!(world.ok(["show", "second"]).starts_with("1  user"), "a divider without --story");
}

#[test]
fn story_with_a_lost_transcript_still_prints_the_other_turns() {
    let world = world();
    let [first, _] = handed_over(&world, HandoffForm::Native);
    world.ok(["stop", "first"]);
    fs::remove_file(scene::transcript(&world, &first)).unwrap();
    segue_testkit::launches::remove_copies(&world, &first);
    let outcome = world.segue(["show", "second", "--story"]);
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    assert!(outcome.stderr.contains("`default/first` has no transcript"), "{outcome:#?}");
    let has_carried_turns = outcome.stdout.contains("remember the word amber");
    assert!(
        has_carried_turns && outcome.stdout.contains("remember the word heron"),
        "{outcome:#?}"
    );
    world.ok(["rm", "--yes", "first"]);
    assert_eq!(turns(&world, &["second", "--story"]).len(), 4, "the carried turns are missing");
}

#[test]
fn story_shows_an_agent_only_its_own_session() {
    let world = world();
    let [_, second] = handed_over(&world, HandoffForm::Native);
    let agent = StandIn::with_new_daemon(&world, &second);
    let own = agent.run("$SEGUE show second --story --json");
    assert_eq!(own.status, 0, "{own:#?}");
    assert_eq!(own.stdout.lines().count(), 4, "the carried turns are missing: {own:#?}");
    assert!(!own.stdout.contains("default/first"), "{own:#?}");
}

#[test]
fn story_prints_a_divider_instead_of_the_digest_message() {
    let world = world();
    handed_over(&world, HandoffForm::Digest);
    let own = turns(&world, &["second"]);
    assert!(texts(&own)[0].starts_with("[Handed over by Segue]"), "{own:#?}");
    let shown = world.ok(["show", "second", "--story"]);
    let (_, after) = shown.split_once("default/second (demo), handed over (digest)").unwrap();
    assert!(!after.contains("Handed over by Segue") && after.contains("heron"), "{shown}");
}
