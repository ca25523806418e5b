//! What is found about a session, and what `rules::recovery` makes of it.

use segue_core::flows::look::SelectionMode;
use segue_core::model::{Exit, Resumes, Status, WaitingFor};
use segue_core::ports::{Live, WriteMode};
use segue_core::rules::recovery::{CopyLocation, Decision, ResumeRefusal};
use segue_fakes::{FakeVendor, Storage, samples, transcript_line};

use crate::scene::FlowScene;

/// A session that has talked and whose process was killed.
async fn interrupted() -> FlowScene {
    let mut scene = FlowScene::new();
    scene.talk().await;
    scene.end(Exit::Signal(9)).await;
    scene
}

#[tokio::test]
async fn agent_that_runs_is_left_running() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    assert_eq!(scene.decide().await, Decision::Attach);
}

#[tokio::test]
async fn dead_holder_of_an_open_launch_is_no_process() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    scene.world.holders.kill(launch);
    assert_eq!(scene.decide().await, Decision::Resume { id: scene.id() });
}

#[tokio::test]
async fn interrupted_session_is_resumed_by_its_proven_id() {
    let scene = interrupted().await;
    assert_eq!(scene.decide().await, Decision::Resume { id: scene.id() });
}

#[tokio::test]
async fn missing_transcript_is_restored_from_the_guard_then_from_the_archive_then_refused() {
    let scene = interrupted().await;
    let (launch, id) = (scene.launch(), scene.id());
    let session = &scene.state.session;
    segue_core::flows::archive::copy(&scene.ports, session, &id).unwrap();
    scene.world.disk.remove(scene.transcript());
    let restore = |from| Decision::Restore { id: id.clone(), from };
    assert_eq!(scene.decide().await, restore(CopyLocation::Guard(launch)));
    scene.ports.folders.unguard(launch, &scene.transcript()).unwrap();
    assert_eq!(scene.decide().await, restore(CopyLocation::Archive));
    segue_core::flows::archive::remove(&scene.ports, session, [&id].into_iter()).unwrap();
    let gone = Decision::Refuse(ResumeRefusal::TranscriptGone { id });
    assert_eq!(scene.decide().await, gone);
}

#[tokio::test]
async fn transcript_that_lacks_its_beginning_is_restored_only_if_its_process_appends() {
    for (write_mode, is_restored) in [(WriteMode::Append, true), (WriteMode::Other, false)] {
        let vendor = FakeVendor { write_mode, ..FakeVendor::default() };
        let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
        scene.talk().await;
        scene.end(Exit::Signal(9)).await;
        scene.world.disk.replace(scene.transcript(), transcript_line("agent", "later"));
        let is_decided = matches!(scene.decide().await, Decision::Restore { .. });
        assert_eq!(is_decided, is_restored, "{write_mode:?}");
    }
}

#[tokio::test]
async fn session_that_said_nothing_starts_again() {
    let mut scene = FlowScene::new();
    scene.start("hi").await;
    scene.end(Exit::Signal(9)).await;
    assert_eq!(scene.decide().await, Decision::StartAgain);
}

#[tokio::test]
async fn missing_or_linked_folder_is_refused() {
    let scene = interrupted().await;
    scene.world.disk.create_folder("/elsewhere");
    scene.world.machine.link(samples::CWD, "/elsewhere");
    assert_eq!(scene.decide().await, Decision::Refuse(ResumeRefusal::FolderGone));
    let scene = interrupted().await;
    scene.world.disk.remove(samples::CWD);
    assert_eq!(scene.decide().await, Decision::Refuse(ResumeRefusal::FolderGone));
}

#[tokio::test]
async fn vendor_that_cannot_resume_begins_anew_only_if_something_was_said() {
    let vendor = || FakeVendor { resumes: Resumes::No, ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor(), samples::session(1, "fox"));
    scene.start("hi").await;
    scene.end(Exit::Signal(9)).await;
    assert_eq!(scene.decide().await, Decision::StartAgain);
    let mut scene = FlowScene::with(vendor(), samples::session(1, "fox"));
    scene.talk().await;
    scene.end(Exit::Signal(9)).await;
    assert_eq!(scene.decide().await, Decision::Fresh);
}

#[tokio::test]
async fn without_transcripts_a_conversation_counts_as_there_once_an_agent_ran() {
    let vendor = FakeVendor { storage: Storage::Unreadable, ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    scene.start("hi").await;
    scene.end(Exit::Signal(9)).await;
    assert_eq!(scene.decide().await, Decision::Resume { id: scene.id() });
}

#[tokio::test]
async fn process_elsewhere_counts_only_if_it_lives_and_is_none_of_ours() {
    let vendor = FakeVendor::default();
    let live = vendor.live.clone();
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    scene.talk().await;
    scene.end(Exit::Signal(9)).await;
    let id = scene.id();
    let report = |started| vec![Live { pid: 7, started, id: id.clone() }];
    let resumed = Decision::Resume { id: id.clone() };
    *live.lock().unwrap() = report(None);
    assert_eq!(scene.decide().await, resumed, "the process is gone");
    scene.world.machine.start_process(7, "/usr/bin/tool --resume", None);
    let command = "tool".to_owned();
    let elsewhere = Decision::Refuse(ResumeRefusal::OpenElsewhere { pid: 7, command });
    assert_eq!(scene.decide().await, elsewhere);
    *live.lock().unwrap() = report(Some(1));
    assert_eq!(scene.decide().await, resumed, "another process has the pid by now");
    *live.lock().unwrap() = report(Some(70));
    assert_eq!(scene.decide().await, elsewhere);
    scene.world.machine.start_process(7, "tool", Some(scene.launch()));
    assert_eq!(scene.decide().await, resumed, "it is left of our own launch");
}

#[tokio::test]
async fn headless_session_rests_between_turns_and_goes_on_in_a_cut_one() {
    let mut scene = FlowScene::headless();
    scene.talk().await;
    scene.end(Exit::Code(0)).await;
    // No report of the turn was read, so the transcript decides.
    scene.state.session.status = Status::Idle;
    assert_eq!(scene.decide().await, Decision::Rest { id: scene.id() });
    scene.say("user", "and now");
    assert_eq!(scene.decide().await, Decision::Resume { id: scene.id() });
}

#[tokio::test]
async fn session_that_gave_up_is_refused_in_bulk_and_tried_by_name() {
    let mut scene = interrupted().await;
    scene.state.session.status = Status::Waiting(WaitingFor::Choice);
    let refused = Decision::Refuse(ResumeRefusal::GaveUp);
    assert_eq!(scene.decide_when(SelectionMode::InBulk).await, refused);
    assert_eq!(scene.decide().await, Decision::Resume { id: scene.id() });
}

/// A session of a vendor that chooses its ids, killed before it showed one.
async fn unproven() -> FlowScene {
    let vendor = FakeVendor { has_preset_ids: false, ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    scene.start("remember amber").await;
    scene.end(Exit::Signal(9)).await;
    scene
}

fn write_conversation(scene: &FlowScene, id: &str, first: &str) {
    let path = format!("{}/{id}.txt", samples::CONFIG_DIR);
    scene.world.disk.write(path, transcript_line("user", first));
}

#[tokio::test]
async fn only_conversation_with_the_own_first_message_is_adopted() {
    let scene = unproven().await;
    assert_eq!(scene.decide().await, Decision::StartAgain, "there is none");
    write_conversation(&scene, "one", "remember amber");
    let Decision::Adopt { id } = scene.decide().await else { panic!("not adopted") };
    assert_eq!(id.as_str(), "one");
    write_conversation(&scene, "two", "remember amber");
    let Decision::Refuse(ResumeRefusal::Ambiguous { candidates }) = scene.decide().await else {
        panic!("not refused");
    };
    assert_eq!(candidates.len(), 2);
}

#[tokio::test]
async fn conversation_with_another_first_message_is_not_adopted() {
    let scene = unproven().await;
    write_conversation(&scene, "one", "something else");
    let decision = scene.decide().await;
    assert!(matches!(decision, Decision::Refuse(ResumeRefusal::Ambiguous { .. })), "{decision:?}");
}

#[tokio::test]
async fn conversation_is_not_adopted_while_a_neighbour_may_own_it() {
    let scene = unproven().await;
    write_conversation(&scene, "one", "remember amber");
    let vendor = FakeVendor { has_preset_ids: false, ..FakeVendor::default() };
    let mut neighbour = FlowScene::with(vendor, samples::session(2, "owl"));
    neighbour.ports = scene.ports.clone();
    neighbour.start("remember amber").await;
    let decision = scene.decide().await;
    assert!(matches!(decision, Decision::Refuse(ResumeRefusal::Ambiguous { .. })), "{decision:?}");
}
