//! What becomes of a session after a signal or the end of its process.

use segue_core::flows::observe::{self, FollowUp};
use segue_core::model::{
    Activity, Evidence, Exit, Failure, FailureClass, How, LaunchEnd, Session, Signal, Source,
    Status, VendorSessionId, WaitingFor,
};
use segue_core::rules::lifecycle::EnvironmentKept;
use segue_fakes::{FakeVendor, samples};

use crate::scene::FlowScene;

fn activity(activity: Activity) -> Signal {
    Signal::Activity { activity, source: Source::Registry }
}

fn failed(message: &str) -> Signal {
    let failure =
        Failure { class: FailureClass::UsageLimit, message: message.to_owned(), resets_at: None };
    Signal::TurnEnded { ok: false, text: String::new(), failure: Some(failure) }
}

#[tokio::test]
async fn conversation_that_the_process_shows_is_bound_with_its_evidence() {
    let mut scene = FlowScene::new();
    let launch = scene.start("hi").await;
    assert!(!scene.state.is_confirmed(launch));
    let follow_ups = {
        let id = scene.id();
        scene.signal(Signal::Conversation { id, evidence: Evidence::Registry }).await
    };
    assert_eq!(follow_ups, [FollowUp::Bound]);
    assert!(scene.state.is_confirmed(launch));
    let record = scene.world.folders.record(launch).unwrap();
    assert_eq!(record.bindings, scene.state.bindings);
    scene.assert_stored().await;
}

#[tokio::test]
async fn resume_that_comes_up_in_another_conversation_is_ended_and_not_bound() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    scene.end(Exit::Signal(9)).await;
    let wanted = scene.id();
    let request =
        segue_core::flows::launch::LaunchRequest::resume(wanted.clone(), samples::environment());
    segue_core::flows::launch::start(&scene.ports, &mut scene.state, request).await.unwrap();
    scene.world.calls.take();
    let found = VendorSessionId::new("another");
    let signal = Signal::Conversation { id: found.clone(), evidence: Evidence::Registry };
    assert_eq!(scene.signal(signal).await, [FollowUp::Refused { found }]);
    assert_eq!(scene.id(), wanted);
    assert_eq!(scene.status(), Status::Waiting(WaitingFor::Choice));
    let calls = scene.world.calls.take();
    let position = |call| calls.iter().position(|it| *it == call).unwrap();
    assert!(position("holders.stop") < position("store.commit"), "{calls:?}");
}

#[tokio::test]
async fn activity_sets_the_status_and_names_its_source() {
    let mut scene = FlowScene::new();
    scene.start("hi").await;
    let table = [
        (Activity::Working, Status::Working),
        (Activity::Waiting(WaitingFor::Permission), Status::Waiting(WaitingFor::Permission)),
        (Activity::Idle, Status::Idle),
    ];
    for (shown, expected) in table {
        scene.signal(activity(shown)).await;
        assert_eq!(scene.status(), expected);
    }
    let told = scene.log().pop().unwrap();
    assert!(told.contains("the vendor's registry"), "{told}");
    scene.assert_stored().await;
}

#[tokio::test]
async fn failure_of_a_turn_is_recorded_once_and_forgotten_when_the_agent_works_again() {
    let mut scene = FlowScene::new();
    scene.start("hi").await;
    for _ in 0..2 {
        scene.signal(failed("limit reached")).await;
    }
    let failures = scene.log().into_iter().filter(|it| it.contains("limit reached")).count();
    assert_eq!(failures, 1);
    assert!(scene.state.turn.is_some());
    scene.signal(activity(Activity::Working)).await;
    assert!(scene.state.turn.is_none());
}

#[tokio::test]
async fn status_after_the_end_depends_on_the_exit() {
    let table = [
        (Exit::Code(0), Status::Ended(How::Quit)),
        (Exit::Code(1), Status::Ended(How::Crashed(Exit::Code(1)))),
        (Exit::Signal(9), Status::Ended(How::Crashed(Exit::Signal(9)))),
    ];
    for (exit, expected) in table {
        let mut scene = FlowScene::new();
        scene.talk().await;
        let launch = scene.launch();
        let end = LaunchEnd { exit, is_requested: false, at: scene.ports.clock.now() };
        scene.world.holders.end_agent(launch, end);
        let kept = EnvironmentKept::Yes;
        let ups = observe::ended(&scene.ports, &mut scene.state, launch, end, kept).await.unwrap();
        assert!(ups.contains(&FollowUp::Ended), "{ups:?}");
        assert_eq!(scene.status(), expected, "{exit:?}");
        let restarts = ups.iter().any(|it| matches!(it, FollowUp::RestartAfter(_)));
        assert_eq!(restarts, !exit.is_clean(), "{exit:?}");
        assert!(scene.state.open().is_none());
        scene.assert_stored().await;
    }
}

#[tokio::test]
async fn stop_that_was_asked_for_is_no_crash() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    let end = LaunchEnd { exit: Exit::Signal(15), is_requested: true, at: scene.ports.clock.now() };
    let ups = observe::ended(&scene.ports, &mut scene.state, launch, end, EnvironmentKept::Yes)
        .await
        .unwrap();
    assert_eq!(scene.status(), Status::Ended(How::Stopped));
    assert!(!ups.iter().any(|it| matches!(it, FollowUp::RestartAfter(_))));
    assert!(scene.log().iter().any(|it| it.contains("as asked")));
}

#[tokio::test]
async fn processes_that_a_dead_launch_left_are_ended_and_reported() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    scene.world.machine.start_process(70, "npm test", Some(launch));
    scene.end(Exit::Signal(9)).await;
    assert!(scene.ports.machine.process(70).is_none());
    assert!(scene.log().iter().any(|it| it.contains("70 (npm test)")), "{:?}", scene.log());
}

#[tokio::test]
async fn agent_that_dies_at_once_three_times_is_given_up() {
    let mut scene = FlowScene::new();
    scene.start("hi").await;
    let mut last = Vec::new();
    for round in 0..3 {
        if round > 0 {
            let id = scene.preset_id();
            let request =
                segue_core::flows::launch::LaunchRequest::fresh(id, samples::environment());
            segue_core::flows::launch::start(&scene.ports, &mut scene.state, request)
                .await
                .unwrap();
        }
        let launch = scene.launch();
        let end =
            LaunchEnd { exit: Exit::Code(1), is_requested: false, at: scene.ports.clock.now() };
        last = observe::ended(&scene.ports, &mut scene.state, launch, end, EnvironmentKept::Yes)
            .await
            .unwrap();
    }
    assert!(!last.iter().any(|it| matches!(it, FollowUp::RestartAfter(_))), "{last:?}");
    assert_eq!(scene.status(), Status::Waiting(WaitingFor::Choice));
    assert!(scene.log().iter().any(|it| it.starts_with("gave_up")));
}

#[tokio::test]
async fn reason_for_a_failed_start_is_read_from_the_last_screen() {
    let mut scene = FlowScene::new();
    let launch = scene.start("hi").await;
    scene.world.holders.show(launch, &["welcome", "refused: no credit"]);
    scene.end(Exit::Code(1)).await;
    assert!(scene.log().iter().any(|it| it.contains("no credit")), "{:?}", scene.log());
}

#[tokio::test]
async fn reason_for_a_failed_headless_turn_is_read_from_standard_error() {
    let mut scene = FlowScene::headless();
    let launch = scene.start("hi").await;
    scene.world.disk.write(scene.ports.folders.errors(launch), "refused: no credit\n");
    scene.end(Exit::Code(1)).await;
    assert_eq!(scene.status(), Status::Ended(How::Failed(FailureClass::Account)));
}

#[tokio::test]
async fn answer_that_the_output_lacks_is_taken_from_the_transcript() {
    let mut scene = FlowScene::headless();
    scene.start("hi").await;
    scene.say("user", "hi");
    scene.say("agent", "amber");
    scene.show_conversation(scene.id()).await;
    scene.signal(Signal::TurnEnded { ok: true, text: String::new(), failure: None }).await;
    scene.end(Exit::Code(0)).await;
    assert_eq!(scene.state.turn.as_ref().unwrap().text, "amber");
    assert_eq!(scene.status(), Status::Idle);
}

#[tokio::test]
async fn end_that_cannot_be_stored_changes_nothing_in_memory() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    scene.world.calls.fail("store.commit", 1);
    let end = LaunchEnd { exit: Exit::Code(0), is_requested: false, at: scene.ports.clock.now() };
    let ended =
        observe::ended(&scene.ports, &mut scene.state, launch, end, EnvironmentKept::No).await;
    ended.unwrap_err();
    assert!(scene.state.open().is_some());
    scene.assert_stored().await;
}

#[tokio::test]
async fn signal_of_a_launch_that_has_ended_changes_nothing() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    scene.end(Exit::Code(0)).await;
    let before = scene.state.clone();
    let signal = activity(Activity::Working);
    observe::signal(&scene.ports, &mut scene.state, launch, signal).await.unwrap();
    assert_eq!(scene.state.session, before.session);
    assert_eq!(scene.state.bindings, before.bindings);
}

#[tokio::test]
async fn vendor_without_signals_keeps_its_preset_binding() {
    let vendor = FakeVendor { has_signals: false, ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, Session { ..samples::session(1, "fox") });
    scene.start("hi").await;
    scene.end(Exit::Code(0)).await;
    assert_eq!(scene.state.bound().unwrap().evidence, Evidence::Preset);
    assert_eq!(scene.status(), Status::Ended(How::Quit));
}

#[tokio::test]
async fn launch_that_left_its_conversation_has_moved_on_even_if_it_returned() {
    let mut scene = FlowScene::new();
    let launch = scene.talk().await;
    let first = scene.id();
    assert!(!scene.state.has_moved_on(launch));
    scene.show_conversation(segue_core::model::VendorSessionId::new("other")).await;
    assert!(scene.state.has_moved_on(launch));
    scene.show_conversation(first).await;
    assert!(scene.state.has_moved_on(launch));
}
