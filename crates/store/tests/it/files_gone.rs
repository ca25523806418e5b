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
        ("deleted", |fixture| fs::remove_file(&fixture.store).unwrap()),
        ("moved away", |fixture| fs::rename(&fixture.store, fixture.beside(".moved")).unwrap()),
        ("replaced", |fixture| {
            fs::copy(&fixture.store, fixture.beside(".copy")).unwrap();
            fs::rename(fixture.beside(".copy"), &fixture.store).unwrap();
        }),
        ("all deleted", |fixture| {
            for suffix in ["", "-wal", "-shm"] {
                fs::remove_file(fixture.beside(suffix)).unwrap();
            }
        }),
    ];
    for (name, trick) in tricks {
        let (fixture, samples) = (StoreFixture::new(), Samples::default());
        let store = segue_store::open(&fixture.store).await.unwrap();
        samples.stored_session(&*store, "shop", "coder").await;
        trick(&fixture);
        let before = fixture.contents();
        assert_commits_are_refused(&*store, &samples).await;
        drop(store);
        assert!(fixture.contents() == before, "{name}: {:?}", fixture.contents().keys());
    }
}

#[tokio::test]
async fn commits_after_a_deleted_log_are_refused_and_earlier_commits_are_kept() {
    for companion in ["-wal", "-shm"] {
        let (fixture, samples) = (StoreFixture::new(), Samples::default());
        let store = segue_store::open(&fixture.store).await.unwrap();
        let session = samples.stored_session(&*store, "shop", "coder").await;
        fs::remove_file(fixture.beside(companion)).unwrap();
        assert_commits_are_refused(&*store, &samples).await;
        drop(store);
        let store = segue_store::open(&fixture.store).await.unwrap();
        assert_eq!(store.session(session.id).await.unwrap(), Some(session));
    }
}

#[tokio::test]
async fn commits_to_a_truncated_file_are_refused() {
    let (fixture, samples) = (StoreFixture::new(), Samples::default());
    let store = segue_store::open(&fixture.store).await.unwrap();
    samples.stored_session(&*store, "shop", "coder").await;
    fs::write(&fixture.store, "short").unwrap();
    let result = store.commit(Commit::default()).await;
    assert_refused(result, Kind::Unavailable, &["is damaged"]);
    drop(store);
    assert_eq!(fs::read_to_string(&fixture.store).unwrap(), "short");
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
    let (fixture, samples) = (StoreFixture::new(), Samples::default());
    let store = segue_store::open(&fixture.store).await.unwrap();
    samples.stored_session(&*store, "shop", "coder").await;
    assert_eq!(segue_store::check(&fixture.store), Ok(()));
    samples.stored_session(&*store, "shop", "later").await;
    fs::write(&fixture.store, "garbage ".repeat(2000)).unwrap();
    let words = || ["", "-wal"].map(|suffix| fs::read(fixture.beside(suffix)).unwrap());
    let before = words();
    let error = segue_store::check(&fixture.store).unwrap_err();
    assert!(error.message.contains("is damaged"), "{error:?}");
    assert!(error.hints[0].contains("`segue doctor --fix`"), "{error:?}");
    assert!(words() == before, "it was written to");
    fs::remove_file(&fixture.store).unwrap();
    let error = segue_store::check(&fixture.store).unwrap_err();
    assert!(error.message.contains("is gone"), "{error:?}");
}

#[tokio::test]
async fn closing_a_replaced_store_does_not_harm_the_new_one() {
    let (fixture, samples) = (StoreFixture::new(), Samples::default());
    let old = segue_store::open(&fixture.store).await.unwrap();
    samples.stored_session(&*old, "shop", "old").await;
    segue_store::set_aside(&fixture.store, "aside").unwrap();
    let new = segue_store::open(&fixture.store).await.unwrap();
    samples.stored_session(&*new, "shop", "new").await;
    drop(old);
    samples.stored_session(&*new, "shop", "newer").await;
    drop(new);
    let names: Vec<_> = segue_store::open(&fixture.store)
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
