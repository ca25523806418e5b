//! Messages and keys that are typed on somebody's order.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use segue_core::model::{LaunchId, MessageId};
use segue_core::ports::{HolderEvent, HolderEvents, Holders as _, TypeOrder, Typed};
use uuid::Uuid;

use super::ground::{DEADLINE, Ear, Ground};
use super::protocol::{ANSWER, HELLO, INPUT, REQUEST, connect, frame, read_frame};

/// Reads keys as they come, says what it got, and knows pastes.
const READY: &str = "stty raw -echo; printf '\\033[?2004h'; title ready;";
/// Reads what comes after the message, which shows that it came once.
const THE_END: &str = "head -c 3 >> got; echo end > ear; exec sleep 600";

/// Somebody who waits for messages.
struct Agent {
    ground: Ground,
    launch: LaunchId,
    ear: Ear,
}

impl Agent {
    /// Starts one that reads a message of so many bytes, draws it, and reads so many more.
    async fn reading(message: usize, more: usize) -> Self {
        let script =
            format!("head -c {message} > got; printf drawn; head -c {more} >> got; echo all > ear");
        Self::running(&format!("{READY} {script}; {THE_END}")).await
    }

    async fn running(script: &str) -> Self {
        let ground = Ground::new();
        let ear = ground.ear("ear");
        drop(ground.ear("gate"));
        let (launch, _) = ground.start(&ground.shell(script)).await;
        ground.titled(launch, "ready").await;
        Self { ground, launch, ear }
    }

    async fn revision(&self) -> u64 {
        self.ground.holders.screen(self.launch).await.unwrap().unwrap().revision
    }

    /// An order for the screen as it is now.
    async fn order(&self, text: &str) -> TypeOrder {
        let message = MessageId::new(Uuid::now_v7());
        TypeOrder { message, text: text.to_owned(), revision: self.revision().await }
    }

    async fn types(&self, order: &TypeOrder) -> Typed {
        self.ground.holders.type_message(self.launch, order).await.unwrap()
    }

    /// Returns all that the agent read, after what nobody typed but this test.
    async fn got(mut self) -> String {
        assert_eq!(self.ear.hears(1).await, ["all"]);
        self.ground.holders.inject(self.launch, b"END").await.unwrap();
        assert_eq!(self.ear.hears(1).await, ["end"]);
        String::from_utf8(fs::read(self.file("got")).unwrap()).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.ground.folder().join(name)
    }

    /// Lets the agent go on that waits at its gate.
    fn let_through(&self, word: &str) {
        let gate = fs::OpenOptions::new().write(true).open(self.file("gate"));
        gate.unwrap().write_all(format!("{word}\n").as_bytes()).unwrap();
    }
}

fn pasted(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

#[tokio::test]
async fn a_message_is_pasted_and_sent_and_cannot_break_out() {
    let wanted = pasted("/one\rtwo\t[201~rm -rf[A é漢");
    let agent = Agent::reading(wanted.len(), 1).await;
    let order = agent.order("/one\r\ntwo\t\x1b[201~rm -rf\x1b[A\x03\r é漢").await;
    assert_eq!(agent.types(&order).await, Typed::Now);
    assert_eq!(agent.got().await, wanted + "\rEND");
}

#[tokio::test]
async fn an_agent_that_knows_no_pastes_and_draws_nothing_is_sent_lines_and_enter() {
    let script = "stty raw -echo; title ready; head -c 8 > got; echo all > ear;";
    let agent = Agent::running(&format!("{script} {THE_END}")).await;
    assert_eq!(agent.types(&agent.order("one\ntwo").await).await, Typed::Now);
    assert_eq!(agent.got().await, "one\ntwo\rEND");
}

#[tokio::test]
async fn the_same_message_is_typed_once_whatever_the_screen() {
    let wanted = pasted("once");
    let agent = Agent::reading(wanted.len(), 1).await;
    let order = agent.order("once").await;
    let asked = TypeOrder { revision: u64::MAX, ..order.clone() };
    assert_eq!(agent.types(&asked).await, Typed::Changed, "a question, which is no order");
    assert_eq!(agent.types(&order).await, Typed::Now);
    assert_eq!(agent.types(&order).await, Typed::Before);
    assert_eq!(agent.types(&asked).await, Typed::Before);
    let again = TypeOrder { revision: agent.revision().await, ..order };
    assert_eq!(agent.types(&again).await, Typed::Before);
    assert_eq!(agent.got().await, wanted + "\rEND");
}

#[tokio::test]
async fn what_was_decided_on_an_older_screen_is_not_done() {
    let mut agent = Agent::running(
        "stty raw -echo; title ready; head -c 1 > got; echo key > ear; read go < gate; \
         printf drawn; echo drawn > ear; head -c 1 >> got; echo all > ear; head -c 3 >> got; \
         echo end > ear; exec sleep 600",
    )
    .await;
    let holders = &agent.ground.holders;
    let order = agent.order("never").await;
    assert_eq!(agent.revision().await, order.revision, "nothing happens");
    // Somebody types.
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
async fn a_message_arrives_whole_when_whoever_ordered_it_is_gone_at_once() {
    let wanted = pasted("whole");
    let agent = Agent::reading(wanted.len(), 1).await;
    let TypeOrder { message, text, revision } = agent.order("whole").await;
    let request =
        format!(r#"{{"type":{{"message":"{message}","text":"{text}","revision":{revision}}}}}"#);
    let hello = frame(HELLO, br#"{"protocol":1,"oldest":1}"#);
    let mut client = connect(&agent.ground, agent.launch);
    client.write_all(&[hello, frame(REQUEST, request.as_bytes())].concat()).unwrap();
    drop(client);
    assert_eq!(agent.got().await, wanted + "\rEND");
}

#[tokio::test]
async fn a_long_message_waits_for_a_slow_agent_and_nothing_waits_for_the_message() {
    let text: String = (0..6400).map(|number| format!("{number:07}\n")).collect();
    let wanted = pasted(&text.replace('\n', "\r"));
    assert_eq!(wanted.len(), 51_212);
    let slow = "read go < gate; for piece in $(seq 50); do head -c 1024 >> got; sleep 0.005; done; \
                head -c 12 >> got; printf drawn; head -c 1 >> got; echo all > ear;";
    let agent = Agent::running(&format!("{READY} {slow} {THE_END}")).await;
    let order = agent.order(&text).await;
    assert_eq!(agent.types(&order).await, Typed::Now);
    // The agent reads nothing yet.
    assert!(agent.ground.holders.find(agent.launch).await.unwrap().is_some());
    assert_eq!(agent.types(&agent.order("another").await).await, Typed::Changed);
    assert_eq!(agent.types(&order).await, Typed::Before);
    agent.let_through("go");
    assert_eq!(agent.got().await, wanted + "\rEND");
}

#[tokio::test]
async fn what_people_type_meanwhile_comes_after_the_message() {
    let wanted = pasted("first");
    let script = format!(
        "{READY} read go < gate; head -c {} > got; printf drawn; head -c 6 >> got; echo all > ear;",
        wanted.len()
    );
    let agent = Agent::running(&format!("{script} {THE_END}")).await;
    let mut person = connect(&agent.ground, agent.launch);
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
async fn only_what_people_press_changes_the_revision_and_a_fresh_key_is_waited_for() {
    let script = "stty raw -echo; printf '\\033[?1004h'; title ready; head -c 3 > got; \
                  echo focus > ear; head -c 1 >> got; echo key > ear; head -c 3 >> got; \
                  echo all > ear;";
    let mut agent = Agent::running(&format!("{script} {THE_END}")).await;
    let mut person = connect(&agent.ground, agent.launch);
    person.write_all(&frame(HELLO, br#"{"protocol":1,"oldest":1}"#)).unwrap();
    person.write_all(&frame(REQUEST, br#"{"attach":{"rows":40,"cols":120}}"#)).unwrap();
    let before = agent.revision().await;
    person.write_all(&frame(INPUT, b"\x1b[I")).unwrap();
    assert_eq!(agent.ear.hears(1).await, ["focus"]);
    assert_eq!(agent.revision().await, before);
    let mut events = agent.ground.holders.subscribe(agent.launch).await.unwrap();
    let pressed = Instant::now();
    person.write_all(&frame(INPUT, b"k")).unwrap();
    assert_eq!(agent.ear.hears(1).await, ["key"]);
    let order = agent.order("ab").await;
    assert_eq!(order.revision, before + 1);
    // The agent may be about to draw the key: whoever comes too soon hears when to come again.
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

/// Draws a title whenever its gate is opened.
const GATED: &str =
    "stty raw -echo; exec 3<>gate; title ready; while :; do read go <&3; title $go; done";

#[tokio::test]
async fn subscribers_hear_once_that_the_agent_has_drawn_and_nothing_while_it_does_not() {
    let (still, busy) = (Agent::running(GATED).await, Agent::running(GATED).await);
    let mut still_events = at_rest(&still).await;
    // Somebody else who listens is no drawing.
    let _other = still.ground.holders.subscribe(still.launch).await.unwrap();
    let mut busy_events = at_rest(&busy).await;
    for round in ["one", "two", "three"] {
        busy.let_through(round);
        assert_eq!(next(&mut busy_events).await, HolderEvent::Title(round.to_owned()));
        assert_eq!(next(&mut busy_events).await, HolderEvent::Settled);
    }
    // As much time has passed for the other one.
    still.let_through("last");
    assert_eq!(next(&mut still_events).await, HolderEvent::Title("last".to_owned()));
    assert_eq!(next(&mut still_events).await, HolderEvent::Settled);
}

/// Follows an agent from a moment on at which there is nothing left to tell.
async fn at_rest(agent: &Agent) -> Box<dyn HolderEvents> {
    let mut events = agent.ground.holders.subscribe(agent.launch).await.unwrap();
    agent.let_through("rest");
    while next(&mut events).await != HolderEvent::Title("rest".to_owned()) {}
    assert_eq!(next(&mut events).await, HolderEvent::Settled);
    events
}

#[tokio::test]
async fn subscribers_hear_of_drawing_that_never_rests() {
    let agent = Agent::running("title ready; while :; do printf .; done").await;
    let mut events = agent.ground.holders.subscribe(agent.launch).await.unwrap();
    while next(&mut events).await != HolderEvent::Settled {}
    let first = Instant::now();
    while next(&mut events).await != HolderEvent::Settled {}
    // Two seconds, unless the machine let the agent rest.
    assert!(first.elapsed() > Duration::from_millis(140), "{:?}", first.elapsed());
}

#[tokio::test]
async fn without_a_terminal_there_is_nothing_to_type_into() {
    let ground = Ground::new();
    let mut wanted = ground.shell("exec sleep 600");
    wanted.headless = true;
    let (launch, _) = ground.start(&wanted).await;
    assert_eq!(ground.holders.screen(launch).await.unwrap(), None);
    let message = MessageId::new(Uuid::now_v7());
    let order = TypeOrder { message, text: "hello".to_owned(), revision: 0 };
    let error = ground.holders.type_message(launch, &order).await.unwrap_err();
    assert!(error.message.contains("without a terminal"), "{error}");
    let error = ground.holders.press(launch, b"\r", 0).await.unwrap_err();
    assert!(error.message.contains("without a terminal"), "{error}");
    let nobody = LaunchId::new(Uuid::now_v7());
    assert_eq!(ground.holders.screen(nobody).await.unwrap(), None);
    let error = ground.holders.type_message(nobody, &order).await.unwrap_err();
    assert_eq!(error.kind, segue_core::Kind::NotFound);
}
