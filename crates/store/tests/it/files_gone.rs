//! Tests of files that are deleted, moved or changed while the store has them open.

use std::fs;

use segue_core::Kind;
use segue_core::ports::{Change, Commit, SessionQuery, Store};
use segue_testkit::contract::store::{Samples, assert_refused, commit};

use crate::fixture::StoreFixture;

type Trick = (&'static str, fn(&StoreFixture));

#[tokio::test]
async fn commits_to_a_deleted_or_replaced_file_are_refused() {
    let tricks: [Trick; 4] = [
        ("deleted", |place| fs::remove_file(&place.store).unwrap()),
        ("moved away", |place| fs::rename(&place.store, place.beside(".moved")).unwrap()),
        ("replaced", |place| {
            fs::copy(&place.store, place.beside(".copy")).unwrap();
            fs::rename(place.beside(".copy"), &place.store).unwrap();
        }),
        ("all deleted", |place| {
            for suffix in ["", "-wal", "-shm"] {
                fs::remove_file(place.beside(suffix)).unwrap();
            }
        }),
    ];
    for (name, trick) in tricks {
        let (place, samples) = (StoreFixture::new(), Samples::default());
        let store = segue_store::open(&place.store).await.unwrap();
        samples.stored_session(&*store, "shop", "coder").await;
        trick(&place);
        let before = place.contents();
        assert_commits_are_refused(&*store, &samples).await;
        drop(store);
        assert!(place.contents() == before, "{name}: {:?}", place.contents().keys());
    }
}

#[tokio::test]
async fn deleted_log_is_noticed_and_its_content_is_saved() {
    for companion in ["-wal", "-shm"] {
        let (place, samples) = (StoreFixture::new(), Samples::default());
        let store = segue_store::open(&place.store).await.unwrap();
        let session = samples.stored_session(&*store, "shop", "coder").await;
        fs::remove_file(place.beside(companion)).unwrap();
        assert_commits_are_refused(&*store, &samples).await;
        drop(store);
        let store = segue_store::open(&place.store).await.unwrap();
        assert_eq!(store.session(session.id).await.unwrap(), Some(session));
    }
}

#[tokio::test]
async fn commits_to_a_truncated_file_are_refused() {
    let (place, samples) = (StoreFixture::new(), Samples::default());
    let store = segue_store::open(&place.store).await.unwrap();
    samples.stored_session(&*store, "shop", "coder").await;
    fs::write(&place.store, "short").unwrap();
    let result = store.commit(Commit::default()).await;
    assert_refused(result, Kind::Unavailable, &["is damaged"]);
    drop(store);
    assert_eq!(fs::read_to_string(&place.store).unwrap(), "short");
}

async fn assert_commits_are_refused(store: &dyn Store, samples: &Samples) {
    let more = Change::CreateSession(Box::new(samples.session("shop", "late")));
    for refused in [commit([more]), Commit::default()] {
        let result = store.commit(refused).await;
        assert_refused(result.clone(), Kind::Unavailable, &["the store's file is gone"]);
        assert!(result.unwrap_err().hints[0].contains("`segue doctor --fix`"));
    }
}

#[tokio::test]
async fn check_notices_an_overwritten_open_file_and_does_not_change_it() {
    let (place, samples) = (StoreFixture::new(), Samples::default());
    let store = segue_store::open(&place.store).await.unwrap();
    samples.stored_session(&*store, "shop", "coder").await;
    assert_eq!(segue_store::check(&place.store), Ok(()));
    samples.stored_session(&*store, "shop", "later").await;
    fs::write(&place.store, "garbage ".repeat(2000)).unwrap();
    let words = || ["", "-wal"].map(|suffix| fs::read(place.beside(suffix)).unwrap());
    let before = words();
    let error = segue_store::check(&place.store).unwrap_err();
    assert!(error.message.contains("is damaged"), "{error:?}");
    assert!(error.hints[0].contains("`segue doctor --fix`"), "{error:?}");
    assert!(words() == before, "it was written to");
    fs::remove_file(&place.store).unwrap();
    let error = segue_store::check(&place.store).unwrap_err();
    assert!(error.message.contains("is gone"), "{error:?}");
}

#[tokio::test]
async fn closing_a_replaced_store_does_not_harm_the_new_one() {
    let (place, samples) = (StoreFixture::new(), Samples::default());
    let old = segue_store::open(&place.store).await.unwrap();
    samples.stored_session(&*old, "shop", "old").await;
    segue_store::set_aside(&place.store, "aside").unwrap();
    let new = segue_store::open(&place.store).await.unwrap();
    samples.stored_session(&*new, "shop", "new").await;
    drop(old);
    samples.stored_session(&*new, "shop", "newer").await;
    drop(new);
    let names: Vec<_> = segue_store::open(&place.store)
        .await
        .unwrap()
        .sessions(&SessionQuery::default())
        .await
        .unwrap()
        .into_iter()
        .map(|found| found.session.name.to_string())
        .collect();
    assert_eq!(names, ["new", "newer"]);
}
