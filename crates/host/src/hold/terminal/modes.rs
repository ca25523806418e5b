//! The supported private modes of the terminal: their state, and the sequences that set them in
//! users' terminals.

use std::collections::BTreeSet;

use vt100::{MouseProtocolEncoding, MouseProtocolMode, Screen};

use super::paint::push;
use super::{Effects, Page, Sequence, VirtualTerminal};
use crate::hold::wire::Uses;

pub(super) const AUTO_WRAP: u16 = 7;
pub(super) const FOCUS: u16 = 1004;
pub(super) const SYNCHRONISED: u16 = 2026;
pub(super) const COLOUR_SCHEME: u16 = 2031;

const ORIGIN: u16 = 6;
const CURSOR: u16 = 1048;
/// The modes that switch to the alternate screen, oldest first.
const SCREENS: [u16; 3] = [47, 1047, 1049];
/// Modes whose state the screen model keeps.
const IN_MODEL: [u16; 9] = [1, 9, 25, 1000, 1002, 1003, 1005, 1006, 2004];
/// The supported modes that control mouse reports.
const MOUSE: [u16; 6] = [9, 1000, 1002, 1003, 1005, 1006];
/// Modes whose state is in [`Modes`].
const IN_MODES: [u16; 4] = [AUTO_WRAP, FOCUS, SYNCHRONISED, COLOUR_SCHEME];

/// The modes that the screen model does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Modes {
    on: BTreeSet<u16>,
    /// How precisely keys with modifiers are reported: the `n` of `CSI > 4 ; n m`.
    modified_keys: u16,
}

impl Default for Modes {
    fn default() -> Self {
        Self { on: BTreeSet::from([AUTO_WRAP]), modified_keys: 0 }
    }
}

impl Modes {
    pub(super) fn is_on(&self, mode: u16) -> bool {
        self.on.contains(&mode)
    }

    #[cfg(test)]
    pub(super) fn modified_keys(&self) -> u16 {
        self.modified_keys
    }

    fn set(&mut self, mode: u16, on: bool) {
        if on {
            self.on.insert(mode);
        } else {
            self.on.remove(&mode);
        }
    }
}

impl VirtualTerminal {
    /// Executes `CSI ? … h` and `CSI ? … l`, mode by mode.
    pub(super) fn switch_modes(&mut self, sequence: &Sequence<'_>, effects: &mut Effects) {
        let on = sequence.last == b'h';
        for mode in sequence.numbers().flatten() {
            self.switch_mode(mode, on, effects);
        }
    }

    fn switch_mode(&mut self, mode: u16, on: bool, effects: &mut Effects) {
        let bytes = format!("\x1b[?{mode}{}", letter(on));
        if SCREENS.contains(&mode) {
            self.switch_screen(mode, on);
            effects.paint_again();
        } else if IN_MODEL.contains(&mode) {
            self.draw(bytes.as_bytes(), effects);
            if MOUSE.contains(&mode) {
                effects.switch_mouse();
            }
        } else if IN_MODES.contains(&mode) {
            self.modes.set(mode, on);
            effects.show(bytes.as_bytes());
        } else if mode == ORIGIN {
            self.draw(bytes.as_bytes(), effects);
            self.page_mut().origin = on;
        } else if mode == CURSOR && on {
            self.save_cursor(effects);
        } else if mode == CURSOR {
            self.draw(b"\x1b8", effects);
        }
        // Other modes could not be restored by a repaint. So users' terminals do not receive them.
    }

    /// Switches to the alternate screen or back. The cursor stays where it is, as in other
    /// terminals, unless the mode restores a saved one.
    fn switch_screen(&mut self, mode: u16, on: bool) {
        let (row, col) = self.screen().cursor_position();
        if mode == 1049 && on {
            self.note_saved_cursor();
            self.pages[1] = Page::default();
        }
        if mode == 1047 && !on && self.screen().alternate_screen() {
            self.parser.process(b"\x1b[2J");
        }
        let known = if mode == 1047 { 47 } else { mode };
        self.parser.process(format!("\x1b[?{known}{}", letter(on)).as_bytes());
        if mode != 1049 || on {
            self.parser.process(format!("\x1b[{};{}H", row + 1, col + 1).as_bytes());
        }
    }

    /// Executes `CSI ! p`: resets the modes that could interfere with plain text.
    pub(super) fn reset_softly(&mut self, effects: &mut Effects) {
        self.parser.process(b"\x1b[?1l\x1b[?6l\x1b[?25h\x1b>\x1b[m\x1b[r");
        self.modes.set(AUTO_WRAP, true);
        self.charsets = super::Charsets::default();
        *self.page_mut() = Page::default();
        effects.paint_again();
    }

    /// Executes `CSI > 4 ; n m`.
    pub(super) fn modify_keys(&mut self, sequence: &Sequence<'_>, effects: &mut Effects) {
        match sequence.number(0) {
            Some(4) => self.modes.modified_keys = sequence.number(1).unwrap_or(0),
            None => self.modes.modified_keys = 0,
            Some(_) => return,
        }
        effects.show(self.modified_keys_formatted().as_bytes());
    }

    /// Returns a private mode's state in the form that `CSI ? … $ p` requests: 1 on, 2 off, 0
    /// unknown.
    pub(super) fn mode_state(&self, mode: u16) -> u8 {
        match self.mode_is_on(mode) {
            Some(true) => 1,
            Some(false) => 2,
            None => 0,
        }
    }

    fn mode_is_on(&self, mode: u16) -> Option<bool> {
        let screen = self.screen();
        Some(match mode {
            1 => screen.application_cursor(),
            ORIGIN => self.page().origin,
            9 | 1000 | 1002 | 1003 => mouse_mode(screen) == Some(mode),
            25 => !screen.hide_cursor(),
            1005 | 1006 => mouse_encoding(screen) == Some(mode),
            2004 => screen.bracketed_paste(),
            _ if SCREENS.contains(&mode) => screen.alternate_screen(),
            _ if IN_MODES.contains(&mode) => self.modes.is_on(mode),
            _ => return None,
        })
    }

    /// Returns the private modes that are on, as a program would have set them.
    pub(super) fn modes_on(&self) -> Vec<u16> {
        let known = [&IN_MODEL[..], &IN_MODES, &SCREENS[2..], &[ORIGIN]].concat();
        let mut on: Vec<u16> =
            known.into_iter().filter(|mode| self.mode_is_on(*mode) == Some(true)).collect();
        on.sort_unstable();
        on
    }

    /// Returns the sequences that make a terminal report the mouse as the agent has requested.
    pub(crate) fn mouse_formatted(&self) -> String {
        let mut out =
            String::from("\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l");
        let screen = self.screen();
        let mouse = mouse_mode(screen).into_iter().chain(mouse_encoding(screen));
        mouse.for_each(|mode| push(&mut out, format_args!("\x1b[?{mode}h")));
        out
    }

    /// Returns the terminal features that the agent uses and that the meaning of a user's keys
    /// depends on.
    pub(crate) fn uses(&self) -> Uses {
        let screen = self.screen();
        Uses { alternate: screen.alternate_screen(), mouse: mouse_mode(screen).is_some() }
    }

    /// Returns the sequences that set a terminal's input modes and title to this state, whatever
    /// their state was before.
    pub(super) fn modes_formatted(&self) -> String {
        let screen = self.screen();
        let mut out = self.mouse_formatted();
        for mode in [1, 2004, FOCUS, COLOUR_SCHEME] {
            let on = self.mode_is_on(mode) == Some(true);
            push(&mut out, format_args!("\x1b[?{mode}{}", letter(on)));
        }
        out += if screen.application_keypad() { "\x1b=" } else { "\x1b>" };
        out += &self.keyboard().formatted();
        out += &self.modified_keys_formatted();
        push(&mut out, format_args!("\x1b[{} q", cursor_style(screen)));
        push(&mut out, format_args!("\x1b]2;{}\x1b\\", self.title));
        out
    }

    fn modified_keys_formatted(&self) -> String {
        match self.modes.modified_keys {
            0 => "\x1b[>4m".to_owned(),
            level => format!("\x1b[>4;{level}m"),
        }
    }
}

fn letter(on: bool) -> char {
    if on { 'h' } else { 'l' }
}

fn mouse_mode(screen: &Screen) -> Option<u16> {
    match screen.mouse_protocol_mode() {
        MouseProtocolMode::None => None,
        MouseProtocolMode::Press => Some(9),
        MouseProtocolMode::PressRelease => Some(1000),
        MouseProtocolMode::ButtonMotion => Some(1002),
        MouseProtocolMode::AnyMotion => Some(1003),
    }
}

fn mouse_encoding(screen: &Screen) -> Option<u16> {
    match screen.mouse_protocol_encoding() {
        MouseProtocolEncoding::Default => None,
        MouseProtocolEncoding::Utf8 => Some(1005),
        MouseProtocolEncoding::Sgr => Some(1006),
    }
}

fn cursor_style(screen: &Screen) -> u8 {
    use vt100::CursorStyle as Style;
    match screen.cursor_style() {
        Style::Default => 0,
        Style::BlinkBlock => 1,
        Style::SteadyBlock => 2,
        Style::BlinkUnderline => 3,
        Style::SteadyUnderline => 4,
        Style::BlinkVerticalBar => 5,
        Style::SteadyVerticalBar => 6,
    }
}
