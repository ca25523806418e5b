//! Bringing a session back as decided.

use segue_core::api::{Outcome, PlannedDecision};
use segue_core::flows::look::{SelectionMode, look};
use segue_core::flows::restore::{self, Done};
use segue_core::model::{
    Evidence, Exit, LaunchMode, MessageState, Resumes, Status, VendorSessionId, WaitingFor,
};
use segue_core::ports::Commit;
use segue_core::rules::recovery::{Decision, ResumeRefusal, decide};
use segue_fakes::{FakeVendor, Storage, samples, transcript_line};

use crate::scene::FlowScene;

async fn bring_back(scene: &mut FlowScene) -> Done {
    try_bring_back(scene).await.unwrap()
}

async fn try_bring_back(scene: &mut FlowScene) -> segue_core::Result<Done> {
    let observed = look(&scene.ports, &scene.state, SelectionMode::ByName).await.unwrap();
    let decision = decide(&observed.facts);
    let environment = samples::environment();
    restore::carry_out(&scene.ports, &mut scene.state, &observed, decision, environment).await
}

async fn next_turn(scene: &mut FlowScene) -> Done {
    let observed = look(&scene.ports, &scene.state, SelectionMode::ByName).await.unwrap();
    let decision = decide(&observed.facts);
    let environment = samples::environment();
    let done = restore::next_turn(&scene.ports, &mut scene.state, &observed, decision, environment);
    done.await.unwrap()
}

fn outcome(done: &Done) -> Option<Outcome> {
    match done {
        Done::NothingStarted { outcome, .. } | Done::Launched { outcome, .. } => Some(*outcome),
        Done::Refused { .. } => None,
    }
}

async fn interrupted(mut scene: FlowScene) -> FlowScene {
    scene.talk().await;
    scene.end(Exit::Signal(9)).await;
    scene
}

#[tokio::test]
async fn interrupted_session_is_started_with_the_same_id_and_no_message() {
    let mut scene = interrupted(FlowScene::new()).await;
    let id = scene.id();
    let done = bring_back(&mut scene).await;
    assert_eq!(outcome(&done), Some(Outcome::Resumed));
    assert_eq!(scene.arguments(), ["--resume", id.as_str()]);
    let launch = scene.state.open().unwrap();
    assert_eq!((launch.number, launch.mode), (2, LaunchMode::Resume));
    scene.assert_stored().await;
}

#[tokio::test]
async fn agent_whose_turn_was_cut_is_asked_to_go_on() {
    let mut scene = interrupted(FlowScene::new()).await;
    scene.say("user", "and now");
    bring_back(&mut scene).await;
    let told = scene.arguments().pop().unwrap();
    assert!(told.starts_with("Your process ended in the middle of this turn"), "{told}");
}

#[tokio::test]
async fn incomplete_last_line_is_ended_before_the_vendor_appends() {
    let mut scene = interrupted(FlowScene::new()).await;
    scene.world.disk.append(scene.transcript(), "agent: half");
    bring_back(&mut scene).await;
    assert!(scene.world.disk.text(scene.transcript()).unwrap().ends_with("half\n"));
}

#[tokio::test]
async fn deleted_transcript_comes_back_from_its_guard_with_its_companion_files() {
    let mut scene = FlowScene::new();
    let launch = scene.start("remember amber").await;
    scene.say("user", "remember amber");
    scene.say("agent", "noted");
    let belonging = format!("{}/{}/notes.md", samples::CONFIG_DIR, scene.id());
    scene.world.disk.write(&belonging, "amber");
    scene.show_conversation(scene.id()).await;
    segue_core::flows::guard::guard_current(&scene.ports, &mut scene.state).await.unwrap();
    scene.end(Exit::Signal(9)).await;
    let before = scene.world.disk.text(scene.transcript()).unwrap();
    scene.world.disk.remove(samples::CONFIG_DIR);
    let done = bring_back(&mut scene).await;
    assert_eq!(outcome(&done), Some(Outcome::Restored));
    assert_eq!(scene.world.disk.text(scene.transcript()), Some(before));
    assert_eq!(scene.world.disk.text(belonging).as_deref(), Some("amber"));
    let from = format!("from the guard of launch {launch}");
    assert!(scene.log().iter().any(|it| it.contains(&from)), "{:?}", scene.log());
}

#[tokio::test]
async fn transcript_that_was_begun_anew_is_rejoined_with_its_beginning() {
    let mut scene = interrupted(FlowScene::new()).await;
    let before = scene.world.disk.text(scene.transcript()).unwrap();
    let later = transcript_line("agent", "later");
    scene.world.disk.replace(scene.transcript(), &later);
    let done = bring_back(&mut scene).await;
    assert_eq!(outcome(&done), Some(Outcome::Restored));
    assert_eq!(scene.world.disk.text(scene.transcript()), Some(before + &later));
}

#[tokio::test]
async fn transcript_comes_back_from_the_archive_if_the_guard_is_gone_too() {
    let mut scene = interrupted(FlowScene::new()).await;
    let id = scene.id();
    segue_core::flows::archive::copy(&scene.ports, &scene.state.session, &id).unwrap();
    let before = scene.world.disk.text(scene.transcript());
    scene.ports.folders.unguard(scene.launch(), &scene.transcript()).unwrap();
    scene.world.disk.remove(scene.transcript());
    let done = bring_back(&mut scene).await;
    assert_eq!(outcome(&done), Some(Outcome::Restored));
    assert_eq!(scene.world.disk.text(scene.transcript()), before);
}

#[tokio::test]
async fn conversation_of_a_database_comes_back_as_a_document_to_import() {
    let vendor = FakeVendor { storage: Storage::Database, ..FakeVendor::default() };
    let mut scene = interrupted(FlowScene::with(vendor, samples::session(1, "fox"))).await;
    let id = scene.id();
    let conversation =
        segue_core::model::Archived { vendor: scene.state.session.vendor.clone(), id: id.clone() };
    let order = segue_core::ports::ArchiveOrder {
        conversation,
        place: scene.state.place(),
        content: segue_core::ports::Content::Export(b"exported".to_vec()),
        companion_folder: None,
        ancestors: Vec::new(),
        now: samples::start(),
    };
    scene.ports.archive.copy(&order).unwrap();
    scene.world.disk.remove(scene.transcript());
    let done = bring_back(&mut scene).await;
    assert_eq!(outcome(&done), Some(Outcome::Restored));
    assert!(scene.arguments().iter().any(|it| it.starts_with("--import=")));
}

#[tokio::test]
async fn missing_ancestor_of_a_transcript_comes_back_from_the_archive() {
    let ancestor = format!("{}/parent.txt", samples::CONFIG_DIR);
    let vendor = FakeVendor { ancestors: vec![ancestor.clone().into()], ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    scene.world.disk.write(&ancestor, "user: earlier\n");
    scene.talk().await;
    let id = scene.id();
    segue_core::flows::archive::copy(&scene.ports, &scene.state.session, &id).unwrap();
    scene.end(Exit::Signal(9)).await;
    scene.world.disk.remove(&ancestor);
    bring_back(&mut scene).await;
    assert_eq!(scene.world.disk.text(&ancestor).as_deref(), Some("user: earlier\n"));
}

#[tokio::test]
async fn transcript_that_is_nowhere_is_refused_and_offered_from_another_home() {
    let mut scene = interrupted(FlowScene::new()).await;
    let mut moved = samples::session(2, "owl");
    moved.config_dir = "/home/other".into();
    let create = segue_core::ports::Change::CreateSession(Box::new(moved));
    scene.ports.store.commit(Commit { changes: vec![create], events: vec![] }).await.unwrap();
    let id = scene.id();
    scene.world.disk.write(format!("/home/other/{id}.txt"), transcript_line("user", "hi"));
    scene.ports.folders.unguard(scene.launch(), &scene.transcript()).unwrap();
    scene.world.disk.remove(scene.transcript());
    let Done::Refused { error } = bring_back(&mut scene).await else { panic!("not refused") };
    assert!(error.to_string().contains("it is in `/home/other`"), "{error}");
    assert!(error.hints.iter().any(|it| it.contains("segue adopt tool:")), "{:?}", error.hints);
    assert_eq!(scene.world.holders.started().len(), 1);
}

#[tokio::test]
async fn empty_conversation_starts_again_with_its_message_and_its_id() {
    let mut scene = FlowScene::new();
    scene.start("remember amber").await;
    let id = scene.id();
    scene.end(Exit::Signal(9)).await;
    let done = bring_back(&mut scene).await;
    assert_eq!(outcome(&done), Some(Outcome::Started));
    assert_eq!(scene.arguments(), ["--fresh", id.as_str(), "remember amber"]);
}

#[tokio::test]
async fn empty_conversation_gets_another_id_if_a_killed_process_left_its_file() {
    let mut scene = FlowScene::new();
    scene.start("remember amber").await;
    let id = scene.id();
    scene.end(Exit::Signal(9)).await;
    scene.world.disk.write(samples::transcript(&id), "");
    bring_back(&mut scene).await;
    assert_ne!(scene.id(), id);
    assert_eq!(scene.arguments(), ["--fresh", scene.id().as_str(), "remember amber"]);
}

#[tokio::test]
async fn adopted_conversation_is_bound_as_discovered_and_resumed() {
    let vendor = FakeVendor { has_preset_ids: false, ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    scene.start("remember amber").await;
    scene.end(Exit::Signal(9)).await;
    let path = format!("{}/found.txt", samples::CONFIG_DIR);
    scene.world.disk.write(path, "user: remember amber\nagent: noted\n");
    let done = bring_back(&mut scene).await;
    assert_eq!(outcome(&done), Some(Outcome::Adopted));
    assert_eq!(scene.state.bound().unwrap().evidence, Evidence::Discovered);
    assert_eq!(scene.arguments(), ["--resume", "found"]);
    assert!(scene.state.session.has_content);
}

#[tokio::test]
async fn vendor_that_cannot_resume_begins_a_new_conversation() {
    let vendor = FakeVendor { resumes: Resumes::No, ..FakeVendor::default() };
    let mut scene = interrupted(FlowScene::with(vendor, samples::session(1, "fox"))).await;
    let before = scene.id();
    let done = bring_back(&mut scene).await;
    assert_eq!(outcome(&done), Some(Outcome::Fresh));
    assert_ne!(scene.id(), before);
}

#[tokio::test]
async fn session_that_gave_up_is_refused_with_its_last_output() {
    let mut scene = interrupted(FlowScene::new()).await;
    scene.state.session.status = Status::Waiting(WaitingFor::Choice);
    scene.world.folders.record_last_output(scene.launch(), "no such model");
    let observed = look(&scene.ports, &scene.state, SelectionMode::InBulk).await.unwrap();
    let decision = decide(&observed.facts);
    assert_eq!(decision, Decision::Refuse(ResumeRefusal::GaveUp));
    let environment = samples::environment();
    let done =
        restore::carry_out(&scene.ports, &mut scene.state, &observed, decision, environment).await;
    let Done::Refused { error } = done.unwrap() else { panic!("not refused") };
    assert!(error.hints.iter().any(|it| it.contains("segue resume default/fox")));
}

#[tokio::test]
async fn running_agent_is_reported_as_running_and_nothing_starts() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let done = bring_back(&mut scene).await;
    assert_eq!(done, Done::NothingStarted { outcome: Outcome::Running, note: None });
    assert_eq!(scene.world.holders.started().len(), 1);
}

#[tokio::test]
async fn headless_session_between_turns_becomes_idle_without_a_process() {
    let mut scene = interrupted(FlowScene::headless()).await;
    scene.state.session.status = Status::Working;
    let done = bring_back(&mut scene).await;
    assert!(matches!(done, Done::NothingStarted { outcome: Outcome::Resumed, .. }), "{done:?}");
    assert_eq!(scene.status(), Status::Idle);
    assert_eq!(scene.world.holders.started().len(), 1);
    // It is idle already: nothing is written.
    let commits = scene.world.calls.count("store.commit");
    bring_back(&mut scene).await;
    assert_eq!(scene.world.calls.count("store.commit"), commits);
}

#[tokio::test]
async fn next_turn_of_a_headless_session_carries_its_queued_message() {
    let mut scene = interrupted(FlowScene::headless()).await;
    scene.state.session.status = Status::Idle;
    let none = next_turn(&mut scene).await;
    assert_eq!(none, Done::NothingStarted { outcome: Outcome::Resumed, note: None });
    let text = "what is the word?".to_owned();
    let message = segue_core::flows::messages::add(
        &scene.ports,
        &mut scene.state,
        text,
        (None, Commit::default()),
    );
    let message = message.await.unwrap();
    next_turn(&mut scene).await;
    assert_eq!(scene.arguments(), ["--resume", scene.id().as_str(), "what is the word?"]);
    let typing = &scene.state.outbox[0];
    assert_eq!(typing.id, message);
    assert!(matches!(typing.state, MessageState::Typing(_)), "{:?}", typing.state);
    scene.assert_stored().await;
}

#[tokio::test]
async fn headless_turn_that_never_reached_the_transcript_gets_its_message_again() {
    let mut scene = FlowScene::headless();
    scene.talk().await;
    scene.end(Exit::Signal(9)).await;
    bring_back(&mut scene).await;
    assert_eq!(scene.arguments().pop().as_deref(), Some("remember amber"));
}

#[tokio::test]
async fn failed_restore_starts_nothing_and_leaves_the_session_as_it_was() {
    for call in ["folders.restore", "files.end_last_line", "store.commit"] {
        let mut scene = interrupted(FlowScene::new()).await;
        scene.world.disk.remove(scene.transcript());
        let launches = scene.state.launches.clone();
        scene.world.calls.fail(call, 1);
        try_bring_back(&mut scene).await.unwrap_err();
        assert_eq!(scene.state.launches, launches, "{call}");
        scene.assert_stored().await;
        let done = bring_back(&mut scene).await;
        assert!(matches!(done, Done::Launched { .. }), "{call}: {done:?}");
    }
}

#[test]
fn queued_message_starts_the_next_turn_of_a_headless_session_between_turns() {
    let decision = Decision::Rest { id: VendorSessionId::new("one") };
    let planned = |has_message| restore::plan(&decision, "shop/fox", has_message).0;
    assert_eq!((planned(false), planned(true)), (PlannedDecision::Rest, PlannedDecision::Resume));
    assert!(planned(true).brings_back() && !planned(false).brings_back());
}

#[test]
fn every_decision_has_a_word_and_a_description() {
    let id = || VendorSessionId::new("one");
    let table = [
        (Decision::Attach, PlannedDecision::Running, "runs"),
        (Decision::Rest { id: id() }, PlannedDecision::Rest, "between turns"),
        (Decision::Resume { id: id() }, PlannedDecision::Resume, "resume"),
        (Decision::Adopt { id: id() }, PlannedDecision::Adopt, "only possible conversation"),
        (Decision::StartAgain, PlannedDecision::Start, "the conversation is empty"),
        (Decision::Fresh, PlannedDecision::Fresh, "cannot resume"),
        (Decision::Refuse(ResumeRefusal::FolderGone), PlannedDecision::Refuse, "folder"),
        (Decision::Refuse(ResumeRefusal::GaveUp), PlannedDecision::Refuse, "segue resume shop/fox"),
    ];
    for (decision, word, text) in table {
        let (planned, described) = restore::plan(&decision, "shop/fox", false);
        assert_eq!(planned, word);
        let text_found = described.text.as_ref().is_some_and(|it| it.contains(text));
        assert!(text_found, "{described:?}");
    }
}
