//! The session or conversation that a handoff starts from.

use segue_core::Kind;
use segue_core::api::AdoptCandidate;
use segue_core::flows::adopt::{self, AdoptFilter};
use segue_core::flows::handoff::{HandoffSource, UnadoptedConversation};
use segue_core::flows::launch::{self, LaunchRequest};
use segue_core::flows::{archive, messages};
use segue_core::model::{Archived, Environment, Session, VendorId, VendorSessionId};
use segue_core::ports::Commit;
use segue_fakes::{FakeVendor, FakeWorld, Storage, samples, transcript_line};

use super::{rewrite, source, talked};
use crate::scene::FlowScene;

#[tokio::test]
async fn conversation_is_read_from_transcript_guard_or_archive_whichever_is_left() {
    let scene = talked().await;
    let (session, id) = (&scene.state.session, scene.id());
    archive::copy(&scene.ports, session, &id).unwrap();
    let path = async || source(&scene).await.conversation.map(|it| it.transcript);
    assert_eq!(path().await, Some(scene.transcript()));
    scene.world.disk.remove(scene.transcript());
    let guard = scene.ports.folders.guarded(scene.launch(), &scene.transcript()).unwrap();
    assert_eq!(path().await, Some(guard));
    scene.ports.folders.unguard(scene.launch(), &scene.transcript()).unwrap();
    let copy = scene.ports.folders.reading(session.id).join(id.as_str());
    assert_eq!(path().await, Some(copy));
    let copied = Archived { vendor: session.vendor.clone(), id };
    scene.ports.archive.remove(&copied).unwrap();
    assert_eq!(path().await, None);
}

#[tokio::test]
async fn source_counts_queued_messages_and_knows_whether_its_turn_was_cut_off() {
    let mut scene = talked().await;
    let before = source(&scene).await;
    assert_eq!((before.queued, before.is_cut_off), (0, false));
    for text in ["one", "two"] {
        let recorded_with = (None, Commit::default());
        messages::add(&scene.ports, &mut scene.state, text.to_owned(), recorded_with)
            .await
            .unwrap();
    }
    scene.say("user", "and now");
    let after = source(&scene).await;
    assert_eq!((after.queued, after.is_cut_off), (2, true));
}

#[tokio::test]
async fn vendor_without_readable_transcripts_is_an_error_only_if_there_is_a_conversation() {
    for (has_preset_ids, expected) in [(true, Some(Kind::Vendor)), (false, None)] {
        let storage = Storage::Unreadable;
        let vendor = FakeVendor { storage, has_preset_ids, ..FakeVendor::default() };
        let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
        scene.start("hi").await;
        let found = HandoffSource::of_session(&scene.ports, scene.state.session.clone()).await;
        assert_eq!(found.as_ref().err().map(|error| error.kind), expected);
        match found {
            Ok(source) => assert!(!source.has_messages(&scene.ports).unwrap()),
            Err(error) => assert!(error.hints[0].contains("[vendors.tool]"), "{error:?}"),
        }
    }
}

#[tokio::test]
async fn only_messages_and_summaries_are_content() {
    let scene = talked().await;
    let table = [
        (vec![("call 1", "{}"), ("result 1", "done")], false),
        (vec![("user", "hi"), ("call 1", "{}")], true),
        (vec![("agent", "hello")], true),
        (vec![("summary", "before")], true),
    ];
    for (lines, expected) in table {
        rewrite(&scene, &lines);
        let found = source(&scene).await.has_messages(&scene.ports).unwrap();
        assert_eq!(found, expected, "{lines:?}");
    }
}

#[tokio::test]
async fn secrets_of_the_session_and_of_its_living_launch_are_known() {
    let token = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let env = [token("SHOP_TOKEN", "open-sesame-4711"), token("COLOUR", "blue")];
    let session = Session { env: env.into(), ..samples::session(1, "fox") };
    let mut scene = FlowScene::with(FakeVendor::default(), session);
    let environment = Environment::new([token("API_TOKEN", "abracadabra-0815")]);
    let request = LaunchRequest {
        creates_session: true,
        ..LaunchRequest::fresh(scene.preset_id(), environment)
    };
    launch::start(&scene.ports, &mut scene.state, request).await.unwrap();
    assert_eq!(source(&scene).await.known_secrets.len(), 2);
    scene.world.calls.fail("holders.environment", 1);
    assert_eq!(source(&scene).await.known_secrets.len(), 1, "the holder does not answer");
    scene.world.holders.kill(scene.launch());
    assert_eq!(source(&scene).await.known_secrets.len(), 1, "the holder is gone");
}

#[tokio::test]
async fn source_that_cannot_be_read_is_an_error() {
    for call in ["store.session", "holders.find", "files.facts"] {
        let scene = talked().await;
        scene.world.calls.fail(call, 1);
        let found = HandoffSource::of_session(&scene.ports, scene.state.session.clone()).await;
        assert!(found.is_err(), "{call}");
    }
}

fn by_hand(world: &FakeWorld) {
    let id = VendorSessionId::new("one");
    let lines = transcript_line("user", "hello") + &transcript_line("agent", "hi");
    world.disk.write(samples::transcript(&id), lines);
}

async fn candidate(world: &FakeWorld) -> AdoptCandidate {
    let all = AdoptFilter::default();
    let found = adopt::candidates(&world.ports(), &samples::environment(), &all).await.unwrap();
    found.into_iter().next().unwrap()
}

#[tokio::test]
async fn unadopted_conversation_gets_its_session_once_and_only_when_it_is_adopted() {
    let world = FakeWorld::new();
    by_hand(&world);
    let (ports, found) = (world.ports(), candidate(&world).await);
    let read = UnadoptedConversation::read(&ports, &found).unwrap();
    let draft = adopt::draft(&ports, &found, Some("fox")).await.unwrap();
    let source = HandoffSource::of_unadopted(&ports, read, draft).await;
    assert!(source.has_messages(&ports).unwrap());
    assert_eq!(world.calls.count("store.commit"), 0);
    let source = source.adopted(&ports).await.unwrap();
    let stored = ports.store.session(source.session.id).await.unwrap();
    assert_eq!(stored.as_ref(), Some(&source.session));
    world.calls.take();
    source.adopted(&ports).await.unwrap();
    assert_eq!(world.calls.count("store.commit"), 0, "it has its session already");
}

#[tokio::test]
async fn unadopted_conversation_stays_without_a_session_if_its_commit_fails() {
    let world = FakeWorld::new();
    by_hand(&world);
    let (ports, found) = (world.ports(), candidate(&world).await);
    let read = UnadoptedConversation::read(&ports, &found).unwrap();
    let draft = adopt::draft(&ports, &found, Some("fox")).await.unwrap();
    let id = draft.id;
    // The first commit records the fleet.
    world.calls.fail("store.commit", 2);
    let source = HandoffSource::of_unadopted(&ports, read, draft).await;
    source.adopted(&ports).await.unwrap_err();
    assert_eq!(ports.store.session(id).await.unwrap(), None);
}

#[tokio::test]
async fn unadopted_conversation_that_is_open_gone_or_unreadable() {
    let world = FakeWorld::new();
    by_hand(&world);
    let (ports, found) = (world.ports(), candidate(&world).await);
    let open = AdoptCandidate { open_in: Some(7), ..found.clone() };
    let error = UnadoptedConversation::read(&ports, &open).unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (Kind::Conflict, "`tool:one` is open in process 7")
    );
    let unknown = AdoptCandidate { vendor: VendorId::new("gone"), ..found.clone() };
    let error = UnadoptedConversation::read(&ports, &unknown).unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
    world.calls.fail("files.facts", 1);
    UnadoptedConversation::read(&ports, &found).unwrap_err();
    world.disk.remove(samples::CONFIG_DIR);
    let read = UnadoptedConversation::read(&ports, &found).unwrap();
    let draft = adopt::draft(&ports, &found, Some("fox")).await.unwrap();
    let source = HandoffSource::of_unadopted(&ports, read, draft).await;
    assert!(source.conversation.is_none() && !source.is_cut_off);
}
