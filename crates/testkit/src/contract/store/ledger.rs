//! The ledger: append-only, and one owner for each vendor's id.

use segue_core::Kind;
use segue_core::model::{Binding, Evidence, LaunchId, Session, VendorId};
use segue_core::ports::Change;
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict, assert_refused, commit};

pub async fn the_ledger_keeps_every_line_in_order(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await.id;
    let launch = samples.stored_launch(&*store, session, 1).await.id;
    // The same id confirmed, another one, the first again: each is a line of its own. The clock
    // goes back in between, and the order stays that of the appending.
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

pub async fn a_vendor_id_belongs_to_one_session(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let owner = samples.stored_session(&*store, "shop", "owner").await.id;
    let other = samples.stored_session(&*store, "shop", "other").await.id;
    let claim = |session, id| Change::AddBinding(samples.binding(session, id, Evidence::Hook));
    store.commit(commit([claim(owner, "id-1"), claim(owner, "id-2")])).await.unwrap();
    // Also an id that the owner is no longer in.
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

pub async fn a_vendor_id_is_free_again_when_its_session_is_removed(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let owner = samples.stored_session(&*store, "shop", "owner").await.id;
    let other = samples.stored_session(&*store, "shop", "other").await.id;
    let claim = |session| Change::AddBinding(samples.binding(session, "id-1", Evidence::Adopted));
    store.commit(commit([claim(owner)])).await.unwrap();
    store.commit(commit([Change::RemoveSession(owner), claim(other)])).await.unwrap();
    assert_eq!(store.bindings(other).await.unwrap().len(), 1);
}

pub async fn a_binding_names_a_launch_of_its_own_session(backend: &impl Backend) {
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
