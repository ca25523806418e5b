//! The choices of a dialog, read from a screen.
//!
//! Most rows of a dialog can contain text by the author of the command that the dialog asks about.
//! A row of that text that looks like a choice must not be shown as a choice, and must not change
//! which choice an answer selects.

use std::ops::Range;

/// Drawn before the choice that is currently active.
const TICK: char = '✔';

/// The choices of a dialog and their position on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// In the order on the screen. The first choice has the number 1.
    pub texts: Vec<String>,
    /// Index of the selected choice.
    pub marked: usize,
    /// The rows that contain the choices.
    pub rows: Range<usize>,
}

/// Finds numbered choices around a marked row. Their numbers are in the same column and count from
/// 1 without a gap. If several rows are marked, the leftmost ones belong to the dialog, because the
/// dialog indents everything else; the last of these is used. `None` if the choices are not clear.
pub fn numbered(rows: &[String], marks: &[char]) -> Option<Choices> {
    let rows: Vec<DialogRow<'_>> = rows.iter().map(|row| DialogRow::read(row, marks)).collect();
    let marked = || rows.iter().enumerate().filter_map(|(at, row)| row.marked().map(|it| (at, it)));
    let column = marked().map(|(_, choice)| choice.column).min()?;
    let (anchor, choice) = marked().rfind(|(_, choice)| choice.column == column)?;
    let mut places = vec![anchor];
    for number in (1..choice.number).rev() {
        let above = next_in_column(&rows, column, (0..places[0]).rev())?;
        rows[above].is_choice(number).then_some(())?;
        places.insert(0, above);
    }
    let mut last = anchor;
    for number in choice.number + 1.. {
        let Some(below) = next_in_column(&rows, column, last + 1..rows.len()) else { break };
        rows[below].is_choice(number).then_some(())?;
        places.push(below);
        last = below;
    }
    let end = end_of_choices(&rows, column, last);
    let ends = places.iter().skip(1).copied().chain([end]);
    let texts = places.iter().zip(ends).map(|(first, end)| text(&rows[*first..end])).collect();
    let marked = usize::from(choice.number) - 1;
    Some(Choices { texts, marked, rows: places[0]..end })
}

/// Finds choices without numbers: the last marked row, and the rows directly above and below it
/// whose text begins in the same column. `None` if the marked row has a number.
pub fn unnumbered(rows: &[String], marks: &[char]) -> Option<Choices> {
    let at = rows.iter().rposition(|row| row.trim_start().starts_with(marks))?;
    if DialogRow::read(&rows[at], marks).choice.is_some() {
        return None;
    }
    let column = |row: &str| {
        row.chars().position(|c| !c.is_whitespace() && !marks.contains(&c) && c != TICK)
    };
    let of_choices = column(&rows[at])?;
    let belongs = |row: &&String| column(row) == Some(of_choices);
    let above = rows[..at].iter().rev().take_while(belongs).count();
    let below = rows[at + 1..].iter().take_while(belongs).count();
    let rows_of_choices = at - above..at + below + 1;
    let text = |row: &String| row.chars().skip(of_choices).collect::<String>().trim().to_owned();
    let texts = rows[rows_of_choices.clone()].iter().map(text).collect();
    Some(Choices { texts, marked: above, rows: rows_of_choices })
}

/// A row of a screen.
struct DialogRow<'a> {
    /// Column of the first character that is not part of a frame. `None` if the row is empty.
    column: Option<usize>,
    /// The text without frames.
    text: &'a str,
    choice: Option<NumberedChoice<'a>>,
}

#[derive(Clone, Copy)]
struct NumberedChoice<'a> {
    number: u8,
    /// Column of the number.
    column: usize,
    is_marked: bool,
    text: &'a str,
}

impl<'a> DialogRow<'a> {
    fn read(row: &'a str, marks: &[char]) -> Self {
        let text = super::without_frame(row);
        let column_of = |part: &str| row.chars().count() - part.chars().count();
        let rest = row.trim_start_matches(super::is_frame);
        let column = (!text.is_empty()).then(|| column_of(rest));
        let unmarked = text.trim_start_matches(marks).trim_start();
        let choice = unmarked.split_once(". ").and_then(|(number, words)| {
            let number = number.parse().ok().filter(|number| (1..=9).contains(number))?;
            let column = column_of(rest.trim_start_matches(marks).trim_start());
            let is_marked = unmarked.len() < text.len();
            Some(NumberedChoice { number, column, is_marked, text: words.trim() })
        });
        Self { column, text, choice }
    }

    fn marked(&self) -> Option<NumberedChoice<'a>> {
        self.choice.filter(|choice| choice.is_marked)
    }

    fn is_choice(&self, number: u8) -> bool {
        self.choice.is_some_and(|choice| choice.number == number)
    }
}

/// Returns the next row with a number in this column. Text further to the left ends the choices.
fn next_in_column(
    rows: &[DialogRow<'_>],
    column: usize,
    mut places: impl Iterator<Item = usize>,
) -> Option<usize> {
    let is_left = |row: &DialogRow<'_>| row.column.is_some_and(|first| first < column);
    let is_choice = |row: &DialogRow<'_>| row.choice.is_some_and(|choice| choice.column == column);
    places
        .find(|at| is_left(&rows[*at]) || is_choice(&rows[*at]))
        .filter(|at| is_choice(&rows[*at]))
}

/// Returns the index of the row after the last choice. The text of a choice can continue in the
/// rows below it.
fn end_of_choices(rows: &[DialogRow<'_>], column: usize, last: usize) -> usize {
    let is_more = |row: &&DialogRow<'_>| row.column.is_some_and(|first| first > column);
    last + 1 + rows[last + 1..].iter().take_while(is_more).count()
}

/// Joins the rows of a choice.
fn text(rows: &[DialogRow<'_>]) -> String {
    let first = rows.first().and_then(|row| row.choice).map(|choice| choice.text);
    let more = rows.iter().skip(1).map(|row| row.text).filter(|text| !text.is_empty());
    super::visible(&first.into_iter().chain(more).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn read(text: &str) -> Option<(Vec<String>, usize)> {
        numbered(&rows(text), &['❯']).map(|it| (it.texts, it.marked))
    }

    fn expected(texts: &[&str], marked: usize) -> Option<(Vec<String>, usize)> {
        Some((texts.iter().map(|&text| text.to_owned()).collect(), marked))
    }

    #[test]
    fn choices_are_numbered_from_one_in_one_column() {
        let asked = " Go on?\n   1. Yes\n ❯ 2. Yes, and\n      always\n   3. No\n\n Esc to cancel";
        assert_eq!(read(asked), expected(&["Yes", "Yes, and always", "No"], 1));
        let framed = "│ Go on?      │\n│ ❯ 1. Yes    │\n│   2. No     │\n╰─────────────╯";
        assert_eq!(read(framed), expected(&["Yes", "No"], 0));
        for text in ["1. one\n2. two", "❯ 2. two\n  3. three", "❯ hello", ""] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn rows_of_a_command_that_look_like_choices_are_ignored() {
        let real = expected(&["Yes", "No"], 0);
        let table = [
            // Similar rows in the command: in other columns and in the same column, marked and
            // unmarked.
            " 3. No\n   2. Yes\n Go on?\n ❯ 1. Yes\n   2. No\n",
            " ❯ 1. No\n   2. Yes\n Go on?\n ❯ 1. Yes\n   2. No\n",
            "    ❯ 1. No\n Go on?\n ❯ 1. Yes\n   2. No\n",
        ];
        for text in table {
            assert_eq!(read(text), real, "{text}");
        }
        // Similar rows in the text of a choice that quotes the command.
        let quoted = " ❯ 1. Yes\n   2. Yes, for\n      ❯ 1. No\n      3. x\n   3. No\n";
        assert_eq!(read(quoted), expected(&["Yes", "Yes, for ❯ 1. No 3. x", "No"], 0));
    }

    #[test]
    fn choices_with_missing_or_repeated_numbers_are_rejected() {
        for text in [" ❯ 1. Yes\n   3. No\n", "   1. Yes\n   1. No\n ❯ 2. No\n   2. Yes\n"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn unnumbered_choices_are_adjacent_rows_in_one_column() {
        let list = |text: &str| unnumbered(&rows(text), &['❯']).map(|it| (it.texts, it.marked));
        let themes = " Which?\n\n     Auto\n ❯ ✔ Dark mode\n     Light mode\n\n below";
        assert_eq!(list(themes), expected(&["Auto", "Dark mode", "Light mode"], 1));
        assert_eq!(list(" ❯ 1. Yes\n   2. No"), None);
    }
}
