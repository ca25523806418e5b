//! Tests of stores that cannot be written to.

use std::fs;
use std::path::Path;
use std::process::Command;

use segue_core::Kind;
use segue_core::ports::SessionQuery;
use segue_testkit::contract::store::{Samples, assert_refused};

use crate::children::{named_store, run_on_small_filesystem};

#[test]
fn store_in_a_read_only_folder_is_refused() {
    run_on_small_filesystem("read_only::opens_in_a_read_only_folder");
}

#[test]
fn read_only_store_file_is_refused() {
    run_on_small_filesystem("read_only::opens_a_read_only_file");
}

#[tokio::test]
#[ignore = "runs on a filesystem that another test makes"]
async fn opens_in_a_read_only_folder() {
    let Some(path) = named_store() else { return };
    let folder = path.parent().unwrap();
    mount(&["-o", "remount,bind,ro"], &[folder]);
    refused(&path).await;
    mount(&["-o", "remount,bind,rw"], &[folder]);
    make_with_session(&path).await;

    mount(&["-o", "remount,bind,ro"], &[folder]);
    refused_untouched(&path).await;
    mount(&["-o", "remount,bind,rw"], &[folder]);
    assert_session_is_there(&path).await;
}

#[tokio::test]
#[ignore = "runs on a filesystem that another test makes"]
async fn opens_a_read_only_file() {
    let Some(path) = named_store() else { return };
    make_with_session(&path).await;
    mount(&["--bind"], &[&path, &path]);
    mount(&["-o", "remount,bind,ro"], &[&path]);
    refused_untouched(&path).await;
    assert!(Command::new("umount").arg(&path).status().unwrap().success());
    assert_session_is_there(&path).await;
}

async fn refused(path: &Path) {
    let result = segue_store::open(path).await;
    assert_refused(result, Kind::Unavailable, &["segue.db", "cannot be written"]);
}

async fn refused_untouched(path: &Path) {
    let before = crate::fixture::contents(path.parent().unwrap());
    refused(path).await;
    assert!(crate::fixture::contents(path.parent().unwrap()) == before);
}

async fn make_with_session(path: &Path) {
    let store = segue_store::open(path).await.unwrap();
    Samples::default().stored_session(&*store, "shop", "coder").await;
    drop(store);
    assert!(fs::metadata(path).unwrap().len() > 0);
}

async fn assert_session_is_there(path: &Path) {
    let store = segue_store::open(path).await.unwrap();
    assert_eq!(store.sessions(&SessionQuery::default()).await.unwrap().len(), 1);
}

fn mount(options: &[&str], paths: &[&Path]) {
    assert!(Command::new("mount").args(options).args(paths).status().unwrap().success());
}
