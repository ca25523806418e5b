//! The screens of this program that cover the agent's screen: scroll mode and the list of keys.
//!
//! While one of them is shown, the agent's output is discarded. Afterwards the holder repaints the
//! agent's screen.

use std::time::Duration;

use segue_core::ports::ScrollbackPage;

use crate::hold::terminal::Size;

use super::help;
use super::keys::Entry;
use super::scroll::{Decoder, Key, Reaction, ScrollMode};

/// Maximum number of bytes that are kept while the lines are on their way. A user types less.
const MOST_EARLY_BYTES: usize = 4 << 10;
/// How long the holder may take to send the lines.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Sets plain drawing, plain keys and bracketed paste. Switches off the reports of focus and colour
/// scheme.
const SETTINGS: &str = "\x1b[m\x1b(B\x1b)B\x0f\x1b[?6l\x1b[r\x1b[?7h\x1b[?1l\x1b>\x1b[=0;1u\x1b[>4m\
    \x1b[?2004h\x1b[?1004l\x1b[?2031l\x1b[?9l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[2 q";
const WHEEL_ON: &str = "\x1b[?1000h\x1b[?1006h";
const WHEEL_OFF: &str = "\x1b[?1000l\x1b[?1006l";

/// What covers the agent's screen.
#[derive(Debug, Default)]
pub(super) struct Cover {
    /// Lines that were requested and have not arrived yet.
    coming: Option<Coming>,
    scroll: Option<Box<ScrollMode>>,
    help: bool,
    decoder: Decoder,
}

/// Lines on their way from the holder.
#[derive(Debug)]
struct Coming {
    entry: Entry,
    /// Input that arrived meanwhile.
    early: Vec<u8>,
}

/// What must be done after a key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct After {
    /// Output for the user's terminal.
    pub(super) output: String,
    /// Whether the agent's screen must be shown again.
    pub(super) uncovered: bool,
}

impl Cover {
    /// Returns whether keys are meant for this program and not for the agent.
    pub(super) fn takes_keys(&self) -> bool {
        self.coming.is_some() || self.hides_agent()
    }

    /// Returns whether the agent's output is hidden.
    pub(super) fn hides_agent(&self) -> bool {
        self.scroll.is_some() || self.help
    }

    /// Records that lines are needed. Returns whether they must be requested now.
    pub(super) fn expect(&mut self, entry: Entry) -> bool {
        let is_new = self.coming.is_none() && self.scroll.is_none();
        if is_new {
            self.help = false;
            self.coming = Some(Coming { entry, early: Vec::new() });
        }
        is_new
    }

    /// Enters scroll mode, after the lines have arrived.
    pub(super) fn enter(&mut self, page: &ScrollbackPage, size: Size, wheel: bool) -> After {
        let Some(Coming { entry, early }) = self.coming.take() else { return After::default() };
        self.scroll = Some(Box::new(ScrollMode::new(page, size, entry)));
        self.decoder = Decoder::default();
        let mut output = settings(wheel);
        let After { output: drawn, uncovered } = self.typed(&early, size);
        output += &if drawn.is_empty() { self.drawn(size) } else { drawn };
        After { output, uncovered }
    }

    /// Stops waiting for lines.
    pub(super) fn give_up(&mut self) {
        self.coming = None;
    }

    /// Shows the list of keys.
    pub(super) fn help(&mut self, size: Size, wheel: bool) -> After {
        self.help = true;
        self.decoder = Decoder::default();
        After { output: settings(wheel) + &self.drawn(size), uncovered: false }
    }

    /// Gives the mouse wheel to this program or to the terminal. Returns the output that shows
    /// this. `None` if the agent's screen is shown.
    pub(super) fn wheel_changed(&mut self, wheel: bool, size: Size, words: &str) -> Option<String> {
        if !self.hides_agent() {
            return None;
        }
        if let Some(scroll) = &mut self.scroll {
            scroll.say(words.trim());
        }
        Some(settings(wheel) + &self.drawn(size))
    }

    /// Handles input.
    pub(super) fn typed(&mut self, bytes: &[u8], size: Size) -> After {
        if let Some(coming) = &mut self.coming {
            let room = MOST_EARLY_BYTES.saturating_sub(coming.early.len());
            coming.early.extend(bytes.iter().take(room));
            return After::default();
        }
        let keys = self.decoder.take(bytes);
        self.pressed(&keys, size)
    }

    /// Handles input after a pause in which the rest of a key did not arrive.
    pub(super) fn after_pause(&mut self, bytes: &[u8], size: Size) -> After {
        if self.coming.is_some() {
            return self.typed(bytes, size);
        }
        let mut keys = self.decoder.take(bytes);
        keys.append(&mut self.decoder.after_pause());
        self.pressed(&keys, size)
    }

    fn pressed(&mut self, keys: &[Key], size: Size) -> After {
        let mut output = String::new();
        for key in keys {
            if self.help {
                self.help = self.scroll.is_none() && matches!(key, Key::WheelUp | Key::WheelDown);
            } else if let Some(scroll) = &mut self.scroll {
                match scroll.key(*key) {
                    Reaction::Stay => {}
                    Reaction::Leave => self.scroll = None,
                    Reaction::Send(sequence) => output += &sequence,
                }
            }
            if !self.hides_agent() {
                // Drop the input after that key: it was meant for the screen that is gone.
                return After { output, uncovered: true };
            }
        }
        if !keys.is_empty() {
            output += &self.drawn(size);
        }
        After { output, uncovered: false }
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
        if self.help {
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

    fn entered() -> Cover {
        let mut cover = Cover::default();
        assert!(cover.expect(Entry::Key));
        cover.enter(&page(&["one", "two", "three"]), SIZE, true);
        cover
    }

    #[test]
    fn agent_is_shown_until_the_lines_arrive_and_again_after_leaving() {
        let mut cover = Cover::default();
        assert!(!cover.takes_keys());
        assert!(cover.expect(Entry::Key) && !cover.expect(Entry::Key));
        assert!(cover.takes_keys() && !cover.hides_agent());
        let after = cover.enter(&page(&["one", "two"]), SIZE, true);
        assert!(after.output.contains("two") && after.output.contains(WHEEL_ON));
        assert!(cover.hides_agent());
        assert!(!cover.typed(b"j", SIZE).uncovered);
        assert!(cover.typed(b"qtyped too late", SIZE).uncovered);
        assert!(!cover.takes_keys());
    }

    #[test]
    fn wheel_can_be_given_to_the_terminal_in_scroll_mode() {
        let mut cover = entered();
        let drawn = cover.wheel_changed(false, SIZE, " the mouse is your terminal's ").unwrap();
        assert!(drawn.contains(WHEEL_OFF) && drawn.contains("two"), "{drawn:?}");
        assert!(drawn.contains("the mouse is your terminal's"), "{drawn:?}");
        assert!(cover.wheel_changed(true, SIZE, "").unwrap().contains(WHEEL_ON));
        assert_eq!(Cover::default().wheel_changed(true, SIZE, ""), None, "the holder does it");
    }

    #[test]
    fn keys_typed_before_the_lines_arrive_are_applied() {
        let mut cover = Cover::default();
        cover.expect(Entry::Key);
        assert_eq!(cover.typed(b"/tw", SIZE), After::default());
        assert!(cover.enter(&page(&["one", "two"]), SIZE, true).output.contains("/tw"));
        let mut left = Cover::default();
        left.expect(Entry::Key);
        left.typed(b"q", SIZE);
        assert!(left.enter(&page(&[]), SIZE, true).uncovered);
    }

    #[test]
    fn lines_that_were_not_requested_are_ignored() {
        let mut cover = Cover::default();
        assert_eq!(cover.enter(&page(&["x"]), SIZE, true), After::default());
        cover.expect(Entry::Key);
        cover.give_up();
        assert!(!cover.takes_keys());
    }

    #[test]
    fn any_key_closes_the_help_but_mouse_reports_do_not() {
        for key in [&b"x"[..], b"\r", b"\x1b[A", b"\x1b[15~", b"\x03"] {
            let mut cover = Cover::default();
            assert!(cover.help(SIZE, false).output.contains(WHEEL_OFF));
            assert!(!cover.typed(b"\x1b[<35;1;1M\x1b[I", SIZE).uncovered);
            assert!(cover.typed(key, SIZE).uncovered, "{key:?}");
        }
        let mut cover = Cover::default();
        cover.help(SIZE, true);
        assert!(!cover.typed(b"\x1b", SIZE).uncovered);
        assert!(cover.after_pause(b"", SIZE).uncovered, "Escape alone");
    }

    #[test]
    fn closing_the_help_over_scroll_mode_returns_to_scroll_mode() {
        let mut cover = entered();
        assert!(cover.help(SIZE, true).output.contains("detach; the agent goes on"));
        let after = cover.typed(b"q", SIZE);
        assert!(!after.uncovered && after.output.contains(" scroll "), "{after:?}");
        assert!(cover.typed(b"q", SIZE).uncovered);
    }

    #[test]
    fn copied_text_is_sent_to_the_terminal_with_the_next_drawing() {
        let mut cover = entered();
        let after = cover.typed(b"gvy", SIZE);
        assert!(after.output.starts_with("\x1b]52;c;b25l\x1b\\"), "{after:?}");
        assert!(after.output.contains("copied 1 line"));
    }
}
