//! Messages to agents: stored in order, and unchangeable once they are delivered.

use segue_core::model::{
    ExchangedMessage, LaunchId, Message, MessageId, MessageSender, MessageState, Repetition,
    RepetitionKind, Session, SessionId, TypingRecord, VendorSessionId,
};
use segue_core::ports::{Change, MessageQuery, Store};
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict, commit};

pub(super) fn message(samples: &Samples, session: SessionId, text: &str) -> Message {
    let now = samples.time();
    Message {
        id: MessageId::new(Uuid::now_v7()),
        session,
        text: text.to_owned(),
        state: MessageState::Queued,
        is_command: false,
        sender: None,
        created_at: now,
        updated_at: now,
    }
}

pub async fn senders_of_the_newest_messages_of_two_sessions_are_returned(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [one, other, third] = ["one", "other", "third"].map(|name| samples.session("shop", name));
    let sender = |session: SessionId, has_worked| Some(MessageSender { session, has_worked });
    let sent = [
        (one.id, None),
        (other.id, sender(one.id, true)),
        (third.id, sender(one.id, false)),
        (one.id, sender(other.id, false)),
    ];
    let sent = sent.map(|(to, sender)| Message { sender, ..message(&samples, to, "hi") });
    let mut changes: Vec<Change> =
        [&one, &other, &third].map(|it| Change::CreateSession(Box::new(it.clone()))).into();
    changes.extend(sent.clone().map(|it| Change::AddMessage(Box::new(it))));
    store.commit(commit(changes)).await.unwrap();
    assert_eq!(all(&*store, None, false).await, sent);
    let exchanged = |at: usize| ExchangedMessage { to: sent[at].session, sender: sent[at].sender };
    for (limit, expected) in [(10, vec![3, 1, 0]), (2, vec![3, 1]), (0, vec![])] {
        let found = store.exchanged_messages((other.id, one.id), limit).await.unwrap();
        assert_eq!(found, expected.into_iter().map(exchanged).collect::<Vec<_>>(), "{limit}");
    }
}

pub async fn repetition_of_a_session_is_kept_until_it_is_replaced(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.session("shop", "one");
    store.commit(commit(vec![Change::CreateSession(Box::new(session.clone()))])).await.unwrap();
    let repetition = Repetition {
        kind: RepetitionKind::Messages,
        what: "messages".to_owned(),
        times: 12,
        since: samples.time(),
        other: Some(session.id),
        is_known: false,
    };
    for repetition in [Some(repetition), None] {
        let change = repetition.clone().map(Box::new);
        let change = Change::SetRepetition { session: session.id, repetition: change };
        store.commit(commit(vec![change])).await.unwrap();
        let found = store.session(session.id).await.unwrap().unwrap();
        assert_eq!(found, Session { repetition, ..session.clone() });
    }
}

async fn all(store: &dyn Store, session: Option<SessionId>, open: bool) -> Vec<Message> {
    store.messages(&MessageQuery { session, open }).await.unwrap()
}

pub async fn messages_are_returned_in_order_and_can_be_filtered_by_session(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [one, other] = ["one", "other"].map(|name| samples.session("shop", name));
    let sent = [
        message(&samples, one.id, "first\n\"quoted\" \u{1F600}"),
        message(&samples, other.id, "-x"),
        message(&samples, one.id, "second"),
    ];
    let mut changes: Vec<Change> =
        [one.clone(), other].map(|it| Change::CreateSession(Box::new(it))).into();
    changes.extend(sent.clone().map(|it| Change::AddMessage(Box::new(it))));
    store.commit(commit(changes)).await.unwrap();
    assert_eq!(all(&*store, None, false).await, sent);
    assert_eq!(store.message(sent[1].id).await.unwrap().as_ref(), Some(&sent[1]));
    assert_eq!(store.message(MessageId::new(Uuid::now_v7())).await.unwrap(), None);
    assert_eq!(all(&*store, Some(one.id), false).await, [sent[0].clone(), sent[2].clone()]);
    store.commit(commit([Change::RemoveSession(one.id)])).await.unwrap();
    assert_eq!(all(&*store, None, false).await, [sent[1].clone()]);
}

pub async fn a_message_can_change_its_state_until_it_is_delivered(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.session("shop", "one");
    let sent = message(&samples, session.id, "hello");
    let changes = vec![
        Change::CreateSession(Box::new(session.clone())),
        Change::AddMessage(Box::new(sent.clone())),
    ];
    store.commit(commit(changes)).await.unwrap();
    let record = TypingRecord {
        launch: LaunchId::new(Uuid::now_v7()),
        conversation: Some(VendorSessionId::new("an-id")),
        offset: 77,
    };
    let at = samples.time();
    let set = |state| Change::SetMessage { message: sent.id, state, at };
    for state in [MessageState::Typing(record), MessageState::Queued] {
        store.commit(commit(vec![set(state.clone())])).await.unwrap();
        let found = all(&*store, Some(session.id), true).await;
        assert_eq!(found, [Message { state, updated_at: at, ..sent.clone() }]);
    }
    store.commit(commit(vec![set(MessageState::Delivered)])).await.unwrap();
    assert_eq!(all(&*store, None, true).await, []);
    assert_eq!(all(&*store, None, false).await[0].state, MessageState::Delivered);
    let again = store.commit(commit([set(MessageState::Queued)])).await;
    assert_conflict(again, &["delivered already"]);
}

pub async fn messages_of_unknown_sessions_and_unknown_messages_are_refused(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let lost = message(&samples, SessionId::new(Uuid::now_v7()), "x");
    let changes = vec![Change::AddMessage(Box::new(lost.clone()))];
    assert!(store.commit(commit(changes)).await.is_err());
    let changes = vec![Change::SetMessage {
        message: lost.id,
        state: MessageState::Delivered,
        at: samples.time(),
    }];
    assert!(store.commit(commit(changes)).await.is_err());
}
