//! Agents' terminals in memory. A test draws on them, and looks at what clients typed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use segue_core::model::{LaunchEnd, LaunchId, TerminalSize};
use segue_core::ports::{
    ScrollbackPage, ScrollbackRange, TerminalAccess, TerminalClients, TerminalEvent,
    TerminalSnapshot, TerminalStream, TerminalUses, Terminals,
};
use segue_core::{Error, Result};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::Calls;

/// The terminals of a world. Clones share them.
#[derive(Clone, Debug)]
pub struct FakeTerminals {
    calls: Calls,
    terminals: Arc<Mutex<BTreeMap<LaunchId, FakeTerminal>>>,
}

impl FakeTerminals {
    pub(crate) fn new(calls: Calls) -> Self {
        Self { calls, terminals: Arc::default() }
    }

    /// Gives a launch a terminal, which its holder owns.
    pub fn add(&self, launch: LaunchId) -> FakeTerminal {
        let terminal = FakeTerminal::default();
        self.terminals.lock().unwrap().insert(launch, terminal.clone());
        terminal
    }
}

#[async_trait]
impl Terminals for FakeTerminals {
    async fn open(
        &self,
        launch: LaunchId,
        access: TerminalAccess,
    ) -> Result<Box<dyn TerminalStream>> {
        self.calls.enter("terminals.open")?;
        let terminal = self.terminals.lock().unwrap().get(&launch).cloned();
        let terminal = terminal.filter(|it| !it.state().is_gone);
        let terminal = terminal.ok_or_else(|| Error::not_found("the agent has no terminal"))?;
        let (sender, events) = unbounded_channel();
        let number = terminal.state().open(access, sender);
        Ok(Box::new(FakeTerminalStream { terminal, number, access, events }))
    }
}

/// The terminal of one launch. Clones are the same terminal.
#[derive(Clone, Debug, Default)]
pub struct FakeTerminal(Arc<Mutex<FakeTerminalState>>);

impl FakeTerminal {
    /// Makes the agent write to its terminal.
    pub fn write(&self, output: &str) {
        let mut state = self.state();
        state.painted.extend_from_slice(output.as_bytes());
        state.send(&TerminalEvent::Output(output.as_bytes().to_vec()));
    }

    /// Makes the agent use these features of its terminal.
    pub fn set_uses(&self, uses: TerminalUses) {
        let mut state = self.state();
        state.uses = uses;
        state.send(&TerminalEvent::Uses(uses));
    }

    /// Adds a line to the scrollback.
    pub fn add_line(&self, line: &str) {
        self.state().lines.push(line.to_owned());
    }

    /// Ends the agent. Its holder reports the end and goes away.
    pub fn end(&self, end: LaunchEnd) {
        self.state().send(&TerminalEvent::Ended(end));
        self.kill();
    }

    /// Kills the holder. Nothing is reported.
    pub fn kill(&self) {
        let mut state = self.state();
        state.is_gone = true;
        state.streams.clear();
    }

    /// Returns everything that clients typed, in order.
    pub fn typed(&self) -> Vec<u8> {
        self.state().typed.clone()
    }

    pub fn size(&self) -> TerminalSize {
        self.state().size
    }

    /// Returns how many streams make their client's terminal report its mouse wheel.
    pub fn wheels(&self) -> usize {
        self.state().streams.values().filter(|it| it.reports_wheel).count()
    }

    fn state(&self) -> MutexGuard<'_, FakeTerminalState> {
        self.0.lock().unwrap()
    }
}

#[derive(Debug)]
struct FakeTerminalState {
    size: TerminalSize,
    /// All output so far.
    painted: Vec<u8>,
    lines: Vec<String>,
    uses: TerminalUses,
    typed: Vec<u8>,
    streams: BTreeMap<u64, FakeOpenStream>,
    last_number: u64,
    is_gone: bool,
}

impl Default for FakeTerminalState {
    fn default() -> Self {
        Self {
            size: TerminalSize::DEFAULT,
            painted: Vec::new(),
            lines: Vec::new(),
            uses: TerminalUses::default(),
            typed: Vec::new(),
            streams: BTreeMap::new(),
            last_number: 0,
            is_gone: false,
        }
    }
}

/// The holder's end of a stream.
#[derive(Debug)]
struct FakeOpenStream {
    /// The size of a controller's own terminal. `None` for a viewer.
    size: Option<TerminalSize>,
    events: UnboundedSender<TerminalEvent>,
    /// The lines at the last request for the newest ones.
    copied: Vec<String>,
    reports_wheel: bool,
}

impl FakeTerminalState {
    fn open(&mut self, access: TerminalAccess, events: UnboundedSender<TerminalEvent>) -> u64 {
        let size = match access {
            TerminalAccess::View => None,
            TerminalAccess::Control { size } => Some(size),
        };
        self.last_number += 1;
        let first = events.clone();
        let stream = FakeOpenStream { size, events, copied: Vec::new(), reports_wheel: false };
        self.fit_size_with(size);
        // The receiver is in the stream that is being opened.
        let _sent = first.send(self.snapshot());
        let _sent = first.send(TerminalEvent::Uses(self.uses));
        self.streams.insert(self.last_number, stream);
        self.send(&TerminalEvent::Clients(self.clients()));
        self.last_number
    }

    fn close(&mut self, number: u64) {
        if self.streams.remove(&number).is_some() {
            self.fit_size_with(None);
            self.send(&TerminalEvent::Clients(self.clients()));
        }
    }

    /// Sets the smallest number of rows and of columns of all controllers, and of one more.
    fn fit_size_with(&mut self, another: Option<TerminalSize>) {
        let sizes = || self.streams.values().filter_map(|it| it.size).chain(another);
        let smallest = |of: fn(TerminalSize) -> u16| sizes().map(of).min();
        let (Some(rows), Some(cols)) = (smallest(|it| it.rows), smallest(|it| it.cols)) else {
            return;
        };
        let size = TerminalSize { rows, cols };
        if size != self.size {
            self.size = size;
            self.send(&self.snapshot());
        }
    }

    fn snapshot(&self) -> TerminalEvent {
        let painted = self.painted.clone();
        TerminalEvent::Snapshot(TerminalSnapshot { size: self.size, painted })
    }

    fn clients(&self) -> TerminalClients {
        let controllers = self.streams.values().filter(|it| it.size.is_some()).count();
        TerminalClients { controllers, viewers: self.streams.len() - controllers }
    }

    fn send(&self, event: &TerminalEvent) {
        for stream in self.streams.values() {
            // A stream that is being dropped reads no more.
            let _sent = stream.events.send(event.clone());
        }
    }

    /// Answers a request of a stream. The request of a stream whose holder is gone succeeds.
    fn answer(&mut self, number: u64, event: impl FnOnce(&mut FakeOpenStream) -> TerminalEvent) {
        if let Some(stream) = self.streams.get_mut(&number) {
            let event = event(stream);
            let _sent = stream.events.send(event);
        }
    }
}

impl FakeOpenStream {
    fn page(&mut self, lines: &[String], range: ScrollbackRange) -> ScrollbackPage {
        let (end, count) = match range {
            ScrollbackRange::Newest { count } => {
                self.copied = lines.to_vec();
                (self.copied.len(), count)
            }
            ScrollbackRange::Before { line, count } => (line.min(self.copied.len()), count),
        };
        let first = end.saturating_sub(count);
        let (lines, total) = (self.copied[first..end].to_vec(), self.copied.len());
        ScrollbackPage { first, lines, total, has_forgotten: false, alternate: false }
    }
}

/// The client's end of a stream.
#[derive(Debug)]
struct FakeTerminalStream {
    terminal: FakeTerminal,
    number: u64,
    access: TerminalAccess,
    events: UnboundedReceiver<TerminalEvent>,
}

impl FakeTerminalStream {
    fn check_control(&self) -> Result<()> {
        match self.access {
            TerminalAccess::Control { .. } => Ok(()),
            TerminalAccess::View => Err(Error::conflict("this stream only watches the terminal")),
        }
    }
}

impl Drop for FakeTerminalStream {
    fn drop(&mut self) {
        self.terminal.state().close(self.number);
    }
}

#[async_trait]
impl TerminalStream for FakeTerminalStream {
    async fn next(&mut self) -> Option<TerminalEvent> {
        self.events.recv().await
    }

    async fn input(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_control()?;
        let mut state = self.terminal.state();
        if !state.is_gone {
            state.typed.extend_from_slice(bytes);
        }
        Ok(())
    }

    async fn resize(&mut self, size: TerminalSize) -> Result<()> {
        self.check_control()?;
        let mut state = self.terminal.state();
        if let Some(stream) = state.streams.get_mut(&self.number) {
            stream.size = Some(size);
        }
        state.fit_size_with(None);
        Ok(())
    }

    async fn repaint(&mut self) -> Result<()> {
        let mut state = self.terminal.state();
        let snapshot = state.snapshot();
        state.answer(self.number, |_| snapshot);
        Ok(())
    }

    async fn scrollback(&mut self, range: ScrollbackRange) -> Result<()> {
        let mut state = self.terminal.state();
        let lines = state.lines.clone();
        state.answer(self.number, |it| TerminalEvent::Scrollback(it.page(&lines, range)));
        Ok(())
    }

    async fn report_wheel(&mut self, is_on: bool) -> Result<()> {
        if let Some(stream) = self.terminal.state().streams.get_mut(&self.number) {
            stream.reports_wheel = is_on;
        }
        Ok(())
    }

    async fn close(&mut self) {
        self.terminal.state().close(self.number);
    }
}

#[cfg(test)]
mod tests;
