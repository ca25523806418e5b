//! Differences between store, launch folders, processes and transcripts.

use segue_core::flows::SessionState;
use segue_core::flows::doctor::{self, Mode};
use segue_core::model::{Exit, LaunchRecord};
use segue_core::ports::{Change, Commit, Fault};
use segue_fakes::FakeWorld;

use crate::scene::FlowScene;

async fn examine(scene: &FlowScene, mode: Mode) -> Vec<segue_core::api::Finding> {
    doctor::examine(&scene.ports, mode).await.unwrap()
}

#[tokio::test]
async fn healthy_session_has_no_findings() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    assert_eq!(examine(&scene, Mode::Look).await, []);
}

#[tokio::test]
async fn launch_folder_that_cannot_be_read_is_a_warning() {
    let scene = FlowScene::new();
    scene.world.folders.add_unreadable("/state/launches/odd");
    let findings = examine(&scene, Mode::Fix).await;
    assert_eq!(findings.len(), 1);
    assert!(findings[0].what.contains("/state/launches/odd") && !findings[0].fixed);
}

/// A world that has the launch folders of a scene, and an empty store.
fn without_store(scene: &FlowScene) -> FakeWorld {
    let world = FakeWorld::new();
    for launch in &scene.state.launches {
        world.folders.add_record(scene.world.folders.record(launch.id).unwrap());
    }
    world
}

#[tokio::test]
async fn store_is_rebuilt_from_launch_folders_with_launches_and_bindings() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    scene.end(Exit::Signal(9)).await;
    let request = segue_core::flows::launch::LaunchRequest::resume(
        scene.id(),
        segue_fakes::samples::environment(),
    );
    segue_core::flows::launch::start(&scene.ports, &mut scene.state, request).await.unwrap();
    let world = without_store(&scene);
    let ports = world.ports();
    let (rebuilt, left) = doctor::rebuild(&ports).await.unwrap();
    assert_eq!((rebuilt, left.len()), (1, 0));
    let state = SessionState::load(&ports, scene.state.session.id).await.unwrap();
    assert_eq!(state.vendor_session(), scene.state.vendor_session());
    assert_eq!(state.launches.len(), 2);
    assert!(state.launches[0].end.is_some() && state.open().is_some());
    assert!(state.session.has_content, "a missing transcript must count as a loss");
    let again = doctor::rebuild(&ports).await.unwrap();
    assert_eq!(again.0, 0, "it is known by now");
}

#[tokio::test]
async fn one_session_that_cannot_be_taken_in_does_not_stop_the_others() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let world = without_store(&scene);
    let mut other = scene.world.folders.record(scene.launch()).unwrap();
    other.session = segue_fakes::samples::session(2, "owl");
    other.launch.id = segue_core::model::LaunchId::new(uuid::Uuid::from_u128(2));
    other.launch.session = other.session.id;
    other.bindings.clear();
    world.folders.add_record(other);
    let ports = world.ports();
    world.calls.fail("store.commit", 1);
    let findings = doctor::examine(&ports, Mode::Fix).await.unwrap();
    let fixed: Vec<bool> = findings.iter().filter(|it| it.curable).map(|it| it.fixed).collect();
    assert_eq!(fixed, [false, true], "{findings:?}");
    assert!(findings[0].what.contains("store.commit"), "{findings:?}");
}

#[tokio::test]
async fn folders_of_a_removed_session_are_deleted_and_not_taken_in() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    scene.end(Exit::Code(0)).await;
    let record: LaunchRecord = scene.world.folders.record(launch).unwrap();
    let removed = Commit {
        changes: vec![Change::RemoveSession(scene.state.session.id)],
        events: vec![scene.state.event(
            &scene.ports,
            segue_core::model::EventPayload::SessionRemoved { address: "default/fox".to_owned() },
        )],
    };
    scene.ports.store.commit(removed).await.unwrap();
    scene.world.folders.add_record(record);
    let findings = examine(&scene, Mode::Look).await;
    assert!(findings[0].what.contains("was removed"), "{findings:?}");
    assert!(scene.world.folders.record(launch).is_some(), "a look changes nothing");
    assert!(examine(&scene, Mode::Fix).await[0].fixed);
    assert!(scene.world.folders.record(launch).is_none());
}

#[tokio::test]
async fn processes_of_ended_launches_are_found_and_ended_but_no_others() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    scene.end(Exit::Code(0)).await;
    let foreign = segue_core::model::LaunchId::new(uuid::Uuid::from_u128(99));
    scene.world.machine.start_process(70, "npm test", Some(launch));
    scene.world.machine.start_process(71, "of another home", Some(foreign));
    let findings = examine(&scene, Mode::Look).await;
    assert_eq!(findings.len(), 1);
    assert!(findings[0].what.contains("process 70 (npm test)"), "{findings:?}");
    assert!(scene.ports.machine.process(70).is_some());
    assert!(examine(&scene, Mode::Fix).await[0].fixed);
    assert!(scene.ports.machine.process(70).is_none());
    assert!(scene.ports.machine.process(71).is_some());
}

#[tokio::test]
async fn fault_of_a_holder_is_reported_and_cured() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    let faults = [
        Fault::HolderStopped { pid: 100 },
        Fault::AgentStopped { pid: 101 },
        Fault::SocketMissing { pid: 100 },
        Fault::HolderSilent { pid: 100 },
    ];
    for fault in faults {
        scene.world.holders.set_fault(launch, fault);
        let found = examine(&scene, Mode::Look).await;
        assert!(found[0].what.contains("`default/fox` does not work"), "{found:?}");
        scene.world.calls.fail("holders.cure", 1);
        let failed = examine(&scene, Mode::Fix).await;
        assert!(!failed[0].fixed && failed[0].what.contains("holders.cure"), "{failed:?}");
        assert!(examine(&scene, Mode::Fix).await[0].fixed, "{fault:?}");
        assert_eq!(examine(&scene, Mode::Look).await, []);
    }
}

#[tokio::test]
async fn holder_that_does_not_answer_is_a_fault() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    scene.world.calls.fail("holders.find", 1);
    let findings = examine(&scene, Mode::Look).await;
    assert!(findings[0].what.contains("does not answer"), "{findings:?}");
}

#[tokio::test]
async fn missing_transcript_is_a_problem_unless_a_guard_or_the_archive_has_it() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    let (id, path) = (scene.id(), scene.transcript());
    segue_core::flows::archive::copy(&scene.ports, &scene.state.session, &id).unwrap();
    scene.world.disk.remove(&path);
    let cure = async |scene: &FlowScene| {
        let findings = examine(scene, Mode::Look).await;
        assert_eq!(findings.len(), 1, "{findings:?}");
        findings[0].cure.clone().unwrap()
    };
    assert!(cure(&scene).await.contains("its guard has it"));
    scene.ports.folders.unguard(launch, &path).unwrap();
    assert!(cure(&scene).await.contains("the archive has it"));
    segue_core::flows::archive::remove(&scene.ports, &scene.state.session, [&id].into_iter())
        .unwrap();
    assert!(cure(&scene).await.contains("--fresh"));
}
