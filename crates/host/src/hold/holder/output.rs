//! Processes the agent's output: records it, draws it, and sends it to clients.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{BATCH_BYTES, HISTORY_BYTES, Holder, log};
use crate::hold::terminal::{Effects, TerminalNotice, VirtualTerminal};
use crate::hold::wire::WireEvent;

/// At most this many bytes of plain text wait to be drawn. The agent's output arrives in small
/// pieces. Most lines of a large output scroll off the screen at once. If many pieces are drawn
/// together, these lines are skipped, which costs less.
const MAX_UNDRAWN_BYTES: usize = BATCH_BYTES;
const _: () = assert!(
    MAX_UNDRAWN_BYTES + BATCH_BYTES <= HISTORY_BYTES,
    "output that waits to be drawn must be in the history"
);

impl Holder {
    /// Records new output of the agent, and draws it. Plain text waits to be drawn if no client is
    /// attached.
    pub(super) fn process_output(&mut self, count: usize) {
        if self.terminal.is_some() {
            self.drew();
        }
        let bytes = self.batch.get(..count).unwrap_or_default();
        self.history.push(bytes);
        if let Some(stream) = &mut self.stream {
            stream.record_output(bytes);
        }
        let Some(terminal) = &self.terminal else { return };
        self.undrawn += count;
        let can_wait = terminal.is_text(bytes) && self.undrawn <= MAX_UNDRAWN_BYTES;
        if !can_wait || self.clients.views().next().is_some() {
            self.draw();
        }
    }

    /// Draws the waiting output, and sends its effects to the clients.
    pub(super) fn draw(&mut self) {
        let undrawn = std::mem::take(&mut self.undrawn);
        let Some(terminal) = self.terminal.as_mut().filter(|_| undrawn > 0) else { return };
        let is_watched = self.clients.views().next().is_some();
        let used = terminal.uses();
        let effects = feed(terminal, self.history.last(undrawn), is_watched);
        for (view, queue) in self.clients.views() {
            view.follow(queue, terminal, &effects);
        }
        let uses = terminal.uses();
        if uses != used {
            self.clients.send_to_attached(&WireEvent::Uses(uses));
        }
        self.type_in(effects.replies());
        for notice in effects.notices() {
            self.clients.announce(&match notice {
                TerminalNotice::Title(title) => WireEvent::Title(title),
                TerminalNotice::Bell => WireEvent::Bell,
            });
        }
    }
}

/// Feeds output to the terminal. If the terminal panics, its screen is reset, so that the holder
/// and its agent survive.
fn feed(terminal: &mut VirtualTerminal, pieces: [&[u8]; 2], is_watched: bool) -> Effects {
    let effects = || if is_watched { Effects::seen() } else { Effects::unseen() };
    let fed = catch_unwind(AssertUnwindSafe(|| {
        let mut effects = effects();
        pieces.iter().for_each(|bytes| terminal.feed(bytes, &mut effects));
        effects
    }));
    fed.unwrap_or_else(|_| {
        log("the terminal panicked; its screen is reset");
        *terminal = VirtualTerminal::new(terminal.size());
        let mut effects = effects();
        terminal.feed(b"\x1bc", &mut effects);
        effects
    })
}
