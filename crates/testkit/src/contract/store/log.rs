//! The log of events: append-only, numbered, and readable from any sequence number.

use segue_core::model::{
    Event, EventKind, EventPayload, Evidence, LaunchId, NewEvent, SessionId, VendorSessionId,
};
use segue_core::ports::{Commit, EventQuery, Store};
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict};

pub async fn events_are_returned_in_order_after_a_number_up_to_a_limit(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let facts: Vec<NewEvent> = (0..10).map(|n| samples.event(None, &format!("fact {n}"))).collect();
    for pair in facts.chunks(2) {
        append(&*store, pair.to_vec()).await;
    }
    let all = ask(&*store, 0, None, 100).await;
    assert_eq!(all.iter().map(|event| event.fact.clone()).collect::<Vec<_>>(), facts);
    assert!(all.is_sorted_by(|earlier, later| earlier.seq < later.seq));
    assert!(all[0].seq > 0, "a query after 0 must return the whole log");

    let questions = [
        (all[3].seq, 100, &all[4..]),
        (all[3].seq, 2, &all[4..6]),
        (all[9].seq, 100, &[]),
        (0, 0, &[]),
        (-5, u32::MAX, &all[..]),
    ];
    for (after, limit, answer) in questions {
        assert_eq!(ask(&*store, after, None, limit).await, answer, "{limit} after {after}");
    }
}

pub async fn events_can_be_filtered_by_session(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    // The session of an event need not exist, because events are kept when their session is
    // removed.
    let [one, other] = [1, 2].map(|_| SessionId::new(Uuid::now_v7()));
    let launch = Some(LaunchId::new(Uuid::now_v7()));
    let (reason, resumable) = ("gave up: \"three\" times\n".to_owned(), None);
    let payload = EventPayload::GaveUp { reason, resumable };
    let gave_up = NewEvent { launch, payload, ..samples.event(Some(one), "") };
    let facts = vec![
        samples.event(Some(one), "a"),
        samples.event(Some(other), "b"),
        samples.event(None, "c"),
        gave_up.clone(),
    ];
    append(&*store, facts).await;
    let found = ask(&*store, 0, Some(one), 100).await;
    assert_eq!(
        found.iter().map(|event| event.fact.payload.to_string()).collect::<Vec<_>>(),
        ["a", &gave_up.payload.to_string()]
    );
    assert_eq!(found[1].fact, gave_up);
    assert_eq!(ask(&*store, found[0].seq, Some(one), 100).await, found[1..]);
    assert_eq!(ask(&*store, 0, Some(one), 1).await, found[..1]);
    assert_eq!(ask(&*store, 0, Some(other), 100).await.len(), 1);
}

pub async fn the_payload_of_an_event_is_read_back_unchanged(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let (vendor_session, evidence) = (VendorSessionId::new("id-1"), Evidence::Hook);
    let payloads = [
        EventPayload::Recorded { kind: EventKind::Bound, text: "id-1 (hook)".to_owned() },
        EventPayload::Bound { vendor_session, evidence },
        EventPayload::SettingsChanged { keys: vec!["model".to_owned(), "\"args\"".to_owned()] },
    ];
    let facts: Vec<NewEvent> = payloads
        .into_iter()
        .map(|payload| NewEvent { payload, ..samples.event(None, "") })
        .collect();
    append(&*store, facts.clone()).await;
    drop(store);
    let found = ask(&*backend.open().await, 0, None, 9).await;
    assert_eq!(found.into_iter().map(|event| event.fact).collect::<Vec<_>>(), facts);
}

pub async fn the_newest_events_of_several_sessions_are_returned_in_order(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [one, two, other] = [1, 2, 3].map(|_| SessionId::new(Uuid::now_v7()));
    let facts = [(one, "a"), (other, "b"), (two, "c"), (one, "d"), (other, "e"), (two, "f")];
    let facts = facts.map(|(session, text)| samples.event(Some(session), text));
    append(&*store, facts.to_vec()).await;
    let all = ask(&*store, 0, None, 100).await;
    let (both, first, third) = (vec![one, two], 0, all[2].seq);
    let table = [
        (both.clone(), first, 100, false, "acdf"),
        (both.clone(), first, 2, false, "ac"),
        (both.clone(), first, 2, true, "df"),
        (both.clone(), first, 100, true, "acdf"),
        (both, third, 100, false, "df"),
        (vec![one], first, 1, true, "d"),
        (Vec::new(), first, 3, true, "def"),
    ];
    for (sessions, after, limit, newest, expected) in table {
        let query = EventQuery { after, sessions, limit, newest };
        let found = store.events(&query).await.unwrap();
        let texts: String = found.iter().map(|event| event.fact.payload.to_string()).collect();
        assert_eq!(texts, expected, "{query:?}");
    }
}

pub async fn a_commit_returns_the_sequence_number_of_the_last_event(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    for count in [1, 3] {
        let facts = (0..count).map(|_| samples.event(None, "fact")).collect();
        let last = append(&*store, facts).await;
        let log = ask(&*store, 0, None, 100).await;
        assert_eq!(log.last().map(|event| event.seq), Some(last));
    }
}

pub async fn event_numbers_increase_after_a_failed_commit_and_a_reopening(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let coder = samples.stored_session(&*store, "shop", "coder").await;
    let before = append(&*store, vec![samples.event(None, "kept")]).await;
    let again = segue_core::ports::Change::CreateSession(Box::new(coder));
    let facts = vec![samples.event(None, "never happened")];
    assert_conflict(store.commit(Commit { changes: vec![again], events: facts }).await, &[]);
    drop(store);

    let store = backend.open().await;
    let after = append(&*store, vec![samples.event(None, "next")]).await;
    assert!(after > before);
    let events = ask(&*store, 0, None, 9).await;
    let texts: Vec<_> = events.into_iter().map(|event| event.fact.payload.to_string()).collect();
    assert_eq!(texts, ["kept", "next"]);
}

async fn append(store: &dyn Store, events: Vec<NewEvent>) -> i64 {
    store.commit(Commit { changes: Vec::new(), events }).await.unwrap()
}

async fn ask(store: &dyn Store, after: i64, session: Option<SessionId>, limit: u32) -> Vec<Event> {
    let sessions = session.into_iter().collect();
    store.events(&EventQuery { after, sessions, limit, newest: false }).await.unwrap()
}
