//! Streams of agents' terminals, for every kind of client: a terminal, a screen inside a terminal,
//! or a web page.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::model::{LaunchEnd, LaunchId, TerminalSize};

/// Opens streams of agents' terminals. A launch can have any number of streams at once.
#[async_trait]
pub trait Terminals: Debug + Send + Sync {
    /// Opens a stream. Its first event is a snapshot of the screen. Fails if the launch has no
    /// holder or no terminal, or if its holder is of an older version that cannot give this access.
    async fn open(
        &self,
        launch: LaunchId,
        access: TerminalAccess,
    ) -> Result<Box<dyn TerminalStream>>;
}

/// What a stream may do. It stays the same for as long as the stream is open: to take control, a
/// viewer opens a second stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalAccess {
    /// Watch. The holder refuses input, and the stream never changes the size of the agent's
    /// terminal: its output is for a terminal that has the agent's own size.
    View,
    /// Type, and influence the size of the agent's terminal. With several controllers, the agent
    /// reads the input of all of them, and its terminal has the smallest number of rows and of
    /// columns among the controllers' terminals.
    Control {
        /// The size of the controller's own terminal.
        size: TerminalSize,
    },
}

/// An open stream of an agent's terminal. Dropping it closes it.
///
/// Requests do not wait for the holder. Their results are events. A request on a broken connection
/// succeeds, because the events that arrived before the break can still be read.
///
/// A caller that reads slowly does not slow the agent down, and the queue for the caller is limited.
/// If it is full, the holder drops output and sends a new snapshot instead.
#[async_trait]
pub trait TerminalStream: Debug + Send {
    /// Returns the next event. `None` if the holder is gone. The future may be dropped while it
    /// waits without losing an event.
    async fn next(&mut self) -> Option<TerminalEvent>;

    /// Types bytes into the agent's terminal, as a user's terminal sends them. Fails if this stream
    /// only watches.
    async fn input(&mut self, bytes: &[u8]) -> Result<()>;

    /// Reports the new size of the controller's own terminal. Fails if this stream only watches.
    async fn resize(&mut self, size: TerminalSize) -> Result<()>;

    /// Requests a new snapshot.
    async fn repaint(&mut self) -> Result<()>;

    /// Requests lines that the agent wrote. They arrive as [`TerminalEvent::Scrollback`]. Fails if
    /// the holder is of an older version without scrollback.
    async fn scrollback(&mut self, range: ScrollbackRange) -> Result<()>;

    /// Chooses whether the output makes the client's terminal report its mouse wheel while the
    /// agent does not use the mouse. Fails if the holder is of an older version without scrollback.
    async fn report_wheel(&mut self, is_on: bool) -> Result<()>;

    /// Closes the stream. If it had control, the agent's terminal gets the size of the remaining
    /// controllers at once.
    async fn close(&mut self);
}

/// An event of a terminal stream. Titles and bells of the agent are part of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalEvent {
    /// The whole screen. Sent at first, after a change of size, on request, and instead of output
    /// that the caller missed. A holder of an older version sends only the first one; it sends
    /// later ones as output.
    Snapshot(TerminalSnapshot),
    /// Output that follows the last snapshot: text and control sequences without queries.
    Output(Vec<u8>),
    /// The terminal features that the agent uses now. Sent at first and at every change.
    Uses(TerminalUses),
    /// How many streams are open now. Sent at first and at every change.
    Clients(TerminalClients),
    /// The requested lines.
    Scrollback(ScrollbackPage),
    /// The holder refused a request or input.
    Refused(Error),
    /// The agent has ended. All of its descendants are gone and the end is on disk.
    Ended(LaunchEnd),
}

/// Everything that a terminal needs to show an agent's screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalSnapshot {
    /// The size of the agent's terminal.
    pub size: TerminalSize,
    /// The output that clears a terminal and draws the screen on it, with cursor, modes and title.
    /// A viewer's terminal must have the agent's size. A controller's terminal has its own size.
    pub painted: Vec<u8>,
}

/// The terminal features that an agent uses and that change the meaning of a user's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalUses {
    /// Whether the agent uses the alternate screen.
    pub alternate: bool,
    /// Whether the agent uses mouse reports.
    pub mouse: bool,
}

/// The open streams of one launch, including the caller's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalClients {
    pub controllers: usize,
    pub viewers: usize,
}

/// Lines to request. Every request for the newest lines makes the stream copy all lines that the
/// holder has. Later pages come from the same copy, so they match although the agent continues to
/// write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrollbackRange {
    /// At most `count` lines at the end, with the lines of the screen.
    Newest { count: usize },
    /// At most `count` lines of the last copy before the line with this number.
    Before { line: usize, count: usize },
}

/// Lines that an agent wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScrollbackPage {
    /// The number of the first line of this page. The oldest line of the copy has the number 0.
    pub first: usize,
    /// The lines, newest last. A line contains printable characters and colours (`CSI … m`) alone,
    /// begins and ends without colours, and can be longer than a row of the terminal.
    pub lines: Vec<String>,
    /// The number of lines in the copy.
    pub total: usize,
    /// Whether the holder dropped older lines.
    pub has_forgotten: bool,
    /// Whether the last lines are the alternate screen, which has no scrollback.
    pub alternate: bool,
}
