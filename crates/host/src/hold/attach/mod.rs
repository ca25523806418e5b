//! Giving a person's terminal to an agent until they detach.

mod guard;
mod keys;
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
use super::wire::{Answer, Event, Request, encode, encode_message, kind};

use guard::Guard;
use keys::Keys;
use user::OpenTerminal;
pub use user::UserTerminal;

/// Longer than a terminal takes between the bytes of one key, shorter than a person notices.
const PAUSE: Duration = Duration::from_millis(30);
/// How long the hint is shown.
const HINT: Duration = Duration::from_secs(2);
/// The holder waits with more output than this.
const MOST_OUTGOING: usize = 256 << 10;

/// Why a person's terminal is their own again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachEnd {
    /// They detached, or their terminal went; the agent goes on.
    Detached,
    AgentEnded(LaunchEnd),
    /// The holder ended without a word.
    HolderGone,
}

/// Shows an agent on a terminal and types into it, until the user detaches or the agent ends.
/// However it ends, the terminal is left as it was.
pub async fn attach(socket: &Path, terminal: UserTerminal) -> Result<AttachEnd> {
    let nobody = || {
        Error::not_found("the agent has no terminal to attach to: nobody holds it")
            .hint("run `segue resume` to bring it back")
    };
    let terminal = terminal.open()?;
    let folder = socket.parent().unwrap_or(socket);
    let mut line = reach(folder).await?.ok_or_else(nobody)?;
    // Before the size is told: a change after that must not be missed.
    let signals = Signals::listen()?;
    failpoint::hit("attach.ask.before");
    let first = tokio::time::timeout(PATIENCE, ask(&mut line, &terminal)).await;
    let outgoing = first.map_err(|_| silent())??;
    failpoint::hit("attach.ask.after");
    let (input, output) = terminal.descriptors()?;
    let guard = Guard::enter(input, output)?;
    let hint = Some(Instant::now() + HINT);
    let keys = Keys::default();
    let mut attached = Attached { line, terminal, signals, keys, outgoing, pause: None, hint };
    attached.show_hint();
    let end = attached.run().await;
    drop(guard);
    Ok(end)
}

/// Asks to be attached; returns what is to be shown first.
async fn ask(line: &mut Line, terminal: &OpenTerminal) -> Result<VecDeque<u8>> {
    let gone = || Error::unavailable("the process that holds the agent is gone");
    let request = Request::Attach(terminal.size());
    // Why a holder has closed the line can still be read.
    let _sent = line.send(&encode_message(kind::REQUEST, &request)).await;
    let mut outgoing = VecDeque::new();
    loop {
        match line.next().await.ok_or_else(gone)? {
            Said::Output(bytes) => outgoing.extend(bytes),
            Said::Answer(Answer::Failed(error)) => return Err(error),
            Said::Answer(_) => return Ok(outgoing),
            Said::Event(_) | Said::History(_) => {}
        }
    }
}

/// Waits until then; for ever without a time.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// The signals that concern a terminal.
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
    /// What the terminal has yet to take.
    outgoing: VecDeque<u8>,
    /// When half a key is not waited for any longer.
    pause: Option<Instant>,
    /// When the hint is to go.
    hint: Option<Instant>,
}

/// What woke the client.
enum Wake {
    /// Something was typed; none if the terminal is gone.
    Typed(Option<Vec<u8>>),
    Written(std::io::Result<()>),
    Said(Option<Said>),
    Resized,
    Leave,
    Pause,
    HintOver,
}

impl Attached {
    async fn run(&mut self) -> AttachEnd {
        loop {
            let ended = match self.wake().await {
                Wake::Typed(Some(bytes)) => self.typed(&bytes).await,
                Wake::Written(Ok(())) => None,
                Wake::Said(said) => self.said(said),
                Wake::Resized => {
                    let size = self.terminal.size();
                    self.ask(&Request::Resize(size)).await
                }
                Wake::Typed(None) | Wake::Written(Err(_)) | Wake::Leave => {
                    Some(AttachEnd::Detached)
                }
                Wake::Pause => {
                    self.pause = None;
                    let passed = self.keys.after_pause();
                    self.pass(&passed).await
                }
                Wake::HintOver => self.hide_hint().await,
            };
            if let Some(end) = ended {
                return end;
            }
        }
    }

    async fn wake(&mut self) -> Wake {
        let Self { line, terminal, signals, outgoing, pause, hint, .. } = self;
        let (is_idle, has_room) = (outgoing.is_empty(), outgoing.len() < MOST_OUTGOING);
        tokio::select! {
            typed = terminal.read() => Wake::Typed(typed),
            said = line.next(), if has_room => Wake::Said(said),
            written = terminal.write(outgoing), if !is_idle => Wake::Written(written),
            _ = signals.resized.recv() => Wake::Resized,
            _ = signals.terminate.recv() => Wake::Leave,
            _ = signals.hangup.recv() => Wake::Leave,
            () = at(*pause) => Wake::Pause,
            () = at(*hint) => Wake::HintOver,
        }
    }

    async fn typed(&mut self, bytes: &[u8]) -> Option<AttachEnd> {
        let typed = self.keys.take(bytes);
        self.pause = self.keys.is_waiting().then(|| Instant::now() + PAUSE);
        if let Some(end) = self.pass(&typed.passed).await {
            return Some(end);
        }
        if !typed.detach {
            // Whoever types has read the hint.
            return self.hide_hint().await;
        }
        failpoint::hit("attach.detach.before");
        // The holder notices the end of the line, too.
        let _told = self.ask(&Request::Detach).await;
        failpoint::hit("attach.detach.after");
        Some(AttachEnd::Detached)
    }

    async fn pass(&mut self, bytes: &[u8]) -> Option<AttachEnd> {
        /// Well below the largest frame.
        const PIECE: usize = 64 << 10;
        let mut frames = Vec::new();
        bytes.chunks(PIECE).for_each(|piece| encode(kind::INPUT, piece, &mut frames));
        self.send(&frames).await
    }

    async fn ask(&mut self, request: &Request) -> Option<AttachEnd> {
        self.send(&encode_message(kind::REQUEST, request)).await
    }

    /// Sends; a line that is broken is read to its end, which may say how the agent ended.
    async fn send(&mut self, frame: &[u8]) -> Option<AttachEnd> {
        if self.line.send(frame).await.is_ok() {
            return None;
        }
        loop {
            let said = self.line.next().await;
            if let Some(end) = self.said(said) {
                return Some(end);
            }
        }
    }

    fn said(&mut self, said: Option<Said>) -> Option<AttachEnd> {
        match said {
            Some(Said::Output(bytes)) => self.outgoing.extend(bytes),
            Some(Said::Event(Event::Ended(end))) => return Some(AttachEnd::AgentEnded(end)),
            Some(_) => {}
            None => return Some(AttachEnd::HolderGone),
        }
        None
    }

    /// Shows on the last row how to detach. What is under it is painted again afterwards.
    fn show_hint(&mut self) {
        let row = self.terminal.size().rows;
        let hint = format!("\x1b7\x1b[?6l\x1b[{row};1H\x1b[0;7m detach with Ctrl-\\ d \x1b[m\x1b8");
        self.outgoing.extend(hint.bytes());
    }

    async fn hide_hint(&mut self) -> Option<AttachEnd> {
        self.hint.take()?;
        self.ask(&Request::Repaint).await
    }
}
