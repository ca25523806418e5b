//! Handles the requests of clients.

use std::time::Duration;

use rustix::process::Signal;
use segue_core::model::Environment;
use segue_core::{Error, Result, failpoint, rules};

use super::Holder;
use super::agent_state::AgentState;
use super::clients::ClientAccess;
use super::connection::{ClientId, ClientMessage};
use crate::hold::terminal::{ScrollbackText, VirtualTerminal};
use crate::hold::wire::{
    Frame, Hello, Received, ScreenNow, ScrollbackFacts, WireAnswer, WireEvent, WireRequest,
    WireStatus, encode, encode_message, kind,
};

/// At most this many bytes of scrollback are sent in answer to one request. A screen full of
/// colours is larger than its text.
const MAX_SCROLLBACK_BYTES: usize = 4 << 20;
/// Scrollback is sent in pieces of this size, well below the largest frame.
const SCROLLBACK_PIECE_BYTES: usize = 256 << 10;

impl Holder {
    /// Handles a message of a connection's tasks.
    pub(super) fn handle_message(&mut self, message: ClientMessage) {
        // Every request refers to the current screen, so draw the waiting output first.
        self.draw();
        match message {
            ClientMessage::Received(id, Received::Frame(frame)) => self.frame(id, &frame),
            ClientMessage::Received(id, Received::TooLarge(frame)) => self.too_large(id, frame),
            ClientMessage::Pause(id) => {
                let typed = self.view(id).map(|view| view.filter.after_pause());
                let typed = typed.unwrap_or_default();
                self.type_for_person(&typed, !typed.is_empty());
            }
            ClientMessage::LongPause(id) => {
                if let Some(view) = self.view(id) {
                    view.filter.after_long_pause();
                }
            }
            ClientMessage::CaughtUp(id) => self.catch_up(id),
            ClientMessage::Gone(id) => self.hang_up(id),
        }
    }

    fn catch_up(&mut self, id: ClientId) {
        if let Some(terminal) = &self.terminal
            && let Some((view, queue)) = self.clients.get(id).and_then(|client| client.attached())
        {
            view.catch_up(queue, terminal);
        }
    }

    fn too_large(&mut self, id: ClientId, frame: u8) {
        if matches!(frame, kind::REQUEST | kind::INJECT) {
            let error = Error::usage("the message to the holder is too large");
            self.clients.answer(id, &WireAnswer::Failed(error));
        }
    }

    fn frame(&mut self, id: ClientId, frame: &Frame) {
        let Some(client) = self.clients.get(id) else { return };
        if !client.is_greeted {
            return self.greet(id, frame);
        }
        if client.access == ClientAccess::OnlyAsk {
            return self.frame_of_agent(id, frame);
        }
        match frame.kind {
            kind::REQUEST => self.request(id, &frame.payload),
            kind::INPUT if client.only_watches() => {
                let refused = WireEvent::Refused(only_watches());
                self.clients.send(id, &encode_message(kind::EVENT, &refused));
            }
            kind::INPUT => self.typed(id, &frame.payload),
            kind::INJECT => {
                let refused = client.only_watches().then(only_watches);
                let injected = refused.map_or_else(|| self.inject(&frame.payload), Err);
                let answer = answer_of(injected);
                self.clients.answer(id, &answer);
            }
            // An unknown kind of frame, from a newer client that does not depend on an answer.
            _ => {}
        }
    }

    fn greet(&mut self, id: ClientId, frame: &Frame) {
        self.clients.send(id, &encode_message(kind::HELLO, &Hello::own()));
        let hello = Some(frame).filter(|frame| frame.kind == kind::HELLO);
        let hello = hello.and_then(|frame| serde_json::from_slice::<Hello>(&frame.payload).ok());
        let unknown = || Error::usage("the first message to a holder must be a hello");
        match hello.ok_or_else(unknown).and_then(|hello| hello.agree()) {
            Ok(_) => {
                if let Some(client) = self.clients.get(id) {
                    client.is_greeted = true;
                }
            }
            Err(error) => {
                self.clients.answer(id, &WireAnswer::Failed(error));
                self.clients.hang_up(id);
            }
        }
    }

    fn request(&mut self, id: ClientId, payload: &[u8]) {
        let request: WireRequest = match serde_json::from_slice(payload) {
            Ok(request) => request,
            Err(error) => {
                let error = Error::usage("this holder does not support the request")
                    .caused_by(error)
                    .hint("run `segue stop`, then `segue resume`, to get a newer holder");
                return self.clients.answer(id, &WireAnswer::Failed(error));
            }
        };
        let is_viewer = self.clients.get(id).is_some_and(|client| client.only_watches());
        if is_viewer && !request.is_for_viewers() {
            return self.clients.answer(id, &WireAnswer::Failed(only_watches()));
        }
        let answer = match request {
            WireRequest::Attach(size) => return self.attach(id, Some(size.clamped())),
            WireRequest::View => return self.attach(id, None),
            WireRequest::Resize(size) => answer_of(self.resize(id, size)),
            WireRequest::Repaint => answer_of(self.repaint(id)),
            WireRequest::Detach => {
                self.detach(id);
                WireAnswer::Done
            }
            WireRequest::Interrupt { bytes } => answer_of(self.interrupt(bytes)),
            WireRequest::Subscribe => return self.subscribe(id),
            WireRequest::Snapshot => self.snapshot(),
            WireRequest::History => self.history(id),
            WireRequest::Status => WireAnswer::Status(Box::new(self.status())),
            WireRequest::Environment => WireAnswer::Environment(self.environment_now()),
            WireRequest::Release => answer_of(self.release()),
            WireRequest::Stop { grace_ms } => return self.stop_for(id, grace_ms),
            WireRequest::Screen => WireAnswer::Screen(self.screen().map(Box::new)),
            WireRequest::Type { message, text, revision } => self
                .type_message(message, &text, revision)
                .map_or_else(WireAnswer::Failed, WireAnswer::Typed),
            WireRequest::Scrollback => self.scrollback(id),
            WireRequest::Wheel(wheel) => answer_of(self.report_wheel(id, wheel)),
            WireRequest::Reply { question, text } => {
                WireAnswer::Replied(self.reply_to(&question, text))
            }
            WireRequest::Ask { .. } => WireAnswer::Failed(only_agents_ask()),
            WireRequest::Press { keys, revision } => {
                self.press(&keys, revision).map_or_else(WireAnswer::Failed, WireAnswer::Pressed)
            }
        };
        self.clients.answer(id, &answer);
    }

    fn typed(&mut self, id: ClientId, bytes: &[u8]) {
        let requested =
            self.terminal.as_ref().map(VirtualTerminal::requested_reports).unwrap_or_default();
        let Some(view) = self.view(id) else { return };
        let typed = view.filter.filter(bytes, requested);
        let has_keys = view.filter.take_has_keys();
        self.suspended.typed(&typed, tokio::time::Instant::now());
        self.type_for_person(&typed, has_keys);
    }

    fn interrupt(&mut self, bytes: Option<Vec<u8>>) -> Result<()> {
        self.check_running()?;
        if self.terminal.is_none() {
            self.signal_agent(Signal::INT);
            return Ok(());
        }
        self.inject(&bytes.unwrap_or_else(|| vec![0x03]))
    }

    pub(super) fn check_running(&self) -> Result<()> {
        match self.agent_state {
            AgentState::Running { .. } => Ok(()),
            AgentState::Sweeping { .. } | AgentState::Ended { .. } => {
                Err(Error::conflict("the agent has ended").hint("run `segue resume`"))
            }
        }
    }

    fn subscribe(&mut self, id: ClientId) {
        self.clients.answer(id, &WireAnswer::Done);
        if let Some(client) = self.clients.get(id) {
            client.is_subscribed = true;
        }
        let title = self.terminal.as_ref().map_or("", VirtualTerminal::title).to_owned();
        let title = (!title.is_empty()).then_some(WireEvent::Title(title));
        let end = self.agent_state.end().map(WireEvent::Ended);
        for event in title.into_iter().chain(self.questions_event()).chain(end) {
            self.clients.send(id, &encode_message(kind::EVENT, &event));
        }
    }

    fn snapshot(&self) -> WireAnswer {
        match &self.terminal {
            Some(terminal) => WireAnswer::Snapshot(Box::new(terminal.snapshot())),
            None => WireAnswer::Failed(headless()),
        }
    }

    fn screen(&self) -> Option<ScreenNow> {
        self.terminal.as_ref().map(|terminal| terminal.screen_now(self.changes.revision()))
    }

    fn history(&mut self, id: ClientId) -> WireAnswer {
        let mut frame = Vec::new();
        encode(kind::HISTORY, &self.history.to_vec(), &mut frame);
        self.clients.send(id, &frame);
        WireAnswer::Done
    }

    /// Returns the environment of the agent, with the current size of its terminal.
    fn environment_now(&self) -> Environment {
        let mut environment = self.environment.clone();
        if let Some(terminal) = &self.terminal {
            rules::terminal::set_size(&mut environment, terminal.size());
        }
        environment
    }

    fn scrollback(&mut self, id: ClientId) -> WireAnswer {
        let Some(terminal) = &mut self.terminal else { return WireAnswer::Failed(headless()) };
        let ScrollbackText { text, has_forgotten } = terminal.scrollback();
        let alternate = terminal.uses().alternate;
        let sent = newest_lines(&text, MAX_SCROLLBACK_BYTES);
        let mut frames = Vec::new();
        let pieces = sent.as_bytes().chunks(SCROLLBACK_PIECE_BYTES);
        pieces.for_each(|piece| encode(kind::SCROLLBACK, piece, &mut frames));
        self.clients.send(id, &frames);
        let has_forgotten = has_forgotten || sent.len() < text.len();
        WireAnswer::Scrollback(ScrollbackFacts { has_forgotten, alternate })
    }

    fn status(&self) -> WireStatus {
        let end = self.agent_state.end();
        WireStatus {
            launch: self.launch,
            session: self.session,
            holder: self.live.holder.clone(),
            agent: end.is_none().then(|| self.live.agent.clone()),
            end,
            attached: self.clients.counts().controllers,
            size: self.terminal.as_ref().map(VirtualTerminal::size),
        }
    }

    /// Lets the holder exit, if its agent has ended.
    fn release(&mut self) -> Result<()> {
        let AgentState::Ended { holder_exits, .. } = &mut self.agent_state else {
            return Err(Error::conflict("the agent still runs").hint("run `segue stop`"));
        };
        failpoint::hit("hold.release.before");
        *holder_exits = true;
        super::end::remove_socket(&self.folder);
        failpoint::hit("hold.release.after");
        Ok(())
    }

    fn stop_for(&mut self, id: ClientId, grace_ms: u64) {
        match self.agent_state.end() {
            Some(end) => {
                // The agent has ended, so `release` cannot fail.
                let _ended = self.release();
                self.clients.answer(id, &WireAnswer::Ended(end));
            }
            None => {
                self.clients.awaits_stop(id);
                self.stop(true, Duration::from_millis(grace_ms));
            }
        }
    }
}

/// Returns the newest complete lines, at most `limit` bytes.
fn newest_lines(text: &str, limit: usize) -> &str {
    let from = text.len().saturating_sub(limit);
    if from == 0 {
        return text;
    }
    let line = text.as_bytes().get(from..).and_then(|it| it.iter().position(|byte| *byte == b'\n'));
    line.and_then(|at| text.get(from + at + 1..)).unwrap_or_default()
}

fn answer_of(result: Result<()>) -> WireAnswer {
    result.map_or_else(WireAnswer::Failed, |()| WireAnswer::Done)
}

pub(super) fn headless() -> Error {
    Error::conflict("the agent runs without a terminal")
        .hint("run `segue show` to read its conversation")
}

fn only_agents_ask() -> Error {
    Error::usage("only a process of a headless agent can ask a person through its holder")
}

fn only_watches() -> Error {
    Error::conflict("this client only watches the terminal")
        .hint("run `segue attach` to control the agent")
}
