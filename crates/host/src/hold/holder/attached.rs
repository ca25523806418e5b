//! What one attached person sees of the agent's terminal.

use super::outbox::{Outbox, Queued};
use crate::hold::terminal::{Effects, InputFilter, Picture, Size, Terminal};

/// Has a terminal report buttons, of which the wheel has two, with plain numbers.
const WHEEL: &[u8] = b"\x1b[?1000h\x1b[?1006h";

/// One attached client.
#[derive(Debug)]
pub(super) struct View {
    /// The size of the client's terminal.
    pub(super) size: Size,
    pub(super) filter: InputFilter,
    /// What a terminal of another size than the agent's shows; none while it follows directly.
    picture: Option<Picture>,
    /// Whether its wheel is wanted while the agent wants no mouse.
    wheel: bool,
    /// Whether it missed something and waits until it has what it was sent.
    behind: bool,
}

impl View {
    pub(super) fn new(size: Size) -> Self {
        Self { size, filter: InputFilter::default(), picture: None, wheel: false, behind: false }
    }

    /// Shows what came of a batch of the agent's output.
    pub(super) fn follow(&mut self, outbox: &Outbox, terminal: &Terminal, effects: &Effects) {
        if self.behind {
            return;
        }
        match &mut self.picture {
            None if effects.needs_painting() => self.repaint(outbox, terminal),
            None => {
                self.send(outbox, effects.shown());
                if effects.has_switched_mouse() && self.wheel {
                    self.set_mouse(outbox, terminal);
                }
            }
            // Rows that change faster than they can be shown are shown when there is time.
            Some(_) if !outbox.is_idle() => self.behind = true,
            Some(picture) => {
                let mut changes = picture.update(terminal);
                if effects.rang() {
                    changes.push(0x07);
                }
                self.send_painted(outbox, terminal, changes);
            }
        }
    }

    /// Shows everything, whatever was shown before.
    pub(super) fn repaint(&mut self, outbox: &Outbox, terminal: &Terminal) {
        self.behind = false;
        let painted = if self.size == terminal.size() {
            self.picture = None;
            terminal.paint()
        } else {
            self.picture.insert(Picture::default()).update(terminal)
        };
        self.send_painted(outbox, terminal, painted);
    }

    /// Has the client's terminal report its wheel, or not, while the agent wants no mouse.
    pub(super) fn want_wheel(&mut self, outbox: &Outbox, terminal: &Terminal, wheel: bool) {
        self.wheel = wheel;
        self.set_mouse(outbox, terminal);
    }

    fn set_mouse(&mut self, outbox: &Outbox, terminal: &Terminal) {
        self.send_painted(outbox, terminal, terminal.mouse_formatted().into_bytes());
    }

    /// Sends what sets the mouse as the agent wants it, and adds the client's own wish.
    fn send_painted(&mut self, outbox: &Outbox, terminal: &Terminal, mut painted: Vec<u8>) {
        if !painted.is_empty() && self.wheel && !terminal.uses().mouse {
            painted.extend_from_slice(WHEEL);
        }
        self.send(outbox, &painted);
    }

    /// Shows what was missed, now that the client has all that it was sent.
    pub(super) fn catch_up(&mut self, outbox: &Outbox, terminal: &Terminal) {
        if !std::mem::take(&mut self.behind) {
            return;
        }
        match &mut self.picture {
            Some(picture) => {
                let changes = picture.update(terminal);
                self.send_painted(outbox, terminal, changes);
            }
            None => self.repaint(outbox, terminal),
        }
    }

    fn send(&mut self, outbox: &Outbox, bytes: &[u8]) {
        if !bytes.is_empty() && outbox.output(bytes) == Queued::Overflowed {
            self.behind = true;
            // What it has of the picture is not known any more.
            if let Some(picture) = &mut self.picture {
                *picture = Picture::default();
            }
        }
    }
}
