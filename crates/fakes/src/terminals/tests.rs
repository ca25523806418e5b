use segue_core::Kind;
use segue_core::model::Exit;
use uuid::Uuid;

use super::*;
use crate::samples;

fn launch() -> LaunchId {
    LaunchId::new(Uuid::from_u128(1))
}

fn terminals() -> (FakeTerminals, FakeTerminal) {
    let terminals = FakeTerminals::new(Calls::default());
    let terminal = terminals.add(launch());
    (terminals, terminal)
}

fn control(rows: u16, cols: u16) -> TerminalAccess {
    TerminalAccess::Control { size: TerminalSize { rows, cols } }
}

fn clients(controllers: usize, viewers: usize) -> TerminalEvent {
    TerminalEvent::Clients(TerminalClients { controllers, viewers })
}

fn snapshot(rows: u16, cols: u16, painted: &str) -> TerminalEvent {
    let (size, painted) = (TerminalSize { rows, cols }, painted.as_bytes().to_vec());
    TerminalEvent::Snapshot(TerminalSnapshot { size, painted })
}

/// Returns the next events of a stream, as many as are compared with them.
async fn next<const N: usize>(stream: &mut Box<dyn TerminalStream>) -> [TerminalEvent; N] {
    let mut events = Vec::new();
    for _ in 0..N {
        events.push(stream.next().await.unwrap());
    }
    events.try_into().unwrap()
}

#[tokio::test]
async fn stream_begins_with_the_screen_and_then_has_the_output() {
    let (terminals, terminal) = terminals();
    terminal.write("before");
    let mut stream = terminals.open(launch(), TerminalAccess::View).await.unwrap();
    terminal.write("after");
    let TerminalSize { rows, cols } = TerminalSize::DEFAULT;
    let output = TerminalEvent::Output(b"after".to_vec());
    let uses = TerminalEvent::Uses(TerminalUses::default());
    assert_eq!(
        next(&mut stream).await,
        [snapshot(rows, cols, "before"), uses, clients(0, 1), output]
    );
    let uses = TerminalUses { alternate: true, mouse: false };
    terminal.set_uses(uses);
    stream.repaint().await.unwrap();
    let painted = snapshot(rows, cols, "beforeafter");
    assert_eq!(next(&mut stream).await, [TerminalEvent::Uses(uses), painted]);
}

#[tokio::test]
async fn viewer_can_neither_type_nor_resize() {
    let (terminals, terminal) = terminals();
    let mut viewer = terminals.open(launch(), TerminalAccess::View).await.unwrap();
    assert_eq!(viewer.input(b"x").await.unwrap_err().kind, Kind::Conflict);
    let size = TerminalSize { rows: 1, cols: 2 };
    assert_eq!(viewer.resize(size).await.unwrap_err().kind, Kind::Conflict);
    assert_eq!((terminal.typed(), terminal.size()), (Vec::new(), TerminalSize::DEFAULT));
    let mut controller = terminals.open(launch(), control(40, 120)).await.unwrap();
    controller.input(b"x").await.unwrap();
    assert_eq!(terminal.typed(), b"x");
}

#[tokio::test]
async fn terminal_has_the_smallest_size_of_its_controllers_until_one_leaves() {
    let (terminals, terminal) = terminals();
    let mut first = terminals.open(launch(), control(30, 100)).await.unwrap();
    let mut second = terminals.open(launch(), control(50, 80)).await.unwrap();
    assert_eq!(terminal.size(), TerminalSize { rows: 30, cols: 80 });
    let [_, _, alone, smaller, both] = next(&mut first).await;
    assert_eq!([alone, smaller, both], [clients(1, 0), snapshot(30, 80, ""), clients(2, 0)]);
    second.resize(TerminalSize { rows: 20, cols: 90 }).await.unwrap();
    assert_eq!(terminal.size(), TerminalSize { rows: 20, cols: 90 });
    second.close().await;
    assert_eq!(terminal.size(), TerminalSize { rows: 30, cols: 100 });
    drop(second);
    let [smaller, larger, alone] = next(&mut first).await;
    assert_eq!(
        [smaller, larger, alone],
        [snapshot(20, 90, ""), snapshot(30, 100, ""), clients(1, 0)]
    );
    drop(first);
    assert_eq!(terminal.size(), TerminalSize { rows: 30, cols: 100 }, "nobody asks for another");
}

#[tokio::test]
async fn earlier_lines_fit_to_the_newest_ones_although_the_agent_goes_on() {
    let (terminals, terminal) = terminals();
    let mut stream = terminals.open(launch(), TerminalAccess::View).await.unwrap();
    let [_, _, _] = next(&mut stream).await;
    ["a", "b", "c"].iter().for_each(|line| terminal.add_line(line));
    stream.scrollback(ScrollbackRange::Newest { count: 1 }).await.unwrap();
    terminal.add_line("d");
    stream.scrollback(ScrollbackRange::Before { line: 2, count: 9 }).await.unwrap();
    let page = |first, lines: &[&str]| {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        let (total, has_forgotten, alternate) = (3, false, false);
        TerminalEvent::Scrollback(ScrollbackPage { first, lines, total, has_forgotten, alternate })
    };
    assert_eq!(next(&mut stream).await, [page(2, &["c"]), page(0, &["a", "b"])]);
    stream.report_wheel(true).await.unwrap();
    assert_eq!(terminal.wheels(), 1);
}

#[tokio::test]
async fn stream_ends_with_its_holder_and_its_requests_still_succeed() {
    let (terminals, terminal) = terminals();
    let mut stream = terminals.open(launch(), control(40, 120)).await.unwrap();
    let [_, _, _] = next(&mut stream).await;
    let end = LaunchEnd { exit: Exit::Code(0), is_requested: false, at: samples::start() };
    terminal.end(end);
    stream.input(b"late").await.unwrap();
    stream.resize(TerminalSize { rows: 1, cols: 2 }).await.unwrap();
    stream.repaint().await.unwrap();
    stream.report_wheel(true).await.unwrap();
    assert_eq!(next(&mut stream).await, [TerminalEvent::Ended(end)]);
    assert_eq!(stream.next().await, None);
    assert_eq!(terminal.typed(), b"");
    let again = terminals.open(launch(), TerminalAccess::View).await;
    assert_eq!(again.unwrap_err().kind, Kind::NotFound);
}

#[tokio::test]
async fn launch_without_a_terminal_has_no_stream() {
    let (terminals, _) = terminals();
    let other = LaunchId::new(Uuid::from_u128(2));
    let error = terminals.open(other, TerminalAccess::View).await.unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
}
