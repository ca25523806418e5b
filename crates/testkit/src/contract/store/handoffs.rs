//! Conversations that went on under another session, and names that change hands.

use segue_core::model::{Form, Handoff, Session, SessionName, VendorSessionId};
use segue_core::ports::Change;

use super::{Backend, Samples, assert_conflict, commit};

fn created(session: &Session) -> Change {
    Change::CreateSession(Box::new(session.clone()))
}

pub async fn handoffs_are_found_from_both_ends(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [one, two, three] = ["one", "two", "three"].map(|name| samples.session("shop", name));
    let handoff = |from: &Session, to: &Session| Handoff {
        from: from.id,
        to: to.id,
        from_conversation: Some(VendorSessionId::new("a")),
        to_conversation: None,
        form: Form::Native,
        turns_carried: 7,
        turns_left_out: None,
        at: samples.time(),
    };
    let (first, second) = (handoff(&one, &two), handoff(&two, &three));
    let unknown = Change::AddHandoff(Box::new(first.clone()));
    assert!(store.commit(commit([unknown.clone()])).await.is_err(), "nobody's handoff");
    store.commit(commit([created(&one), created(&two), created(&three), unknown])).await.unwrap();
    store.commit(commit([Change::AddHandoff(Box::new(second.clone()))])).await.unwrap();
    assert_eq!(store.handoffs(one.id).await.unwrap(), std::slice::from_ref(&first));
    let both = [first, second.clone()];
    assert_eq!(store.handoffs(two.id).await.unwrap(), both);
    assert_eq!(store.all_handoffs().await.unwrap(), both);
    store.commit(commit([Change::RemoveSession(one.id)])).await.unwrap();
    assert_eq!(store.handoffs(two.id).await.unwrap(), [second]);
}

pub async fn a_name_can_be_given_to_another_session(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [one, two] = ["coder", "coder-2"].map(|name| samples.session("shop", name));
    store.commit(commit([created(&one), created(&two)])).await.unwrap();
    let rename = |session: &Session, name: &str| Change::RenameSession {
        session: session.id,
        name: SessionName::parse(name).unwrap(),
    };
    assert_conflict(store.commit(commit([rename(&two, "coder")])).await, &["`coder`", "`shop`"]);
    store.commit(commit([rename(&one, "coder-1"), rename(&two, "coder")])).await.unwrap();
    assert_eq!(store.session(two.id).await.unwrap().unwrap().name.as_str(), "coder");
    assert_eq!(store.session(one.id).await.unwrap().unwrap().name.as_str(), "coder-1");
    // Its own name is no conflict.
    store.commit(commit([rename(&two, "coder")])).await.unwrap();
}
