//! Processes the agent's output: records it, draws it, and sends it to clients.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{BATCH, HISTORY, Holder, log};
use crate::hold::terminal::{Effects, TerminalNotice, VirtualTerminal};
use crate::hold::wire::WireEvent;

/// Maximum number of bytes that wait to be drawn. A terminal delivers output in small pieces, and
/// most of a flood of output scrolls off before a user could see it. If it is processed in one
/// piece, those lines are never drawn at all.
const MOST_UNDRAWN: usize = BATCH;
const _: () = assert!(MOST_UNDRAWN + BATCH <= HISTORY, "what waits is in the history");

impl Holder {
    /// Takes in new output of the agent. Plain text waits to be drawn if no client is attached.
    pub(super) fn take_in(&mut self, count: usize) {
        if self.terminal.is_some() {
            self.drew();
        }
        let bytes = self.batch.get(..count).unwrap_or_default();
        self.history.push(bytes);
        if let Some(stream) = &mut self.stream {
            stream.keep(bytes);
        }
        let Some(terminal) = &self.terminal else { return };
        self.undrawn += count;
        let can_wait = terminal.is_text(bytes) && self.undrawn <= MOST_UNDRAWN;
        if !can_wait || self.clients.views().next().is_some() {
            self.draw();
        }
    }

    /// Draws the waiting output, and sends its effects to the clients.
    pub(super) fn draw(&mut self) {
        let undrawn = std::mem::take(&mut self.undrawn);
        let Some(terminal) = self.terminal.as_mut().filter(|_| undrawn > 0) else { return };
        let watched = self.clients.views().next().is_some();
        let used = terminal.uses();
        let effects = feed(terminal, self.history.last(undrawn), watched);
        for (view, queue) in self.clients.views() {
            view.follow(queue, terminal, &effects);
        }
        let uses = terminal.uses();
        if uses != used {
            self.clients.tell_attached(&WireEvent::Uses(uses));
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

/// Feeds output to the terminal. A panic in it must not end the agent, so the screen is reset
/// instead.
fn feed(terminal: &mut VirtualTerminal, pieces: [&[u8]; 2], watched: bool) -> Effects {
    let effects = || if watched { Effects::seen() } else { Effects::unseen() };
    let fed = catch_unwind(AssertUnwindSafe(|| {
        let mut effects = effects();
        pieces.iter().for_each(|bytes| terminal.feed(bytes, &mut effects));
        effects
    }));
    fed.unwrap_or_else(|_| {
        log("the terminal failed; its screen begins anew");
        *terminal = VirtualTerminal::new(terminal.size());
        let mut effects = effects();
        terminal.feed(b"\x1bc", &mut effects);
        effects
    })
}
