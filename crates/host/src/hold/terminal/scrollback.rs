//! Lines that have scrolled off the top of the normal screen.
//!
//! They are kept as text with colours. The rows of a wrapped line are joined, so that the line can
//! be shown at any width. The alternate screen has no scrollback.

use std::fmt;

use vt100::Callbacks;
use vt100::capture::{
    BasicFormattedCaptureRange, BasicFormattedCaptureState, RowContents, basic_formatted_rows,
};

use super::{OutputHistory, VirtualTerminal};

/// The maximum size of all lines, including their colours. Memory is allocated only as lines arrive.
pub(crate) const SCROLLBACK_BYTES: usize = 512 << 10;

/// Resets all colours and attributes.
pub(super) const PLAIN: &str = "\x1b[m";

/// The newest lines that have scrolled off.
#[derive(Debug)]
pub(super) struct Scrollback {
    lines: OutputHistory,
    has_forgotten: bool,
    /// Buffer for one row.
    row: String,
}

impl Default for Scrollback {
    fn default() -> Self {
        let lines = OutputHistory::new(SCROLLBACK_BYTES);
        Self { lines, has_forgotten: false, row: String::new() }
    }
}

/// All lines that a user can scroll through, newest last.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScrollbackText {
    /// Lines of text with colours (`CSI … m`) and without other control sequences.
    pub(crate) text: String,
    /// Whether older lines were dropped.
    pub(crate) has_forgotten: bool,
}

impl Callbacks for Scrollback {
    fn on_scroll(&mut self, row: RowContents<'_>, is_alternate: bool) {
        if !is_alternate {
            self.push_row(&row);
        }
    }
}

impl Scrollback {
    fn push_row(&mut self, row: &RowContents<'_>) {
        let mut state = BasicFormattedCaptureState::new();
        self.row.clear();
        // Writing to a string cannot fail.
        let _infallible = row.write_formatted_basic(&mut self.row, &mut state);
        if self.row.contains('\x1b') {
            self.row += PLAIN;
        }
        // The state has recorded whether a newline follows, but writes it only before the next row.
        // So write the row again, and read only the first character.
        let mut next = FirstCharacter(None);
        let _stopped = row.write_formatted_basic(&mut next, &mut state);
        if next.0 == Some('\n') {
            self.row.push('\n');
        }
        let row = std::mem::take(&mut self.row);
        self.push(row.as_bytes());
        self.row = row;
    }

    /// Adds plain output that was never drawn. `pen` sets the attributes of its beginning.
    fn push_undrawn(&mut self, pen: &str, output: &[u8]) {
        let from = output.len().saturating_sub(SCROLLBACK_BYTES);
        let mut text = pen.as_bytes().to_vec();
        push_lines(&mut text, output.get(from..).unwrap_or_default());
        text.extend_from_slice(PLAIN.as_bytes());
        self.push(&text);
    }

    fn push(&mut self, text: &[u8]) {
        self.has_forgotten |= self.lines.len() + text.len() > SCROLLBACK_BYTES;
        self.lines.push(text);
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the lines. If older lines were dropped, the result begins with the first complete
    /// line.
    fn text(&self) -> String {
        let bytes = self.lines.to_vec();
        let text = String::from_utf8_lossy(&bytes);
        match text.split_once('\n').filter(|_| self.has_forgotten) {
            Some((_incomplete, complete)) => complete.to_owned(),
            None => text.into_owned(),
        }
    }

    /// Removes and returns the newest complete lines that fill at most `rows` rows, newest last.
    pub(super) fn take_newest(&mut self, rows: u16, cols: u16) -> Vec<String> {
        let text = self.text();
        let Some(ended) = text.strip_suffix('\n') else { return Vec::new() };
        let mut free = usize::from(rows);
        let mut taken: Vec<String> = Vec::new();
        for line in ended.rsplit('\n') {
            let needed = basic_formatted_rows(line, cols).count();
            if needed > free {
                break;
            }
            free -= needed;
            taken.push(line.to_owned());
        }
        self.lines.forget_newest(taken.iter().map(|line| line.len() + 1).sum());
        taken.reverse();
        taken
    }
}

/// Stores the first character and refuses the rest.
struct FirstCharacter(Option<char>);

impl fmt::Write for FirstCharacter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.or(text.chars().next());
        Err(fmt::Error)
    }
}

/// Appends the text and the colours of output that only writes lines. If a line was rewritten from
/// its beginning, only its last version is kept.
fn push_lines(text: &mut Vec<u8>, output: &[u8]) {
    let mut line = text.len();
    let mut rest = output;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0x1b => {
                let length = after.iter().skip(1).position(|byte| (0x40..=0x7e).contains(byte));
                let (sequence, next) = after
                    .split_at_checked(length.map_or(after.len(), |at| at + 2))
                    .unwrap_or((after, &[]));
                if sequence.ends_with(b"m") {
                    text.push(0x1b);
                    text.extend_from_slice(sequence);
                }
                rest = next;
            }
            b'\r' if after.first().is_some_and(|next| *next != b'\n' && *next != b'\r') => {
                text.truncate(line);
            }
            b'\n' => {
                text.push(b'\n');
                line = text.len();
            }
            b'\t' | 0x20..=0x7e | 0x80..=0xff => text.push(byte),
            _ => {}
        }
    }
}

impl VirtualTerminal {
    /// Returns all lines that a user can scroll through: the lines that have scrolled off, and the
    /// screen. If the alternate screen is shown, it follows the normal screen.
    pub(crate) fn scrollback(&mut self) -> ScrollbackText {
        let alternate = self.screen().alternate_screen().then(|| self.captured());
        let (mut text, has_forgotten) = self.on_normal_screen(|terminal| {
            let kept = terminal.parser.callbacks();
            (kept.text() + &terminal.captured(), kept.has_forgotten)
        });
        if alternate.is_some() {
            text.truncate(text.trim_end_matches(['\n', ' ']).len());
            text += if text.is_empty() { "" } else { "\n" };
        }
        text += PLAIN;
        if let Some(alternate) = alternate {
            text += &alternate;
            text += PLAIN;
        }
        ScrollbackText { text, has_forgotten }
    }

    /// Returns the lines of the shown screen.
    fn captured(&self) -> String {
        let mut text = String::new();
        let mut state = BasicFormattedCaptureState::new();
        let range = BasicFormattedCaptureRange::Full(&mut state);
        // Writing to a string cannot fail.
        let _infallible = self.screen().write_contents_formatted_basic(&mut text, range);
        text
    }

    /// Drops all lines that have scrolled off. Agents request this before they write the whole
    /// conversation again.
    pub(super) fn forget_scrollback(&mut self) {
        self.parser.callbacks_mut().clear();
    }

    /// Adds plain output to the scrollback without drawing it. The output scrolls off before a user
    /// could see it.
    pub(super) fn skip(&mut self, output: &[u8]) {
        if self.screen().alternate_screen() {
            self.parser.process(&super::plain::colours(output));
            return;
        }
        // The rows above this output scroll off first.
        let first = output.iter().position(|byte| *byte == b'\n').map_or(output.len(), |at| at + 1);
        let (first, rest) = output.split_at_checked(first).unwrap_or((output, &[]));
        self.parser.process(first);
        self.parser.process(&b"\n".repeat(usize::from(self.size().rows) - 1));
        let pen = self.screen().attributes_formatted();
        self.parser.callbacks_mut().push_undrawn(&pen, rest);
        self.parser.process(b"\x1b[m\x1b[H\x1b[J");
        self.parser.process(pen.as_bytes());
        self.parser.process(&super::plain::colours(rest));
    }

    /// Runs an action on the normal screen, whichever screen is shown.
    pub(super) fn on_normal_screen<T>(&mut self, action: impl FnOnce(&mut Self) -> T) -> T {
        let is_alternate = self.screen().alternate_screen();
        if is_alternate {
            self.parser.process(b"\x1b[?47l");
        }
        let result = action(self);
        if is_alternate {
            self.parser.process(b"\x1b[?47h");
        }
        result
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Effects, Size};
    use super::*;

    pub(in super::super) fn terminal(rows: u16, cols: u16, output: &str) -> VirtualTerminal {
        let mut terminal = VirtualTerminal::new(Size { rows, cols });
        terminal.feed(output.as_bytes(), &mut Effects::unseen());
        terminal
    }

    pub(in super::super) fn numbered(range: std::ops::Range<usize>) -> String {
        range.map(|number| format!("line {number}\r\n")).collect()
    }

    pub(in super::super) fn lines(terminal: &mut VirtualTerminal) -> Vec<String> {
        let text = terminal.scrollback().text;
        let plain: String = vt100::capture::basic_formatted_to_plain(&text).collect();
        plain.trim_end_matches('\n').split('\n').map(str::to_owned).collect()
    }

    pub(in super::super) fn rows(terminal: &VirtualTerminal) -> Vec<String> {
        terminal.snapshot().rows
    }

    #[test]
    fn lines_that_have_scrolled_off_are_kept_before_the_screen() {
        let mut terminal = terminal(4, 20, &numbered(0..50));
        let expected: Vec<String> = (0..50).map(|number| format!("line {number}")).collect();
        assert_eq!(lines(&mut terminal), expected);
        assert!(!terminal.scrollback().has_forgotten);
    }

    #[test]
    fn wrapped_line_is_kept_as_one_line_with_its_colours() {
        let output = format!("\x1b[31m{}\x1b[m\r\n漢字\r\n\r\n\r\n\r\n\r\n", "x".repeat(25));
        let mut terminal = terminal(3, 10, &output);
        let text = terminal.scrollback().text;
        assert!(
            text.starts_with(
                "\x1b[31mxxxxxxxxxx\x1b[m\x1b[31mxxxxxxxxxx\x1b[m\x1b[31mxxxxx\x1b[m\n漢字\n"
            ),
            "{text:?}"
        );
        assert_eq!(lines(&mut terminal)[0], "x".repeat(25));
    }

    #[test]
    fn flood_that_is_not_drawn_is_kept_in_order() {
        let mut terminal = terminal(4, 20, "first\r\nsecond\r\n");
        let flood = numbered(0..3000);
        terminal.feed(flood.as_bytes(), &mut Effects::unseen());
        let mut expected = vec!["first".to_owned(), "second".to_owned()];
        expected.extend((0..3000).map(|number| format!("line {number}")));
        let kept = lines(&mut terminal);
        let difference = kept.iter().zip(&expected).find(|(kept, expected)| kept != expected);
        assert_eq!((difference, kept.len()), (None, expected.len()));
    }

    #[test]
    fn overwritten_text_and_control_sequences_are_left_out() {
        let mut text = Vec::new();
        push_lines(&mut text, b"10%\r20%\r\n\x1b[1;31mred\x1b[2K\x1b[m\tx\x08\x07\r\nend\x1b[3");
        assert_eq!(text, b"20%\n\x1b[1;31mred\x1b[m\tx\nend");
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_kept_line_is_complete() {
        let mut terminal = terminal(4, 80, "");
        for batch in 0..40 {
            let flood = numbered(batch * 5000..(batch + 1) * 5000);
            terminal.feed(flood.as_bytes(), &mut Effects::unseen());
        }
        let kept = terminal.scrollback();
        assert!(kept.has_forgotten && kept.text.len() <= SCROLLBACK_BYTES + 100);
        assert!(kept.text.starts_with("line "), "{:?}", &kept.text[..20]);
        assert_eq!(lines(&mut terminal).last().map(String::as_str), Some("line 199999"));
    }

    #[test]
    fn erase_sequence_empties_the_scrollback() {
        let mut terminal = terminal(4, 20, &numbered(0..50));
        terminal.feed(b"\x1b[2J\x1b[3J\x1b[Hnew", &mut Effects::unseen());
        assert_eq!(lines(&mut terminal), ["new"]);
    }

    #[test]
    fn alternate_screen_follows_the_normal_one_and_has_no_scrollback() {
        let mut terminal = terminal(4, 20, &numbered(0..10));
        let before = terminal.snapshot();
        terminal.feed(b"\x1b[?1049h\x1b[2;3Hfull", &mut Effects::unseen());
        terminal.feed(b"\x1b[4;1H\r\nscrolls\r\n", &mut Effects::unseen());
        let shown = terminal.snapshot();
        let all = lines(&mut terminal);
        assert_eq!(all[8..], ["line 8", "line 9", "", "", "scrolls"], "{all:?}");
        assert_eq!(terminal.snapshot(), shown, "reading has changed the screen");
        terminal.feed(b"\x1b[?1049l", &mut Effects::unseen());
        assert_eq!(terminal.snapshot().rows, before.rows);
    }
}
