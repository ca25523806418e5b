//! Messages: recorded first, typed once, settled by what the transcript shows.

use segue_core::flows::messages::{self, Attempt};
use segue_core::model::{
    Activity, Exit, MessageId, MessageState, MessageStateKind, RequestId, RequestKey, Signal,
    Status,
};
use segue_core::ports::{Change, Commit};
use segue_core::rules::delivery::AgentWait;
use segue_core::{Kind, model::Source};
use segue_fakes::{FakeVendor, Storage, samples};

use crate::scene::FlowScene;

const READY: &[&str] = &["welcome", ">"];

/// A session whose agent is idle, with an empty input.
async fn idle_with(vendor: FakeVendor) -> FlowScene {
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    let launch = scene.start("remember amber").await;
    scene.say("user", "remember amber");
    scene.say("agent", "noted");
    scene.show_conversation(scene.id()).await;
    scene.signal(Signal::Activity { activity: Activity::Idle, source: Source::Registry }).await;
    scene.world.holders.show(launch, READY);
    scene
}

async fn idle() -> FlowScene {
    idle_with(FakeVendor::default()).await
}

async fn add(scene: &mut FlowScene, text: &str) -> MessageId {
    let recorded_with = (None, Commit::default());
    messages::add(&scene.ports, &mut scene.state, text.to_owned(), recorded_with).await.unwrap()
}

async fn type_next(scene: &mut FlowScene) -> Attempt {
    messages::type_next(&scene.ports, &mut scene.state).await.unwrap()
}

async fn check_typed(scene: &mut FlowScene, wait: AgentWait) -> bool {
    messages::check_typed(&scene.ports, &mut scene.state, wait).await.unwrap()
}

async fn state_of(scene: &FlowScene, message: MessageId) -> MessageStateKind {
    scene.ports.store.message(message).await.unwrap().unwrap().state.kind()
}

#[tokio::test]
async fn message_is_stored_before_it_is_typed_and_recorded_as_typing_first() {
    let mut scene = idle().await;
    let message = add(&mut scene, "what is the word?").await;
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Queued);
    scene.world.calls.take();
    assert_eq!(type_next(&mut scene).await, Attempt::Typed(message));
    let calls = scene.world.calls.take();
    let position = |call| calls.iter().position(|it| *it == call).unwrap();
    assert!(position("store.commit") < position("holders.type_message"));
    let typed = scene.world.holders.typed();
    assert_eq!(typed.len(), 1);
    assert_eq!((typed[0].message, typed[0].text.as_str()), (message, "what is the word?"));
    scene.assert_stored().await;
}

#[tokio::test]
async fn message_waits_for_an_idle_agent_with_an_empty_input() {
    let table: [(&[&str], Status); 4] = [
        (&["> draft"], Status::Idle),
        (&["…"], Status::Idle),
        (&["? may I"], Status::Idle),
        (READY, Status::Working),
    ];
    for (rows, status) in table {
        let mut scene = idle().await;
        add(&mut scene, "hi").await;
        scene.world.holders.show(scene.launch(), rows);
        scene.state.session.status = status;
        assert_eq!(type_next(&mut scene).await, Attempt::Nothing, "{rows:?} {status:?}");
        assert!(scene.world.holders.typed().is_empty());
    }
}

#[tokio::test]
async fn nothing_is_typed_without_a_message_a_launch_or_a_screen() {
    let mut scene = idle().await;
    assert_eq!(type_next(&mut scene).await, Attempt::Nothing, "no message");
    let mut scene = FlowScene::new();
    scene.start("hi").await;
    add(&mut scene, "hi").await;
    assert_eq!(type_next(&mut scene).await, Attempt::Nothing, "no screen");
    scene.end(Exit::Code(0)).await;
    assert_eq!(type_next(&mut scene).await, Attempt::Nothing, "no launch");
}

#[tokio::test]
async fn message_returns_to_the_queue_if_a_user_types_first() {
    let mut scene = idle().await;
    let message = add(&mut scene, "hi").await;
    scene.world.holders.disturb_next_message();
    assert_eq!(type_next(&mut scene).await, Attempt::Disturbed);
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Queued);
    assert!(scene.world.holders.typed().is_empty());
    assert_eq!(type_next(&mut scene).await, Attempt::Typed(message), "it is tried again");
}

#[tokio::test]
async fn holder_that_does_not_answer_leaves_the_message_as_typing() {
    let mut scene = idle().await;
    let message = add(&mut scene, "hi").await;
    scene.world.calls.fail("holders.type_message", 1);
    let attempt = type_next(&mut scene).await;
    assert!(matches!(attempt, Attempt::Unanswered(id, _) if id == message), "{attempt:?}");
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Typing);
    // The next daemon asks the holder, which never got the message.
    messages::resolve_interrupted_typing(&scene.ports, &mut scene.state).await.unwrap();
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Queued);
}

#[tokio::test]
async fn message_that_the_holder_has_typed_is_not_typed_again() {
    let mut scene = idle().await;
    let message = add(&mut scene, "hi").await;
    type_next(&mut scene).await;
    messages::resolve_interrupted_typing(&scene.ports, &mut scene.state).await.unwrap();
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Typing);
    assert_eq!(scene.world.holders.typed().len(), 1);
}

#[tokio::test]
async fn message_is_settled_by_the_transcript_the_process_and_the_wait() {
    use MessageStateKind::{Delivered, Queued, Typing, Uncertain};
    let table = [
        // In the transcript, process alive, wait, result
        (true, true, AgentWait::Continues, Delivered),
        (true, false, AgentWait::Continues, Delivered),
        (false, true, AgentWait::Continues, Typing),
        (false, true, AgentWait::Over, Uncertain),
        (false, false, AgentWait::Continues, Queued),
    ];
    for (is_recorded, is_alive, wait, expected) in table {
        let mut scene = idle().await;
        let message = add(&mut scene, "what is the word?").await;
        type_next(&mut scene).await;
        if is_recorded {
            scene.say("user", "what is the word?");
        }
        if !is_alive {
            scene.end(Exit::Signal(9)).await;
        }
        let changed = check_typed(&mut scene, wait).await;
        assert_eq!(changed, expected != Typing);
        let found = state_of(&scene, message).await;
        assert_eq!(found, expected, "recorded {is_recorded}, alive {is_alive}, {wait:?}");
        scene.assert_stored().await;
    }
}

#[tokio::test]
async fn same_text_from_before_the_message_is_no_confirmation() {
    let mut scene = idle().await;
    scene.say("user", "again");
    let message = add(&mut scene, "again").await;
    type_next(&mut scene).await;
    check_typed(&mut scene, AgentWait::Continues).await;
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Typing);
}

#[tokio::test]
async fn deleted_transcript_confirms_nothing() {
    let mut scene = idle().await;
    segue_core::flows::guard::guard_current(&scene.ports, &mut scene.state).await.unwrap();
    let message = add(&mut scene, "hi").await;
    type_next(&mut scene).await;
    scene.world.disk.remove(scene.transcript());
    scene.end(Exit::Signal(9)).await;
    check_typed(&mut scene, AgentWait::Continues).await;
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Uncertain);
}

#[tokio::test]
async fn vendor_without_transcripts_leaves_a_typed_message_unconfirmed() {
    let vendor = FakeVendor { storage: Storage::Unreadable, ..FakeVendor::default() };
    let mut scene = FlowScene::with(vendor, samples::session(1, "fox"));
    let launch = scene.start("hi").await;
    scene.state.session.status = Status::Idle;
    scene.world.holders.show(launch, READY);
    let message = add(&mut scene, "hi").await;
    assert_eq!(type_next(&mut scene).await, Attempt::Unconfirmed);
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Uncertain);
    let told = scene.log().pop().unwrap();
    assert!(told.contains("`tool` has no transcript"), "{told}");
}

#[tokio::test]
async fn message_that_cannot_be_typed_goes_into_a_file() {
    for text in ["a\u{1b}[31mb".to_owned(), "x".repeat(100_001)] {
        let mut scene = idle().await;
        let message = add(&mut scene, &text).await;
        type_next(&mut scene).await;
        let typed = scene.world.holders.typed().pop().unwrap().text;
        let path = scene.ports.folders.folder(scene.launch()).join(format!("message-{message}.md"));
        assert_eq!(typed, format!("Read the file {} and do what it says.", path.display()));
        assert_eq!(scene.world.disk.text(&path), Some(text));
        scene.say("user", &typed);
        check_typed(&mut scene, AgentWait::Continues).await;
        assert_eq!(state_of(&scene, message).await, MessageStateKind::Delivered);
    }
}

#[tokio::test]
async fn repeated_request_returns_the_message_that_it_queued_first() {
    let mut scene = idle().await;
    let id = RequestId::new(uuid::Uuid::from_u128(5));
    let key = Some(RequestKey { caller: None, id });
    let mut ids = Vec::new();
    for _ in 0..2 {
        let recorded_with = (key, Commit::default());
        let added =
            messages::add(&scene.ports, &mut scene.state, "hi".to_owned(), recorded_with).await;
        ids.push(added.unwrap());
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!(scene.state.outbox.len(), 1);
    scene.assert_stored().await;
}

#[tokio::test]
async fn only_a_queued_message_can_be_cancelled() {
    let mut scene = idle().await;
    let message = add(&mut scene, "hi").await;
    let cancel = async |scene: &mut FlowScene| {
        messages::cancel(&scene.ports, &mut scene.state, message, Vec::<Change>::new()).await
    };
    type_next(&mut scene).await;
    let error = cancel(&mut scene).await.unwrap_err();
    assert!(error.to_string().contains("is being typed"), "{error}");
    scene.say("user", "hi");
    check_typed(&mut scene, AgentWait::Continues).await;
    let error = cancel(&mut scene).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
    assert!(error.to_string().contains("settled already"), "{error}");
    let second = add(&mut scene, "no").await;
    messages::cancel(&scene.ports, &mut scene.state, second, Vec::new()).await.unwrap();
    assert_eq!(state_of(&scene, second).await, MessageStateKind::Cancelled);
    assert_eq!(type_next(&mut scene).await, Attempt::Nothing);
}

#[tokio::test]
async fn enter_is_pressed_again_only_while_the_text_is_in_the_input() {
    let mut scene = idle().await;
    let message = add(&mut scene, "hello agent").await;
    type_next(&mut scene).await;
    let press = async |scene: &FlowScene| {
        messages::press_enter_again(&scene.ports, &scene.state, message).await.unwrap();
        scene.world.holders.keys().len()
    };
    assert_eq!(press(&scene).await, 0, "the input is empty");
    scene.world.holders.show(scene.launch(), &["> hello agent"]);
    assert_eq!(press(&scene).await, 1);
    assert_eq!(scene.world.holders.keys()[0], b"\r");
}

#[tokio::test]
async fn headless_message_is_delivered_when_its_turn_has_succeeded() {
    let mut scene = FlowScene::headless();
    scene.talk().await;
    scene.end(Exit::Code(0)).await;
    scene.state.session.status = Status::Idle;
    let message = add(&mut scene, "hi").await;
    let observed = segue_core::flows::look::look(
        &scene.ports,
        &scene.state,
        segue_core::flows::look::SelectionMode::ByName,
    );
    let observed = observed.await.unwrap();
    let decision = segue_core::rules::recovery::decide(&observed.facts);
    let environment = samples::environment();
    let turn = segue_core::flows::restore::next_turn(
        &scene.ports,
        &mut scene.state,
        &observed,
        decision,
        environment,
    );
    turn.await.unwrap();
    scene.signal(Signal::TurnEnded { ok: true, text: "amber".to_owned(), failure: None }).await;
    scene.end(Exit::Code(0)).await;
    assert_eq!(scene.status(), Status::Idle);
    check_typed(&mut scene, AgentWait::Continues).await;
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Delivered);
}

#[tokio::test]
async fn message_that_could_not_be_stored_is_not_in_memory_either() {
    let mut scene = idle().await;
    scene.world.calls.fail("store.commit", 1);
    let recorded_with = (None, Commit::default());
    messages::add(&scene.ports, &mut scene.state, "hi".to_owned(), recorded_with)
        .await
        .unwrap_err();
    assert!(scene.state.outbox.is_empty());
    let message = add(&mut scene, "hi").await;
    scene.world.calls.fail("store.commit", 1);
    messages::type_next(&scene.ports, &mut scene.state).await.unwrap_err();
    assert!(scene.world.holders.typed().is_empty(), "typed without a record");
    assert_eq!(scene.state.outbox[0].state, MessageState::Queued);
    assert_eq!(state_of(&scene, message).await, MessageStateKind::Queued);
}

#[tokio::test]
async fn screen_is_that_of_the_open_launch_of_a_session_with_a_terminal() {
    let mut scene = idle().await;
    let screen = messages::screen(&scene.ports, &scene.state).await.unwrap();
    assert_eq!(screen.unwrap().rows, READY);
    scene.state.session.headless = true;
    assert_eq!(messages::screen(&scene.ports, &scene.state).await.unwrap(), None);
    scene.state.session.headless = false;
    scene.end(Exit::Code(0)).await;
    assert_eq!(messages::screen(&scene.ports, &scene.state).await.unwrap(), None);
}
