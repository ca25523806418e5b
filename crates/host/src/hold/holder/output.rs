//! What an agent writes: kept, drawn, shown and told of.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{BATCH, HISTORY, Holder, log};
use crate::hold::terminal::{Effects, Notice, Terminal};
use crate::hold::wire::Event;

/// How much text waits to be drawn, at most. A terminal hands it over in small pieces, and most of
/// what floods through one has scrolled off before anybody could see it: in one piece it is never
/// drawn at all.
const MOST_UNDRAWN: usize = BATCH;
const _: () = assert!(MOST_UNDRAWN + BATCH <= HISTORY, "what waits is in the history");

impl Holder {
    /// Takes in what the agent wrote. Text that nobody watches and nothing depends on waits.
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

    /// Draws what waits, and shows and tells everybody what came of it.
    pub(super) fn draw(&mut self) {
        let undrawn = std::mem::take(&mut self.undrawn);
        let Some(terminal) = self.terminal.as_mut().filter(|_| undrawn > 0) else { return };
        let watched = self.clients.views().next().is_some();
        let used = terminal.uses();
        let effects = feed(terminal, self.history.last(undrawn), watched);
        for (view, outbox) in self.clients.views() {
            view.follow(outbox, terminal, &effects);
        }
        let uses = terminal.uses();
        if uses != used {
            self.clients.tell_attached(&Event::Uses(uses));
        }
        self.type_in(effects.replies());
        for notice in effects.notices() {
            self.clients.announce(&match notice {
                Notice::Title(title) => Event::Title(title),
                Notice::Bell => Event::Bell,
            });
        }
    }
}

/// Feeds the terminal; an error in it must not end the agent.
fn feed(terminal: &mut Terminal, pieces: [&[u8]; 2], watched: bool) -> Effects {
    let effects = || if watched { Effects::seen() } else { Effects::unseen() };
    let fed = catch_unwind(AssertUnwindSafe(|| {
        let mut effects = effects();
        pieces.iter().for_each(|bytes| terminal.feed(bytes, &mut effects));
        effects
    }));
    fed.unwrap_or_else(|_| {
        log("the terminal failed; its screen begins anew");
        *terminal = Terminal::new(terminal.size());
        let mut effects = effects();
        terminal.feed(b"\x1bc", &mut effects);
        effects
    })
}
