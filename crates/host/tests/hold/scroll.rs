//! Tests of scroll mode, the list of keys and the notices on users' terminals.

use rustix::process::Signal;
use segue_core::model::LaunchId;
use segue_core::ports::Holders as _;

use super::fixture::{HoldFixture, kill, send};
use super::person::Person;

const ROWS: u16 = 24;
const COLS: u16 = 80;
const WHEEL_UP: &[u8] = b"\x1b[<64;3;4M";
const WHEEL_DOWN: &[u8] = b"\x1b[<65;3;4M";
const PAGE_UP: &[u8] = b"\x1b[5~";
const ENTER: &[u8] = b"\x1c[";

/// Writes numbers, and more of them after each typed line.
const NUMBERS: &str = "stty -echo; seq 1 200; title ready; \
    while read line; do seq 1000 1100; title \"$line\"; done";
/// Shows every typed byte.
const BYTES: &str = "dd bs=1 count=10 2>/dev/null | od -An -c; title typed; exec sleep 600";

async fn started(fixture: &HoldFixture, script: &str) -> LaunchId {
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.titled(launch, "ready").await;
    launch
}

fn attached(fixture: &HoldFixture, launch: LaunchId) -> Person {
    let mut person = Person::attach(&fixture.socket(launch), ROWS, COLS);
    person.sees("the end of the numbers", |person| person.rows().contains(&"200".to_owned()));
    person
}

fn scrolls(person: &Person) -> bool {
    person.rows().last().is_some_and(|row| row.starts_with(" scroll "))
}

fn sees_first(person: &mut Person, first: &str) {
    person.sees(first, |person| scrolls(person) && person.rows()[0] == first);
}

#[tokio::test]
async fn scroll_mode_shows_earlier_lines_while_the_agent_continues() {
    let fixture = HoldFixture::new();
    let launch = started(&fixture, NUMBERS).await;
    let mut person = attached(&fixture, launch);
    person.types(ENTER);
    person.sees("scroll mode", scrolls);
    person.types("g");
    sees_first(&mut person, "1");
    assert!(person.screen().contents().contains("line 1/201"), "{:?}", person.rows());
    // The agent writes more than a screen. The view stays unchanged.
    let before = person.rows();
    fixture.holders.inject(launch, b"later\r").await.unwrap();
    fixture.titled(launch, "later").await;
    person.types("j");
    person.sees("line 2", |person| person.screen().contents().contains("line 2/201"));
    assert_eq!(person.rows()[..23], before[..23]);
    person.types("q");
    person.sees("what was written meanwhile", |person| person.rows().contains(&"1100".to_owned()));
    let rows = fixture.snapshot(launch).await.rows;
    person.sees("the agent's screen", |person| person.rows() == rows);
    // The new lines are part of the scrollback now.
    person.types(b"\x1c[/1050\r");
    person.sees_text("search: 1050");
    person.types(b"\x1cd");
    person.has_their_terminal_back("[detached]");
}

#[tokio::test]
async fn scroll_mode_neither_slows_nor_resizes_the_agent() {
    let fixture = HoldFixture::new();
    let script = "seq 1 200; title ready; read line; seq 1 300000; stty size; title end; read line";
    let launch = started(&fixture, script).await;
    let mut person = attached(&fixture, launch);
    person.types(PAGE_UP);
    person.sees("scroll mode", scrolls);
    let before = person.rows();
    fixture.holders.inject(launch, b"\r").await.unwrap();
    // The user's terminal reads nothing while the test waits here.
    fixture.titled(launch, "end").await;
    assert!(fixture.snapshot(launch).await.rows.contains(&format!("{ROWS} {COLS}")));
    person.types("j");
    person.sees("the cursor moves", |person| person.screen().cursor_position().0 == 1);
    assert_eq!(person.rows()[..23], before[..23]);
}

#[tokio::test]
async fn page_up_and_wheel_enter_and_leave_without_reaching_the_agent() {
    let fixture = HoldFixture::new();
    let script = format!("stty raw -echo; seq -s '\r\n' 1 200; title ready; {BYTES}");
    let launch = started(&fixture, &script).await;
    let mut person = Person::attach(&fixture.socket(launch), ROWS, COLS);
    person.sees("the wheel is reported", |person| {
        let screen = person.screen();
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease
            && screen.mouse_protocol_encoding() == vt100::MouseProtocolEncoding::Sgr
    });
    for (enter, leave) in [(PAGE_UP, &b"\x1b[6~"[..]), (WHEEL_UP, WHEEL_DOWN)] {
        person.types(enter);
        person.sees("scroll mode", scrolls);
        person.types(leave);
        person.types(leave);
        person.types(leave);
        person.sees("the agent", |person| !scrolls(person) && person.rows()[22] == "200");
    }
    // A click is dropped.
    person.types(b"\x1b[<0;3;4M\x1b[<0;3;4m0123456789");
    fixture.titled(launch, "typed").await;
    person.sees_text("0   1   2   3   4   5   6   7   8   9");
}

#[tokio::test]
async fn agent_with_mouse_and_alternate_screen_gets_wheel_and_page_up() {
    let fixture = HoldFixture::new();
    let script = format!(
        "stty raw -echo; printf '\\033[?1049h\\033[?1002h\\033[?1006h'; title ready; \
         dd bs=1 count=14 2>/dev/null | od -An -c; printf '\\033[?1002l'; {BYTES}"
    );
    let launch = started(&fixture, &script).await;
    let mut person = Person::attach(&fixture.socket(launch), ROWS, COLS);
    person.sees("the agent's mouse", |person| {
        person.screen().mouse_protocol_mode() == vt100::MouseProtocolMode::ButtonMotion
    });
    person.types(WHEEL_UP);
    person.types(PAGE_UP);
    person.sees_text("033   [   <   6   4   ;   3   ;   4   M 033   [   5   ~");
    // The agent does not use the mouse any more, but still the alternate screen.
    person.sees("the wheel is reported", |person| {
        person.screen().mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease
    });
    person.types(WHEEL_UP);
    person.sees_text("its earlier screens are not kept");
    person.types(b"q");
    person.sees("the agent", |person| !scrolls(person));
    person.types(b"\x1b[5~012345");
    person.sees_text("033   [   5   ~   0   1   2   3   4   5");
    person.types(b"\x1c\x1b[5~");
    person.sees("scroll mode", scrolls);
}

#[tokio::test]
async fn user_can_give_the_mouse_to_their_terminal() {
    let fixture = HoldFixture::new();
    let launch = started(&fixture, NUMBERS).await;
    let mut person = attached(&fixture, launch);
    let mode = |person: &Person| person.screen().mouse_protocol_mode();
    person.sees("ours", |person| mode(person) == vt100::MouseProtocolMode::PressRelease);
    person.types(b"\x1cm");
    person.sees("the terminal's", |person| mode(person) == vt100::MouseProtocolMode::None);
    person.types(ENTER);
    person.sees("scroll mode", scrolls);
    assert_eq!(mode(&person), vt100::MouseProtocolMode::None);
    person.types(b"q\x1cm");
    person.sees("ours", |person| mode(person) == vt100::MouseProtocolMode::PressRelease);
}

#[tokio::test]
async fn search_marks_its_match_and_a_selection_is_copied() {
    let fixture = HoldFixture::new();
    let script = "printf 'one \\033[31mneedle\\033[m\\r\\n'; seq 1 200; \
                  printf '\\033]52;c;ZXZpbA==\\007'; title ready; read line";
    let launch = started(&fixture, script).await;
    let mut person = attached(&fixture, launch);
    let sent = person.seen.len();
    person.types(b"\x1c[?NEEDLE\r");
    person.sees_text("not found: NEEDLE");
    person.types(b"?needle\r");
    sees_first(&mut person, "one needle");
    assert_eq!(person.screen().cell(0, 4).unwrap().bgcolor(), vt100::Color::Idx(3));
    person.types(b"vjjy");
    person.sees_text("copied 3 lines");
    // `one needle`, `1` and `2`, and no copy that the agent requested.
    assert!(person.was_sent(b"\x1b]52;c;b25lIG5lZWRsZQoxCjI=\x1b\\"));
    let since = &person.seen[sent..];
    let copies = since.windows(5).filter(|window| window == b"\x1b]52;").count();
    assert_eq!(copies, 1);
}

#[tokio::test]
async fn scroll_mode_follows_the_size_of_the_users_terminal() {
    let fixture = HoldFixture::new();
    let script = "for n in $(seq 1 100); do printf '%03d %0100d\\r\\n' $n 0; done; seq 1 200; \
                  title ready; read line";
    let launch = started(&fixture, script).await;
    let mut person = attached(&fixture, launch);
    person.types(b"\x1c[/050\r");
    person
        .sees("the line", |person| scrolls(person) && person.screen().contents().contains("050 0"));
    for (rows, cols) in [(10, 40), (5, 20), (30, 120)] {
        person.resizes(rows, cols);
        person.sees("the same line", |person| {
            let row = usize::from(person.screen().cursor_position().0);
            scrolls(person) && person.rows()[row].starts_with("050 0")
        });
    }
    person.types(b"q");
    person
        .sees("the agent", |person| !scrolls(person) && person.rows().contains(&"200".to_owned()));
    let size = fixture.snapshot(launch).await.size;
    assert_eq!((size.rows, size.cols), (30, 120));
}

#[tokio::test]
async fn any_key_closes_the_help_and_does_not_reach_the_agent() {
    let fixture = HoldFixture::new();
    let script = format!("stty raw -echo; seq -s '\r\n' 1 200; title ready; {BYTES}");
    let launch = started(&fixture, &script).await;
    let mut person = Person::attach(&fixture.socket(launch), ROWS, COLS);
    person.sees_text("200");
    for key in [&b"x"[..], b"\x1b[A", b"\x1b", b"\r"] {
        person.types(b"\x1c?");
        person.sees_text("Any key closes this.");
        person.types(key);
        person.sees("the agent", |person| !person.screen().contents().contains("Any key closes"));
    }
    person.types(b"0123456789");
    person.sees_text("0   1   2   3   4   5   6   7   8   9");
}

#[tokio::test]
async fn terminal_is_restored_however_scroll_mode_ends() {
    let fixture = HoldFixture::new();
    let detach: fn(&mut Person, &HoldFixture, LaunchId) = |person, _, _| person.types(b"\x1cd");
    let terminate: fn(&mut Person, &HoldFixture, LaunchId) =
        |person, _, _| send(&person.process(), Signal::TERM);
    for (leave, last) in [(detach, "[detached]"), (terminate, "[detached]")] {
        let launch = started(&fixture, NUMBERS).await;
        let mut person = attached(&fixture, launch);
        person.types(b"\x1c[/x");
        person.sees_text("/x");
        leave(&mut person, &fixture, launch);
        person.has_their_terminal_back(last);
    }
    let (launch, held) = fixture.start(&fixture.shell(NUMBERS)).await;
    fixture.titled(launch, "ready").await;
    let mut person = attached(&fixture, launch);
    person.types(ENTER);
    person.sees("scroll mode", scrolls);
    kill(&held.holder);
    person.has_their_terminal_back("[holder gone]");
}

#[tokio::test]
async fn entry_notice_covers_no_input_line_and_the_first_key_removes_it() {
    let fixture = HoldFixture::new();
    let script = "stty -echo; printf '\\033[2J\\033[H'; seq 1 21; printf '> '; title ready; \
                  read line; echo got $line; read line";
    for (rows, cursor) in [(ROWS, 21), (30, 21)] {
        let launch = started(&fixture, script).await;
        let mut person = Person::attach(&fixture.socket(launch), rows, COLS);
        person.sees_text("detach with Ctrl-\\ d, all keys with Ctrl-\\ ?");
        let shown = person.rows();
        assert_eq!(shown[cursor], ">", "{shown:?}");
        assert!(shown[0].starts_with("1 ") && shown[0].contains("detach with"), "{shown:?}");
        assert_eq!(person.screen().cursor_position(), (u16::try_from(cursor).unwrap(), 2));
        person.types(b"x\r");
        person.sees_text("got x");
        person.sees("no notice", |person| !person.screen().contents().contains("detach with"));
    }
}

/// Counts how often it is notified of its size.
const TOLD: &str = "trap 'n=$((n+1)); echo told $n $(stty size)' WINCH; title ready; \
                    while :; do read line && echo got $line; done";

#[tokio::test]
async fn attach_notifies_the_agent_of_its_size_once_even_if_unchanged() {
    let fixture = HoldFixture::new();
    let launch = started(&fixture, &format!("n=0; {TOLD}")).await;
    for (number, (rows, cols)) in
        [(40, 120), (40, 120), (30, 100), (30, 100)].into_iter().enumerate()
    {
        let mut person = Person::attach(&fixture.socket(launch), rows, cols);
        person.sees_text(&format!("told {} {rows} {cols}", number + 1));
        person.types(format!("round{number}\r"));
        person.sees_text(&format!("got round{number}"));
        let shown = person.screen().contents();
        assert!(!shown.contains(&format!("told {}", number + 2)), "{shown}");
        person.types(b"\x1cd");
        person.has_their_terminal_back("[detached]");
    }
}
