//! Tests of terminal streams, through which clients without a terminal view and control an agent.

use std::io::Write as _;
use std::time::Duration;

use segue_core::Kind;
use segue_core::model::{LaunchId, TerminalSize};
use segue_core::ports::{Holders as _, ScrollbackRange, TerminalAccess, TerminalClients};

use super::fixture::{HoldFixture, TestLaunch, exit_code, kill};
use super::person::Person;
use super::protocol::{HELLO, INPUT, REQUEST, connect, frame, read_frame, start_old_holder};
use super::stream_client::StreamClient;

const SMALL: TerminalSize = TerminalSize { rows: 20, cols: 60 };
const MIDDLE: TerminalSize = TerminalSize { rows: 30, cols: 100 };
const LARGE: TerminalSize = TerminalSize { rows: 50, cols: 150 };

/// Echoes lines, and prints its terminal's size whenever it is notified of that.
const ECHO: &str = "stty -echo; trap 'stty size' WINCH; echo ready; title ready; \
                    while :; do if read line; then echo \"got $line\"; fi; done";

fn control(size: TerminalSize) -> TerminalAccess {
    TerminalAccess::Control { size }
}

/// Starts a script in a terminal of [`MIDDLE`] size, and waits for its title `ready`.
async fn start_ready(fixture: &HoldFixture, script: &str) -> LaunchId {
    let test_launch = TestLaunch { size: MIDDLE, ..fixture.shell(script) };
    let (launch, _) = fixture.start(&test_launch).await;
    fixture.wait_for_title(launch, "ready").await;
    launch
}

#[tokio::test]
async fn viewer_shows_what_an_attached_terminal_shows_and_follows_it() {
    let fixture = HoldFixture::new();
    let script = "stty -echo; printf '\\033[?1049h\\033[?1002h\\033[?1006h\\033[?2004h\\033[2;3H'; \
        printf '\\033[1;31mred\\033[m \\346\\274\\242\\345\\255\\227\\033[?25l\\033[7;9H'; \
        title ready; read line; printf '\\033[9;1Hmore\\033[?2004l'; read line";
    let launch = start_ready(&fixture, script).await;
    let mut person = Person::attach(&fixture.socket(launch), MIDDLE.rows, MIDDLE.cols);
    person.wait_for("screen without the hint", |person| {
        person.screen().hide_cursor() && !person.screen().contents().contains("detach with")
    });
    let mut viewer = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    assert_same_screen(&viewer, &person);
    assert!(viewer.screen().bracketed_paste());
    person.type_keys(b"\r");
    person.wait_for_text("more");
    viewer.wait_for_text("more").await;
    viewer
        .wait_for("switched-off bracketed paste", |client| !client.screen().bracketed_paste())
        .await;
    assert_same_screen(&viewer, &person);
}

fn assert_same_screen(viewer: &StreamClient, person: &Person) {
    let (shown, expected) = (viewer.screen(), person.screen());
    assert_eq!(viewer.rows(), person.rows());
    assert_eq!(shown.cursor_position(), expected.cursor_position());
    assert_eq!(shown.hide_cursor(), expected.hide_cursor());
    assert_eq!(shown.mouse_protocol_mode(), expected.mouse_protocol_mode());
    assert_eq!(shown.cell(1, 2), expected.cell(1, 2));
}

#[tokio::test]
async fn controller_types_and_every_viewer_sees_the_answer() {
    let fixture = HoldFixture::new();
    let launch = start_ready(&fixture, ECHO).await;
    let mut first = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    let mut second = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    let mut controller = StreamClient::open(&fixture, launch, control(MIDDLE)).await;
    controller.stream.input(b"hello\r").await.unwrap();
    for client in [&mut controller, &mut first, &mut second] {
        client.wait_for_text("got hello").await;
        let expected = TerminalClients { controllers: 1, viewers: 2 };
        client.wait_for("three clients", |client| client.clients == expected).await;
    }
    controller.stream.close().await;
    drop(second);
    let one_viewer = TerminalClients { controllers: 0, viewers: 1 };
    first.wait_for("one client", |client| client.clients == one_viewer).await;
}

#[tokio::test]
async fn viewer_changes_neither_the_size_nor_the_input_of_the_agent() {
    let fixture = HoldFixture::new();
    let launch = start_ready(&fixture, ECHO).await;
    let mut viewer = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    assert_eq!(viewer.size(), MIDDLE);
    let refusals =
        [viewer.stream.input(b"typed\r").await, viewer.stream.resize(SMALL).await].map(Result::err);
    for error in refusals.map(Option::unwrap) {
        assert_eq!(error.kind, Kind::Conflict);
        assert!(error.message.contains("only watches"), "{error}");
    }
    fixture.holders.inject(launch, b"injected\r").await.unwrap();
    viewer.wait_for_text("got injected").await;
    let shown = viewer.screen().contents();
    assert_eq!(shown.trim(), "ready\ngot injected", "the agent got a new size or input");
    assert_eq!(fixture.snapshot(launch).await.size, MIDDLE);
}

#[tokio::test]
async fn holder_refuses_what_a_viewer_may_not_do() {
    let fixture = HoldFixture::new();
    let launch = start_ready(&fixture, ECHO).await;
    let mut client = connect(&fixture, launch);
    client.write_all(&frame(HELLO, br#"{"protocol":1,"oldest":1}"#)).unwrap();
    client.write_all(&frame(REQUEST, br#""view""#)).unwrap();
    let read_until = |client: &mut std::os::unix::net::UnixStream, word: &str| loop {
        let (_, payload) = read_frame(client);
        if payload.contains(word) {
            return payload;
        }
    };
    read_until(&mut client, "viewers");
    let inject = frame(7, b"injected\r");
    let input = frame(INPUT, b"typed\r");
    let requests = [
        r#"{"attach":{"rows":20,"cols":60}}"#,
        r#"{"resize":{"rows":20,"cols":60}}"#,
        r#"{"interrupt":{}}"#,
        r#""environment""#,
        r#""release""#,
        r#"{"stop":{"grace_ms":0}}"#,
        r#"{"press":{"keys":[13],"revision":0}}"#,
    ];
    let requests = requests.map(|request| frame(REQUEST, request.as_bytes()));
    for message in [inject, input].into_iter().chain(requests) {
        client.write_all(&message).unwrap();
        read_until(&mut client, "only watches the terminal");
    }
    client.write_all(&frame(REQUEST, br#""status""#)).unwrap();
    let status = read_until(&mut client, "status");
    assert!(status.contains(r#""size":{"rows":30,"cols":100}"#), "{status}");
    fixture.holders.inject(launch, b"last\r").await.unwrap();
    let mut viewer = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    viewer.wait_for_text("got last").await;
    assert_eq!(viewer.screen().contents().trim(), "ready\ngot last");
}

#[tokio::test]
async fn viewer_gets_a_snapshot_of_every_new_size() {
    let fixture = HoldFixture::new();
    let launch = start_ready(&fixture, ECHO).await;
    let mut viewer = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    let mut controller = StreamClient::open(&fixture, launch, control(SMALL)).await;
    viewer.wait_for("size of the controller", |client| client.size() == SMALL).await;
    viewer.wait_for_text("20 60").await;
    controller.stream.resize(LARGE).await.unwrap();
    viewer.wait_for("larger size", |client| client.size() == LARGE).await;
    controller.wait_for("larger size", |client| client.size() == LARGE).await;
    viewer.wait_for_text("50 150").await;
    controller.wait_for_text("50 150").await;
    assert_eq!(viewer.rows(), controller.rows());
}

#[tokio::test]
async fn two_controllers_share_the_smaller_size_until_one_closes() {
    let fixture = HoldFixture::new();
    let launch = start_ready(&fixture, ECHO).await;
    let mut large = StreamClient::open(&fixture, launch, control(LARGE)).await;
    let mut small = StreamClient::open(&fixture, launch, control(SMALL)).await;
    large.wait_for("smaller size", |client| client.size() == SMALL).await;
    small.stream.input(b"one\r").await.unwrap();
    small.wait_for_text("got one").await;
    large.stream.input(b"two\r").await.unwrap();
    for client in [&mut large, &mut small] {
        client.wait_for_text("got two").await;
    }
    assert_eq!(large.rows(), small.rows());
    small.stream.close().await;
    large.wait_for("old size", |client| client.size() == LARGE).await;
}

#[tokio::test]
async fn all_scrollback_pages_come_from_one_copy() {
    let fixture = HoldFixture::new();
    let script =
        "seq 1 500; printf '\\033[32mlast'; title ready; while read line; do seq 1 99; done";
    let launch = start_ready(&fixture, script).await;
    let mut viewer = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    let newest = viewer.read_page(ScrollbackRange::Newest { count: 120 }).await;
    assert_eq!((newest.lines.len(), newest.total), (120, newest.first + 120));
    assert!(!newest.has_forgotten && !newest.alternate);
    fixture.holders.inject(launch, b"\r").await.unwrap();
    viewer.wait_for_text("99").await;
    let (mut lines, mut first) = (newest.lines, newest.first);
    while first > 0 {
        let page = viewer.read_page(ScrollbackRange::Before { line: first, count: 120 }).await;
        assert_eq!((page.first + page.lines.len(), page.total), (first, newest.total));
        first = page.first;
        lines.splice(0..0, page.lines);
    }
    let numbers = (1..=500).map(|number| number.to_string());
    let expected: Vec<String> = numbers.chain(["\x1b[0;32mlast\x1b[m".to_owned()]).collect();
    assert_eq!(lines[..expected.len()], expected);
    assert!(lines[expected.len()..].iter().all(String::is_empty), "{lines:?}");
}

#[tokio::test]
async fn viewer_that_does_not_read_does_not_slow_the_agent_and_gets_a_snapshot_later() {
    let fixture = HoldFixture::new();
    let script = "echo ready; title ready; read line; seq 1 1000000; echo the end; title finished; \
                  read line";
    let launch = start_ready(&fixture, script).await;
    let mut viewer = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    fixture.holders.inject(launch, b"\r").await.unwrap();
    fixture.wait_for_title(launch, "finished").await;
    viewer.wait_for_text("the end").await;
    assert_eq!(viewer.rows(), fixture.snapshot(launch).await.rows);
    assert!(viewer.sizes.len() > 1, "no snapshot replaced the missed output");
    assert!(viewer.bytes < 3_000_000, "{} bytes for one screen", viewer.bytes);
}

#[tokio::test]
async fn stream_reports_the_end_of_the_agent_even_to_later_viewers() {
    let fixture = HoldFixture::new();
    let launch = start_ready(&fixture, "title ready; read line; printf 'bye'; exit 4").await;
    let mut viewer = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    fixture.holders.inject(launch, b"\r").await.unwrap();
    viewer.wait_for("end of the agent", |client| client.end.is_some()).await;
    let mut late = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    late.wait_for("end of the agent", |client| client.end.is_some()).await;
    for client in [&viewer, &late] {
        assert_eq!(client.end.unwrap().exit, exit_code(4));
        assert!(client.screen().contents().contains("bye"));
    }
}

#[tokio::test]
async fn stream_ends_when_the_holder_is_killed() {
    let fixture = HoldFixture::new();
    let (launch, held) = fixture.start(&fixture.shell(ECHO)).await;
    let mut viewer = StreamClient::open(&fixture, launch, TerminalAccess::View).await;
    let mut controller = StreamClient::open(&fixture, launch, control(LARGE)).await;
    kill(&held.holder);
    for client in [&mut viewer, &mut controller] {
        client.wait_for("end of the stream", |client| client.has_ended).await;
        assert_eq!(client.end, None);
        client.stream.repaint().await.unwrap();
        assert!(client.stream.next().await.is_none());
    }
    let error = StreamClient::try_open(&fixture, launch, TerminalAccess::View).await.err().unwrap();
    assert_eq!(error.kind, Kind::NotFound);
}

#[tokio::test]
async fn headless_agent_has_no_stream() {
    let fixture = HoldFixture::new();
    let test_launch = TestLaunch { headless: true, ..fixture.shell("exec sleep 600") };
    let (launch, _) = fixture.start(&test_launch).await;
    for access in [TerminalAccess::View, control(SMALL)] {
        let error = StreamClient::try_open(&fixture, launch, access).await.err().unwrap();
        assert!(error.message.contains("runs without a terminal"), "{error}");
    }
    fixture.holders.stop(launch, Duration::ZERO).await.unwrap();
}

/// A holder of the first version, started as `perl hold FOLDER`. It serves two clients. To a first
/// request of a client, it sends output, an answer and more output.
const OLD_HOLDER: &str = r#"
use IO::Socket::UNIX;
my $listener = IO::Socket::UNIX->new(Local => "$ARGV[0]/holder.sock", Listen => 5) or die $!;
$| = 1;
print "up\n";
sub send_frame { my ($to, $kind, $text) = @_; syswrite($to, pack('NC', length $text, $kind) . $text); }
for (1 .. 2) {
    my $client = $listener->accept or die $!;
    read($client, my $header, 5) == 5 or die "no header";
    read($client, my $hello, (unpack('NC', $header))[0]);
    send_frame($client, 1, '{"protocol":1,"oldest":1}');
    read($client, $header, 5) == 5 or next;
    read($client, my $request, (unpack('NC', $header))[0]);
    print "$request\n";
    send_frame($client, 6, "\e[H\e[2Jold ");
    send_frame($client, 6, "screen");
    send_frame($client, 3, '"done"');
    send_frame($client, 6, " and more");
}
"#;

#[tokio::test]
async fn older_holder_gives_control_but_no_view() {
    let fixture = HoldFixture::new();
    let (launch, mut old, lines) = start_old_holder(&fixture, OLD_HOLDER);
    let error = StreamClient::try_open(&fixture, launch, TerminalAccess::View).await.err().unwrap();
    assert_eq!(error.kind, Kind::Unavailable);
    assert!(error.message.contains("older version") && error.message.contains("`view`"), "{error}");
    let mut controller = StreamClient::open(&fixture, launch, control(SMALL)).await;
    assert_eq!(controller.rows()[0], "old screen");
    assert_eq!(controller.size(), SMALL);
    controller.wait_for_text("old screen and more").await;
    let range = ScrollbackRange::Newest { count: 1 };
    assert_eq!(controller.stream.scrollback(range).await.err().unwrap().kind, Kind::Unavailable);
    let printed: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(printed, [r#"{"attach":{"rows":20,"cols":60}}"#]);
    old.wait().unwrap();
}
