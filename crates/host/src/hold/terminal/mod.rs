//! The virtual terminal of an agent.
//!
//! It answers every query itself, always in the same way. It keeps the screen and the modes, and
//! produces the output for an attached user's terminal. The user's terminal never receives a query
//! and never switches screens. Its whole content can be repainted from the state kept here.

mod commands;
mod effects;
mod filter;
mod history;
mod keyboard;
mod keystrokes;
mod modes;
mod paint;
mod plain;
mod queries;
mod resize;
mod scanner;
mod scrollback;
mod sequence;
mod sequences;
mod snapshot;
mod style;
mod text;

use std::num::NonZeroU16;

use vt100::{Parser, Screen};

pub use segue_core::model::TerminalSize as Size;

pub(crate) use effects::{Effects, TerminalNotice};
pub(crate) use filter::{InputFilter, RequestedReports};
pub(crate) use history::OutputHistory;
pub(crate) use keystrokes::keystrokes;
pub(crate) use paint::{Picture, push};
pub(crate) use scanner::{Token, TokenKind, TokenScanner};
pub(crate) use scrollback::ScrollbackText;
pub(crate) use sequence::Sequence;
pub use snapshot::{Snapshot, SnapshotCursor};
pub(crate) use style::Style;

use keyboard::Keyboard;
use modes::Modes;
use scrollback::Scrollback;
use text::{Charset, Charsets};

fn size_of(screen: &Screen) -> Size {
    let (rows, cols) = screen.size();
    Size { rows: rows.get(), cols: cols.get() }
}

/// Returns the rows and columns in the types of the screen model.
pub(crate) fn non_zero(size: Size) -> (NonZeroU16, NonZeroU16) {
    let at_least_one = |number| NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN);
    (at_least_one(size.rows), at_least_one(size.cols))
}

/// A terminal without a display.
pub(crate) struct VirtualTerminal {
    scanner: TokenScanner,
    parser: Parser<Scrollback>,
    modes: Modes,
    charsets: Charsets,
    /// The keyboard protocol of the normal and of the alternate screen.
    keyboards: [Keyboard; 2],
    /// State of the two screens that the model keeps but does not expose.
    pages: [Page; 2],
    title: String,
    /// The stack of saved titles.
    titles: Vec<String>,
}

/// The state of one of the two screens, besides its content.
#[derive(Clone, Debug, Default)]
struct Page {
    /// The first and last row of the scrolling region, counted from 0. `None` if it is the whole
    /// screen.
    region: Option<(u16, u16)>,
    /// Whether rows are counted from the first row of the region.
    origin: bool,
    saved: Option<SavedCursor>,
}

/// The state that `ESC 7` saves.
#[derive(Clone, Debug)]
struct SavedCursor {
    row: u16,
    col: u16,
    /// The sequences that set the drawing attributes.
    attributes: String,
}

impl VirtualTerminal {
    pub(crate) fn new(size: Size) -> Self {
        let (rows, cols) = non_zero(size);
        Self {
            scanner: TokenScanner::default(),
            parser: Parser::new_with_callbacks(rows, cols, 0, Scrollback::default()),
            modes: Modes::default(),
            charsets: Charsets::default(),
            keyboards: <[Keyboard; 2]>::default(),
            pages: <[Page; 2]>::default(),
            title: String::new(),
            titles: Vec::new(),
        }
    }

    /// Processes output of the agent.
    pub(crate) fn feed(&mut self, bytes: &[u8], effects: &mut Effects) {
        let mut scanner = std::mem::take(&mut self.scanner);
        scanner.push(bytes);
        loop {
            let run = scanner.take_plain(|token| self.plainness(token));
            self.draw_run(run, effects);
            let Some(token) = scanner.next() else { break };
            self.apply(token, effects);
        }
        self.scanner = scanner;
    }

    /// Returns whether bytes that arrive now are only text. Text changes only the screen, and needs
    /// no answer.
    pub(crate) fn is_text(&self, bytes: &[u8]) -> bool {
        self.scanner.is_between_tokens() && scanner::is_text(bytes)
    }

    pub(crate) fn resize(&mut self, size: Size) {
        self.resize_screens(size);
        for page in &mut self.pages {
            page.region = None;
        }
    }

    pub(crate) fn size(&self) -> Size {
        size_of(self.screen())
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Returns the text on the screen. Wrapped rows are joined into one line.
    pub(crate) fn text(&self) -> String {
        self.screen().contents()
    }

    /// Returns whether the agent wants pastes to be marked (bracketed paste).
    pub(crate) fn takes_pastes(&self) -> bool {
        self.screen().bracketed_paste()
    }

    /// Returns the reports that the agent has requested from a user's terminal.
    pub(crate) fn requested_reports(&self) -> RequestedReports {
        RequestedReports {
            focus: self.modes.is_on(modes::FOCUS),
            colour_scheme: self.modes.is_on(modes::COLOUR_SCHEME),
        }
    }

    fn apply(&mut self, token: Token<'_>, effects: &mut Effects) {
        match token.kind {
            TokenKind::Text => self.print(token.bytes, effects),
            TokenKind::Control => self.control(token.bytes, effects),
            TokenKind::Escape => self.escape(token.bytes, effects),
            TokenKind::Csi => self.sequence(token.bytes, effects),
            TokenKind::Osc => self.command(token.bytes, effects),
            TokenKind::Dcs => queries::answer_control_string(token.bytes, effects),
        }
    }

    fn print(&mut self, bytes: &[u8], effects: &mut Effects) {
        let clean = text::clean(bytes);
        effects.show(clean.as_bytes());
        let drawn = match self.charsets.current() {
            Charset::Plain => clean,
            Charset::Lines => text::drawn(&clean).into(),
        };
        if self.modes.is_on(modes::AUTO_WRAP) {
            self.parser.process(drawn.as_bytes());
        } else {
            self.print_without_wrapping(&drawn);
        }
    }

    /// Prints text without wrapping it. The model always wraps. So the cursor is put back on the
    /// last column when it reaches the margin.
    fn print_without_wrapping(&mut self, text: &str) {
        let cols = self.size().cols;
        for character in text.chars() {
            let mut bytes = [0; 4];
            self.parser.process(character.encode_utf8(&mut bytes).as_bytes());
            if self.screen().cursor_position().1 >= cols {
                self.parser.process(format!("\x1b[{cols}G").as_bytes());
            }
        }
    }

    fn control(&mut self, bytes: &[u8], effects: &mut Effects) {
        match bytes {
            b"\x07" => {
                effects.show(bytes);
                effects.ring();
            }
            [control @ (0x0e | 0x0f)] => {
                effects.show(bytes);
                self.charsets.shift(*control);
            }
            // Other control characters do nothing, or ask for an identification.
            _ => {}
        }
    }

    fn escape(&mut self, bytes: &[u8], effects: &mut Effects) {
        if let Some(shown) = self.charsets.designate(bytes) {
            return effects.show(&shown);
        }
        match bytes {
            b"\x1b7" => self.save_cursor(effects),
            b"\x1b8" | b"\x1bM" | b"\x1b=" | b"\x1b>" => self.draw(bytes, effects),
            b"\x1bD" => self.draw_as(bytes, b"\n", effects),
            b"\x1bE" => self.draw_as(bytes, b"\r\n", effects),
            b"\x1bc" => self.reset(effects),
            _ => {}
        }
    }

    /// Executes the same bytes in the model and in users' terminals.
    fn draw(&mut self, bytes: &[u8], effects: &mut Effects) {
        self.draw_as(bytes, bytes, effects);
    }

    /// Executes `bytes` in users' terminals, and `in_model` in the model, which does not support
    /// `bytes`.
    fn draw_as(&mut self, bytes: &[u8], in_model: &[u8], effects: &mut Effects) {
        self.parser.process(in_model);
        effects.show(bytes);
    }

    fn save_cursor(&mut self, effects: &mut Effects) {
        self.draw(b"\x1b7", effects);
        self.note_saved_cursor();
    }

    fn note_saved_cursor(&mut self) {
        let (row, col) = self.screen().cursor_position();
        let attributes = self.screen().attributes_formatted();
        self.page_mut().saved = Some(SavedCursor { row, col, attributes });
    }

    /// Resets the terminal to its initial state. The title and the scrollback stay.
    fn reset(&mut self, effects: &mut Effects) {
        let fresh = Self::new(self.size());
        let title = std::mem::take(&mut self.title);
        let scrollback = std::mem::take(self.parser.callbacks_mut());
        *self = Self { title, ..fresh };
        *self.parser.callbacks_mut() = scrollback;
        effects.paint_again();
    }

    fn screen(&self) -> &Screen {
        self.parser.screen()
    }

    /// Returns 1 while the alternate screen is shown, else 0.
    fn shown_page(&self) -> usize {
        usize::from(self.screen().alternate_screen())
    }

    fn page(&self) -> &Page {
        &self.pages[self.shown_page()]
    }

    fn page_mut(&mut self) -> &mut Page {
        let shown = self.shown_page();
        &mut self.pages[shown]
    }

    fn keyboard(&self) -> &Keyboard {
        &self.keyboards[self.shown_page()]
    }
}

#[cfg(test)]
mod tests;
