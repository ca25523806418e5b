//! Draws the most common output of agents: text, colours and movements of the cursor.
//!
//! The screen model needs ten times as long for a character as the kernel's terminal driver. So the
//! model gets plain output in long runs, and does not get lines that scroll off the screen within
//! the same batch.

use super::scanner::{Plain, Run};
use super::text::{self, Charset};
use super::{Effects, Token, TokenKind, VirtualTerminal, modes};

/// At least this many bytes must scroll off. The search for fewer bytes would cost more time than it
/// saves.
const MIN_SKIPPED_BYTES: usize = 1 << 10;
/// The final bytes of sequences that change only the row of the cursor.
const WITHIN_A_ROW: &[u8] = b"@CDGKPX`m";
/// The final bytes of other sequences that only draw, whatever their numbers are.
const BEYOND_A_ROW: &[u8] = b"ABEFHLMSbdf";

impl VirtualTerminal {
    /// Returns whether a token can be passed to the model unchanged, and which rows it can change.
    pub(super) fn plainness(&self, token: Token<'_>) -> Plain {
        match token.kind {
            TokenKind::Text if self.writes_plainly() && text::is_clean(token.bytes) => {
                Plain::Writes
            }
            TokenKind::Csi => plain_sequence(token.bytes),
            _ => Plain::No,
        }
    }

    fn writes_plainly(&self) -> bool {
        self.charsets.current() == Charset::Plain && self.modes.is_on(modes::AUTO_WRAP)
    }

    /// Draws plain output.
    pub(super) fn draw_run(&mut self, run: Run<'_>, effects: &mut Effects) {
        effects.show(run.bytes);
        let (before, lines) = run.bytes.split_at_checked(run.lines).unwrap_or_default();
        self.parser.process(before);
        let scrolls_whole_screen = self.page().region.is_none();
        let can_skip = Some(lines).filter(|_| scrolls_whole_screen);
        match can_skip.and_then(|lines| scrolled_off(lines, self.size().rows.into())) {
            Some(length) => {
                let (gone, visible) = lines.split_at_checked(length).unwrap_or_default();
                self.skip(gone);
                self.parser.process(visible);
            }
            None => self.parser.process(lines),
        }
    }
}

/// Returns whether a control sequence is plain. Plain sequences have no prefix and no
/// intermediates. All terminals and the model draw them in the same way.
fn plain_sequence(bytes: &[u8]) -> Plain {
    let &[_, _, ref body @ .., last] = bytes else { return Plain::No };
    if !body.iter().all(|byte| (b'0'..=b';').contains(byte)) {
        return Plain::No;
    }
    match last {
        last if WITHIN_A_ROW.contains(&last) => Plain::Writes,
        last if BEYOND_A_ROW.contains(&last) => Plain::Moves,
        _ => Plain::No,
    }
}

/// Returns how many bytes at the beginning of this output scroll off a screen with `rows` rows: all
/// bytes before the last `2 * rows` newlines, whatever the screen shows and wherever the cursor is.
/// The cut is at the carriage return before a newline, so that the column does not matter. `None` if
/// there are too few such bytes.
fn scrolled_off(lines: &[u8], rows: usize) -> Option<usize> {
    let mut end = lines.len();
    let mut found = 0;
    while end > MIN_SKIPPED_BYTES {
        let at = lines.get(..end)?.iter().rposition(|byte| *byte == b'\n')?;
        let begins_line = at > 0 && lines.get(at - 1) == Some(&b'\r');
        found += 1;
        if found > 2 * rows && begins_line && at > MIN_SKIPPED_BYTES {
            return Some(at - 1);
        }
        end = at;
    }
    None
}

/// Returns the sequences of this output that set colours. They determine the colours of the text
/// that follows it.
pub(super) fn colours(bytes: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    for piece in bytes.split(|byte| *byte == 0x1b).skip(1) {
        let last = piece.iter().skip(1).position(|byte| (0x40..=0x7e).contains(byte));
        let sequence = last.and_then(|at| piece.get(..at + 2)).unwrap_or_default();
        if sequence.ends_with(b"m") {
            found.push(0x1b);
            found.extend_from_slice(sequence);
        }
    }
    found
}
