//! What covers an agent's screen: scroll mode and the keys.
//!
//! While something covers it, the agent's output is not shown; afterwards the holder paints the
//! screen anew.

use std::time::Duration;

use crate::hold::terminal::Size;
use crate::hold::wire::ScrollbackFacts;

use super::help;
use super::keys::Entry;
use super::scroll::{Decoder, Key, Reaction, ScrollMode};

/// More than a person types while the lines are on their way.
const MOST_EARLY_BYTES: usize = 4 << 10;
/// How long the holder may take for the lines.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Plain drawing and plain keys, and the pasted text marked; focus and colour scheme are not
/// reported.
const SETTINGS: &str = "\x1b[m\x1b(B\x1b)B\x0f\x1b[?6l\x1b[r\x1b[?7h\x1b[?1l\x1b>\x1b[=0;1u\x1b[>4m\
    \x1b[?2004h\x1b[?1004l\x1b[?2031l\x1b[?9l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[2 q";
const WHEEL_ON: &str = "\x1b[?1000h\x1b[?1006h";
const WHEEL_OFF: &str = "\x1b[?1000l\x1b[?1006l";

/// What is over the agent's screen.
#[derive(Debug, Default)]
pub(super) struct Cover {
    /// Lines that were asked for and have not come.
    coming: Option<Coming>,
    scroll: Option<Box<ScrollMode>>,
    help: bool,
    decoder: Decoder,
}

/// Lines on their way.
#[derive(Debug)]
struct Coming {
    entry: Entry,
    text: Vec<u8>,
    /// What was typed meanwhile.
    early: Vec<u8>,
}

/// What is to be done after a key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct After {
    /// For the person's terminal.
    pub(super) output: String,
    /// Whether the agent's screen is to be shown again.
    pub(super) uncovered: bool,
}

impl Cover {
    /// Tells whether keys are not for the agent.
    pub(super) fn takes_keys(&self) -> bool {
        self.coming.is_some() || self.hides_agent()
    }

    /// Tells whether the agent's output is not shown.
    pub(super) fn hides_agent(&self) -> bool {
        self.scroll.is_some() || self.help
    }

    /// Notes that lines were asked for; tells whether they have to be.
    pub(super) fn expect(&mut self, entry: Entry) -> bool {
        let is_new = self.coming.is_none() && self.scroll.is_none();
        if is_new {
            self.help = false;
            self.coming = Some(Coming { entry, text: Vec::new(), early: Vec::new() });
        }
        is_new
    }

    /// Takes a piece of the lines.
    pub(super) fn piece(&mut self, piece: &[u8]) {
        if let Some(coming) = &mut self.coming {
            coming.text.extend_from_slice(piece);
        }
    }

    /// Enters scroll mode, now that all lines are there.
    pub(super) fn enter(&mut self, facts: ScrollbackFacts, size: Size, wheel: bool) -> After {
        let Some(Coming { entry, text, early }) = self.coming.take() else {
            return After::default();
        };
        let text = String::from_utf8_lossy(&text);
        self.scroll = Some(Box::new(ScrollMode::new(&text, facts, size, entry)));
        self.decoder = Decoder::default();
        let mut output = settings(wheel);
        let After { output: drawn, uncovered } = self.typed(&early, size);
        output += &if drawn.is_empty() { self.drawn(size) } else { drawn };
        After { output, uncovered }
    }

    /// Gives up lines that do not come.
    pub(super) fn give_up(&mut self) {
        self.coming = None;
    }

    /// Shows the keys.
    pub(super) fn help(&mut self, size: Size, wheel: bool) -> After {
        self.help = true;
        self.decoder = Decoder::default();
        After { output: settings(wheel) + &self.drawn(size), uncovered: false }
    }

    /// Gives the wheel to this program or to the terminal; returns what shows that. `None` if the agent
    /// is shown.
    pub(super) fn wheel_changed(&mut self, wheel: bool, size: Size, words: &str) -> Option<String> {
        if !self.hides_agent() {
            return None;
        }
        if let Some(scroll) = &mut self.scroll {
            scroll.say(words.trim());
        }
        Some(settings(wheel) + &self.drawn(size))
    }

    /// Takes what was typed.
    pub(super) fn typed(&mut self, bytes: &[u8], size: Size) -> After {
        if let Some(coming) = &mut self.coming {
            let room = MOST_EARLY_BYTES.saturating_sub(coming.early.len());
            coming.early.extend(bytes.iter().take(room));
            return After::default();
        }
        let keys = self.decoder.take(bytes);
        self.pressed(&keys, size)
    }

    /// Takes what was typed, after a pause in which no rest of a key came.
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
                // What was typed after that was for what is gone.
                return After { output, uncovered: true };
            }
        }
        if !keys.is_empty() {
            output += &self.drawn(size);
        }
        After { output, uncovered: false }
    }

    /// Draws for a screen of this size.
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
    const FACTS: ScrollbackFacts = ScrollbackFacts { has_forgotten: false, alternate: false };

    fn entered() -> Cover {
        let mut cover = Cover::default();
        assert!(cover.expect(Entry::Key));
        cover.piece(b"one\ntw");
        cover.piece(b"o\nthree");
        cover.enter(FACTS, SIZE, true);
        cover
    }

    #[test]
    fn the_agent_is_seen_until_the_lines_are_there_and_again_after_leaving() {
        let mut cover = Cover::default();
        assert!(!cover.takes_keys());
        assert!(cover.expect(Entry::Key) && !cover.expect(Entry::Key));
        assert!(cover.takes_keys() && !cover.hides_agent());
        cover.piece(b"one\ntwo");
        let after = cover.enter(FACTS, SIZE, true);
        assert!(after.output.contains("two") && after.output.contains(WHEEL_ON));
        assert!(cover.hides_agent());
        assert!(!cover.typed(b"j", SIZE).uncovered);
        assert!(cover.typed(b"qtyped too late", SIZE).uncovered);
        assert!(!cover.takes_keys());
    }

    #[test]
    fn the_wheel_is_given_to_the_terminal_in_scroll_mode_too() {
        let mut cover = entered();
        let drawn = cover.wheel_changed(false, SIZE, " the mouse is your terminal's ").unwrap();
        assert!(drawn.contains(WHEEL_OFF) && drawn.contains("two"), "{drawn:?}");
        assert!(drawn.contains("the mouse is your terminal's"), "{drawn:?}");
        assert!(cover.wheel_changed(true, SIZE, "").unwrap().contains(WHEEL_ON));
        assert_eq!(Cover::default().wheel_changed(true, SIZE, ""), None, "the holder does it");
    }

    #[test]
    fn keys_that_come_before_the_lines_count() {
        let mut cover = Cover::default();
        cover.expect(Entry::Key);
        assert_eq!(cover.typed(b"/tw", SIZE), After::default());
        cover.piece(b"one\ntwo");
        assert!(cover.enter(FACTS, SIZE, true).output.contains("/tw"));
        let mut left = Cover::default();
        left.expect(Entry::Key);
        left.typed(b"q", SIZE);
        assert!(left.enter(FACTS, SIZE, true).uncovered);
    }

    #[test]
    fn lines_that_nobody_asked_for_change_nothing() {
        let mut cover = Cover::default();
        cover.piece(b"x");
        assert_eq!(cover.enter(FACTS, SIZE, true), After::default());
        cover.expect(Entry::Key);
        cover.give_up();
        assert!(!cover.takes_keys());
    }

    #[test]
    fn any_key_closes_the_keys_and_reports_of_the_mouse_do_not() {
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
    fn the_keys_over_scroll_mode_give_way_to_it() {
        let mut cover = entered();
        assert!(cover.help(SIZE, true).output.contains("detach; the agent goes on"));
        let after = cover.typed(b"q", SIZE);
        assert!(!after.uncovered && after.output.contains(" scroll "), "{after:?}");
        assert!(cover.typed(b"q", SIZE).uncovered);
    }

    #[test]
    fn a_copy_is_sent_to_the_terminal_with_the_next_picture() {
        let mut cover = entered();
        let after = cover.typed(b"gvy", SIZE);
        assert!(after.output.starts_with("\x1b]52;c;b25l\x1b\\"), "{after:?}");
        assert!(after.output.contains("copied 1 line"));
    }
}
