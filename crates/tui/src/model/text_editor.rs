//! A text that the user edits, of one line or several.

/// A text with a cursor. The cursor is a number of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextEditor {
    characters: Vec<char>,
    cursor: usize,
}

impl TextEditor {
    pub(crate) fn new(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        Self { cursor: characters.len(), characters }
    }

    pub(crate) fn text(&self) -> String {
        self.characters.iter().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.characters.is_empty()
    }

    pub(crate) fn insert(&mut self, character: char) {
        self.characters.insert(self.cursor, character);
        self.cursor += 1;
    }

    /// Inserts a pasted text. Line breaks of any kind become `\n`; other control characters are
    /// left out.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let kept = text.chars().filter(|it| *it == '\n' || *it == '\t' || !it.is_control());
        kept.for_each(|character| self.insert(character));
    }

    pub(crate) fn delete_before(&mut self) {
        if self.cursor > 0 {
            self.cursor -= 1;
            self.characters.remove(self.cursor);
        }
    }

    pub(crate) fn delete_after(&mut self) {
        if self.cursor < self.characters.len() {
            self.characters.remove(self.cursor);
        }
    }

    /// Deletes the word before the cursor, and the spaces behind it.
    pub(crate) fn delete_word(&mut self) {
        while self.before().is_some_and(char::is_whitespace) {
            self.delete_before();
        }
        while self.before().is_some_and(|it| !it.is_whitespace()) {
            self.delete_before();
        }
    }

    /// Deletes from the beginning of the line to the cursor.
    pub(crate) fn delete_line(&mut self) {
        while self.before().is_some_and(|it| it != '\n') {
            self.delete_before();
        }
    }

    pub(crate) fn left(&mut self) {
        self.cursor = self.cursor.saturating_sub(1);
    }

    pub(crate) fn right(&mut self) {
        self.cursor = (self.cursor + 1).min(self.characters.len());
    }

    pub(crate) fn home(&mut self) {
        self.cursor = self.line_start();
    }

    pub(crate) fn end(&mut self) {
        self.cursor = self.line_end();
    }

    /// Moves the cursor to the line above. Returns whether there is one.
    pub(crate) fn up(&mut self) -> bool {
        let start = self.line_start();
        let column = self.cursor - start;
        if start == 0 {
            return false;
        }
        self.cursor = start - 1;
        let above = self.line_start();
        self.cursor = (above + column).min(start - 1);
        true
    }

    /// Moves the cursor to the line below. Returns whether there is one.
    pub(crate) fn down(&mut self) -> bool {
        let column = self.cursor - self.line_start();
        let end = self.line_end();
        if end == self.characters.len() {
            return false;
        }
        self.cursor = end + 1;
        self.cursor = (self.cursor + column).min(self.line_end());
        true
    }

    /// Returns the lines, and the line and the text before the cursor in it.
    pub(crate) fn lines(&self) -> (Vec<String>, usize, String) {
        let text = self.text();
        let lines = text.split('\n').map(str::to_owned).collect();
        let row = self.characters.iter().take(self.cursor).filter(|it| **it == '\n').count();
        let before = self.characters.get(self.line_start()..self.cursor).unwrap_or_default();
        (lines, row, before.iter().collect())
    }

    fn before(&self) -> Option<char> {
        self.cursor.checked_sub(1).and_then(|at| self.characters.get(at)).copied()
    }

    fn line_start(&self) -> usize {
        let before = self.characters.get(..self.cursor).unwrap_or_default();
        before.iter().rposition(|it| *it == '\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let after = self.characters.get(self.cursor..).unwrap_or_default();
        let length = after.iter().position(|it| *it == '\n').unwrap_or(after.len());
        self.cursor + length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_moves_between_lines_and_keeps_its_column_if_it_can() {
        let mut editor = TextEditor::new("long line\nab\nthird");
        assert_eq!(editor.lines().1, 2);
        assert!(editor.up());
        assert_eq!((editor.lines().1, editor.lines().2.as_str()), (1, "ab"));
        assert!(editor.up() && !editor.up());
        assert_eq!((editor.lines().1, editor.lines().2.as_str()), (0, "lo"));
        assert!(editor.down() && editor.down() && !editor.down());
        assert_eq!((editor.lines().1, editor.lines().2.as_str()), (2, "th"));
    }

    #[test]
    fn words_and_lines_are_deleted_before_the_cursor() {
        let mut editor = TextEditor::new("one two  ");
        editor.delete_word();
        assert_eq!(editor.text(), "one ");
        let mut editor = TextEditor::new("one\ntwo three");
        editor.delete_line();
        assert_eq!(editor.text(), "one\n");
        editor.delete_before();
        editor.left();
        editor.delete_after();
        assert_eq!(editor.text(), "on");
    }

    #[test]
    fn pasted_text_has_no_control_characters_but_line_breaks() {
        let mut editor = TextEditor::default();
        editor.paste("a\r\nb\rc\u{1b}[31m漢");
        assert_eq!(editor.text(), "a\nb\nc[31m漢");
    }
}
