//! The input line of the agent.

use unicode_width::UnicodeWidthChar as _;

use super::keys::DemoKey;

/// The draft, and the cursor position in it.
#[derive(Debug, Default)]
pub(super) struct Editor {
    draft: Vec<char>,
    cursor: usize,
}

impl Editor {
    pub(super) fn is_empty(&self) -> bool {
        self.draft.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.draft.clear();
        self.cursor = 0;
    }

    /// Removes and returns the draft.
    pub(super) fn take(&mut self) -> String {
        self.cursor = 0;
        self.draft.drain(..).collect()
    }

    /// Applies an editing key to the draft. Ignores all other keys.
    pub(super) fn press(&mut self, key: &DemoKey) {
        match key {
            DemoKey::Char(c) => self.insert([*c]),
            DemoKey::Paste(text) => self.insert(text.chars()),
            DemoKey::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.draft.remove(self.cursor);
            }
            DemoKey::Delete if self.cursor < self.draft.len() => {
                self.draft.remove(self.cursor);
            }
            DemoKey::Left => self.cursor = self.cursor.saturating_sub(1),
            DemoKey::Right => self.cursor = (self.cursor + 1).min(self.draft.len()),
            DemoKey::Home | DemoKey::Control('a') => self.cursor = 0,
            DemoKey::End | DemoKey::Control('e') => self.cursor = self.draft.len(),
            DemoKey::Control('u') => {
                self.draft.drain(..self.cursor);
                self.cursor = 0;
            }
            _ => {}
        }
    }

    /// Returns the part of the draft around the cursor that fits into this many columns, and the
    /// cursor's column in that part.
    pub(super) fn view(&self, columns: usize) -> (String, usize) {
        let shown: Vec<char> = self.draft.iter().map(|c| visible(*c)).collect();
        let width = |c: &char| c.width().unwrap_or(0);
        let mut start = self.cursor;
        let mut width_before = 0;
        while start > 0 && width_before + width(&shown[start - 1]) < columns {
            start -= 1;
            width_before += width(&shown[start]);
        }
        let mut columns_left = columns.saturating_sub(width_before);
        let text_after = shown[self.cursor..].iter().take_while(|c| {
            let fits = width(c) < columns_left;
            columns_left = columns_left.saturating_sub(width(c));
            fits
        });
        (shown[start..self.cursor].iter().chain(text_after).collect(), width_before)
    }

    fn insert(&mut self, characters: impl IntoIterator<Item = char>) {
        let tail = self.draft.split_off(self.cursor);
        self.draft.extend(characters);
        self.cursor = self.draft.len();
        self.draft.extend(tail);
    }
}

/// Replaces a control character, which could move the cursor, with a visible character.
fn visible(c: char) -> char {
    match c {
        '\n' => '⏎',
        '\t' => ' ',
        c if c.is_control() => '·',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Editor {
        let mut editor = Editor::default();
        text.chars().for_each(|c| editor.press(&DemoKey::Char(c)));
        editor
    }

    #[test]
    fn keys_edit_at_the_cursor() {
        let mut editor = typed("wörld");
        editor.press(&DemoKey::Home);
        editor.press(&DemoKey::Paste("héllo\n".into()));
        editor.press(&DemoKey::Right);
        editor.press(&DemoKey::Backspace);
        editor.press(&DemoKey::Delete);
        editor.press(&DemoKey::End);
        editor.press(&DemoKey::Char('!'));
        assert_eq!(editor.take(), "héllo\nrld!");
        editor.press(&DemoKey::Backspace);
        assert!(editor.is_empty());
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut editor = typed("日本語x");
        assert_eq!(editor.view(20), ("日本語x".to_owned(), 7));
        editor.press(&DemoKey::Left);
        editor.press(&DemoKey::Left);
        assert_eq!(editor.view(20), ("日本語x".to_owned(), 4));
    }

    #[test]
    fn view_of_a_long_draft_is_the_part_around_the_cursor() {
        let mut editor = typed("0123456789日");
        assert_eq!(editor.view(6), ("789日".to_owned(), 5));
        editor.press(&DemoKey::Home);
        assert_eq!(editor.view(6), ("01234".to_owned(), 0));
        assert_eq!(editor.view(0), (String::new(), 0));
    }

    #[test]
    fn view_replaces_control_characters_and_the_draft_keeps_them() {
        let mut editor = Editor::default();
        editor.press(&DemoKey::Paste("a\n\u{1b}[31m".into()));
        assert_eq!(editor.view(20), ("a⏎·[31m".to_owned(), 7));
        assert_eq!(editor.take(), "a\n\u{1b}[31m");
    }
}
