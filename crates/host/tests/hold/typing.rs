//! Tests of messages and keys that the holder types on request.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use segue_core::model::{LaunchId, MessageId};
use segue_core::ports::{HolderEvent, HolderEvents, Holders as _, TypeOrder, Typed};
use uuid::Uuid;

use super::fixture::{DEADLINE, Ear, HoldFixture};
use super::protocol::{ANSWER, HELLO, INPUT, REQUEST, connect, frame, read_frame};

/// Reads keys one by one, and supports bracketed paste.
const READY: &str = "stty raw -echo; printf '\\033[?2004h'; title ready;";
/// Reads the bytes after the message, which shows that the message arrived once.
const THE_END: &str = "head -c 3 >> got; echo end > ear; exec sleep 600";

/// An agent that waits for messages.
struct Agent {
    fixture: HoldFixture,
    launch: LaunchId,
    ear: Ear,
}

impl Agent {
    /// Starts an agent that reads a message of `message` bytes, draws it, and reads `more` bytes.
    async fn reading(message: usize, more: usize) -> Self {
        let script =
            format!("head -c {message} > got; printf drawn; head -c {more} >> got; echo all > ear");
        Self::running(&format!("{READY} {script}; {THE_END}")).await
    }

    async fn running(script: &str) -> Self {
        let fixture = HoldFixture::new();
        let ear = fixture.ear("ear");
        drop(fixture.ear("gate"));
        let (launch, _) = fixture.start(&fixture.shell(script)).await;
        fixture.titled(launch, "ready").await;
        Self { fixture, launch, ear }
    }

    async fn revision(&self) -> u64 {
        self.fixture.holders.screen(self.launch).await.unwrap().unwrap().revision
    }

    /// Returns an order for the current screen.
    async fn order(&self, text: &str) -> TypeOrder {
        let message = MessageId::new(Uuid::now_v7());
        TypeOrder { message, text: text.to_owned(), revision: self.revision().await }
    }

    async fn types(&self, order: &TypeOrder) -> Typed {
        self.fixture.holders.type_message(self.launch, order).await.unwrap()
    }

    /// Returns everything that the agent read, up to the marker that this test types.
    async fn got(mut self) -> String {
        assert_eq!(self.ear.hears(1).await, ["all"]);
        self.fixture.holders.inject(self.launch, b"END").await.unwrap();
        assert_eq!(self.ear.hears(1).await, ["end"]);
        String::from_utf8(fs::read(self.file("got")).unwrap()).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.fixture.folder().join(name)
    }

    /// Lets the agent continue that waits at its gate.
    fn let_through(&self, word: &str) {
        let gate = fs::OpenOptions::new().write(true).open(self.file("gate"));
        gate.unwrap().write_all(format!("{word}\n").as_bytes()).unwrap();
    }
}

fn pasted(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

#[tokio::test]
async fn message_is_pasted_and_sent_and_cannot_end_its_paste() {
    let wanted = pasted("/one\rtwo\t[201~rm -rf[A é漢");
    let agent = Agent::reading(wanted.len(), 1).await;
    let order = agent.order("/one\r\ntwo\t\x1b[201~rm -rf\x1b[A\x03\r é漢").await;
    assert_eq!(agent.types(&order).await, Typed::Now);
    assert_eq!(agent.got().await, wanted + "\rEND");
}

#[tokio::test]
async fn agent_without_bracketed_paste_and_drawing_gets_lines_and_enter() {
    let script = "stty raw -echo; title ready; head -c 8 > got; echo all > ear;";
    let agent = Agent::running(&format!("{script} {THE_END}")).await;
    assert_eq!(agent.types(&agent.order("one\ntwo").await).await, Typed::Now);
    assert_eq!(agent.got().await, "one\ntwo\rEND");
}

#[tokio::test]
async fn message_is_typed_only_once_whatever_the_screen_shows() {
    let wanted = pasted("once");
    let agent = Agent::reading(wanted.len(), 1).await;
    let order = agent.order("once").await;
    let asked = TypeOrder { revision: u64::MAX, ..order.clone() };
    assert_eq!(agent.types(&asked).await, Typed::Changed, "a refused order is not typed");
    assert_eq!(agent.types(&order).await, Typed::Now);
    assert_eq!(agent.types(&order).await, Typed::Before);
    assert_eq!(agent.types(&asked).await, Typed::Before);
    let again = TypeOrder { revision: agent.revision().await, ..order };
    assert_eq!(agent.types(&again).await, Typed::Before);
    assert_eq!(agent.got().await, wanted + "\rEND");
}

#[tokio::test]
async fn orders_for_an_older_screen_are_refused() {
    let mut agent = Agent::running(
        "stty raw -echo; title ready; head -c 1 > got; echo key > ear; read go < gate; \
         printf drawn; echo drawn > ear; head -c 1 >> got; echo all > ear; head -c 3 >> got; \
         echo end > ear; exec sleep 600",
    )
    .await;
    let holders = &agent.fixture.holders;
    let order = agent.order("never").await;
    assert_eq!(agent.revision().await, order.revision, "nothing has changed");
    // A user types.
    holders.inject(agent.launch, b"a").await.unwrap();
    assert_eq!(agent.types(&order).await, Typed::Changed);
    assert!(!holders.press(agent.launch, b"x", order.revision).await.unwrap());
    assert_eq!(agent.ear.hears(1).await, ["key"]);
    // The agent draws.
    let order = agent.order("never").await;
    agent.let_through("go");
    assert_eq!(agent.ear.hears(1).await, ["drawn"]);
    assert_eq!(agent.types(&order).await, Typed::Changed);
    assert!(!holders.press(agent.launch, b"x", order.revision).await.unwrap());
    let revision = agent.revision().await;
    assert!(revision > order.revision);
    assert!(holders.press(agent.launch, b"y", revision).await.unwrap());
    assert_eq!(agent.got().await, "ayEND");
}

#[tokio::test]
async fn message_is_typed_completely_if_the_client_disconnects_at_once() {
    let wanted = pasted("whole");
    let agent = Agent::reading(wanted.len(), 1).await;
    let TypeOrder { message, text, revision } = agent.order("whole").await;
    let request =
        format!(r#"{{"type":{{"message":"{message}","text":"{text}","revision":{revision}}}}}"#);
    let hello = frame(HELLO, br#"{"protocol":1,"oldest":1}"#);
    let mut client = connect(&agent.fixture, agent.launch);
    client.write_all(&[hello, frame(REQUEST, request.as_bytes())].concat()).unwrap();
    drop(client);
    assert_eq!(agent.got().await, wanted + "\rEND");
}

#[tokio::test]
async fn long_message_waits_for_a_slow_agent_without_blocking_the_holder() {
    let text: String = (0..6400).map(|number| format!("{number:07}\n")).collect();
    let wanted = pasted(&text.replace('\n', "\r"));
    assert_eq!(wanted.len(), 51_212);
    let slow = "read go < gate; for piece in $(seq 50); do head -c 1024 >> got; sleep 0.005; done; \
                head -c 12 >> got; printf drawn; head -c 1 >> got; echo all > ear;";
    let agent = Agent::running(&format!("{READY} {slow} {THE_END}")).await;
    let order = agent.order(&text).await;
    assert_eq!(agent.types(&order).await, Typed::Now);
    // The agent has not read anything yet.
    assert!(agent.fixture.holders.find(agent.launch).await.unwrap().is_some());
    assert_eq!(agent.types(&agent.order("another").await).await, Typed::Changed);
    assert_eq!(agent.types(&order).await, Typed::Before);
    agent.let_through("go");
    assert_eq!(agent.got().await, wanted + "\rEND");
}

#[tokio::test]
async fn input_of_users_during_a_message_comes_after_it() {
    let wanted = pasted("first");
    let script = format!(
        "{READY} read go < gate; head -c {} > got; printf drawn; head -c 6 >> got; echo all > ear;",
        wanted.len()
    );
    let agent = Agent::running(&format!("{script} {THE_END}")).await;
    let mut person = connect(&agent.fixture, agent.launch);
    person.write_all(&frame(HELLO, br#"{"protocol":1,"oldest":1}"#)).unwrap();
    person.write_all(&frame(REQUEST, br#"{"attach":{"rows":40,"cols":120}}"#)).unwrap();
    while read_frame(&mut person).0 != ANSWER {}
    assert_eq!(agent.types(&agent.order("first").await).await, Typed::Now);
    person.write_all(&frame(INPUT, b"lat")).unwrap();
    person.write_all(&frame(INPUT, b"er")).unwrap();
    person.write_all(&frame(REQUEST, br#""status""#)).unwrap();
    while read_frame(&mut person).0 != ANSWER {}
    agent.let_through("go");
    assert_eq!(agent.got().await, wanted + "\rlaterEND");
}

#[tokio::test]
async fn only_keys_change_the_revision_and_a_recent_key_delays_typing() {
    let script = "stty raw -echo; printf '\\033[?1004h'; title ready; head -c 3 > got; \
                  echo focus > ear; head -c 1 >> got; echo key > ear; head -c 3 >> got; \
                  echo all > ear;";
    let mut agent = Agent::running(&format!("{script} {THE_END}")).await;
    let mut person = connect(&agent.fixture, agent.launch);
    person.write_all(&frame(HELLO, br#"{"protocol":1,"oldest":1}"#)).unwrap();
    person.write_all(&frame(REQUEST, br#"{"attach":{"rows":40,"cols":120}}"#)).unwrap();
    let before = agent.revision().await;
    person.write_all(&frame(INPUT, b"\x1b[I")).unwrap();
    assert_eq!(agent.ear.hears(1).await, ["focus"]);
    assert_eq!(agent.revision().await, before);
    let mut events = agent.fixture.holders.subscribe(agent.launch).await.unwrap();
    let pressed = Instant::now();
    person.write_all(&frame(INPUT, b"k")).unwrap();
    assert_eq!(agent.ear.hears(1).await, ["key"]);
    let order = agent.order("ab").await;
    assert_eq!(order.revision, before + 1);
    // The agent may be about to draw the key. A client that comes too soon is notified when to
    // retry.
    let typed = agent.types(&order).await;
    if pressed.elapsed() < Duration::from_millis(150) {
        assert_eq!(typed, Typed::Changed);
    }
    if typed == Typed::Changed {
        while next(&mut events).await != HolderEvent::Settled {}
        assert_eq!(agent.types(&order).await, Typed::Now);
    }
    assert_eq!(agent.got().await, "\x1b[Ikab\rEND");
}

async fn next(events: &mut Box<dyn HolderEvents>) -> HolderEvent {
    tokio::time::timeout(DEADLINE, events.next()).await.unwrap().unwrap()
}

/// Sets a title whenever its gate is opened.
const GATED: &str =
    "stty raw -echo; exec 3<>gate; title ready; while :; do read go <&3; title $go; done";

#[tokio::test]
async fn subscribers_are_notified_once_after_drawing_and_never_without_it() {
    let (still, busy) = (Agent::running(GATED).await, Agent::running(GATED).await);
    let mut still_events = at_rest(&still).await;
    // Another subscriber does not count as drawing.
    let _other = still.fixture.holders.subscribe(still.launch).await.unwrap();
    let mut busy_events = at_rest(&busy).await;
    for round in ["one", "two", "three"] {
        busy.let_through(round);
        assert_eq!(next(&mut busy_events).await, HolderEvent::Title(round.to_owned()));
        assert_eq!(next(&mut busy_events).await, HolderEvent::Settled);
    }
    // The same time has passed for the other agent.
    still.let_through("last");
    assert_eq!(next(&mut still_events).await, HolderEvent::Title("last".to_owned()));
    assert_eq!(next(&mut still_events).await, HolderEvent::Settled);
}

/// Subscribes to an agent, and returns when all earlier changes were reported.
async fn at_rest(agent: &Agent) -> Box<dyn HolderEvents> {
    let mut events = agent.fixture.holders.subscribe(agent.launch).await.unwrap();
    agent.let_through("rest");
    while next(&mut events).await != HolderEvent::Title("rest".to_owned()) {}
    assert_eq!(next(&mut events).await, HolderEvent::Settled);
    events
}

#[tokio::test]
async fn subscribers_are_notified_of_drawing_that_never_stops() {
    let agent = Agent::running("title ready; while :; do printf .; done").await;
    let mut events = agent.fixture.holders.subscribe(agent.launch).await.unwrap();
    while next(&mut events).await != HolderEvent::Settled {}
    let first = Instant::now();
    while next(&mut events).await != HolderEvent::Settled {}
    // About two seconds, unless the machine paused the agent meanwhile.
    assert!(first.elapsed() > Duration::from_millis(140), "{:?}", first.elapsed());
}

#[tokio::test]
async fn typing_without_a_terminal_or_a_holder_is_refused() {
    let fixture = HoldFixture::new();
    let mut wanted = fixture.shell("exec sleep 600");
    wanted.headless = true;
    let (launch, _) = fixture.start(&wanted).await;
    assert_eq!(fixture.holders.screen(launch).await.unwrap(), None);
    let message = MessageId::new(Uuid::now_v7());
    let order = TypeOrder { message, text: "hello".to_owned(), revision: 0 };
    let error = fixture.holders.type_message(launch, &order).await.unwrap_err();
    assert!(error.message.contains("without a terminal"), "{error}");
    let error = fixture.holders.press(launch, b"\r", 0).await.unwrap_err();
    assert!(error.message.contains("without a terminal"), "{error}");
    let nobody = LaunchId::new(Uuid::now_v7());
    assert_eq!(fixture.holders.screen(nobody).await.unwrap(), None);
    let error = fixture.holders.type_message(nobody, &order).await.unwrap_err();
    assert_eq!(error.kind, segue_core::Kind::NotFound);
}
