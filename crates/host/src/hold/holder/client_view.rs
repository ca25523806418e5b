//! The view of one attached client on the agent's terminal.

use super::send_queue::{Enqueued, SendQueue};
use crate::hold::terminal::{Effects, InputFilter, Picture, Size, VirtualTerminal};

/// Makes a terminal report mouse buttons, with decimal numbers. The wheel counts as two buttons.
const REPORT_WHEEL: &[u8] = b"\x1b[?1000h\x1b[?1006h";

/// The view of one attached client.
#[derive(Debug)]
pub(super) struct ClientView {
    /// The size of the client's terminal. `None` if the client only watches. Such a client adapts
    /// to the size of the agent's terminal.
    pub(super) size: Option<Size>,
    pub(super) filter: InputFilter,
    /// The picture on a terminal whose size differs from the agent's. `None` while the client gets
    /// the agent's own output.
    picture: Option<Picture>,
    /// Whether the client wants wheel reports while the agent does not use the mouse.
    wants_wheel: bool,
    /// Whether the client missed output. It is updated after it has received all queued output.
    is_behind: bool,
}

impl ClientView {
    /// Makes the view of a client whose terminal has this size. `None` if the client only watches.
    pub(super) fn new(size: Option<Size>) -> Self {
        let filter = InputFilter::default();
        Self { size, filter, picture: None, wants_wheel: false, is_behind: false }
    }

    /// Shows the effects of a batch of the agent's output.
    pub(super) fn follow(
        &mut self,
        queue: &SendQueue,
        terminal: &VirtualTerminal,
        effects: &Effects,
    ) {
        if self.is_behind {
            return;
        }
        match &mut self.picture {
            None if effects.needs_painting() => self.repaint(queue, terminal),
            None => {
                self.send(queue, effects.shown());
                if effects.has_switched_mouse() && self.wants_wheel {
                    self.set_mouse(queue, terminal);
                }
            }
            // The rows change faster than the client reads them. It is updated when it has caught
            // up.
            Some(_) if !queue.is_idle() => self.is_behind = true,
            Some(picture) => {
                let mut changes = picture.update(terminal);
                if effects.has_rung() {
                    changes.push(0x07);
                }
                let changes = self.with_wheel(terminal, changes);
                self.send(queue, &changes);
            }
        }
    }

    /// Repaints everything, whatever was shown before.
    pub(super) fn repaint(&mut self, queue: &SendQueue, terminal: &VirtualTerminal) {
        self.is_behind = false;
        let painted = if self.size.is_none_or(|size| size == terminal.size()) {
            self.picture = None;
            terminal.paint()
        } else {
            self.picture.insert(Picture::default()).update(terminal)
        };
        let painted = self.with_wheel(terminal, painted);
        self.queued(queue.painted(terminal.size(), &painted));
    }

    /// Switches wheel reports of the client's terminal on or off, for as long as the agent does not
    /// use the mouse.
    pub(super) fn report_wheel(
        &mut self,
        queue: &SendQueue,
        terminal: &VirtualTerminal,
        wheel: bool,
    ) {
        self.wants_wheel = wheel;
        self.set_mouse(queue, terminal);
    }

    fn set_mouse(&mut self, queue: &SendQueue, terminal: &VirtualTerminal) {
        let modes = self.with_wheel(terminal, terminal.mouse_formatted().into_bytes());
        self.send(queue, &modes);
    }

    /// Adds wheel reports to output that sets the agent's mouse modes, if the client wants them and
    /// the agent does not use the mouse.
    fn with_wheel(&self, terminal: &VirtualTerminal, mut painted: Vec<u8>) -> Vec<u8> {
        if !painted.is_empty() && self.wants_wheel && !terminal.uses().mouse {
            painted.extend_from_slice(REPORT_WHEEL);
        }
        painted
    }

    /// Sends the output that the client missed, after it has received all queued output.
    pub(super) fn catch_up(&mut self, queue: &SendQueue, terminal: &VirtualTerminal) {
        if !std::mem::take(&mut self.is_behind) {
            return;
        }
        match &mut self.picture {
            Some(picture) => {
                let changes = picture.update(terminal);
                let changes = self.with_wheel(terminal, changes);
                self.send(queue, &changes);
            }
            None => self.repaint(queue, terminal),
        }
    }

    fn send(&mut self, queue: &SendQueue, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.queued(queue.output(bytes));
        }
    }

    /// Records whether the client misses output.
    fn queued(&mut self, queued: Enqueued) {
        if queued == Enqueued::Overflowed {
            self.is_behind = true;
            // It is unknown now which part of the picture the client has.
            if let Some(picture) = &mut self.picture {
                *picture = Picture::default();
            }
        }
    }
}
