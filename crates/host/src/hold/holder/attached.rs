//! The view of one attached client on the agent's terminal.

use super::outbox::{Outbox, Queued};
use crate::hold::terminal::{Effects, InputFilter, Picture, Size, Terminal};

/// Makes a terminal report mouse buttons, with decimal numbers. The wheel counts as two buttons.
const WHEEL: &[u8] = b"\x1b[?1000h\x1b[?1006h";

/// The view of one attached client.
#[derive(Debug)]
pub(super) struct View {
    /// The size of the client's terminal.
    pub(super) size: Size,
    pub(super) filter: InputFilter,
    /// What a terminal of another size than the agent's shows. `None` while the client gets the
    /// agent's own output.
    picture: Option<Picture>,
    /// Whether the client wants wheel reports while the agent does not use the mouse.
    wheel: bool,
    /// Whether the client missed output. It gets new output after it has received what was sent.
    behind: bool,
}

impl View {
    pub(super) fn new(size: Size) -> Self {
        Self { size, filter: InputFilter::default(), picture: None, wheel: false, behind: false }
    }

    /// Shows the effects of a batch of the agent's output.
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
            // If rows change faster than the client reads them, they are shown when it has caught
            // up.
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

    /// Repaints everything, whatever was shown before.
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

    /// Switches wheel reports of the client's terminal on or off, for as long as the agent does not
    /// use the mouse.
    pub(super) fn want_wheel(&mut self, outbox: &Outbox, terminal: &Terminal, wheel: bool) {
        self.wheel = wheel;
        self.set_mouse(outbox, terminal);
    }

    fn set_mouse(&mut self, outbox: &Outbox, terminal: &Terminal) {
        self.send_painted(outbox, terminal, terminal.mouse_formatted().into_bytes());
    }

    /// Sends bytes that set the mouse modes as the agent wants them, and adds the wheel reports if
    /// the client wants them.
    fn send_painted(&mut self, outbox: &Outbox, terminal: &Terminal, mut painted: Vec<u8>) {
        if !painted.is_empty() && self.wheel && !terminal.uses().mouse {
            painted.extend_from_slice(WHEEL);
        }
        self.send(outbox, &painted);
    }

    /// Shows what the client missed, after it has received everything that was sent.
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
            // It is unknown now which part of the picture the client has.
            if let Some(picture) = &mut self.picture {
                *picture = Picture::default();
            }
        }
    }
}
