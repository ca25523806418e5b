//! Transcripts of other conversations that a start may delete.

use segue_core::flows::endangered;
use segue_core::model::LaunchId;
use segue_fakes::{FakeVendor, Storage, samples};

use crate::scene::FlowScene;

const OTHER: &str = "/home/tool/other.txt";

/// A session that was started although its vendor may delete another transcript.
async fn started() -> (FlowScene, LaunchId) {
    let vendor = FakeVendor { endangered: vec![OTHER.into()], ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    scene.world.disk.write(OTHER, "user: mine\n");
    let launch = scene.start("hi").await;
    (scene, launch)
}

fn has_guard(scene: &FlowScene, launch: LaunchId) -> bool {
    scene.ports.folders.has_guard(launch, OTHER.as_ref())
}

#[tokio::test]
async fn transcript_that_the_start_deletes_comes_back() {
    let (mut scene, launch) = started().await;
    scene.world.disk.remove(OTHER);
    endangered::restore_deleted(&scene.ports, &mut scene.state, launch).await.unwrap();
    assert_eq!(scene.world.disk.text(OTHER).as_deref(), Some("user: mine\n"));
    assert!(scene.log().iter().any(|it| it.contains(OTHER)), "{:?}", scene.log());
    let commits = scene.world.calls.count("store.commit");
    endangered::restore_deleted(&scene.ports, &mut scene.state, launch).await.unwrap();
    assert_eq!(scene.world.calls.count("store.commit"), commits, "it is there");
}

#[tokio::test]
async fn text_that_its_own_process_appended_since_is_kept() {
    let (mut scene, launch) = started().await;
    scene.world.disk.replace(OTHER, "agent: later\n");
    endangered::restore_deleted(&scene.ports, &mut scene.state, launch).await.unwrap();
    assert_eq!(scene.world.disk.text(OTHER).as_deref(), Some("user: mine\nagent: later\n"));
}

#[tokio::test]
async fn guards_are_removed_when_the_start_is_over() {
    let (mut scene, launch) = started().await;
    assert!(has_guard(&scene, launch));
    scene.world.disk.remove(OTHER);
    endangered::restore_and_unguard(&scene.ports, &mut scene.state, launch).await.unwrap();
    assert!(!has_guard(&scene, launch) && scene.world.disk.read(OTHER).is_some());
    scene.world.disk.remove(OTHER);
    endangered::restore_and_unguard(&scene.ports, &mut scene.state, launch).await.unwrap();
    assert_eq!(scene.world.disk.read(OTHER), None, "a later deletion is intentional");
}

#[tokio::test]
async fn transcript_that_cannot_be_restored_stays_in_its_guard_and_is_reported() {
    let (mut scene, launch) = started().await;
    scene.world.disk.remove(OTHER);
    scene.world.calls.fail("folders.restore", 1);
    endangered::restore_and_unguard(&scene.ports, &mut scene.state, launch).await.unwrap();
    assert!(has_guard(&scene, launch));
    let log = scene.log();
    assert!(log.iter().any(|it| it.contains("folders.restore")), "{log:?}");
}

#[tokio::test]
async fn failures_of_store_and_guards_are_reported() {
    for call in ["store.commit", "folders.unguard"] {
        let (mut scene, launch) = started().await;
        scene.world.disk.remove(OTHER);
        scene.world.calls.fail(call, 1);
        let left = endangered::restore_and_unguard(&scene.ports, &mut scene.state, launch).await;
        assert!(left.is_err(), "{call}");
        assert!(has_guard(&scene, launch), "{call}");
    }
}

#[tokio::test]
async fn start_goes_on_without_a_guard_if_there_is_nothing_to_guard_or_it_fails() {
    for storage in [Storage::Files, Storage::Database] {
        let endangered = vec![OTHER.into()];
        let vendor = FakeVendor { endangered, storage, ..FakeVendor::default() };
        let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
        scene.world.disk.write(OTHER, "user: mine\n");
        scene.world.calls.fail("folders.guard", 1);
        scene.start("hi").await;
        assert!(scene.state.endangered.is_empty(), "{storage:?}");
    }
}
