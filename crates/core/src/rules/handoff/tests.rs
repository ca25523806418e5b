use uuid::Uuid;

use super::*;
use crate::flows::samples::{self, handoff};
use crate::model::{VendorSessionId, WaitingFor};
use crate::rules::recovery::{CopyLocation, ResumeRefusal};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn session(number: u128) -> SessionId {
    SessionId::new(Uuid::from_u128(number))
}

#[test]
fn every_mode_is_parsed_from_its_word() {
    for mode in HandoffMode::ALL {
        assert_eq!(HandoffMode::parse(mode.word()).unwrap(), *mode);
    }
    assert!(HandoffMode::parse("Native").is_err());
}

#[test]
fn handoff_form_depends_on_mode_target_and_content() {
    let native = |else_digest| Some(HandoffMethod::Native { else_digest });
    let (full, empty) = (ConversationContent::HasMessages, ConversationContent::Empty);
    let (digest, plain) = (Some(HandoffMethod::Digest), Some(HandoffMethod::Plain));
    let table = [
        (HandoffMode::Auto, true, full, native(true)),
        (HandoffMode::Auto, false, full, digest),
        (HandoffMode::Auto, true, empty, plain),
        (HandoffMode::Native, true, full, native(false)),
        (HandoffMode::Native, false, full, None),
        (HandoffMode::Native, true, empty, plain),
        (HandoffMode::Digest, true, full, digest),
        (HandoffMode::Digest, false, empty, plain),
    ];
    for (mode, takes, content, method) in table {
        let chosen = choose_method(mode, takes, content).ok();
        assert_eq!(chosen, method, "{mode:?} {takes} {content:?}");
    }
}

#[test]
fn budget_below_the_minimum_is_a_usage_error() {
    let table = [
        (None, true),
        (Some(MIN_BUDGET_CHARACTERS), true),
        (Some(MIN_BUDGET_CHARACTERS - 1), false),
        (Some(0), false),
    ];
    for (budget, is_accepted) in table {
        assert_eq!(check_budget(budget).is_ok(), is_accepted, "{budget:?}");
    }
}

#[test]
fn long_transcript_is_converted_as_a_stream_if_all_of_it_is_handed_over() {
    let (short, long) = (Some(MAX_LOADED_BYTES), Some(MAX_LOADED_BYTES + 1));
    let room = usize::try_from(MAX_LOADED_BYTES).unwrap() + 1;
    let table = [
        (long, room, false, true),
        (long, room, true, false),
        (long, room - 1, false, false),
        (short, room, false, false),
        (None, room, false, false),
    ];
    for (length, budget, has_earlier, expected) in table {
        let is_stream = is_converted_as_stream(length, budget, has_earlier);
        assert_eq!(is_stream, expected, "{length:?} {budget} {has_earlier}");
    }
}

#[test]
fn earlier_session_is_continued_only_if_it_can_be_resumed() {
    let id = || VendorSessionId::new("id");
    let table = [
        (Decision::Attach, true),
        (Decision::Rest { id: id() }, true),
        (Decision::Resume { id: id() }, true),
        (Decision::Restore { id: id(), from: CopyLocation::Archive }, false),
        (Decision::Adopt { id: id() }, false),
        (Decision::StartAgain, false),
        (Decision::Fresh, false),
        (Decision::Refuse(ResumeRefusal::FolderGone), false),
    ];
    for (decision, expected) in table {
        assert_eq!(can_continue(&decision), expected, "{decision:?}");
    }
}

#[test]
fn last_handoff_is_the_newest_between_two_sessions_or_else_the_newest_of_the_session() {
    let steps = [handoff(1, 2, 10), handoff(2, 1, 20), handoff(1, 3, 30)];
    for (steps, other, expected) in [
        (&steps[..], 2, Some(20)),
        (&steps[..], 3, Some(30)),
        (&steps[..], 4, Some(30)),
        (&steps[..1], 4, Some(10)),
        (&[], 2, None),
    ] {
        assert_eq!(last_handoff_between(steps, session(other)), expected.map(at), "{other}");
    }
}

#[test]
fn sessions_share_turns_up_to_the_newest_turn_or_the_last_handoff() {
    let table = [
        (None, None, None),
        (None, Some(10), None),
        (Some(20), None, Some(20)),
        (Some(20), Some(10), Some(10)),
        (Some(5), Some(10), Some(5)),
    ];
    for (newest, handoff, expected) in table {
        let shared = shared_until(newest.map(at), handoff.map(at));
        assert_eq!(shared, expected.map(at), "{newest:?} {handoff:?}");
    }
}

#[test]
fn model_and_arguments_are_kept_only_for_the_same_vendor() {
    let mut from = samples::session(1, "a");
    from.model = Some("model".to_owned());
    from.args = vec!["--flag".to_owned()];
    for (vendor, is_kept) in [("tool", true), ("other", false)] {
        let settings = settings_without_agent(&from, &VendorId::new(vendor), None);
        assert_eq!((settings.model.is_some(), !settings.args.is_empty()), (is_kept, is_kept));
        assert_eq!(settings.permission, from.permission, "{vendor}");
    }
}

#[test]
fn only_an_agent_that_waits_has_open_questions() {
    assert_eq!(open_questions(Status::Idle), Vec::<String>::new());
    assert_eq!(open_questions(Status::Waiting(WaitingFor::Permission)).len(), 1);
}
