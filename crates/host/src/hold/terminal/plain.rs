//! The bulk of what agents write: text, colours, and where to write it.
//!
//! The screen model takes ten times as long for a character as a terminal's line does. Plain
//! output therefore goes to it in long runs, and lines that scroll off the screen within the same
//! batch do not go to it at all.

use super::scanner::{Plain, Run};
use super::text::{self, Charset};
use super::{Effects, Kind, Terminal, Token, modes};

/// Skipping less than this is not worth the search.
const WORTHWHILE: usize = 1 << 10;
/// Sequences that change the row of the cursor alone.
const WITHIN_A_ROW: &[u8] = b"@CDGKPX`m";
/// Other sequences that only draw, whatever their numbers are.
const BEYOND_A_ROW: &[u8] = b"ABEFHLMSbdf";

impl Terminal {
    /// Tells whether a token can go to the model as it is.
    pub(super) fn plainness(&self, token: Token<'_>) -> Plain {
        match token.kind {
            Kind::Text if self.writes_plainly() && text::is_clean(token.bytes) => Plain::Writes,
            Kind::Csi => plain_sequence(token.bytes),
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

/// Tells how plain a control sequence is: one without prefix and intermediates that all terminals
/// and the model draw alike.
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

/// Returns how much of this output has scrolled off a screen of so many rows at its end: what
/// comes before twice as many new lines, whatever the screen showed and wherever the cursor was.
/// It is cut where a line begins, at its carriage return, so that the column does not matter.
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

/// Returns the sequences that set the colours of what is written after output that only writes.
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
