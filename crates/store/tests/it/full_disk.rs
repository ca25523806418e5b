//! Tests of a full disk: the error is clear, and nothing is lost.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use segue_core::Kind;
use segue_core::ports::{Commit, Store};
use segue_testkit::contract::store::{Samples, assert_refused, events};

use crate::children::{named_store, run_on_small_filesystem};
use crate::fixture::contents;

#[test]
fn full_disk_loses_nothing_and_commits_work_again_with_free_space() {
    run_on_small_filesystem("full_disk::commits_on_a_full_disk");
}

#[test]
fn open_on_a_full_disk_leaves_no_partial_store_and_no_damage() {
    run_on_small_filesystem("full_disk::opens_on_a_full_disk");
}

#[tokio::test]
#[ignore = "runs on a filesystem that another test makes"]
async fn commits_on_a_full_disk() {
    let Some(path) = named_store() else { return };
    let (store, samples) = (segue_store::open(&path).await.unwrap(), Samples::default());
    append(&*store, &samples, "before").await.unwrap();
    let ballast = fill(path.parent().unwrap());
    let refused = append(&*store, &samples, &"x".repeat(300_000)).await;
    assert_refused(refused, Kind::Unavailable, &["the disk is full"]);
    assert_eq!(events(&*store).await, ["before"]);

    fs::remove_file(ballast).unwrap();
    append(&*store, &samples, "after").await.unwrap();
    drop(store);
    let store = segue_store::open(&path).await.unwrap();
    assert_eq!(events(&*store).await, ["before", "after"]);
}

#[tokio::test]
#[ignore = "runs on a filesystem that another test makes"]
async fn opens_on_a_full_disk() {
    let Some(path) = named_store() else { return };
    let folder = path.parent().unwrap();
    let ballast = fill(folder);
    let refused = segue_store::open(&path).await;
    assert_refused(refused, Kind::Unavailable, &["the disk is full"]);
    assert_eq!(contents(folder).len(), 1, "{:?}", contents(folder).keys());

    fs::remove_file(&ballast).unwrap();
    let (store, samples) = (segue_store::open(&path).await.unwrap(), Samples::default());
    append(&*store, &samples, "before").await.unwrap();
    drop(store);
    let bytes = fs::read(&path).unwrap();
    fill(folder);
    let refused = segue_store::open(&path).await;
    assert_refused(refused, Kind::Unavailable, &["the disk is full"]);
    assert!(fs::read(&path).unwrap() == bytes);

    fs::remove_file(ballast).unwrap();
    let store = segue_store::open(&path).await.unwrap();
    assert_eq!(events(&*store).await, ["before"]);
}

async fn append(store: &dyn Store, samples: &Samples, text: &str) -> segue_core::Result<i64> {
    let events = vec![samples.event(None, text)];
    store.commit(Commit { changes: Vec::new(), events }).await
}

/// Fills the disk, and returns the file that takes the space.
fn fill(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("ballast");
    let mut file = fs::File::create(&path).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    path
}
