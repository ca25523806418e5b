//! Tests of scroll mode, the help with all keys, and the notices in users' terminals.

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
const START_SCROLL_MODE: &[u8] = b"\x1c[";

/// Writes numbers, and further numbers after each typed line.
const NUMBERS: &str = "stty -echo; seq 1 200; title ready; \
    while read line; do seq 1000 1100; title \"$line\"; done";
/// Prints the next ten typed bytes.
const PRINT_BYTES: &str = "dd bs=1 count=10 2>/dev/null | od -An -c; title typed; exec sleep 600";

/// Starts a script and waits for its title `ready`.
async fn start_ready(fixture: &HoldFixture, script: &str) -> LaunchId {
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "ready").await;
    launch
}

/// Attaches and waits for the last number.
fn attach(fixture: &HoldFixture, launch: LaunchId) -> Person {
    let mut person = Person::attach(&fixture.socket(launch), ROWS, COLS);
    person.wait_for("last number", |person| person.rows().contains(&"200".to_owned()));
    person
}

fn is_in_scroll_mode(person: &Person) -> bool {
    person.rows().last().is_some_and(|row| row.starts_with(" scroll "))
}

/// Waits until scroll mode shows this text in its first row.
fn wait_for_first_row(person: &mut Person, row: &str) {
    person.wait_for(row, |person| is_in_scroll_mode(person) && person.rows()[0] == row);
}

#[tokio::test]
async fn scroll_mode_shows_earlier_lines_while_the_agent_continues() {
    let fixture = HoldFixture::new();
    let launch = start_ready(&fixture, NUMBERS).await;
    let mut person = attach(&fixture, launch);
    person.type_keys(START_SCROLL_MODE);
    person.wait_for("scroll mode", is_in_scroll_mode);
    person.type_keys("g");
    wait_for_first_row(&mut person, "1");
    assert!(person.screen().contents().contains("line 1/201"), "{:?}", person.rows());
    // The agent writes more than a screen, but scroll mode shows the same lines.
    let before = person.rows();
    fixture.holders.inject(launch, b"later\r").await.unwrap();
    fixture.wait_for_title(launch, "later").await;
    person.type_keys("j");
    person.wait_for("line 2", |person| person.screen().contents().contains("line 2/201"));
    assert_eq!(person.rows()[..23], before[..23]);
    person.type_keys("q");
    person.wait_for("numbers that were written meanwhile", |person| {
        person.rows().contains(&"1100".to_owned())
    });
    let rows = fixture.snapshot(launch).await.rows;
    person.wait_for("the agent's screen", |person| person.rows() == rows);
    // Scroll mode now finds the new lines too.
    person.type_keys(b"\x1c[/1050\r");
    person.wait_for_text("search: 1050");
    person.type_keys(b"\x1cd");
    person.wait_for_restored_terminal("[detached]");
}

#[tokio::test]
async fn scroll_mode_neither_slows_nor_resizes_the_agent() {
    let fixture = HoldFixture::new();
    let script = "seq 1 200; title ready; read line; seq 1 300000; stty size; title end; read line";
    let launch = start_ready(&fixture, script).await;
    let mut person = attach(&fixture, launch);
    person.type_keys(PAGE_UP);
    person.wait_for("scroll mode", is_in_scroll_mode);
    let before = person.rows();
    fixture.holders.inject(launch, b"\r").await.unwrap();
    // The user's terminal reads nothing while the test waits here.
    fixture.wait_for_title(launch, "end").await;
    assert!(fixture.snapshot(launch).await.rows.contains(&format!("{ROWS} {COLS}")));
    person.type_keys("j");
    person.wait_for("cursor in the second row", |person| person.screen().cursor_position().0 == 1);
    assert_eq!(person.rows()[..23], before[..23]);
}

#[tokio::test]
async fn page_up_and_wheel_start_and_end_scroll_mode_without_reaching_the_agent() {
    let fixture = HoldFixture::new();
    let script = format!("stty raw -echo; seq -s '\r\n' 1 200; title ready; {PRINT_BYTES}");
    let launch = start_ready(&fixture, &script).await;
    let mut person = Person::attach(&fixture.socket(launch), ROWS, COLS);
    person.wait_for("mouse mode that reports the wheel", |person| {
        let screen = person.screen();
        screen.mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease
            && screen.mouse_protocol_encoding() == vt100::MouseProtocolEncoding::Sgr
    });
    for (start, end) in [(PAGE_UP, &b"\x1b[6~"[..]), (WHEEL_UP, WHEEL_DOWN)] {
        person.type_keys(start);
        person.wait_for("scroll mode", is_in_scroll_mode);
        person.type_keys(end);
        person.type_keys(end);
        person.type_keys(end);
        person.wait_for("the agent's screen", |person| {
            !is_in_scroll_mode(person) && person.rows()[22] == "200"
        });
    }
    // The agent does not get the click.
    person.type_keys(b"\x1b[<0;3;4M\x1b[<0;3;4m0123456789");
    fixture.wait_for_title(launch, "typed").await;
    person.wait_for_text("0   1   2   3   4   5   6   7   8   9");
}

#[tokio::test]
async fn agent_with_mouse_and_alternate_screen_gets_wheel_and_page_up() {
    let fixture = HoldFixture::new();
    let script = format!(
        "stty raw -echo; printf '\\033[?1049h\\033[?1002h\\033[?1006h'; title ready; \
         dd bs=1 count=14 2>/dev/null | od -An -c; printf '\\033[?1002l'; {PRINT_BYTES}"
    );
    let launch = start_ready(&fixture, &script).await;
    let mut person = Person::attach(&fixture.socket(launch), ROWS, COLS);
    person.wait_for("the agent's mouse mode", |person| {
        person.screen().mouse_protocol_mode() == vt100::MouseProtocolMode::ButtonMotion
    });
    person.type_keys(WHEEL_UP);
    person.type_keys(PAGE_UP);
    person.wait_for_text("033   [   <   6   4   ;   3   ;   4   M 033   [   5   ~");
    // The agent has switched the mouse off, and still uses the alternate screen.
    person.wait_for("mouse mode that reports the wheel", |person| {
        person.screen().mouse_protocol_mode() == vt100::MouseProtocolMode::PressRelease
    });
    person.type_keys(WHEEL_UP);
    person.wait_for_text("its earlier screens are not kept");
    person.type_keys(b"q");
    person.wait_for("the agent's screen", |person| !is_in_scroll_mode(person));
    person.type_keys(b"\x1b[5~012345");
    person.wait_for_text("033   [   5   ~   0   1   2   3   4   5");
    person.type_keys(b"\x1c\x1b[5~");
    person.wait_for("scroll mode", is_in_scroll_mode);
}

#[tokio::test]
async fn user_can_leave_the_mouse_to_their_terminal() {
    let fixture = HoldFixture::new();
    let launch = start_ready(&fixture, NUMBERS).await;
    let mut person = attach(&fixture, launch);
    let mode = |person: &Person| person.screen().mouse_protocol_mode();
    person.wait_for("mouse mode of `attach`", |person| {
        mode(person) == vt100::MouseProtocolMode::PressRelease
    });
    person.type_keys(b"\x1cm");
    person.wait_for("no mouse mode", |person| mode(person) == vt100::MouseProtocolMode::None);
    person.type_keys(START_SCROLL_MODE);
    person.wait_for("scroll mode", is_in_scroll_mode);
    assert_eq!(mode(&person), vt100::MouseProtocolMode::None);
    person.type_keys(b"q\x1cm");
    person.wait_for("mouse mode of `attach`", |person| {
        mode(person) == vt100::MouseProtocolMode::PressRelease
    });
}

#[tokio::test]
async fn search_marks_its_match_and_a_selection_is_copied() {
    let fixture = HoldFixture::new();
    let script = "printf 'one \\033[31mneedle\\033[m\\r\\n'; seq 1 200; \
                  printf '\\033]52;c;ZXZpbA==\\007'; title ready; read line";
    let launch = start_ready(&fixture, script).await;
    let mut person = attach(&fixture, launch);
    let earlier_bytes = person.output.len();
    person.type_keys(b"\x1c[?NEEDLE\r");
    person.wait_for_text("not found: NEEDLE");
    person.type_keys(b"?needle\r");
    wait_for_first_row(&mut person, "one needle");
    assert_eq!(person.screen().cell(0, 4).unwrap().bgcolor(), vt100::Color::Idx(3));
    person.type_keys(b"vjjy");
    person.wait_for_text("copied 3 lines");
    // The terminal gets `one needle`, `1` and `2` to copy. The copy that the agent requested is not
    // passed on.
    assert!(person.has_received(b"\x1b]52;c;b25lIG5lZWRsZQoxCjI=\x1b\\"));
    let new_output = &person.output[earlier_bytes..];
    let copies = new_output.windows(5).filter(|window| window == b"\x1b]52;").count();
    assert_eq!(copies, 1);
}

#[tokio::test]
async fn scroll_mode_follows_the_size_of_the_users_terminal() {
    let fixture = HoldFixture::new();
    let script = "for n in $(seq 1 100); do printf '%03d %0100d\\r\\n' $n 0; done; seq 1 200; \
                  title ready; read line";
    let launch = start_ready(&fixture, script).await;
    let mut person = attach(&fixture, launch);
    person.type_keys(b"\x1c[/050\r");
    person.wait_for("found line", |person| {
        is_in_scroll_mode(person) && person.screen().contents().contains("050 0")
    });
    for (rows, cols) in [(10, 40), (5, 20), (30, 120)] {
        person.resize(rows, cols);
        person.wait_for("found line after a resize", |person| {
            let row = usize::from(person.screen().cursor_position().0);
            is_in_scroll_mode(person) && person.rows()[row].starts_with("050 0")
        });
    }
    person.type_keys(b"q");
    person.wait_for("the agent's screen", |person| {
        !is_in_scroll_mode(person) && person.rows().contains(&"200".to_owned())
    });
    let size = fixture.snapshot(launch).await.size;
    assert_eq!((size.rows, size.cols), (30, 120));
}

#[tokio::test]
async fn any_key_closes_the_help_and_does_not_reach_the_agent() {
    let fixture = HoldFixture::new();
    let script = format!("stty raw -echo; seq -s '\r\n' 1 200; title ready; {PRINT_BYTES}");
    let launch = start_ready(&fixture, &script).await;
    let mut person = Person::attach(&fixture.socket(launch), ROWS, COLS);
    person.wait_for_text("200");
    for key in [&b"x"[..], b"\x1b[A", b"\x1b", b"\r"] {
        person.type_keys(b"\x1c?");
        person.wait_for_text("Any key closes this.");
        person.type_keys(key);
        person.wait_for("the agent's screen", |person| {
            !person.screen().contents().contains("Any key closes")
        });
    }
    person.type_keys(b"0123456789");
    person.wait_for_text("0   1   2   3   4   5   6   7   8   9");
}

#[tokio::test]
async fn terminal_is_restored_however_scroll_mode_ends() {
    let fixture = HoldFixture::new();
    let detach: fn(&mut Person, &HoldFixture, LaunchId) = |person, _, _| person.type_keys(b"\x1cd");
    let terminate: fn(&mut Person, &HoldFixture, LaunchId) =
        |person, _, _| send(&person.process(), Signal::TERM);
    for (end_scroll_mode, last_line) in [(detach, "[detached]"), (terminate, "[detached]")] {
        let launch = start_ready(&fixture, NUMBERS).await;
        let mut person = attach(&fixture, launch);
        person.type_keys(b"\x1c[/x");
        person.wait_for_text("/x");
        end_scroll_mode(&mut person, &fixture, launch);
        person.wait_for_restored_terminal(last_line);
    }
    let (launch, held) = fixture.start(&fixture.shell(NUMBERS)).await;
    fixture.wait_for_title(launch, "ready").await;
    let mut person = attach(&fixture, launch);
    person.type_keys(START_SCROLL_MODE);
    person.wait_for("scroll mode", is_in_scroll_mode);
    kill(&held.holder);
    person.wait_for_restored_terminal("[holder gone]");
}

#[tokio::test]
async fn notice_after_attach_does_not_cover_the_input_line_and_the_first_key_removes_it() {
    let fixture = HoldFixture::new();
    let script = "stty -echo; printf '\\033[2J\\033[H'; seq 1 21; printf '> '; title ready; \
                  read line; echo got $line; read line";
    for (rows, cursor) in [(ROWS, 21), (30, 21)] {
        let launch = start_ready(&fixture, script).await;
        let mut person = Person::attach(&fixture.socket(launch), rows, COLS);
        person.wait_for_text("detach with Ctrl-\\ d, all keys with Ctrl-\\ ?");
        let shown = person.rows();
        assert_eq!(shown[cursor], ">", "{shown:?}");
        assert!(shown[0].starts_with("1 ") && shown[0].contains("detach with"), "{shown:?}");
        assert_eq!(person.screen().cursor_position(), (u16::try_from(cursor).unwrap(), 2));
        person.type_keys(b"x\r");
        person.wait_for_text("got x");
        person.wait_for("screen without the notice", |person| {
            !person.screen().contents().contains("detach with")
        });
    }
}

/// Counts the notifications about its terminal's size.
const COUNT_SIZES: &str = "trap 'n=$((n+1)); echo resized $n $(stty size)' WINCH; title ready; \
                    while :; do read line && echo got $line; done";

#[tokio::test]
async fn attach_notifies_the_agent_of_its_size_once_even_if_unchanged() {
    let fixture = HoldFixture::new();
    let launch = start_ready(&fixture, &format!("n=0; {COUNT_SIZES}")).await;
    for (number, (rows, cols)) in
        [(40, 120), (40, 120), (30, 100), (30, 100)].into_iter().enumerate()
    {
        let mut person = Person::attach(&fixture.socket(launch), rows, cols);
        person.wait_for_text(&format!("resized {} {rows} {cols}", number + 1));
        person.type_keys(format!("round{number}\r"));
        person.wait_for_text(&format!("got round{number}"));
        let shown = person.screen().contents();
        assert!(!shown.contains(&format!("resized {}", number + 2)), "{shown}");
        person.type_keys(b"\x1cd");
        person.wait_for_restored_terminal("[detached]");
    }
}
