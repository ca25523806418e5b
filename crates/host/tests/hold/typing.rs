//! Tests of requests to a holder to type messages and keys.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use segue_core::model::{LaunchId, MessageId};
use segue_core::ports::{HolderEvent, HolderEvents, Holders as _, TypeOrder, Typed};
use uuid::Uuid;

use super::fixture::{DEADLINE, HoldFixture, LinePipe};
use super::protocol::{ANSWER, HELLO, INPUT, REQUEST, connect, frame, read_frame};

/// Switches to raw input and bracketed paste.
const READY: &str = "stty raw -echo; printf '\\033[?2004h'; title ready;";
/// Reads `END`, which follows the message. So the test notices bytes in between.
const READ_END: &str = "head -c 3 >> got; echo end > lines; exec sleep 600";

/// An agent that reads messages and records them in the file `got`.
struct Agent {
    fixture: HoldFixture,
    launch: LaunchId,
    lines: LinePipe,
}

impl Agent {
    /// Starts an agent that reads a message of `message` bytes, draws it, and reads `more` bytes.
    async fn start_reader(message: usize, more: usize) -> Self {
        let script = format!(
            "head -c {message} > got; printf drawn; head -c {more} >> got; echo all > lines"
        );
        Self::start(&format!("{READY} {script}; {READ_END}")).await
    }

    /// Starts a script and waits for its title `ready`.
    async fn start(script: &str) -> Self {
        let fixture = HoldFixture::new();
        let lines = fixture.line_pipe("lines");
        drop(fixture.line_pipe("gate"));
        let (launch, _) = fixture.start(&fixture.shell(script)).await;
        fixture.wait_for_title(launch, "ready").await;
        Self { fixture, launch, lines }
    }

    async fn revision(&self) -> u64 {
        self.fixture.holders.screen(self.launch).await.unwrap().unwrap().revision
    }

    /// Returns an order for the current screen.
    async fn order(&self, text: &str) -> TypeOrder {
        let message = MessageId::new(Uuid::now_v7());
        TypeOrder { message, text: text.to_owned(), revision: self.revision().await }
    }

    async fn type_message(&self, order: &TypeOrder) -> Typed {
        self.fixture.holders.type_message(self.launch, order).await.unwrap()
    }

    /// Types `END`, and returns everything that the agent has read, including it.
    async fn received(mut self) -> String {
        assert_eq!(self.lines.read_lines(1).await, ["all"]);
        self.fixture.holders.inject(self.launch, b"END").await.unwrap();
        assert_eq!(self.lines.read_lines(1).await, ["end"]);
        String::from_utf8(fs::read(self.file("got")).unwrap()).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.fixture.folder().join(name)
    }

    /// Writes a word to the named pipe `gate`, for which the agent waits.
    fn open_gate(&self, word: &str) {
        let gate = fs::OpenOptions::new().write(true).open(self.file("gate"));
        gate.unwrap().write_all(format!("{word}\n").as_bytes()).unwrap();
    }
}

fn pasted(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

#[tokio::test]
async fn message_is_pasted_and_submitted_and_its_control_bytes_are_removed() {
    let expected = pasted("/one\rtwo\t[201~rm -rf[A é漢");
    let agent = Agent::start_reader(expected.len(), 1).await;
    let order = agent.order("/one\r\ntwo\t\x1b[201~rm -rf\x1b[A\x03\r é漢").await;
    assert_eq!(agent.type_message(&order).await, Typed::Now);
    assert_eq!(agent.received().await, expected + "\rEND");
}

#[tokio::test]
async fn message_is_typed_as_lines_if_the_agent_has_no_bracketed_paste_and_draws_nothing() {
    let script = "stty raw -echo; title ready; head -c 8 > got; echo all > lines;";
    let agent = Agent::start(&format!("{script} {READ_END}")).await;
    assert_eq!(agent.type_message(&agent.order("one\ntwo").await).await, Typed::Now);
    assert_eq!(agent.received().await, "one\ntwo\rEND");
}

#[tokio::test]
async fn message_is_typed_only_once_even_if_the_screen_has_changed() {
    let expected = pasted("once");
    let agent = Agent::start_reader(expected.len(), 1).await;
    let order = agent.order("once").await;
    let outdated = TypeOrder { revision: u64::MAX, ..order.clone() };
    assert_eq!(
        agent.type_message(&outdated).await,
        Typed::Changed,
        "an order for another screen was typed"
    );
    assert_eq!(agent.type_message(&order).await, Typed::Now);
    assert_eq!(agent.type_message(&order).await, Typed::Before);
    assert_eq!(agent.type_message(&outdated).await, Typed::Before);
    let again = TypeOrder { revision: agent.revision().await, ..order };
    assert_eq!(agent.type_message(&again).await, Typed::Before);
    assert_eq!(agent.received().await, expected + "\rEND");
}

#[tokio::test]
async fn orders_for_an_older_screen_are_refused() {
    let mut agent = Agent::start(
        "stty raw -echo; title ready; head -c 1 > got; echo key > lines; read go < gate; \
         printf drawn; echo drawn > lines; head -c 1 >> got; echo all > lines; head -c 3 >> got; \
         echo end > lines; exec sleep 600",
    )
    .await;
    let holders = &agent.fixture.holders;
    let order = agent.order("never").await;
    assert_eq!(agent.revision().await, order.revision, "the revision changed without a change");
    // A user types.
    holders.inject(agent.launch, b"a").await.unwrap();
    assert_eq!(agent.type_message(&order).await, Typed::Changed);
    assert!(!holders.press(agent.launch, b"x", order.revision).await.unwrap());
    assert_eq!(agent.lines.read_lines(1).await, ["key"]);
    // The agent draws.
    let order = agent.order("never").await;
    agent.open_gate("go");
    assert_eq!(agent.lines.read_lines(1).await, ["drawn"]);
    assert_eq!(agent.type_message(&order).await, Typed::Changed);
    assert!(!holders.press(agent.launch, b"x", order.revision).await.unwrap());
    let revision = agent.revision().await;
    assert!(revision > order.revision);
    assert!(holders.press(agent.launch, b"y", revision).await.unwrap());
    assert_eq!(agent.received().await, "ayEND");
}

#[tokio::test]
async fn message_is_typed_completely_if_the_client_disconnects_at_once() {
    let expected = pasted("whole");
    let agent = Agent::start_reader(expected.len(), 1).await;
    let TypeOrder { message, text, revision } = agent.order("whole").await;
    let request =
        format!(r#"{{"type":{{"message":"{message}","text":"{text}","revision":{revision}}}}}"#);
    let hello = frame(HELLO, br#"{"protocol":1,"oldest":1}"#);
    let mut client = connect(&agent.fixture, agent.launch);
    client.write_all(&[hello, frame(REQUEST, request.as_bytes())].concat()).unwrap();
    drop(client);
    assert_eq!(agent.received().await, expected + "\rEND");
}

#[tokio::test]
async fn long_message_waits_for_a_slow_agent_without_blocking_the_holder() {
    let text: String = (0..6400).map(|number| format!("{number:07}\n")).collect();
    let expected = pasted(&text.replace('\n', "\r"));
    assert_eq!(expected.len(), 51_212);
    let slow = "read go < gate; for piece in $(seq 50); do head -c 1024 >> got; sleep 0.005; done; \
                head -c 12 >> got; printf drawn; head -c 1 >> got; echo all > lines;";
    let agent = Agent::start(&format!("{READY} {slow} {READ_END}")).await;
    let order = agent.order(&text).await;
    assert_eq!(agent.type_message(&order).await, Typed::Now);
    // The agent has not read anything yet.
    assert!(agent.fixture.holders.find(agent.launch).await.unwrap().is_some());
    assert_eq!(agent.type_message(&agent.order("another").await).await, Typed::Changed);
    assert_eq!(agent.type_message(&order).await, Typed::Before);
    agent.open_gate("go");
    assert_eq!(agent.received().await, expected + "\rEND");
}

#[tokio::test]
async fn input_of_users_during_a_message_comes_after_it() {
    let expected = pasted("first");
    let script = format!(
        "{READY} read go < gate; head -c {} > got; printf drawn; head -c 6 >> got; echo all > lines;",
        expected.len()
    );
    let agent = Agent::start(&format!("{script} {READ_END}")).await;
    let mut person = connect(&agent.fixture, agent.launch);
    person.write_all(&frame(HELLO, br#"{"protocol":1,"oldest":1}"#)).unwrap();
    person.write_all(&frame(REQUEST, br#"{"attach":{"rows":40,"cols":120}}"#)).unwrap();
    while read_frame(&mut person).0 != ANSWER {}
    assert_eq!(agent.type_message(&agent.order("first").await).await, Typed::Now);
    person.write_all(&frame(INPUT, b"lat")).unwrap();
    person.write_all(&frame(INPUT, b"er")).unwrap();
    person.write_all(&frame(REQUEST, br#""status""#)).unwrap();
    while read_frame(&mut person).0 != ANSWER {}
    agent.open_gate("go");
    assert_eq!(agent.received().await, expected + "\rlaterEND");
}

#[tokio::test]
async fn only_keys_change_the_revision_and_a_recent_key_delays_typing() {
    let script = "stty raw -echo; printf '\\033[?1004h'; title ready; head -c 3 > got; \
                  echo focus > lines; head -c 1 >> got; echo key > lines; head -c 3 >> got; \
                  echo all > lines;";
    let mut agent = Agent::start(&format!("{script} {READ_END}")).await;
    let mut person = connect(&agent.fixture, agent.launch);
    person.write_all(&frame(HELLO, br#"{"protocol":1,"oldest":1}"#)).unwrap();
    person.write_all(&frame(REQUEST, br#"{"attach":{"rows":40,"cols":120}}"#)).unwrap();
    let before = agent.revision().await;
    person.write_all(&frame(INPUT, b"\x1b[I")).unwrap();
    assert_eq!(agent.lines.read_lines(1).await, ["focus"]);
    assert_eq!(agent.revision().await, before);
    let mut events = agent.fixture.holders.subscribe(agent.launch).await.unwrap();
    let pressed = Instant::now();
    person.write_all(&frame(INPUT, b"k")).unwrap();
    assert_eq!(agent.lines.read_lines(1).await, ["key"]);
    let order = agent.order("ab").await;
    assert_eq!(order.revision, before + 1);
    // The holder refuses an order soon after a key, because the agent may not have drawn the key
    // yet. It notifies the client when to retry.
    let typed = agent.type_message(&order).await;
    if pressed.elapsed() < Duration::from_millis(150) {
        assert_eq!(typed, Typed::Changed);
    }
    if typed == Typed::Changed {
        while next_event(&mut events).await != HolderEvent::Settled {}
        assert_eq!(agent.type_message(&order).await, Typed::Now);
    }
    assert_eq!(agent.received().await, "\x1b[Ikab\rEND");
}

async fn next_event(events: &mut Box<dyn HolderEvents>) -> HolderEvent {
    tokio::time::timeout(DEADLINE, events.next()).await.unwrap().unwrap()
}

/// Sets every word from its gate as the title.
const GATED: &str =
    "stty raw -echo; exec 3<>gate; title ready; while :; do read go <&3; title $go; done";

#[tokio::test]
async fn subscribers_are_notified_once_after_drawing_and_never_without_it() {
    let (idle, busy) = (Agent::start(GATED).await, Agent::start(GATED).await);
    let mut idle_events = subscribe_settled(&idle).await;
    // A new subscriber is no reason for a notification.
    let _other = idle.fixture.holders.subscribe(idle.launch).await.unwrap();
    let mut busy_events = subscribe_settled(&busy).await;
    for round in ["one", "two", "three"] {
        busy.open_gate(round);
        assert_eq!(next_event(&mut busy_events).await, HolderEvent::Title(round.to_owned()));
        assert_eq!(next_event(&mut busy_events).await, HolderEvent::Settled);
    }
    // Meanwhile there was no notification about the idle agent.
    idle.open_gate("last");
    assert_eq!(next_event(&mut idle_events).await, HolderEvent::Title("last".to_owned()));
    assert_eq!(next_event(&mut idle_events).await, HolderEvent::Settled);
}

/// Subscribes to an agent's events, and waits until all earlier changes were reported.
async fn subscribe_settled(agent: &Agent) -> Box<dyn HolderEvents> {
    let mut events = agent.fixture.holders.subscribe(agent.launch).await.unwrap();
    agent.open_gate("rest");
    while next_event(&mut events).await != HolderEvent::Title("rest".to_owned()) {}
    assert_eq!(next_event(&mut events).await, HolderEvent::Settled);
    events
}

#[tokio::test]
async fn subscribers_are_notified_of_drawing_that_never_stops() {
    let agent = Agent::start("title ready; while :; do printf .; done").await;
    let mut events = agent.fixture.holders.subscribe(agent.launch).await.unwrap();
    while next_event(&mut events).await != HolderEvent::Settled {}
    let first = Instant::now();
    while next_event(&mut events).await != HolderEvent::Settled {}
    // The usual interval is about two seconds. It is shorter if the agent paused on a busy machine.
    assert!(first.elapsed() > Duration::from_millis(140), "{:?}", first.elapsed());
}

#[tokio::test]
async fn typing_without_a_terminal_or_a_holder_is_refused() {
    let fixture = HoldFixture::new();
    let mut test_launch = fixture.shell("exec sleep 600");
    test_launch.headless = true;
    let (launch, _) = fixture.start(&test_launch).await;
    assert_eq!(fixture.holders.screen(launch).await.unwrap(), None);
    let message = MessageId::new(Uuid::now_v7());
    let order = TypeOrder { message, text: "hello".to_owned(), revision: 0 };
    let error = fixture.holders.type_message(launch, &order).await.unwrap_err();
    assert!(error.message.contains("without a terminal"), "{error}");
    let error = fixture.holders.press(launch, b"\r", 0).await.unwrap_err();
    assert!(error.message.contains("without a terminal"), "{error}");
    let unknown = LaunchId::new(Uuid::now_v7());
    assert_eq!(fixture.holders.screen(unknown).await.unwrap(), None);
    let error = fixture.holders.type_message(unknown, &order).await.unwrap_err();
    assert_eq!(error.kind, segue_core::Kind::NotFound);
}
