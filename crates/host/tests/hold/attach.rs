//! Tests of `attach` in users' terminals.

use std::time::Duration;

use rustix::process::Signal;
use segue_core::model::LaunchId;
use segue_core::ports::Holders as _;

use super::fixture::{HoldFixture, kill, processes_of, send, wait_for_exit};
use super::person::Person;

/// Echoes lines, and prints its terminal's size whenever that changes.
const ECHO: &str = "stty -echo; trap 'stty size' WINCH; echo ready; title ready; \
                    while :; do if read line; then echo \"got $line\"; fi; done";

#[tokio::test]
async fn user_attaches_types_and_detaches() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell(ECHO)).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for_text("ready");
    assert!(person.screen().alternate_screen());
    assert!(person.has_received(b"detach with Ctrl-\\ d"));
    person.type_keys("hello w\u{f6}rld\r");
    person.wait_for_text("got hello w\u{f6}rld");
    person.type_keys(b"\x1cd");
    assert!(person.wait_for_restored_terminal("[detached]").success());
    assert_eq!(fixture.holders.find(launch).await.unwrap(), Some(held));
    assert!(!person.has_received(b"\x1b[c") && !person.has_received(b"\x1b[6n"));
}

#[tokio::test]
async fn detach_keys_may_arrive_as_escape_sequences_and_the_hint_disappears() {
    let fixture = HoldFixture::new();
    let (launch, _) = fixture.start(&fixture.shell(ECHO)).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for_text("detach with");
    person.wait_for("screen without the hint", |person| {
        !person.screen().contents().contains("detach with")
    });
    person.type_keys(b"\x1b[92;5u");
    person.type_keys(b"\x1b[100;1u");
    person.wait_for_restored_terminal("[detached]");
}

/// Draws a screen with everything that an attach repaints: alternate screen, mouse modes, colours,
/// wide characters, title.
const DRAWING: &str = "printf '\\033[?1049h\\033[?1002h\\033[?1006h\\033[?1004h\\033[?2004h\\033[>7u'; \
    printf '\\033[2;3H\\033[1;31mred\\033[m \\346\\274\\242\\345\\255\\227'; \
    printf '\\033[5;1H\\033[48;2;1;2;3mtrue\\033[K\\033[m\\033[?25l\\033[4 q\\033[7;9H'; title drawn; read line";

#[tokio::test]
async fn every_attach_repaints_the_whole_screen() {
    let fixture = HoldFixture::new();
    let (launch, _) = fixture.start(&fixture.shell(DRAWING)).await;
    fixture.wait_for_title(launch, "drawn").await;
    for round in 0..2 {
        let mut person = Person::attach(&fixture.socket(launch), 40, 120);
        person.wait_for("hidden cursor", |person| person.screen().hide_cursor());
        person.wait_for("screen without the hint", |person| {
            !person.screen().contents().contains("detach with") && person.screen().hide_cursor()
        });
        assert_shows(&person, &fixture, launch).await;
        let screen = person.screen();
        assert_eq!(person.title(), "drawn");
        assert!(screen.bracketed_paste());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::ButtonMotion);
        assert_eq!(screen.mouse_protocol_encoding(), vt100::MouseProtocolEncoding::Sgr);
        assert_eq!(screen.cursor_style(), vt100::CursorStyle::SteadyUnderline);
        assert_eq!(screen.cell(1, 2).unwrap().fgcolor(), vt100::Color::Idx(1));
        assert!(screen.cell(1, 6).unwrap().is_wide());
        assert_eq!(screen.cell(4, 60).unwrap().bgcolor(), vt100::Color::Rgb(1, 2, 3));
        assert!(
            person.has_received(b"\x1b[=7;1u") && person.has_received(b"\x1b[?1004h"),
            "{round}"
        );
        person.type_keys(b"\x1c\x1b[100u");
        person.wait_for_restored_terminal("[detached]");
    }
}

async fn assert_shows(person: &Person, fixture: &HoldFixture, launch: LaunchId) {
    let snapshot = fixture.snapshot(launch).await;
    assert_eq!(person.rows(), snapshot.rows);
    let cursor = (snapshot.cursor.row, snapshot.cursor.col);
    assert_eq!(person.screen().cursor_position(), cursor);
}

#[tokio::test]
async fn attached_terminal_follows_a_switch_of_screens() {
    let fixture = HoldFixture::new();
    let script = "echo before; read a; printf '\\033[?1049h\\033[Hinside'; read b; \
                  printf '\\033[?1049l'; echo after; read c";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for_text("before");
    person.type_keys(b"\r");
    person.wait_for_text("inside");
    person.wait_for("alternate screen", |person| !person.screen().contents().contains("before"));
    person.type_keys(b"\r");
    person.wait_for_text("after");
    assert!(person.screen().contents().contains("before"));
    assert!(!person.screen().contents().contains("inside"));
    assert!(person.screen().alternate_screen(), "the user's terminal left the alternate screen");
}

/// Starts [`ECHO`] and waits until it notices changes of its terminal's size.
async fn start_echo(fixture: &HoldFixture) -> LaunchId {
    let (launch, _) = fixture.start(&fixture.shell(ECHO)).await;
    fixture.wait_for_title(launch, "ready").await;
    launch
}

/// Attaches a large and then a small terminal to an agent that runs [`ECHO`].
fn attach_two(fixture: &HoldFixture, launch: LaunchId) -> (Person, Person) {
    let mut large = Person::attach(&fixture.socket(launch), 30, 100);
    large.wait_for_text("30 100");
    let mut small = Person::attach(&fixture.socket(launch), 20, 60);
    small.wait_for_text("20 60");
    (large, small)
}

#[tokio::test]
async fn agent_gets_the_size_of_the_attached_terminal() {
    let fixture = HoldFixture::new();
    let launch = start_echo(&fixture).await;
    let mut person = Person::attach(&fixture.socket(launch), 30, 100);
    person.wait_for_text("30 100");
    person.resize(24, 90);
    person.wait_for_text("24 90");
    person.resize(50, 150);
    person.wait_for_text("50 150");
    let snapshot = fixture.snapshot(launch).await;
    assert_eq!((snapshot.size.rows, snapshot.size.cols), (50, 150));
    // The size stays after the user has detached.
    person.type_keys(b"\x1cd");
    person.wait_for_restored_terminal("[detached]");
    assert_eq!(fixture.snapshot(launch).await.size.cols, 150);
}

#[tokio::test]
async fn two_attached_terminals_share_the_smaller_size_and_show_the_same() {
    let fixture = HoldFixture::new();
    let launch = start_echo(&fixture).await;
    let (mut large, mut small) = attach_two(&fixture, launch);
    large.wait_for_text("20 60");
    // The word is longer than a row of the agent's terminal, and wraps there.
    let word = "x".repeat(70);
    small.type_keys(format!("{word}\r"));
    large.wait_for_text(&"x".repeat(14));
    let wrapped = |person: &Person| {
        let rows = person.rows();
        rows.iter().any(|row| *row == format!("got {}", "x".repeat(56)))
            && rows.iter().any(|row| *row == "x".repeat(14))
    };
    large.wait_for("wrapped rows", wrapped);
    small.wait_for("wrapped rows", wrapped);
    for line in 0..40 {
        large.type_keys(format!("line {line}\r"));
    }
    large.wait_for_text("got line 39");
    small.wait_for_text("got line 39");
    let rows = fixture.snapshot(launch).await.rows;
    large.wait_for("the agent's rows", |person| person.rows()[..20] == rows[..]);
    small.wait_for("the agent's rows", |person| person.rows() == rows);
    small.type_keys(b"\x1cd");
    small.wait_for_restored_terminal("[detached]");
    large.wait_for_text("30 100");
    drop(large);
}

#[tokio::test]
async fn slow_terminal_does_not_slow_the_agent_and_catches_up() {
    let fixture = HoldFixture::new();
    let script = "echo ready; read line; seq 1 1000000; echo the end; title finished; read line";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for_text("ready");
    send(&person.process(), Signal::STOP);
    fixture.holders.inject(launch, b"\r").await.unwrap();
    fixture.wait_for_title(launch, "finished").await;
    send(&person.process(), Signal::CONT);
    person.wait_for_text("the end");
    let rows = fixture.snapshot(launch).await.rows;
    person.wait_for("the agent's last screen", |person| person.rows() == rows);
    assert!(person.output.len() < 8_000_000, "{} bytes for one screen", person.output.len());
}

#[tokio::test]
async fn terminal_is_restored_when_the_agent_ends() {
    let fixture = HoldFixture::new();
    let script = format!("{DRAWING}; exit 4");
    let (launch, _) = fixture.start(&fixture.shell(&script)).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for("drawing", |person| person.screen().hide_cursor());
    person.type_keys(b"\r");
    person.wait_for_restored_terminal("[ended: exit status 4]");
    // A later `attach` shows the recorded end.
    let mut late = Person::attach(&fixture.socket(launch), 40, 120);
    late.wait_for_restored_terminal("[ended: exit status 4]");
}

#[tokio::test]
async fn terminal_is_restored_when_the_holder_is_killed() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell(DRAWING)).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for("drawing", |person| person.screen().hide_cursor());
    kill(&held.holder);
    person.wait_for_restored_terminal("[holder gone]");
    // The agent's terminal ends with its holder, and the agent with its terminal.
    wait_for_exit(&held.agent.unwrap()).await;
    assert_eq!(processes_of(launch), Vec::<u32>::new());
}

#[tokio::test]
async fn terminal_is_restored_when_the_client_gets_sigterm_or_sighup() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell(DRAWING)).await;
    for signal in [Signal::TERM, Signal::HUP] {
        let mut person = Person::attach(&fixture.socket(launch), 40, 120);
        person.wait_for("drawing", |person| person.screen().hide_cursor());
        send(&person.process(), signal);
        person.wait_for_restored_terminal("[detached]");
    }
    assert_eq!(fixture.holders.find(launch).await.unwrap(), Some(held));
}

#[tokio::test]
async fn killed_client_is_removed_and_the_old_size_restored() {
    let fixture = HoldFixture::new();
    let launch = start_echo(&fixture).await;
    let (mut large, small) = attach_two(&fixture, launch);
    let process = small.process();
    drop(small);
    wait_for_exit(&process).await;
    large.wait_for("second message about the old size", |person| {
        person.screen().contents().matches("30 100").count() == 2
    });
}

#[tokio::test]
async fn replies_of_the_users_terminal_do_not_reach_the_agent() {
    let fixture = HoldFixture::new();
    let script =
        "stty raw -echo; echo ready; dd bs=1 count=5 2>/dev/null | od -An -c; exec sleep 600";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for_text("ready");
    person.type_keys(
        b"a\x1b[?62;22c\x1b]11;rgb:0000/0000/0000\x1b\\b\x1b[I\x1bP>|term\x1b\\c\x1b[12;40Rd",
    );
    // A single escape byte is a key. It reaches the agent although it could begin a sequence.
    person.type_keys(b"\x1b");
    person.wait_for_text("a   b   c   d 033");
}

#[tokio::test]
async fn escape_reaches_an_agent_that_writes_without_a_pause() {
    let fixture = HoldFixture::new();
    let script = "stty raw -echo; echo ready; (while :; do echo busy; sleep 0.005; done) & \
                  dd bs=1 count=1 2>/dev/null | od -An -c; kill $!; title done; exec sleep 600";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for_text("busy");
    person.type_keys(b"\x1b");
    person.wait_for("title `done`", |person| person.title() == "done");
    person.wait_for_text("033");
}

#[tokio::test]
async fn attach_to_a_headless_or_ended_agent_is_refused() {
    let fixture = HoldFixture::new();
    let mut test_launch = fixture.shell("exec sleep 600");
    test_launch.headless = true;
    let (launch, held) = fixture.start(&test_launch).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for_text("runs without a terminal");
    fixture.holders.stop(launch, Duration::ZERO).await.unwrap().unwrap();
    wait_for_exit(&held.holder).await;
    let mut person = Person::attach(&fixture.socket(launch), 40, 120);
    person.wait_for_text("has no holder");
}
