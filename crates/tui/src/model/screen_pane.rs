//! The live screen of an agent, at the agent's own size.

use std::fmt;
use std::num::NonZeroU16;

use segue_core::model::TerminalSize;
use segue_core::ports::{TerminalClients, TerminalEvent};

/// The agent's screen. It is cropped when it is drawn, and never resized.
#[derive(Default)]
pub(crate) struct ScreenPane {
    parser: Option<vt100::Parser>,
    pub(crate) clients: TerminalClients,
    /// Why there is no screen, or why it does not change any more.
    pub(crate) ended: Option<String>,
}

impl fmt::Debug for ScreenPane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScreenPane").field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl ScreenPane {
    /// Returns the screen. `None` until the first snapshot has arrived.
    pub(crate) fn screen(&self) -> Option<&vt100::Screen> {
        self.parser.as_ref().map(vt100::Parser::screen)
    }

    pub(crate) fn received(&mut self, event: TerminalEvent) {
        match event {
            TerminalEvent::Snapshot(snapshot) => {
                let mut parser = parser(snapshot.size);
                parser.process(&snapshot.painted);
                self.parser = Some(parser);
                self.ended = None;
            }
            TerminalEvent::Output(bytes) => {
                if let Some(parser) = &mut self.parser {
                    parser.process(&bytes);
                }
            }
            TerminalEvent::Clients(clients) => self.clients = clients,
            TerminalEvent::Ended(end) => {
                self.ended = Some(format!("the agent ended: {}", end.exit));
            }
            TerminalEvent::Refused(error) => self.ended = Some(error.in_one_line()),
            TerminalEvent::Uses(_) | TerminalEvent::Scrollback(_) => {}
        }
    }
}

fn parser(size: TerminalSize) -> vt100::Parser {
    let count = |count| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
    let TerminalSize { rows, cols } = size.clamped();
    vt100::Parser::new(count(rows), count(cols), 0)
}
