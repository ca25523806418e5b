//! Handoffs between sessions, and sessions that get a new name.

use segue_core::model::{
    Handoff, HandoffForm, Session, SessionName, SessionNames, VendorSessionId,
};
use segue_core::ports::Change;

use super::{Backend, Samples, assert_conflict, commit};

fn created(session: &Session) -> Change {
    Change::CreateSession(Box::new(session.clone()))
}

pub async fn a_handoff_is_found_from_its_source_and_its_target_session(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [one, two, three] = ["one", "two", "three"].map(|name| samples.session("shop", name));
    let handoff = |from: &Session, to: &Session| Handoff {
        from: from.id,
        to: to.id,
        from_conversation: Some(VendorSessionId::new("a")),
        to_conversation: None,
        form: HandoffForm::Native,
        turns_carried: 7,
        turns_left_out: None,
        at: samples.time(),
    };
    let (first, second) = (handoff(&one, &two), handoff(&two, &three));
    let unknown = Change::AddHandoff(Box::new(first.clone()));
    assert!(store.commit(commit([unknown.clone()])).await.is_err(), "unknown sessions");
    store.commit(commit([created(&one), created(&two), created(&three), unknown])).await.unwrap();
    store.commit(commit([Change::AddHandoff(Box::new(second.clone()))])).await.unwrap();
    assert_eq!(store.handoffs(one.id).await.unwrap(), std::slice::from_ref(&first));
    let both = [first, second.clone()];
    assert_eq!(store.handoffs(two.id).await.unwrap(), both);
    assert_eq!(store.handoffs_of(&[one.id, three.id]).await.unwrap(), both);
    store.commit(commit([Change::RemoveSession(one.id)])).await.unwrap();
    assert_eq!(store.handoffs(two.id).await.unwrap(), [second]);
}

pub async fn a_session_can_take_the_name_that_another_session_gives_up(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [one, two] = ["coder", "coder-2"].map(|name| samples.session("shop", name));
    store.commit(commit([created(&one), created(&two)])).await.unwrap();
    let parse = |name: &str| SessionName::parse(name).unwrap();
    let rename = |session: &Session, name: &str| Change::RenameSession {
        session: session.id,
        names: SessionNames { name: parse(name), up_name: None },
    };
    assert_conflict(store.commit(commit([rename(&two, "coder")])).await, &["`coder`", "`shop`"]);
    store.commit(commit([rename(&one, "coder-1"), rename(&two, "coder")])).await.unwrap();
    assert_eq!(store.session(two.id).await.unwrap().unwrap().name.as_str(), "coder");
    assert_eq!(store.session(one.id).await.unwrap().unwrap().name.as_str(), "coder-1");
    // Renaming a session to its current name is not a conflict.
    store.commit(commit([rename(&two, "coder")])).await.unwrap();
    let names = SessionNames { name: parse("alice"), up_name: Some(parse("coder")) };
    let session = two.id;
    store.commit(commit([Change::RenameSession { session, names }])).await.unwrap();
    let renamed = store.session(two.id).await.unwrap().unwrap();
    assert_eq!((renamed.name.as_str(), renamed.name_for_up().as_str()), ("alice", "coder"));
    // The name for `segue up` does not reserve that name.
    store.commit(commit([rename(&one, "coder")])).await.unwrap();
}
