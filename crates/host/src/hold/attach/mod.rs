//! Connects a user's terminal to an agent until the user detaches.

mod help;
mod keys;
mod notice;
mod overlay;
mod raw_terminal;
mod scroll;
mod user;

use std::collections::VecDeque;
use std::time::Duration;

use segue_core::model::{LaunchEnd, LaunchId};
use segue_core::ports::{
    ScrollbackRange, TerminalAccess, TerminalEvent, TerminalStream, TerminalUses, Terminals,
};
use segue_core::{Result, failpoint};
use tokio::signal::unix::{Signal, SignalKind};
use tokio::time::Instant;

use super::waiting::{KEY_PAUSE, at, listen_to};

use keys::{AttachCommand, Keys, Owner, ScrollEntry, TypedInput};
use notice::PlacedNotice;
use overlay::{Overlay, OverlayChange};
use raw_terminal::RawTerminal;
use user::OpenUserTerminal;
pub use user::UserTerminal;

/// A notice is shown for this time, or until the user types.
const NOTICE_TIME: Duration = Duration::from_secs(3);
/// While this many bytes wait for the terminal, no more output is read from the holder.
const MAX_OUTGOING_BYTES: usize = 256 << 10;
/// The notice for a command that the holder does not support.
const OLDER_HOLDER: &str = " this agent's holder is older: resume it to scroll ";
/// Assumed for an agent whose holder does not report what the agent uses. Then the agent gets every
/// key.
const ALL_USED: TerminalUses = TerminalUses { alternate: true, mouse: true };

/// Why a user's terminal is disconnected from the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachEnd {
    /// The user detached, or the terminal is gone. The agent continues to run.
    Detached,
    AgentEnded(LaunchEnd),
    /// The holder ended without reporting the end of the agent.
    HolderGone,
}

/// Shows an agent on a terminal and sends it the user's input, until the user detaches or the agent
/// ends. The terminal's settings are restored in any case.
pub async fn attach(
    terminals: &dyn Terminals,
    launch: LaunchId,
    terminal: UserTerminal,
) -> Result<AttachEnd> {
    let terminal = terminal.open()?;
    // Listen before the size is sent, so that no later change is missed.
    let signals = TerminalSignals::listen()?;
    failpoint::hit("attach.ask.before");
    let access = TerminalAccess::Control { size: terminal.size() };
    let mut stream = terminals.open(launch, access).await?;
    let first = stream.next().await;
    failpoint::hit("attach.ask.after");
    let (input, output) = terminal.descriptors()?;
    let guard = RawTerminal::enter(input, output)?;
    let mut attached = Attached::new(stream, terminal, signals);
    let end = match attached.received(first).await {
        Some(end) => end,
        None => {
            attached.welcome();
            attached.run().await
        }
    };
    drop(guard);
    Ok(end)
}

/// The signals about a terminal.
struct TerminalSignals {
    resized: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl TerminalSignals {
    fn listen() -> Result<Self> {
        Ok(Self {
            resized: listen_to(SignalKind::window_change())?,
            terminate: listen_to(SignalKind::terminate())?,
            hangup: listen_to(SignalKind::hangup())?,
        })
    }
}

/// A terminal that shows an agent.
struct Attached {
    stream: Box<dyn TerminalStream>,
    terminal: OpenUserTerminal,
    signals: TerminalSignals,
    keys: Keys,
    overlay: Overlay,
    uses: TerminalUses,
    /// Whether this program uses the wheel while the agent does not use the mouse.
    uses_wheel: bool,
    /// Output that the terminal has not accepted yet.
    outgoing: VecDeque<u8>,
    times: Times,
    /// The notice on entry, while it is shown.
    notice: Option<PlacedNotice>,
}

/// The times at which the next actions are due.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    /// Stop waiting for the rest of a key.
    pause: Option<Instant>,
    /// Remove the notice.
    notice: Option<Instant>,
    /// Stop waiting for scrollback lines.
    lines: Option<Instant>,
}

/// An event that wakes the client.
enum AttachWake {
    /// Input of the user. `None` if the terminal is gone.
    Typed(Option<Vec<u8>>),
    Written(std::io::Result<()>),
    /// `None` if the holder is gone.
    Received(Option<TerminalEvent>),
    Resized,
    Leave,
    Pause,
    NoticeOver,
    LinesLate,
}

impl Attached {
    fn new(
        stream: Box<dyn TerminalStream>,
        terminal: OpenUserTerminal,
        signals: TerminalSignals,
    ) -> Self {
        Self {
            stream,
            terminal,
            signals,
            keys: Keys::default(),
            overlay: Overlay::default(),
            uses: ALL_USED,
            uses_wheel: true,
            outgoing: VecDeque::new(),
            times: Times::default(),
            notice: None,
        }
    }

    async fn run(&mut self) -> AttachEnd {
        // It fails if the holder has an older version without this request.
        let _unsupported = self.stream.report_wheel(self.uses_wheel).await;
        loop {
            let ended = match self.wake().await {
                AttachWake::Typed(Some(bytes)) => self.typed(&bytes).await,
                AttachWake::Written(Ok(())) => None,
                AttachWake::Received(event) => self.received(event).await,
                AttachWake::Resized => {
                    self.resized().await;
                    None
                }
                AttachWake::Typed(None) | AttachWake::Written(Err(_)) | AttachWake::Leave => {
                    Some(AttachEnd::Detached)
                }
                AttachWake::Pause => {
                    self.paused().await;
                    None
                }
                AttachWake::NoticeOver => {
                    self.end_notice().await;
                    None
                }
                AttachWake::LinesLate => {
                    self.lines_are_late();
                    None
                }
            };
            if let Some(end) = ended {
                return end;
            }
        }
    }

    async fn wake(&mut self) -> AttachWake {
        let Self { stream, terminal, signals, outgoing, times, .. } = self;
        let (is_idle, has_room) = (outgoing.is_empty(), outgoing.len() < MAX_OUTGOING_BYTES);
        tokio::select! {
            typed = terminal.read() => AttachWake::Typed(typed),
            event = stream.next(), if has_room => AttachWake::Received(event),
            written = terminal.write(outgoing), if !is_idle => AttachWake::Written(written),
            _ = signals.resized.recv() => AttachWake::Resized,
            _ = signals.terminate.recv() => AttachWake::Leave,
            _ = signals.hangup.recv() => AttachWake::Leave,
            () = at(times.pause) => AttachWake::Pause,
            () = at(times.notice) => AttachWake::NoticeOver,
            () = at(times.lines) => AttachWake::LinesLate,
        }
    }

    async fn typed(&mut self, bytes: &[u8]) -> Option<AttachEnd> {
        // A user who types has read the notice.
        self.end_notice().await;
        self.keys.push(bytes);
        while let Some(typed) = self.keys.next(self.owner()) {
            match typed {
                TypedInput::Passed(bytes) if self.overlay.takes_keys() => {
                    let after = self.overlay.typed(&bytes, self.terminal.size());
                    self.overlay_changed(after).await;
                }
                TypedInput::Passed(bytes) => self.pass(&bytes).await,
                TypedInput::Command(AttachCommand::Detach) => return Some(self.detach().await),
                TypedInput::Command(AttachCommand::Help) => {
                    let after = self.overlay.help(self.terminal.size(), self.uses_wheel);
                    self.overlay_changed(after).await;
                }
                TypedInput::Command(AttachCommand::Scroll(entry)) => self.scroll(entry).await,
                TypedInput::Command(AttachCommand::Mouse) => self.switch_wheel().await,
            }
        }
        self.times.pause = self.keys.is_waiting().then(|| Instant::now() + KEY_PAUSE);
        None
    }

    fn owner(&self) -> Owner {
        if self.overlay.takes_keys() { Owner::Overlay } else { Owner::Agent(self.uses) }
    }

    async fn paused(&mut self) {
        self.times.pause = None;
        let passed = self.keys.after_pause();
        if !self.overlay.takes_keys() {
            return self.pass(&passed).await;
        }
        let after = self.overlay.after_pause(&passed, self.terminal.size());
        self.overlay_changed(after).await;
    }

    /// Requests the lines for scroll mode, unless they were requested before.
    async fn scroll(&mut self, entry: ScrollEntry) {
        if !self.overlay.expect(entry) {
            return;
        }
        let all = ScrollbackRange::Newest { count: usize::MAX };
        match self.stream.scrollback(all).await {
            Ok(()) => self.times.lines = Some(Instant::now() + overlay::LINES_TIMEOUT),
            Err(_) => {
                self.overlay.give_up();
                self.notify(&[OLDER_HOLDER]);
            }
        }
    }

    /// Switches the use of the mouse wheel between this program and the user's terminal.
    async fn switch_wheel(&mut self) {
        if self.stream.report_wheel(!self.uses_wheel).await.is_err() {
            return self.notify(&[OLDER_HOLDER]);
        }
        self.uses_wheel = !self.uses_wheel;
        let texts = if self.uses_wheel {
            [" the wheel scrolls ", " wheel: scroll "]
        } else {
            [" the mouse is your terminal's ", " wheel: terminal "]
        };
        match self.overlay.wheel_changed(self.uses_wheel, self.terminal.size(), texts[0]) {
            Some(drawn) => self.outgoing.extend(drawn.bytes()),
            None => self.notify(&texts),
        }
    }

    async fn detach(&mut self) -> AttachEnd {
        failpoint::hit("attach.detach.before");
        self.stream.close().await;
        failpoint::hit("attach.detach.after");
        AttachEnd::Detached
    }

    async fn resized(&mut self) {
        let size = self.terminal.size();
        // The place of the notice was chosen for the old size.
        self.notice = None;
        if self.overlay.hides_agent() {
            let drawn = self.overlay.resized(size);
            self.outgoing.extend(drawn.bytes());
        }
        // A stream with control may always resize.
        let _allowed = self.stream.resize(size).await;
    }

    /// Shows the changed overlay, or the agent's screen again.
    async fn overlay_changed(&mut self, OverlayChange { output, is_uncovered }: OverlayChange) {
        self.outgoing.extend(output.bytes());
        if is_uncovered {
            self.repaint().await;
        }
    }

    async fn pass(&mut self, bytes: &[u8]) {
        // A stream with control may always type.
        let _allowed = self.stream.input(bytes).await;
    }

    async fn repaint(&mut self) {
        // Every stream may request a snapshot.
        let _allowed = self.stream.repaint().await;
    }

    async fn received(&mut self, event: Option<TerminalEvent>) -> Option<AttachEnd> {
        match event {
            Some(TerminalEvent::Snapshot(snapshot)) => self.show(&snapshot.painted),
            Some(TerminalEvent::Output(bytes)) => self.show(&bytes),
            Some(TerminalEvent::Scrollback(page)) => {
                self.times.lines = None;
                let after = self.overlay.enter(&page, self.terminal.size(), self.uses_wheel);
                self.overlay_changed(after).await;
            }
            Some(TerminalEvent::Uses(uses)) => self.uses = uses,
            Some(TerminalEvent::Clients(_) | TerminalEvent::Refused(_)) => {}
            Some(TerminalEvent::Ended(end)) => return Some(AttachEnd::AgentEnded(end)),
            None => return Some(AttachEnd::HolderGone),
        }
        None
    }

    /// Shows output of the agent, unless its screen is covered.
    fn show(&mut self, bytes: &[u8]) {
        if self.overlay.hides_agent() {
            return;
        }
        let notice = self.notice.as_mut().map(|notice| notice.after(bytes));
        self.outgoing.extend(bytes);
        self.outgoing.extend(notice.unwrap_or_default().bytes());
    }

    fn lines_are_late(&mut self) {
        self.times.lines = None;
        self.overlay.give_up();
        self.notify(&[" the holder does not send the lines to scroll ", " no lines "]);
    }

    /// Shows on entry how to detach, at a place where the notice covers no text of the agent.
    fn welcome(&mut self) {
        let (one, other) = self.outgoing.as_slices();
        self.notice = PlacedNotice::new(self.terminal.size(), [one, other], &notice::ENTRY);
        let painted = self.notice.as_ref().map(PlacedNotice::painted).unwrap_or_default();
        self.show_notice(&painted);
    }

    /// Answers a command with a short notice at the top: the longest of these texts that fits.
    fn notify(&mut self, texts: &[&str]) {
        self.show_notice(&notice::at_top(self.terminal.size(), texts));
    }

    /// Shows a notice for a while. The screen is repainted afterwards.
    fn show_notice(&mut self, painted: &str) {
        if !painted.is_empty() {
            self.outgoing.extend(painted.bytes());
            self.times.notice = Some(Instant::now() + NOTICE_TIME);
        }
    }

    async fn end_notice(&mut self) {
        self.notice = None;
        if self.times.notice.take().is_some() {
            self.repaint().await;
        }
    }
}
