//! The screens of this program that cover the agent's screen: scroll mode and the list of keys.
//!
//! While one of them is shown, the agent's output is discarded. Afterwards the holder repaints the
//! agent's screen.

use std::time::Duration;

use segue_core::ports::ScrollbackPage;

use crate::hold::terminal::Size;

use super::help;
use super::keys::ScrollEntry;
use super::scroll::{KeyDecoder, Reaction, ScrollKey, ScrollMode};

/// At most this many bytes of input are kept until the lines arrive. A user types less.
const MAX_EARLY_BYTES: usize = 4 << 10;
/// How long the holder may take to send the lines.
pub(super) const LINES_TIMEOUT: Duration = Duration::from_secs(5);

/// Sets plain drawing, plain keys and bracketed paste. Switches off the reports of focus and colour
/// scheme.
const SETTINGS: &str = "\x1b[m\x1b(B\x1b)B\x0f\x1b[?6l\x1b[r\x1b[?7h\x1b[?1l\x1b>\x1b[=0;1u\x1b[>4m\
    \x1b[?2004h\x1b[?1004l\x1b[?2031l\x1b[?9l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[2 q";
const WHEEL_ON: &str = "\x1b[?1000h\x1b[?1006h";
const WHEEL_OFF: &str = "\x1b[?1000l\x1b[?1006l";

/// The screens that cover the agent's screen now.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    /// `Some` if lines were requested and have not arrived yet.
    coming: Option<Coming>,
    scroll: Option<Box<ScrollMode>>,
    shows_help: bool,
    decoder: KeyDecoder,
}

/// A request for lines that the holder has not answered yet.
#[derive(Debug)]
struct Coming {
    entry: ScrollEntry,
    /// Input that arrived meanwhile.
    early: Vec<u8>,
}

/// The consequences of a key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OverlayChange {
    /// Output for the user's terminal.
    pub(super) output: String,
    /// Whether the agent's screen must be shown again.
    pub(super) is_uncovered: bool,
}

impl Overlay {
    /// Returns whether keys are meant for this program and not for the agent.
    pub(super) fn takes_keys(&self) -> bool {
        self.coming.is_some() || self.hides_agent()
    }

    /// Returns whether the agent's output is hidden.
    pub(super) fn hides_agent(&self) -> bool {
        self.scroll.is_some() || self.shows_help
    }

    /// Records that lines are needed. Returns whether they must be requested now.
    pub(super) fn expect(&mut self, entry: ScrollEntry) -> bool {
        let is_new = self.coming.is_none() && self.scroll.is_none();
        if is_new {
            self.shows_help = false;
            self.coming = Some(Coming { entry, early: Vec::new() });
        }
        is_new
    }

    /// Enters scroll mode, after the lines have arrived.
    pub(super) fn enter(
        &mut self,
        page: &ScrollbackPage,
        size: Size,
        wheel: bool,
    ) -> OverlayChange {
        let Some(Coming { entry, early }) = self.coming.take() else {
            return OverlayChange::default();
        };
        self.scroll = Some(Box::new(ScrollMode::new(page, size, entry)));
        self.decoder = KeyDecoder::default();
        let mut output = settings(wheel);
        let OverlayChange { output: drawn, is_uncovered } = self.typed(&early, size);
        output += &if drawn.is_empty() { self.drawn(size) } else { drawn };
        OverlayChange { output, is_uncovered }
    }

    /// Stops waiting for lines.
    pub(super) fn give_up(&mut self) {
        self.coming = None;
    }

    /// Shows the list of keys.
    pub(super) fn help(&mut self, size: Size, wheel: bool) -> OverlayChange {
        self.shows_help = true;
        self.decoder = KeyDecoder::default();
        OverlayChange { output: settings(wheel) + &self.drawn(size), is_uncovered: false }
    }

    /// Switches the use of the mouse wheel between this program and the user's terminal. Returns
    /// the output that shows this, with a text about it. `None` if the agent's screen is shown.
    pub(super) fn wheel_changed(&mut self, wheel: bool, size: Size, text: &str) -> Option<String> {
        if !self.hides_agent() {
            return None;
        }
        if let Some(scroll) = &mut self.scroll {
            scroll.show_note(text.trim());
        }
        Some(settings(wheel) + &self.drawn(size))
    }

    /// Handles input.
    pub(super) fn typed(&mut self, bytes: &[u8], size: Size) -> OverlayChange {
        if let Some(coming) = &mut self.coming {
            let room = MAX_EARLY_BYTES.saturating_sub(coming.early.len());
            coming.early.extend(bytes.iter().take(room));
            return OverlayChange::default();
        }
        let keys = self.decoder.take(bytes);
        self.pressed(&keys, size)
    }

    /// Handles input after a pause in which the rest of a key did not arrive.
    pub(super) fn after_pause(&mut self, bytes: &[u8], size: Size) -> OverlayChange {
        if self.coming.is_some() {
            return self.typed(bytes, size);
        }
        let mut keys = self.decoder.take(bytes);
        keys.append(&mut self.decoder.after_pause());
        self.pressed(&keys, size)
    }

    fn pressed(&mut self, keys: &[ScrollKey], size: Size) -> OverlayChange {
        let mut output = String::new();
        for key in keys {
            if self.shows_help {
                self.shows_help = self.scroll.is_none()
                    && matches!(key, ScrollKey::WheelUp | ScrollKey::WheelDown);
            } else if let Some(scroll) = &mut self.scroll {
                match scroll.key(*key) {
                    Reaction::Stay => {}
                    Reaction::Leave => self.scroll = None,
                    Reaction::Send(sequence) => output += &sequence,
                }
            }
            if !self.hides_agent() {
                // Drop the input after that key. It was meant for the screen that is gone.
                return OverlayChange { output, is_uncovered: true };
            }
        }
        if !keys.is_empty() {
            output += &self.drawn(size);
        }
        OverlayChange { output, is_uncovered: false }
    }

    /// Redraws for a screen of this size.
    pub(super) fn resized(&mut self, size: Size) -> String {
        if let Some(scroll) = &mut self.scroll {
            scroll.resize(size);
        }
        self.drawn(size)
    }

    fn drawn(&self, size: Size) -> String {
        let mut out = self.scroll.as_ref().map(|scroll| scroll.draw()).unwrap_or_default();
        if self.shows_help {
            out += &help::painted(size);
        }
        out
    }
}

fn settings(wheel: bool) -> String {
    format!("{SETTINGS}{}", if wheel { WHEEL_ON } else { WHEEL_OFF })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { rows: 10, cols: 80 };

    fn page(lines: &[&str]) -> ScrollbackPage {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let total = lines.len();
        ScrollbackPage { first: 0, lines, total, has_forgotten: false, alternate: false }
    }

    fn entered() -> Overlay {
        let mut overlay = Overlay::default();
        assert!(overlay.expect(ScrollEntry::Key));
        overlay.enter(&page(&["one", "two", "three"]), SIZE, true);
        overlay
    }

    #[test]
    fn agent_is_shown_until_the_lines_arrive_and_again_after_leaving() {
        let mut overlay = Overlay::default();
        assert!(!overlay.takes_keys());
        assert!(overlay.expect(ScrollEntry::Key) && !overlay.expect(ScrollEntry::Key));
        assert!(overlay.takes_keys() && !overlay.hides_agent());
        let after = overlay.enter(&page(&["one", "two"]), SIZE, true);
        assert!(after.output.contains("two") && after.output.contains(WHEEL_ON));
        assert!(overlay.hides_agent());
        assert!(!overlay.typed(b"j", SIZE).is_uncovered);
        assert!(overlay.typed(b"qtyped too late", SIZE).is_uncovered);
        assert!(!overlay.takes_keys());
    }

    #[test]
    fn wheel_can_be_given_to_the_terminal_in_scroll_mode() {
        let mut overlay = entered();
        let drawn = overlay.wheel_changed(false, SIZE, " the mouse is your terminal's ").unwrap();
        assert!(drawn.contains(WHEEL_OFF) && drawn.contains("two"), "{drawn:?}");
        assert!(drawn.contains("the mouse is your terminal's"), "{drawn:?}");
        assert!(overlay.wheel_changed(true, SIZE, "").unwrap().contains(WHEEL_ON));
        assert_eq!(Overlay::default().wheel_changed(true, SIZE, ""), None, "the holder does it");
    }

    #[test]
    fn keys_typed_before_the_lines_arrive_are_applied() {
        let mut overlay = Overlay::default();
        overlay.expect(ScrollEntry::Key);
        assert_eq!(overlay.typed(b"/tw", SIZE), OverlayChange::default());
        assert!(overlay.enter(&page(&["one", "two"]), SIZE, true).output.contains("/tw"));
        let mut left = Overlay::default();
        left.expect(ScrollEntry::Key);
        left.typed(b"q", SIZE);
        assert!(left.enter(&page(&[]), SIZE, true).is_uncovered);
    }

    #[test]
    fn lines_that_were_not_requested_are_ignored() {
        let mut overlay = Overlay::default();
        assert_eq!(overlay.enter(&page(&["x"]), SIZE, true), OverlayChange::default());
        overlay.expect(ScrollEntry::Key);
        overlay.give_up();
        assert!(!overlay.takes_keys());
    }

    #[test]
    fn any_key_closes_the_help_but_mouse_reports_do_not() {
        for key in [&b"x"[..], b"\r", b"\x1b[A", b"\x1b[15~", b"\x03"] {
            let mut overlay = Overlay::default();
            assert!(overlay.help(SIZE, false).output.contains(WHEEL_OFF));
            assert!(!overlay.typed(b"\x1b[<35;1;1M\x1b[I", SIZE).is_uncovered);
            assert!(overlay.typed(key, SIZE).is_uncovered, "{key:?}");
        }
        let mut overlay = Overlay::default();
        overlay.help(SIZE, true);
        assert!(!overlay.typed(b"\x1b", SIZE).is_uncovered);
        assert!(overlay.after_pause(b"", SIZE).is_uncovered, "Escape alone");
    }

    #[test]
    fn closing_the_help_over_scroll_mode_returns_to_scroll_mode() {
        let mut overlay = entered();
        assert!(overlay.help(SIZE, true).output.contains("detach; the agent goes on"));
        let after = overlay.typed(b"q", SIZE);
        assert!(!after.is_uncovered && after.output.contains(" scroll "), "{after:?}");
        assert!(overlay.typed(b"q", SIZE).is_uncovered);
    }

    #[test]
    fn copied_text_is_sent_to_the_terminal_with_the_next_drawing() {
        let mut overlay = entered();
        let after = overlay.typed(b"gvy", SIZE);
        assert!(after.output.starts_with("\x1b]52;c;b25l\x1b\\"), "{after:?}");
        assert!(after.output.contains("copied 1 line"));
    }
}
