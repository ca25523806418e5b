//! The conversations that handoffs connect.

use segue_core::api::ConversationPart;
use segue_core::flows::handoff_chain;
use segue_core::model::{Handoff, Principal, Session, Status, VendorSessionId};
use segue_core::ports::Change;
use segue_fakes::samples;

use crate::stored::Stored;

/// Three sessions with a conversation each, of which one goes on as the next.
async fn chain() -> (Stored, [Session; 3]) {
    let stored = Stored::new();
    let mut sessions = Vec::new();
    for (number, name) in [(1, "first"), (2, "second"), (3, "third")] {
        let session = stored.add(number, name, Status::Idle).await;
        stored.bind(&session, name).await;
        sessions.push(session);
    }
    stored.hand_over(&sessions[0], &sessions[1], 10).await;
    stored.hand_over(&sessions[1], &sessions[2], 20).await;
    (stored, sessions.try_into().unwrap())
}

async fn parts_for(stored: &Stored, principal: &Principal, of: &Session) -> Vec<ConversationPart> {
    let summary = stored.summary(of).await;
    handoff_chain::parts(&stored.ports, principal, &summary).await.unwrap()
}

async fn ids(stored: &Stored, of: &Session) -> Vec<String> {
    let parts = parts_for(stored, &Principal::User, of).await;
    parts.into_iter().map(|it| it.vendor_session_id.unwrap().to_string()).collect()
}

#[tokio::test]
async fn every_session_of_a_chain_shows_the_whole_conversation() {
    let (stored, sessions) = chain().await;
    for session in &sessions {
        assert_eq!(ids(&stored, session).await, ["first", "second", "third"]);
    }
    let parts = parts_for(&stored, &Principal::User, &sessions[0]).await;
    let is_taken_over: Vec<bool> = parts.iter().map(|it| it.taken_over.is_some()).collect();
    assert_eq!(is_taken_over, [false, true, true]);
}

#[tokio::test]
async fn session_without_handoffs_shows_its_own_conversation() {
    let (stored, _) = chain().await;
    let alone = stored.add(9, "alone", Status::Idle).await;
    stored.bind(&alone, "own").await;
    assert_eq!(ids(&stored, &alone).await, ["own"]);
}

#[tokio::test]
async fn session_shows_the_conversation_that_it_had_at_the_handoff() {
    let stored = Stored::new();
    let from = stored.add(1, "from", Status::Idle).await;
    let to = stored.add(2, "to", Status::Idle).await;
    let next = stored.add(3, "next", Status::Idle).await;
    for (session, id) in [(&from, "a"), (&from, "a-later"), (&to, "b-later"), (&next, "c")] {
        stored.bind(session, id).await;
    }
    let id = |text: &str| Some(VendorSessionId::new(text));
    let first = Handoff {
        from_conversation: id("a"),
        to_conversation: id("b"),
        ..stored.hand_over(&from, &to, 0).await
    };
    // The recorded handoffs: one that names both conversations, and one that names none.
    let first = Handoff { at: first.at + jiff::SignedDuration::from_secs(10), ..first };
    stored.commit(vec![Change::AddHandoff(Box::new(first))]).await;
    stored.hand_over(&to, &next, 20).await;
    let shown = ids(&stored, &next).await;
    assert_eq!(shown.last().map(String::as_str), Some("c"), "{shown:?}");
    assert_eq!(shown[shown.len() - 2], "b", "as the handoff before it says: {shown:?}");
    assert_eq!(shown[shown.len() - 3], "a", "as the handoff after it says: {shown:?}");
}

#[tokio::test]
async fn conversation_that_comes_back_is_shown_there_and_back() {
    let (stored, [first, _, third]) = chain().await;
    stored.hand_over(&third, &first, 30).await;
    assert_eq!(ids(&stored, &first).await, ["first", "second", "third", "first"]);
}

#[tokio::test]
async fn sessions_that_the_caller_may_not_see_are_left_out() {
    let (stored, [_, second, _]) = chain().await;
    let agent = Principal::Agent(Box::new(second.clone()));
    let parts = parts_for(&stored, &agent, &second).await;
    let names: Vec<_> = parts.iter().map(|it| it.session.as_ref().unwrap().name.as_str()).collect();
    assert_eq!(names, ["second"]);
}

#[tokio::test]
async fn chain_that_cannot_be_read_is_an_error() {
    let (stored, [first, ..]) = chain().await;
    let summary = stored.summary(&first).await;
    for call in ["store.handoffs_of", "store.sessions", "store.launches"] {
        stored.world.calls.fail(call, 1);
        let parts = handoff_chain::parts(&stored.ports, &Principal::User, &summary).await;
        assert!(parts.is_err(), "{call}");
    }
    assert_eq!(first.fleet, samples::session(1, "first").fleet);
}
