//! The ledger of bindings: append-only, and each vendor session id belongs to one session.

use segue_core::Kind;
use segue_core::model::{Binding, Evidence, LaunchId, Session, VendorId};
use segue_core::ports::Change;
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict, assert_refused, commit};

pub async fn bindings_are_returned_in_the_order_in_which_they_were_added(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await.id;
    let launch = samples.stored_launch(&*store, session, 1).await.id;
    // Confirming an id, changing to another one and returning to the first each add a binding. One
    // binding has an earlier timestamp, as if the clock was set back. The order must still be the
    // order of insertion.
    let late = samples.time();
    let steps = [
        ("id-1", Evidence::Preset),
        ("id-1", Evidence::Hook),
        ("id-2", Evidence::Stream),
        ("id-1", Evidence::Adopted),
        ("id-3", Evidence::Registry),
        ("id-4", Evidence::Lock),
        ("id-5", Evidence::Import),
        ("id-6", Evidence::Discovered),
    ];
    let mut lines: Vec<Binding> = Vec::new();
    for (number, (id, evidence)) in steps.into_iter().enumerate() {
        let mut line = samples.binding(session, id, evidence);
        line.launch = (number % 2 == 0).then_some(launch);
        if number == 3 {
            line.at = late;
        }
        store.commit(commit([Change::AddBinding(line.clone())])).await.unwrap();
        lines.push(line);
        assert_eq!(store.bindings(session).await.unwrap(), lines);
    }
    drop(store);
    assert_eq!(backend.open().await.bindings(session).await.unwrap(), lines);
}

pub async fn a_vendor_session_id_of_another_session_is_a_conflict(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let owner = samples.stored_session(&*store, "shop", "owner").await.id;
    let other = samples.stored_session(&*store, "shop", "other").await.id;
    let claim = |session, id| Change::AddBinding(samples.binding(session, id, Evidence::Hook));
    store.commit(commit([claim(owner, "id-1"), claim(owner, "id-2")])).await.unwrap();
    // `id-1` is refused, too, although the owner is now in the conversation `id-2`.
    for id in ["id-1", "id-2"] {
        let result = store.commit(commit([claim(other, id)])).await;
        assert_conflict(result, &[id, "`shop/owner`"]);
    }
    assert!(store.bindings(other).await.unwrap().is_empty());
    store.commit(commit([claim(owner, "id-1")])).await.unwrap();

    let foreign =
        Session { vendor: VendorId::new("another"), ..samples.session("shop", "foreign") };
    let changes = [Change::CreateSession(Box::new(foreign.clone())), claim(foreign.id, "id-1")];
    store.commit(commit(changes)).await.unwrap();
    assert_eq!(store.bindings(foreign.id).await.unwrap().len(), 1);
}

pub async fn removing_a_session_frees_its_vendor_session_id(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let owner = samples.stored_session(&*store, "shop", "owner").await.id;
    let other = samples.stored_session(&*store, "shop", "other").await.id;
    let claim = |session| Change::AddBinding(samples.binding(session, "id-1", Evidence::Adopted));
    store.commit(commit([claim(owner)])).await.unwrap();
    store.commit(commit([Change::RemoveSession(owner), claim(other)])).await.unwrap();
    assert_eq!(store.bindings(other).await.unwrap().len(), 1);
}

pub async fn a_binding_with_a_launch_of_another_session_is_a_conflict(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let owner = samples.stored_session(&*store, "shop", "owner").await.id;
    let other = samples.stored_session(&*store, "shop", "other").await.id;
    let launch = samples.stored_launch(&*store, owner, 1).await.id;
    let bound_by = |launch| {
        let line = samples.binding(other, "id-1", Evidence::Hook);
        commit([Change::AddBinding(Binding { launch: Some(launch), ..line })])
    };
    assert_conflict(store.commit(bound_by(launch)).await, &["`shop/owner`", "`shop/other`"]);
    let unknown = LaunchId::new(Uuid::now_v7());
    let result = store.commit(bound_by(unknown)).await;
    assert_refused(result, Kind::NotFound, &[&unknown.to_string()]);
    assert!(store.bindings(other).await.unwrap().is_empty());
}
