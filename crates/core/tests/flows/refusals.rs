//! Sessions that cannot be brought back as they are, and new conversations in them.

use segue_core::api::Outcome;
use segue_core::flows::look::{SelectionMode, look};
use segue_core::flows::restore::{self, Done};
use segue_core::flows::{archive, messages};
use segue_core::model::{
    Exit, LaunchMode, RequestId, RequestKey, RequestRecord, RequestStep, Session, Status,
    VendorSessionId,
};
use segue_core::ports::{Change, Commit, Live};
use segue_core::rules::recovery::{
    CopyLocation, Decision, OpeningProcess, ResumeCandidate, ResumeRefusal, decide,
};
use segue_fakes::{FakeVendor, samples};
use uuid::Uuid;

use crate::scene::FlowScene;

async fn bring_back(scene: &mut FlowScene) -> Done {
    let observed = look(&scene.ports, &scene.state, SelectionMode::ByName).await.unwrap();
    let decision = decide(&observed.facts);
    let environment = samples::environment();
    restore::carry_out(&scene.ports, &mut scene.state, &observed, decision, environment)
        .await
        .unwrap()
}

async fn next_turn(scene: &mut FlowScene) -> Done {
    let recorded_with = (None, Commit::default());
    messages::add(&scene.ports, &mut scene.state, "go on".to_owned(), recorded_with).await.unwrap();
    let observed = look(&scene.ports, &scene.state, SelectionMode::ByName).await.unwrap();
    let decision = decide(&observed.facts);
    let environment = samples::environment();
    restore::next_turn(&scene.ports, &mut scene.state, &observed, decision, environment)
        .await
        .unwrap()
}

async fn interrupted(mut scene: FlowScene) -> FlowScene {
    scene.talk().await;
    scene.end(Exit::Signal(9)).await;
    scene
}

async fn refused(scene: &mut FlowScene) -> segue_core::Error {
    match bring_back(scene).await {
        Done::Refused { error } => Some(error),
        Done::NothingStarted { .. } | Done::Launched { .. } => None,
    }
    .unwrap()
}

#[tokio::test]
async fn session_is_refused_with_the_reason_and_the_way_out() {
    let vendor = FakeVendor::default();
    let live = vendor.live.clone();
    let mut scene = interrupted(FlowScene::with(vendor, samples::session(1, "fox"))).await;
    scene.world.machine.start_process(7, "tool", None);
    *live.lock().unwrap() = vec![Live { pid: 7, started: None, id: scene.id() }];
    let open = refused(&mut scene).await;
    assert!(open.message.ends_with("its conversation is open in process 7 (tool)"), "{open}");
    live.lock().unwrap().clear();
    scene.world.disk.remove(samples::CWD);
    let gone = refused(&mut scene).await;
    assert_eq!(gone.hints, ["bring `/work` back, then resume again"]);
    assert_eq!(scene.world.holders.started().len(), 1);
}

#[tokio::test]
async fn session_without_an_id_is_refused_if_several_conversations_can_be_its_own() {
    let vendor = FakeVendor { has_preset_ids: false, ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    scene.start("hi").await;
    scene.end(Exit::Signal(9)).await;
    for id in ["one", "two"] {
        scene.world.disk.write(samples::transcript(&VendorSessionId::new(id)), "user: hi\n");
    }
    let error = refused(&mut scene).await;
    assert!(
        error.message.ends_with("it is unknown which of 2 conversations is its own"),
        "{error}"
    );
    assert_eq!((error.causes.len(), error.hints.len()), (2, 1), "both are listed: {error:?}");
}

#[test]
fn every_refusal_and_restoration_has_a_description() {
    let id = || VendorSessionId::new("one");
    let candidate = ResumeCandidate {
        id: id(),
        began_during_launch: true,
        first_message_is_ours: false,
        process: OpeningProcess::None,
        description: "then: hi".to_owned(),
    };
    let launch = segue_core::model::LaunchId::new(Uuid::from_u128(1));
    let refuse = Decision::Refuse;
    let table = [
        (Decision::Restore { id: id(), from: CopyLocation::Guard(launch) }, "from its guard"),
        (Decision::Restore { id: id(), from: CopyLocation::Archive }, "from the archive"),
        (refuse(ResumeRefusal::OpenElsewhere { pid: 7, command: "vi".to_owned() }), "7 (vi)"),
        (refuse(ResumeRefusal::TranscriptGone { id: id() }), "conversation one is gone"),
        (refuse(ResumeRefusal::Ambiguous { candidates: vec![] }), "never identified"),
        (refuse(ResumeRefusal::Ambiguous { candidates: vec![candidate] }), "which of 1"),
    ];
    for (decision, text) in table {
        let (_, described) = restore::plan(&decision, "shop/fox", false);
        assert!(described.reason().contains(text), "{described:?}");
    }
}

#[tokio::test]
async fn look_records_that_a_conversation_is_lost_and_that_it_is_there_again() {
    let mut scene = interrupted(FlowScene::new()).await;
    let (id, found) = (scene.id(), Decision::Resume { id: scene.id() });
    let gone = Decision::Refuse(ResumeRefusal::TranscriptGone { id });
    for (decision, expected) in [(&gone, Status::Lost), (&found, Status::Interrupted)] {
        restore::record_look(&scene.ports, &mut scene.state, decision).await.unwrap();
        assert_eq!(scene.status(), expected);
        scene.assert_stored().await;
    }
    let commits = scene.world.calls.count("store.commit");
    restore::record_look(&scene.ports, &mut scene.state, &found).await.unwrap();
    assert_eq!(scene.world.calls.count("store.commit"), commits, "nothing has changed");
}

#[tokio::test]
async fn fresh_start_keeps_the_old_binding_and_records_its_request() {
    let mut scene = interrupted(FlowScene::new()).await;
    let before = scene.id();
    let key = RequestKey { caller: None, id: RequestId::new(Uuid::from_u128(5)) };
    let step = RequestStep::Renewed { session: scene.state.session.id };
    let record = RequestRecord { key, step: step.clone(), at: samples::start() };
    let same_commit = vec![Change::RecordRequest(Box::new(record))];
    let environment = samples::environment();
    restore::start_new_conversation(&scene.ports, &mut scene.state, environment, same_commit)
        .await
        .unwrap();
    assert_ne!(scene.id(), before);
    assert_eq!(scene.state.bindings[0].vendor_session, before);
    assert_eq!(scene.arguments(), ["--fresh", scene.id().as_str()]);
    assert_eq!(scene.ports.store.request(key).await.unwrap(), [step]);
}

#[tokio::test]
async fn empty_conversation_that_an_agent_switched_to_starts_again_without_a_message() {
    for has_preset_ids in [true, false] {
        let mut scene = FlowScene::new();
        scene.talk().await;
        scene.show_conversation(VendorSessionId::new("other")).await;
        scene.end(Exit::Signal(9)).await;
        scene.world.vendors.put(FakeVendor { has_preset_ids, ..FakeVendor::default() });
        let done = bring_back(&mut scene).await;
        assert!(matches!(done, Done::Launched { outcome: Outcome::Started, .. }), "{done:?}");
        let expected: &[&str] = if has_preset_ids { &["--fresh", "other"] } else { &[] };
        assert_eq!(scene.arguments(), expected, "the message belongs to the earlier one");
    }
}

#[tokio::test]
async fn transcript_under_another_name_is_renamed_before_its_process_starts_again() {
    let vendor = FakeVendor { is_renamed: true, ..FakeVendor::default() };
    let mut scene = interrupted(FlowScene::with(vendor, samples::session(1, "fox"))).await;
    let (before, id) = (scene.world.disk.text(scene.transcript()).unwrap(), scene.id());
    bring_back(&mut scene).await;
    assert_eq!(scene.world.disk.read(scene.transcript()), None);
    let renamed = format!("{}/{id}.restored.txt", samples::CONFIG_DIR);
    assert_eq!(scene.world.disk.text(renamed), Some(before));
    assert_eq!(scene.state.launches.last().unwrap().mode, LaunchMode::Resume);
}

#[tokio::test]
async fn transcript_that_cannot_be_guarded_keeps_its_name() {
    let vendor = FakeVendor { is_renamed: true, ..FakeVendor::default() };
    let mut scene = interrupted(FlowScene::with(vendor, samples::session(1, "fox"))).await;
    scene.world.folders.move_to_other_filesystem();
    bring_back(&mut scene).await;
    assert!(scene.world.disk.read(scene.transcript()).is_some());
}

#[tokio::test]
async fn next_turn_restores_a_deleted_transcript_or_begins_a_new_conversation() {
    let mut scene = interrupted(FlowScene::headless()).await;
    archive::copy(&scene.ports, &scene.state.session, &scene.id()).unwrap();
    scene.world.disk.remove(scene.transcript());
    next_turn(&mut scene).await;
    assert!(scene.world.disk.read(scene.transcript()).is_some());
    assert_eq!(scene.arguments(), ["--resume", scene.id().as_str(), "go on"]);
    let session = Session { headless: true, ..samples::session(1, "fox") };
    let mut scene = FlowScene::with(FakeVendor::default(), session);
    scene.start("hi").await;
    scene.end(Exit::Signal(9)).await;
    next_turn(&mut scene).await;
    assert_eq!(scene.arguments(), ["--fresh", scene.id().as_str(), "go on"]);
}

#[tokio::test]
async fn next_turn_of_a_session_that_cannot_go_on_is_refused() {
    let mut scene = interrupted(FlowScene::headless()).await;
    scene.world.disk.remove(samples::CWD);
    let done = next_turn(&mut scene).await;
    assert!(matches!(done, Done::Refused { .. }), "{done:?}");
    assert_eq!(scene.state.outbox.len(), 1, "its message stays queued");
}

#[tokio::test]
async fn restored_headless_session_whose_turn_was_over_only_rests() {
    let mut scene = interrupted(FlowScene::headless()).await;
    scene.state.session.status = Status::Working;
    scene.world.disk.remove(scene.transcript());
    let done = bring_back(&mut scene).await;
    assert!(matches!(done, Done::NothingStarted { outcome: Outcome::Restored, .. }), "{done:?}");
    assert_eq!((scene.status(), scene.world.holders.started().len()), (Status::Idle, 1));
}
