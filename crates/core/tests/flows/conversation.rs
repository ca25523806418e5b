//! Where conversations can be read.

use segue_core::Kind;
use segue_core::flows::{archive, conversation};
use segue_core::model::{Environment, Status, VendorId, VendorSessionId};
use segue_core::ports::Place;
use segue_fakes::{FakeVendor, Storage, samples};

use crate::scene::FlowScene;
use crate::stored::Stored;

fn id(text: &str) -> VendorSessionId {
    VendorSessionId::new(text)
}

#[tokio::test]
async fn session_is_read_from_its_transcript_its_guard_or_the_archive() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    archive::copy(&scene.ports, &scene.state.session, &scene.id()).unwrap();
    let read = async |scene: &FlowScene| {
        let summary = segue_core::flows::view::summary(&scene.state);
        conversation::of_session(&scene.ports, &summary).await.unwrap()
    };
    let part = read(&scene).await;
    assert_eq!((part.transcript, part.has_content), (Some(scene.transcript()), true));
    assert_eq!(part.session.unwrap().session, scene.state.session.id);
    scene.world.disk.remove(scene.transcript());
    let guard = scene.ports.folders.guarded(scene.launch(), &scene.transcript());
    assert_eq!(read(&scene).await.transcript, guard);
    scene.ports.folders.unguard(scene.launch(), &scene.transcript()).unwrap();
    let copy = read(&scene).await.transcript.unwrap();
    let reading = scene.ports.folders.reading(scene.state.session.id);
    assert!(copy.starts_with(&reading) && scene.world.disk.read(&copy).is_some());
    for call in ["files.remove", "archive.extract", "store.launches"] {
        scene.world.calls.fail(call, 1);
        let summary = segue_core::flows::view::summary(&scene.state);
        let read = conversation::of_session(&scene.ports, &summary).await;
        assert!(read.is_err(), "{call}");
    }
}

#[tokio::test]
async fn session_without_a_conversation_has_no_transcript() {
    let stored = Stored::new();
    let session = stored.add(1, "fox", Status::Idle).await;
    let part = conversation::of_session(&stored.ports, &stored.summary(&session).await).await;
    let part = part.unwrap();
    assert_eq!((part.transcript, part.vendor_session_id, part.has_content), (None, None, false));
}

#[tokio::test]
async fn earlier_conversation_of_a_session_counts_as_begun() {
    let stored = Stored::new();
    let session = stored.add(1, "fox", Status::Idle).await;
    stored.bind(&session, "one").await;
    stored.bind(&session, "two").await;
    let summary = stored.summary(&session).await;
    let has_content = async |of: &str| {
        let of = id(of);
        conversation::part(&stored.ports, &summary, Some(&of)).await.unwrap().has_content
    };
    assert_eq!((has_content("one").await, has_content("two").await), (true, false));
}

#[tokio::test]
async fn vendor_whose_transcripts_cannot_be_read_has_none() {
    let vendor = FakeVendor { storage: Storage::Unreadable, ..FakeVendor::default() };
    let stored = Stored::with(vendor);
    stored.write("one", &[("user", "hi")]);
    let session = stored.add(1, "fox", Status::Idle).await;
    stored.bind(&session, "one").await;
    let part = conversation::of_session(&stored.ports, &stored.summary(&session).await).await;
    assert_eq!(part.unwrap().transcript, None);
    let vendor = stored.ports.vendors.of(&session).unwrap();
    let read = conversation::read(&stored.ports, vendor.as_ref(), &Place::of(&session), &id("one"));
    assert_eq!(read.unwrap(), None);
}

#[tokio::test]
async fn conversation_in_a_database_has_no_guard() {
    let vendor = FakeVendor { storage: Storage::Database, ..FakeVendor::default() };
    let stored = Stored::with(vendor);
    let session = stored.add(1, "fox", Status::Idle).await;
    stored.bind(&session, "one").await;
    let summary = stored.summary(&session).await;
    let part = conversation::of_session(&stored.ports, &summary).await.unwrap();
    assert_eq!(part.transcript, None);
    stored.write("one", &[("user", "hi")]);
    let part = conversation::of_session(&stored.ports, &summary).await.unwrap();
    assert!(part.transcript.is_some());
}

#[tokio::test]
async fn owner_of_a_conversation_is_found_by_vendor_and_id() {
    let stored = Stored::new();
    let session = stored.add(1, "fox", Status::Idle).await;
    stored.bind(&session, "one").await;
    stored.bind(&session, "two").await;
    let owner = async |vendor: &str, of: &str| {
        let found = conversation::owner(&stored.ports, &VendorId::new(vendor), &id(of)).await;
        found.unwrap().map(|it| it.session.id)
    };
    assert_eq!(owner("tool", "one").await, Some(session.id), "it belonged to it");
    assert_eq!(owner("tool", "three").await, None);
    assert_eq!(owner("other", "one").await, None);
}

#[tokio::test]
async fn conversation_without_a_session_is_found_in_any_known_config_dir() {
    let stored = Stored::new();
    let mut moved = samples::session(1, "fox");
    moved.config_dir = "/home/zoo".into();
    stored.add_session(moved).await;
    stored.world.disk.write("/home/zoo/one.txt", "cwd: /far\nuser: hi\n");
    let (vendor, environment) = (VendorId::new("tool"), samples::environment());
    let find = async |of: &str| {
        let of = id(of);
        conversation::without_session(&stored.ports, &environment, (&vendor, &of)).await
    };
    let part = find("one").await.unwrap();
    assert_eq!(part.transcript, Some("/home/zoo/one.txt".into()));
    assert_eq!((part.cwd.to_str(), part.session.is_none()), (Some("/far"), true));
    let error = find("two").await.unwrap_err();
    assert_eq!((error.kind, error.hints.len()), (Kind::NotFound, 1));
    stored.world.calls.fail("files.read", 1);
    let part = find("one").await.unwrap();
    assert_eq!(part.cwd.to_str(), Some(""), "its end may still be readable");
    stored.world.calls.fail("files.list", 1);
    assert!(find("one").await.is_ok(), "another config dir cannot be listed");
    stored.world.calls.fail("store.config_dirs", 1);
    find("one").await.unwrap_err();
}

#[tokio::test]
async fn conversation_without_a_session_needs_a_vendor_with_readable_transcripts() {
    let environment = Environment::new([("TOOL_HOME".to_owned(), String::new())]);
    let vendor = FakeVendor { storage: Storage::Unreadable, ..FakeVendor::default() };
    let stored = Stored::with(vendor);
    stored.add(1, "fox", Status::Idle).await;
    for vendor in ["tool", "gone"] {
        let (vendor, one) = (VendorId::new(vendor), id("one"));
        let found =
            conversation::without_session(&stored.ports, &environment, (&vendor, &one)).await;
        assert_eq!(found.unwrap_err().kind, Kind::NotFound);
    }
}
