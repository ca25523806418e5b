//! The event loop. It draws only after something has arrived, and waits for nothing else.

mod effects;
mod flights;
mod following;
mod input;
mod terminal;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use segue_core::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::time::{Instant, sleep_until};

use crate::api::{DaemonApi, Surroundings};
use crate::model::UiModel;
use crate::update::{UiEffect, UiMessage, first_effects, update};
use crate::view::{draw, shows_minutes};
use effects::EffectRunner;
use input::UserInput;
use terminal::UiTerminal;

/// Output of an agent is drawn at most once in this time. Keys are drawn at once.
const OUTPUT_FRAME_TIME: Duration = Duration::from_millis(33);
/// Durations are shown in minutes, so they change once a minute.
const MINUTE: Duration = Duration::from_secs(60);
/// At most this many messages are taken in before a frame is drawn.
const MAX_MESSAGES_PER_FRAME: usize = 256;
/// Output of an agent that was not taken in yet. If it is full, the holder sends a new snapshot
/// later instead of more output.
const MAX_WAITING_OUTPUTS: usize = 32;

/// Something that the loop has to know.
#[derive(Debug)]
pub(crate) enum LoopEvent {
    Message(Box<UiMessage>),
    /// A task has ended. The next request of its kind may start.
    Landed(Option<flights::FlightKind>),
}

/// Shows the UI until the user quits it. The list of sessions is read first, so that a failure is
/// reported on the user's own screen. The terminal is restored in any case.
pub async fn run(api: Arc<dyn DaemonApi>, surroundings: Surroundings) -> Result<()> {
    // The stream begins before the list is read, so that no change is missed.
    let events = api.events().await?;
    let sessions = api.sessions().await?;
    let signals = UiSignals::listen()?;
    let terminal = UiTerminal::enter()?;
    let model = UiModel::new(surroundings, terminal::current_size(), api.now());
    let (sender, messages) = unbounded_channel();
    let (output, outputs) = channel(MAX_WAITING_OUTPUTS);
    following::start(Arc::clone(&api), events, sender.clone());
    let runner = EffectRunner::new(Arc::clone(&api), sender.clone(), output);
    let input = UserInput::open();
    let mut ui = UiLoop { api, model, terminal, input, signals, sender, messages, outputs, runner };
    ui.take_in(UiMessage::Sessions(Ok(sessions))).await?;
    for effect in first_effects(&ui.model).into_iter().filter(|it| *it != UiEffect::LoadSessions) {
        ui.runner.start(effect);
    }
    ui.run().await
}

/// The signals that a terminal program must care about.
struct UiSignals {
    terminate: Signal,
    hangup: Signal,
    suspend: Signal,
    resized: Signal,
}

impl UiSignals {
    fn listen() -> Result<Self> {
        let listen = |kind| {
            signal(kind).map_err(|error| Error::internal("cannot receive signals").caused_by(error))
        };
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
            // SIGTSTP has the same number on every architecture of Linux that Rust supports, except
            // for MIPS and SPARC.
            suspend: listen(SignalKind::from_raw(20))?,
            resized: listen(SignalKind::window_change())?,
        })
    }
}

/// What woke the loop.
enum UiWake {
    Input(Option<UiMessage>),
    Event(LoopEvent),
    Output(UiMessage),
    Frame,
    Minute,
    Resized,
    Suspend,
    Leave,
}

struct UiLoop {
    api: Arc<dyn DaemonApi>,
    model: UiModel,
    terminal: UiTerminal,
    input: UserInput,
    signals: UiSignals,
    sender: UnboundedSender<LoopEvent>,
    messages: UnboundedReceiver<LoopEvent>,
    outputs: Receiver<UiMessage>,
    runner: EffectRunner,
}

impl UiLoop {
    async fn run(&mut self) -> Result<()> {
        let mut drawn_at = self.draw()?;
        // When output is drawn that arrived too early after the last frame.
        let mut frame_at = None;
        while !self.model.is_over() {
            let minute = shows_minutes(&self.model).then(|| drawn_at + MINUTE);
            let is_output = match self.wake(frame_at, minute).await {
                UiWake::Input(None) | UiWake::Leave => return Ok(()),
                UiWake::Input(Some(message)) => self.take_in(message).await.map(|()| false)?,
                UiWake::Event(event) => self.noticed(event).await.map(|()| false)?,
                UiWake::Output(message) => self.take_in(message).await.map(|()| true)?,
                UiWake::Frame | UiWake::Minute => false,
                UiWake::Resized => self.resized().await.map(|()| false)?,
                UiWake::Suspend => self.suspend().map(|()| false)?,
            };
            let is_only_output = self.take_in_waiting().await? && is_output;
            terminal::check_panic()?;
            let next = drawn_at + OUTPUT_FRAME_TIME;
            if is_only_output && Instant::now() < next {
                frame_at = Some(next);
            } else {
                drawn_at = self.draw()?;
                frame_at = None;
            }
        }
        Ok(())
    }

    async fn wake(&mut self, frame_at: Option<Instant>, minute: Option<Instant>) -> UiWake {
        let Self { input, signals, messages, outputs, .. } = self;
        tokio::select! {
            typed = input.next() => UiWake::Input(typed),
            Some(event) = messages.recv() => UiWake::Event(event),
            Some(message) = outputs.recv() => UiWake::Output(message),
            () = at(frame_at) => UiWake::Frame,
            () = at(minute) => UiWake::Minute,
            _ = signals.resized.recv() => UiWake::Resized,
            _ = signals.suspend.recv() => UiWake::Suspend,
            _ = signals.terminate.recv() => UiWake::Leave,
            _ = signals.hangup.recv() => UiWake::Leave,
        }
    }

    /// Takes in everything that has arrived, so that many events cause one frame. Returns whether it
    /// was only output of an agent.
    async fn take_in_waiting(&mut self) -> Result<bool> {
        let mut is_only_output = true;
        for _ in 0..MAX_MESSAGES_PER_FRAME {
            if let Ok(event) = self.messages.try_recv() {
                is_only_output = false;
                self.noticed(event).await?;
            } else if let Ok(message) = self.outputs.try_recv() {
                self.take_in(message).await?;
            } else {
                break;
            }
        }
        Ok(is_only_output)
    }

    async fn noticed(&mut self, event: LoopEvent) -> Result<()> {
        match event {
            LoopEvent::Message(message) => self.take_in(*message).await,
            LoopEvent::Landed(kind) => {
                self.runner.landed(kind);
                Ok(())
            }
        }
    }

    async fn take_in(&mut self, message: UiMessage) -> Result<()> {
        let mut messages = vec![UiMessage::Time(self.api.now()), message];
        while !messages.is_empty() {
            let waiting = std::mem::take(&mut messages);
            let model = &mut self.model;
            let effects: Vec<UiEffect> =
                waiting.into_iter().flat_map(|it| update(model, it)).collect();
            for effect in effects {
                match effect {
                    UiEffect::Attach(session) => {
                        let api = Arc::clone(&self.api);
                        let attached = self.outside(async move { api.attach(session).await });
                        messages.push(UiMessage::Attached(attached.await?));
                    }
                    UiEffect::Edit(text) => {
                        let api = Arc::clone(&self.api);
                        let edited = self.outside(async move { api.edit(text).await });
                        messages.push(UiMessage::Edited(edited.await?));
                    }
                    UiEffect::Suspend => self.suspend()?,
                    UiEffect::Redraw => self.terminal.clear()?,
                    effect => self.runner.start(effect),
                }
            }
        }
        Ok(())
    }

    /// Leaves the terminal to something else until that has ended. The model follows the daemon
    /// meanwhile.
    async fn outside<T>(&mut self, work: impl Future<Output = Result<T>>) -> Result<Result<T>> {
        self.runner.stop_watching();
        self.input.close().await;
        terminal::leave();
        let mut work = std::pin::pin!(work);
        let result = loop {
            tokio::select! {
                result = &mut work => break result,
                Some(event) = self.messages.recv() => match event {
                    LoopEvent::Landed(kind) => self.runner.landed(kind),
                    LoopEvent::Message(message) => {
                        for effect in update(&mut self.model, *message) {
                            self.runner.start_if_quiet(effect);
                        }
                    }
                },
                Some(_) = self.outputs.recv() => {}
            }
        };
        self.terminal.enter_again()?;
        self.input = UserInput::open();
        // The size may have changed while something else had the terminal.
        let resized = LoopEvent::Message(Box::new(UiMessage::Resized(terminal::current_size())));
        let _is_received_here = self.sender.send(resized);
        Ok(result)
    }

    /// Draws everything again, also if the size is the same: a terminal that was smaller meanwhile has
    /// lost a part of its content.
    async fn resized(&mut self) -> Result<()> {
        self.terminal.clear()?;
        self.take_in(UiMessage::Resized(terminal::current_size())).await
    }

    /// Stops this process as Ctrl-Z does, and goes on when it is continued.
    fn suspend(&mut self) -> Result<()> {
        terminal::leave();
        let suspended = self.api.suspend();
        self.terminal.enter_again()?;
        let resized = LoopEvent::Message(Box::new(UiMessage::Resized(terminal::current_size())));
        let _is_received_here = self.sender.send(resized);
        suspended
    }

    fn draw(&mut self) -> Result<Instant> {
        let Self { terminal, model, .. } = self;
        terminal.draw(|frame| draw(frame, model))?;
        Ok(Instant::now())
    }
}

/// Waits until a time. Without a time, it waits forever.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}
