//! The status line of scroll mode.

use super::{Direction, ScrollMode};
use crate::hold::styled_lines::width;

/// The key that leaves scroll mode. It comes first, and is dropped last on a narrow screen.
const LEAVE: &str = "q leave";
/// The other keys that the status line names, as far as there is room.
const KEYS: [&str; 4] = ["/ search", "v select", "y copy", "Ctrl-\\ ? keys"];

impl ScrollMode {
    /// Returns the status line, at most `cols` columns wide.
    pub(super) fn status(&self, cols: usize) -> String {
        if let Some(prompt) = &self.prompt {
            let sign = if prompt.direction == Direction::Forward { '/' } else { '?' };
            // The end of the typed text must be visible.
            return end_of(&format!("{sign}{}", prompt.text), cols);
        }
        let mut line = format!(" scroll  {LEAVE}");
        if columns(&line) > cols {
            return beginning_of(LEAVE, cols);
        }
        let note = self.note.clone().or_else(|| self.selection_text());
        let search = self.search.as_ref().map(|(pattern, _)| format!("search: {}", pattern.text));
        let parts = [note, search, Some(self.position()), self.limit()];
        for part in parts.into_iter().flatten() {
            add(&mut line, &format!("  {part}"), cols);
        }
        for (index, key) in KEYS.iter().enumerate() {
            let between = if index == 0 { "  |  " } else { "  " };
            if !add(&mut line, &format!("{between}{key}"), cols) {
                break;
            }
        }
        beginning_of(&line, cols)
    }

    fn position(&self) -> String {
        let (line, count) = (self.layout.line() + 1, self.lines.len());
        let percent = (self.layout.top + self.layout.height).min(self.layout.rows.len()) * 100
            / self.layout.rows.len().max(1);
        format!("line {line}/{count} {percent}%")
    }

    fn selection_text(&self) -> Option<String> {
        let selected = self.selected()?;
        let count = selected.end() - selected.start() + 1;
        Some(if count == 1 {
            "1 line selected".to_owned()
        } else {
            format!("{count} lines selected")
        })
    }

    /// Returns a text about earlier lines that are missing.
    fn limit(&self) -> Option<String> {
        if self.is_alternate {
            return Some("its earlier screens are not kept".to_owned());
        }
        self.has_forgotten.then(|| "older lines are gone".to_owned())
    }
}

fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// Adds a part if the whole part fits. Returns whether it was added.
fn add(line: &mut String, part: &str, cols: usize) -> bool {
    let has_room = columns(line) + columns(part) < cols;
    if has_room {
        *line += part;
    }
    has_room
}

/// Returns as much of the beginning of a text as fits.
fn beginning_of(text: &str, cols: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += width(*character);
        used <= cols
    };
    text.chars().take_while(fits).collect()
}

/// Returns as much of the end of a text as fits, with one column left for the cursor.
fn end_of(text: &str, cols: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += width(*character);
        used < cols
    };
    let reversed: Vec<char> = text.chars().rev().take_while(fits).collect();
    reversed.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        for (text, cols, beginning, end) in [
            ("abc", 2, "ab", "c"),
            ("漢字", 3, "漢", "字"),
            ("漢字", 1, "", ""),
            ("", 5, "", ""),
            ("abc", 9, "abc", "abc"),
        ] {
            assert_eq!(beginning_of(text, cols), beginning, "{text:?}");
            assert_eq!(end_of(text, cols), end, "{text:?}");
        }
    }
}
