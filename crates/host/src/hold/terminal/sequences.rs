//! Executes control sequences.

use super::{Effects, Sequence, VirtualTerminal, queries};

/// The final bytes of sequences that the model and every terminal draw in the same way.
const DRAWN: &[u8] = b"@ABCDEFGHJKLMPSTX`bdfm";
/// The maximum number of saved titles, as in other terminals.
const MAX_TITLES: usize = 10;

impl VirtualTerminal {
    pub(super) fn sequence(&mut self, bytes: &[u8], effects: &mut Effects) {
        let Some(sequence) = Sequence::parse(bytes) else {
            return;
        };
        match (sequence.prefix, sequence.intermediate, sequence.last) {
            (0, 0, last) => self.plain_sequence(bytes, last, &sequence, effects),
            (0, b' ', b'q') | (b'?', 0, b'J' | b'K') => self.draw(bytes, effects),
            (b'?', 0, b'h' | b'l') => self.switch_modes(&sequence, effects),
            (b'<' | b'=' | b'>', 0, b'u') => self.change_keyboard(&sequence, effects),
            (b'>', 0, b'm') => self.modify_keys(&sequence, effects),
            (0, b'!', b'p') => self.reset_softly(effects),
            _ => self.answer(&sequence, effects),
        }
    }

    fn plain_sequence(
        &mut self,
        bytes: &[u8],
        last: u8,
        sequence: &Sequence<'_>,
        effects: &mut Effects,
    ) {
        let count = sequence.count();
        match last {
            // Not passed on: users' terminals would empty their own scrollback, which does not
            // belong to the agent.
            b'J' if sequence.number(0) == Some(3) => self.forget_scrollback(),
            // With more numbers, this sequence requests mouse tracking.
            b'T' if sequence.numbers().count() > 1 => {}
            _ if DRAWN.contains(&last) => self.draw(bytes, effects),
            b'a' => self.draw_as(bytes, format!("\x1b[{count}C").as_bytes(), effects),
            b'e' => self.draw_as(bytes, format!("\x1b[{count}B").as_bytes(), effects),
            b'I' => self.tab_forward(bytes, count, effects),
            b'Z' => self.tab_back(bytes, count, effects),
            b'r' => self.set_region(bytes, sequence, effects),
            b's' if sequence.is_bare() => self.save_cursor(effects),
            b'u' if sequence.is_bare() => self.draw(b"\x1b8", effects),
            b't' => self.window(sequence, effects),
            _ => self.answer(sequence, effects),
        }
    }

    fn tab_forward(&mut self, bytes: &[u8], count: u16, effects: &mut Effects) {
        let tabs = vec![b'\t'; usize::from(count.min(self.size().cols))];
        self.draw_as(bytes, &tabs, effects);
    }

    fn tab_back(&mut self, bytes: &[u8], count: u16, effects: &mut Effects) {
        let (_, col) = self.screen().cursor_position();
        let stop = col.div_ceil(8).saturating_sub(count) * 8;
        self.draw_as(bytes, format!("\x1b[{}G", stop + 1).as_bytes(), effects);
    }

    fn set_region(&mut self, bytes: &[u8], sequence: &Sequence<'_>, effects: &mut Effects) {
        self.draw(bytes, effects);
        let rows = self.size().rows;
        let row = |index| sequence.number(index).filter(|row| *row != 0);
        let top = row(0).unwrap_or(1) - 1;
        let bottom = row(1).unwrap_or(rows).min(rows) - 1;
        let is_whole_screen = (top, bottom) == (0, rows - 1);
        self.page_mut().region = (top < bottom && !is_whole_screen).then_some((top, bottom));
    }

    /// Pushes, pops or changes the flags of the keyboard protocol. Users' terminals get only the
    /// result.
    fn change_keyboard(&mut self, sequence: &Sequence<'_>, effects: &mut Effects) {
        let shown = self.shown_page();
        let keyboard = &mut self.keyboards[shown];
        let flags = sequence.number(0);
        match sequence.prefix {
            b'>' => keyboard.push(flags.unwrap_or(0)),
            b'<' => keyboard.pop(flags.unwrap_or(1).max(1)),
            _ => keyboard.change(flags.unwrap_or(0), sequence.number(1).unwrap_or(1)),
        }
        effects.show(keyboard.formatted().as_bytes());
    }

    /// Executes `CSI … t`: saves and restores titles, and answers queries. Windows are never moved
    /// or resized.
    fn window(&mut self, sequence: &Sequence<'_>, effects: &mut Effects) {
        match sequence.number(0) {
            Some(22) if self.titles.len() < MAX_TITLES => self.titles.push(self.title.clone()),
            Some(23) => {
                if let Some(title) = self.titles.pop() {
                    self.set_title(title, effects);
                }
            }
            Some(question) => queries::answer_about_window(question, self.size(), effects),
            None => {}
        }
    }
}
