//! Copies of conversations, guards, and making room.

use segue_core::flows::{archive, guard};
use segue_core::model::{Archived, Exit, Session};
use segue_fakes::{FakeVendor, Storage, samples};

use crate::scene::FlowScene;

fn filed(scene: &FlowScene) -> Archived {
    Archived { vendor: scene.state.session.vendor.clone(), id: scene.id() }
}

#[tokio::test]
async fn guard_marks_the_conversation_as_begun_once_it_has_content() {
    let mut scene = FlowScene::new();
    let launch = scene.start("hi").await;
    guard::guard_current(&scene.ports, &mut scene.state).await.unwrap();
    assert!(!scene.state.session.has_content, "there is no transcript yet");
    scene.say("user", "hi");
    guard::guard_current(&scene.ports, &mut scene.state).await.unwrap();
    assert!(scene.state.session.has_content);
    assert!(scene.ports.folders.has_guard(launch, &scene.transcript()));
    assert!(scene.world.folders.record(launch).unwrap().session.has_content);
    scene.assert_stored().await;
}

#[tokio::test]
async fn transcript_on_another_filesystem_is_reported_as_unguarded() {
    let mut scene = FlowScene::new();
    scene.start("hi").await;
    scene.say("user", "hi");
    scene.world.folders.move_to_other_filesystem();
    guard::guard_current(&scene.ports, &mut scene.state).await.unwrap();
    assert!(scene.state.session.has_content);
    assert!(scene.log().iter().any(|it| it.contains("no guard")), "{:?}", scene.log());
}

#[tokio::test]
async fn conversation_is_copied_unless_archiving_is_off() {
    for (is_on, expected) in [(true, true), (false, false)] {
        let session = Session { archive: is_on, ..samples::session(1, "fox") };
        let mut scene = FlowScene::with(FakeVendor::default(), session);
        scene.talk().await;
        assert_eq!(archive::is_outdated(&scene.ports, &scene.state.session, &scene.id()), expected);
        let copied = archive::copy(&scene.ports, &scene.state.session, &scene.id()).unwrap();
        assert_eq!(copied > 0, expected);
        assert_eq!(scene.world.archive.bytes_of(&filed(&scene)).is_some(), expected);
        assert!(!archive::is_outdated(&scene.ports, &scene.state.session, &scene.id()));
    }
}

#[tokio::test]
async fn damaged_copy_is_renewed_from_the_transcript_or_else_from_its_guard() {
    for (has_transcript, from) in [(true, "its transcript"), (false, "its guard")] {
        let mut scene = FlowScene::new();
        scene.talk().await;
        let (id, whole) = (scene.id(), scene.world.disk.read(scene.transcript()));
        archive::copy(&scene.ports, &scene.state.session, &id).unwrap();
        scene.world.archive.damage(&filed(&scene));
        if !has_transcript {
            scene.world.disk.remove(scene.transcript());
        }
        let launches = &scene.state.launches;
        let renewal = archive::renewal(&scene.ports, &scene.state.session, &id, launches);
        let renewal = renewal.unwrap().unwrap();
        assert_eq!(renewal.from, from);
        let damaged = scene.ports.archive.damaged(&[]).unwrap();
        archive::renew(&scene.ports, &damaged[0], &renewal).unwrap();
        assert_eq!(scene.world.archive.bytes_of(&filed(&scene)), whole);
        assert!(scene.ports.archive.damaged(&[]).unwrap().is_empty());
    }
}

#[tokio::test]
async fn room_is_made_by_dropping_copies_of_ended_sessions_only() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    archive::copy(&scene.ports, &scene.state.session, &scene.id()).unwrap();
    let dropped = archive::make_room(&scene.ports, 0).await.unwrap();
    assert!(dropped.is_empty(), "the session is alive: {dropped:?}");
    scene.end(Exit::Code(0)).await;
    let large = archive::make_room(&scene.ports, 1_000_000).await.unwrap();
    assert!(large.is_empty(), "there is room");
    let dropped = archive::make_room(&scene.ports, 0).await.unwrap();
    assert_eq!(dropped.len(), 1);
    assert!(!scene.ports.archive.has(&filed(&scene)));
    assert!(scene.log().iter().any(|it| it.contains("the archive was full")));
}

#[tokio::test]
async fn conversation_of_a_database_is_copied_as_the_document_that_it_exports() {
    for (export, expected) in [(Some("exported"), Some(b"exported".to_vec())), (None, None)] {
        let storage = Storage::Database;
        let vendor = FakeVendor { storage, export, ..FakeVendor::default() };
        let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
        scene.talk().await;
        let id = scene.id();
        archive::copy(&scene.ports, &scene.state.session, &id).unwrap();
        assert_eq!(scene.world.archive.bytes_of(&filed(&scene)), expected);
        let renewal = archive::renewal(&scene.ports, &scene.state.session, &id, &[]).unwrap();
        assert_eq!(renewal.map(|it| it.from), expected.map(|_| "its transcript"));
    }
}

#[tokio::test]
async fn every_conversation_of_a_session_is_its_own() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let first = filed(&scene);
    scene.show_conversation(segue_core::model::VendorSessionId::new("other")).await;
    let owners = archive::owners(&scene.ports).await.unwrap();
    let names: Vec<_> = [first, filed(&scene)].iter().map(|it| owners[it].name.clone()).collect();
    assert_eq!(names, [scene.state.session.name.clone(), scene.state.session.name.clone()]);
}
