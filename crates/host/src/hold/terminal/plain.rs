//! The most common output of agents: text, colours, and where to write it.
//!
//! The screen model takes ten times as long for a character as the kernel's terminal line does. So
//! plain output is passed to it in long runs, and lines that scroll off the screen within the same
//! batch are not passed to it at all.

use super::scanner::{Plain, Run};
use super::text::{self, Charset};
use super::{Effects, Token, TokenKind, VirtualTerminal, modes};

/// Skipping fewer bytes than this is not worth the search.
const WORTHWHILE: usize = 1 << 10;
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
        let whole_screen_scrolls = self.page().region.is_none();
        let seen = Some(lines).filter(|_| whole_screen_scrolls);
        match seen.and_then(|lines| scrolled_off(lines, self.size().rows.into())) {
            Some(length) => {
                let (gone, seen) = lines.split_at_checked(length).unwrap_or_default();
                self.skip(gone);
                self.parser.process(seen);
            }
            None => self.parser.process(lines),
        }
    }
}

/// Returns how plain a control sequence is. Plain sequences have no prefix and no intermediates,
/// and all terminals and the model draw them alike.
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

/// Returns how many bytes of this output have scrolled off a screen with `rows` rows at its end:
/// all bytes before the last `2 * rows` new lines, whatever the screen showed and wherever the
/// cursor was. The cut is at the carriage return before a new line, so that the column does not
/// matter.
fn scrolled_off(lines: &[u8], rows: usize) -> Option<usize> {
    let mut end = lines.len();
    let mut found = 0;
    while end > WORTHWHILE {
        let at = lines.get(..end)?.iter().rposition(|byte| *byte == b'\n')?;
        let begins_a_line = at > 0 && lines.get(at - 1) == Some(&b'\r');
        found += 1;
        if found > 2 * rows && begins_a_line && at > WORTHWHILE {
            return Some(at - 1);
        }
        end = at;
    }
    None
}

/// Returns the sequences that set the colours of the text that follows this output. The output only
/// writes lines.
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
