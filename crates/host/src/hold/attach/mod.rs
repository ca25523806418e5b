//! Connects a user's terminal to an agent until the user detaches.

mod cover;
mod guard;
mod help;
mod keys;
mod notice;
mod scroll;
mod user;

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use segue_core::model::LaunchEnd;
use segue_core::{Error, Result, failpoint};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use super::line::{Line, PATIENCE, Said, silent};
use super::reach::reach;
use super::wire::{Answer, Event, Request, Uses, capability, encode, encode_message, kind};

use cover::{After, Cover};
use guard::Guard;
use keys::{Command, Keys, Owner, Typed};
use notice::Notice;
use user::OpenTerminal;
pub use user::UserTerminal;

/// Longer than a terminal takes between the bytes of one key, and too short for a user to notice.
const PAUSE: Duration = Duration::from_millis(30);
/// How long a notice is shown, unless the user types before.
const NOTICE: Duration = Duration::from_secs(3);
/// Maximum number of bytes that wait for the terminal. Beyond it, no more output is read from the
/// holder.
const MOST_OUTGOING: usize = 256 << 10;
/// Assumed for an agent whose holder does not report what it uses: then every key is for the agent.
const ALL_USED: Uses = Uses { alternate: true, mouse: true };

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
/// ends. The terminal is always left as it was.
pub async fn attach(socket: &Path, terminal: UserTerminal) -> Result<AttachEnd> {
    let nobody = || {
        Error::not_found("the agent has no terminal to attach to: nobody holds it")
            .hint("run `segue resume` to bring it back")
    };
    let terminal = terminal.open()?;
    let folder = socket.parent().unwrap_or(socket);
    let mut line = reach(folder).await?.ok_or_else(nobody)?;
    // Listen before the size is sent, so that no later change is missed.
    let signals = Signals::listen()?;
    failpoint::hit("attach.ask.before");
    let first = tokio::time::timeout(PATIENCE, ask(&mut line, &terminal)).await;
    let outgoing = first.map_err(|_| silent())??;
    failpoint::hit("attach.ask.after");
    let (input, output) = terminal.descriptors()?;
    let guard = Guard::enter(input, output)?;
    let mut attached = Attached::new(line, terminal, signals, outgoing);
    attached.welcome();
    if attached.can_scroll()
        && let Some(end) = attached.ask(&Request::Wheel(true)).await
    {
        return Ok(end);
    }
    let end = attached.run().await;
    drop(guard);
    Ok(end)
}

/// Requests to be attached. Returns the first output to show.
async fn ask(line: &mut Line, terminal: &OpenTerminal) -> Result<VecDeque<u8>> {
    let gone = || Error::unavailable("the process that holds the agent is gone");
    let request = Request::Attach(terminal.size());
    // If the holder has closed the connection, its reason can still be read.
    let _sent = line.send(&encode_message(kind::REQUEST, &request)).await;
    let mut outgoing = VecDeque::new();
    loop {
        match line.next().await.ok_or_else(gone)? {
            Said::Output(bytes) => outgoing.extend(bytes),
            Said::Answer(Answer::Failed(error)) => return Err(error),
            Said::Answer(_) => return Ok(outgoing),
            Said::Event(_) | Said::History(_) | Said::Scrollback(_) => {}
        }
    }
}

/// Waits until `time`. Without a time, it waits forever.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// The signals about a terminal.
struct Signals {
    resized: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        let listen = |kind| {
            signal(kind)
                .map_err(|error| Error::internal("cannot listen to signals").caused_by(error))
        };
        Ok(Self {
            resized: listen(SignalKind::window_change())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }
}

/// A terminal that shows an agent.
struct Attached {
    line: Line,
    terminal: OpenTerminal,
    signals: Signals,
    keys: Keys,
    cover: Cover,
    uses: Uses,
    /// Whether this program handles the wheel while the agent does not use the mouse.
    wheel: bool,
    /// Output that the terminal has not accepted yet.
    outgoing: VecDeque<u8>,
    times: Times,
    /// The notice on entry, while it is shown.
    notice: Option<Notice>,
}

/// When the next actions are due. `None` if there is none.
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
enum Wake {
    /// The user typed something. `None` if the terminal is gone.
    Typed(Option<Vec<u8>>),
    Written(std::io::Result<()>),
    Said(Option<Said>),
    Resized,
    Leave,
    Pause,
    NoticeOver,
    LinesLate,
}

impl Attached {
    fn new(line: Line, terminal: OpenTerminal, signals: Signals, outgoing: VecDeque<u8>) -> Self {
        Self {
            line,
            terminal,
            signals,
            keys: Keys::default(),
            cover: Cover::default(),
            uses: ALL_USED,
            wheel: true,
            outgoing,
            times: Times::default(),
            notice: None,
        }
    }

    fn can_scroll(&self) -> bool {
        self.line.can(capability::SCROLLBACK)
    }

    async fn run(&mut self) -> AttachEnd {
        loop {
            let ended = match self.wake().await {
                Wake::Typed(Some(bytes)) => self.typed(&bytes).await,
                Wake::Written(Ok(())) => None,
                Wake::Said(said) => self.said(said).await,
                Wake::Resized => self.resized().await,
                Wake::Typed(None) | Wake::Written(Err(_)) | Wake::Leave => {
                    Some(AttachEnd::Detached)
                }
                Wake::Pause => self.paused().await,
                Wake::NoticeOver => self.end_notice().await,
                Wake::LinesLate => self.lines_are_late(),
            };
            if let Some(end) = ended {
                return end;
            }
        }
    }

    async fn wake(&mut self) -> Wake {
        let Self { line, terminal, signals, outgoing, times, .. } = self;
        let (is_idle, has_room) = (outgoing.is_empty(), outgoing.len() < MOST_OUTGOING);
        tokio::select! {
            typed = terminal.read() => Wake::Typed(typed),
            said = line.next(), if has_room => Wake::Said(said),
            written = terminal.write(outgoing), if !is_idle => Wake::Written(written),
            _ = signals.resized.recv() => Wake::Resized,
            _ = signals.terminate.recv() => Wake::Leave,
            _ = signals.hangup.recv() => Wake::Leave,
            () = at(times.pause) => Wake::Pause,
            () = at(times.notice) => Wake::NoticeOver,
            () = at(times.lines) => Wake::LinesLate,
        }
    }

    async fn typed(&mut self, bytes: &[u8]) -> Option<AttachEnd> {
        // A user who types has read the notice.
        if let Some(end) = self.end_notice().await {
            return Some(end);
        }
        self.keys.push(bytes);
        while let Some(typed) = self.keys.next(self.owner()) {
            let ended = match typed {
                Typed::Passed(bytes) if self.cover.takes_keys() => {
                    let after = self.cover.typed(&bytes, self.terminal.size());
                    self.cover_changed(after).await
                }
                Typed::Passed(bytes) => self.pass(&bytes).await,
                Typed::Command(command) => self.carry_out(command).await,
            };
            if ended.is_some() {
                return ended;
            }
        }
        self.times.pause = self.keys.is_waiting().then(|| Instant::now() + PAUSE);
        None
    }

    fn owner(&self) -> Owner {
        if self.cover.takes_keys() { Owner::Cover } else { Owner::Agent(self.uses) }
    }

    async fn paused(&mut self) -> Option<AttachEnd> {
        self.times.pause = None;
        let passed = self.keys.after_pause();
        if !self.cover.takes_keys() {
            return self.pass(&passed).await;
        }
        let after = self.cover.after_pause(&passed, self.terminal.size());
        self.cover_changed(after).await
    }

    async fn carry_out(&mut self, command: Command) -> Option<AttachEnd> {
        match command {
            Command::Detach => Some(self.detach().await),
            Command::Help => {
                let after = self.cover.help(self.terminal.size(), self.wheel);
                self.cover_changed(after).await
            }
            Command::Scroll(_) | Command::Mouse if !self.can_scroll() => {
                self.notify(&[" this agent's holder is older: resume it to scroll "]);
                None
            }
            Command::Scroll(entry) => {
                if !self.cover.expect(entry) {
                    return None;
                }
                self.times.lines = Some(Instant::now() + cover::PATIENCE);
                self.ask(&Request::Scrollback).await
            }
            Command::Mouse => {
                self.wheel = !self.wheel;
                let words = if self.wheel {
                    [" the wheel scrolls ", " wheel: scroll "]
                } else {
                    [" the mouse is your terminal's ", " wheel: terminal "]
                };
                let ended = self.ask(&Request::Wheel(self.wheel)).await;
                match self.cover.wheel_changed(self.wheel, self.terminal.size(), words[0]) {
                    Some(drawn) => self.outgoing.extend(drawn.bytes()),
                    None => self.notify(&words),
                }
                ended
            }
        }
    }

    async fn detach(&mut self) -> AttachEnd {
        failpoint::hit("attach.detach.before");
        // The holder also notices the end of the connection.
        let _told = self.ask(&Request::Detach).await;
        failpoint::hit("attach.detach.after");
        AttachEnd::Detached
    }

    async fn resized(&mut self) -> Option<AttachEnd> {
        let size = self.terminal.size();
        // The position of the notice was chosen for the old size. The agent draws over it.
        self.notice = None;
        if self.cover.hides_agent() {
            let drawn = self.cover.resized(size);
            self.outgoing.extend(drawn.bytes());
        }
        self.ask(&Request::Resize(size)).await
    }

    /// Shows the changed cover, or the agent's screen again.
    async fn cover_changed(&mut self, After { output, uncovered }: After) -> Option<AttachEnd> {
        self.outgoing.extend(output.bytes());
        if uncovered { self.ask(&Request::Repaint).await } else { None }
    }

    async fn pass(&mut self, bytes: &[u8]) -> Option<AttachEnd> {
        /// The size of a piece in bytes. It is well below the largest frame.
        const PIECE: usize = 64 << 10;
        let mut frames = Vec::new();
        bytes.chunks(PIECE).for_each(|piece| encode(kind::INPUT, piece, &mut frames));
        self.send(&frames).await
    }

    async fn ask(&mut self, request: &Request) -> Option<AttachEnd> {
        self.send(&encode_message(kind::REQUEST, request)).await
    }

    /// Sends a frame. If the connection is broken, reads it to its end, which may contain the end
    /// of the agent.
    async fn send(&mut self, frame: &[u8]) -> Option<AttachEnd> {
        if self.line.send(frame).await.is_ok() {
            return None;
        }
        loop {
            match self.line.next().await {
                Some(Said::Event(Event::Ended(end))) => return Some(AttachEnd::AgentEnded(end)),
                Some(_) => {}
                None => return Some(AttachEnd::HolderGone),
            }
        }
    }

    async fn said(&mut self, said: Option<Said>) -> Option<AttachEnd> {
        match said {
            Some(Said::Output(_)) if self.cover.hides_agent() => {}
            Some(Said::Output(bytes)) => {
                let again = self.notice.as_mut().map(|notice| notice.after(&bytes));
                self.outgoing.extend(bytes);
                self.outgoing.extend(again.unwrap_or_default().bytes());
            }
            Some(Said::Scrollback(piece)) => self.cover.piece(&piece),
            Some(Said::Answer(Answer::Scrollback(facts))) => {
                self.times.lines = None;
                let after = self.cover.enter(facts, self.terminal.size(), self.wheel);
                return self.cover_changed(after).await;
            }
            Some(Said::Event(Event::Uses(uses))) => self.uses = uses,
            Some(Said::Event(Event::Ended(end))) => return Some(AttachEnd::AgentEnded(end)),
            Some(_) => {}
            None => return Some(AttachEnd::HolderGone),
        }
        None
    }

    fn lines_are_late(&mut self) -> Option<AttachEnd> {
        self.times.lines = None;
        self.cover.give_up();
        self.notify(&[" the lines to scroll through do not come ", " no lines "]);
        None
    }

    /// Shows on entry how to detach, at a place where it covers nothing of the first picture.
    fn welcome(&mut self) {
        let (one, other) = self.outgoing.as_slices();
        self.notice = Notice::new(self.terminal.size(), [one, other], &notice::ENTRY);
        let painted = self.notice.as_ref().map(Notice::painted).unwrap_or_default();
        self.show_notice(&painted);
    }

    /// Answers a command with a short notice at the top.
    fn notify(&mut self, words: &[&str]) {
        self.show_notice(&notice::at_top(self.terminal.size(), words));
    }

    /// Shows a notice for a while. The screen is repainted afterwards.
    fn show_notice(&mut self, painted: &str) {
        if !painted.is_empty() {
            self.outgoing.extend(painted.bytes());
            self.times.notice = Some(Instant::now() + NOTICE);
        }
    }

    async fn end_notice(&mut self) -> Option<AttachEnd> {
        self.notice = None;
        self.times.notice.take()?;
        self.ask(&Request::Repaint).await
    }
}
