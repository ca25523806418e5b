//! Starting a process: recorded first, started then, and ended if anything fails.

use segue_core::Kind;
use segue_core::flows::launch::{self, LaunchRequest};
use segue_core::model::{Evidence, Exit, How, LaunchMode, SessionId, Status, VendorSessionId};
use segue_fakes::{FakeVendor, Storage, samples};

use crate::scene::FlowScene;

async fn try_to_start(scene: &mut FlowScene) -> segue_core::Error {
    let request = LaunchRequest {
        creates_session: true,
        ..LaunchRequest::fresh(scene.preset_id(), samples::environment())
    };
    launch::start(&scene.ports, &mut scene.state, request).await.unwrap_err()
}

#[tokio::test]
async fn launch_is_committed_and_written_before_the_holder_starts() {
    let mut scene = FlowScene::new();
    scene.start("remember amber").await;
    let calls = scene.world.calls.take();
    let position = |call| calls.iter().position(|it| *it == call).unwrap();
    assert!(position("store.commit") < position("folders.write"));
    assert!(position("folders.write") < position("holders.start"));
    scene.assert_stored().await;
    let launch = scene.state.open().unwrap();
    assert_eq!((launch.number, launch.mode), (1, LaunchMode::Fresh));
    assert!(launch.holder.is_some() && launch.agent.is_some());
    assert_eq!(scene.status(), Status::Starting);
}

#[tokio::test]
async fn preset_id_is_bound_as_preset_and_passed_to_the_program() {
    let mut scene = FlowScene::new();
    scene.start("remember amber").await;
    let binding = scene.state.bound().unwrap().clone();
    assert_eq!(binding.evidence, Evidence::Preset);
    let id = binding.vendor_session.to_string();
    assert_eq!(scene.arguments(), ["--fresh", &id, "remember amber"]);
}

#[tokio::test]
async fn vendor_that_chooses_its_ids_starts_without_a_binding() {
    let vendor = FakeVendor { has_preset_ids: false, ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    scene.start("hi").await;
    assert!(scene.state.bound().is_none());
    assert_eq!(scene.arguments(), ["hi"]);
}

#[tokio::test]
async fn record_has_neither_the_message_nor_the_instructions_in_its_command() {
    let mut scene = FlowScene::new();
    scene.state.session.instructions = Some("be secret".to_owned());
    let launch = scene.start("the message").await;
    let record = scene.world.folders.record(launch).unwrap();
    let shown = record.cli_command.join(" ");
    assert!(shown.contains("<message>") && shown.contains("<instructions>"), "{shown}");
    assert!(!shown.contains("secret") && !shown.contains("the message"), "{shown}");
    assert!(scene.arguments().contains(&"be secret".to_owned()));
}

#[tokio::test]
async fn environment_is_recorded_by_name_only_and_has_the_marks_of_the_launch() {
    let mut scene = FlowScene::new();
    let launch = scene.start("hi").await;
    let order = scene.world.holders.started().pop().unwrap();
    assert_eq!(order.environment.get("SEGUE_LAUNCH"), Some(launch.to_string().as_str()));
    assert_eq!(order.environment.get("TOOL_HOME"), Some(samples::CONFIG_DIR));
    assert_eq!(scene.state.open().unwrap().environment, order.environment.names());
}

#[tokio::test]
async fn message_that_is_too_long_for_an_argument_goes_into_a_file() {
    let mut scene = FlowScene::new();
    let long = "x".repeat(100_001);
    let launch = scene.start(&long).await;
    let path = scene.ports.folders.message(launch);
    assert_eq!(scene.world.disk.text(&path), Some(long));
    let told = format!("Read the file {} and do what it says.", path.display());
    assert_eq!(scene.arguments().last(), Some(&told));
}

#[tokio::test]
async fn start_that_cannot_be_prepared_records_nothing() {
    let missing_program = FlowScene::new();
    missing_program.world.machine.uninstall();
    let missing_folder = FlowScene::new();
    missing_folder.world.disk.remove(samples::CWD);
    let mut bad_model = FlowScene::new();
    bad_model.state.session.model = Some("--yolo".to_owned());
    let unstored = FlowScene::new();
    unstored.world.calls.fail("store.commit", 1);
    let table = [
        (missing_program, Kind::Vendor, "is not installed"),
        (missing_folder, Kind::NotFound, "no folder"),
        (bad_model, Kind::Usage, "--yolo"),
        (unstored, Kind::Unavailable, "store.commit"),
    ];
    for (mut scene, kind, message) in table {
        let error = try_to_start(&mut scene).await;
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.to_string().contains(message), "{error}");
        assert!(scene.state.launches.is_empty() && scene.world.holders.started().is_empty());
        let stored = scene.ports.store.session(scene.state.session.id).await.unwrap();
        assert_eq!(stored, None, "{message}");
    }
}

#[tokio::test]
async fn failure_before_the_holder_ends_the_launch_as_never_started() {
    let mut scene = FlowScene::new();
    scene.world.calls.fail("folders.write", 1);
    try_to_start(&mut scene).await;
    assert_eq!(scene.state.launches[0].end.unwrap().exit, Exit::NeverStarted);
    assert_eq!(scene.status(), Status::Ended(How::NeverStarted));
    assert!(scene.world.holders.started().is_empty());
    scene.assert_stored().await;
}

#[tokio::test]
async fn holder_that_fails_is_abandoned_and_its_processes_are_ended() {
    let mut scene = FlowScene::new();
    scene.world.calls.fail("holders.start", 1);
    try_to_start(&mut scene).await;
    let calls = scene.world.calls.take();
    assert!(calls.contains(&"holders.abandon") && calls.contains(&"machine.end_marked"));
    assert!(!calls.contains(&"holders.stop"), "no holder was found: {calls:?}");
    assert!(scene.state.open().is_none());
    scene.assert_stored().await;
}

#[tokio::test]
async fn holder_that_starts_too_late_is_stopped_and_its_end_is_recorded() {
    let mut scene = FlowScene::new();
    scene.world.holders.start_late();
    try_to_start(&mut scene).await;
    assert_eq!(scene.state.launches[0].end.unwrap().exit, Exit::Signal(15));
    assert_eq!(scene.world.holders.processes(scene.launch()), None);
    scene.assert_stored().await;
}

#[tokio::test]
async fn end_that_the_holder_recorded_is_kept_when_the_start_cannot_be_committed() {
    let mut scene = FlowScene::new();
    // The second commit records the processes.
    scene.world.calls.fail("store.commit", 2);
    let error = try_to_start(&mut scene).await;
    assert_eq!(error.kind, Kind::Unavailable);
    assert!(scene.state.open().is_none(), "the launch stays open");
    scene.assert_stored().await;
}

#[tokio::test]
async fn end_that_cannot_be_recorded_leaves_the_launch_open() {
    let mut scene = FlowScene::new();
    scene.world.calls.fail("holders.start", 1);
    scene.world.calls.fail("store.commit", 2);
    try_to_start(&mut scene).await;
    assert!(scene.state.open().is_some());
    scene.assert_stored().await;
}

#[tokio::test]
async fn second_launch_of_a_running_session_is_a_conflict_and_starts_nothing() {
    let mut scene = FlowScene::new();
    scene.start("hi").await;
    let id = scene.id();
    let request = LaunchRequest::resume(id, samples::environment());
    let error = launch::start(&scene.ports, &mut scene.state, request).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
    assert_eq!(scene.world.holders.started().len(), 1);
}

#[tokio::test]
async fn folder_of_a_child_session_that_became_a_symlink_is_refused() {
    let mut scene = FlowScene::new();
    scene.state.session.parent = Some(SessionId::new(uuid::Uuid::from_u128(9)));
    scene.world.disk.create_folder("/elsewhere");
    scene.world.machine.link(samples::CWD, "/elsewhere");
    let error = try_to_start(&mut scene).await;
    assert_eq!(error.kind, Kind::Conflict);
    assert!(error.to_string().contains("/elsewhere"), "{error}");
    scene.state.session.parent = None;
    scene.start("a user may have moved the folder").await;
}

#[tokio::test]
async fn pending_import_is_passed_on_until_the_vendor_has_the_conversation() {
    let vendor = FakeVendor { storage: Storage::Database, ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    scene.start("hi").await;
    scene.end(Exit::Code(0)).await;
    let document = scene.ports.folders.import(scene.state.session.id);
    scene.world.disk.write(&document, "a conversation");
    let import = format!("--import={}", document.display());
    let id = scene.id();
    for (is_known, expected) in [(false, true), (true, false)] {
        if is_known {
            scene.say("user", "hi");
        }
        let request = LaunchRequest::resume(id.clone(), samples::environment());
        launch::start(&scene.ports, &mut scene.state, request).await.unwrap();
        assert_eq!(scene.arguments().contains(&import), expected, "known: {is_known}");
        scene.end(Exit::Code(0)).await;
    }
}

#[tokio::test]
async fn id_that_looks_like_an_option_is_refused() {
    let mut scene = FlowScene::new();
    let id = VendorSessionId::new("--yolo");
    let request = LaunchRequest::resume(id, samples::environment());
    let error = launch::start(&scene.ports, &mut scene.state, request).await.unwrap_err();
    assert!(error.to_string().contains("--yolo"), "{error}");
    assert!(scene.state.launches.is_empty());
}
