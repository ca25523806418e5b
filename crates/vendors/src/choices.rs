//! The choices of a dialog, and the one that a person means.

pub(crate) const UP: &[u8] = b"\x1b[A";
pub(crate) const DOWN: &[u8] = b"\x1b[B";
pub(crate) const ENTER: &[u8] = b"\r";

/// Returns the keys that move the mark from one choice to another and take that one.
pub(crate) fn keys_to(wanted: usize, marked: usize) -> Vec<u8> {
    let key = if wanted < marked { UP } else { DOWN };
    let mut keys = key.repeat(wanted.abs_diff(marked));
    keys.extend_from_slice(ENTER);
    keys
}

/// Drawn before the choice that is in force.
const TICK: char = '✔';

/// A list of choices without numbers, of which one is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MarkedList {
    /// The rows that the list is in, with a number before each choice.
    pub(crate) rows: Vec<String>,
    /// The index of the first row of the list, and of the row behind its last.
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// The position of the marked choice in the list, beginning with 0.
    pub(crate) marked: usize,
}

/// Finds a list of choices without numbers: the last marked row, and the rows directly above and
/// below it whose text begins in the same column. `None` if the marked row has a number.
pub(crate) fn marked_list(rows: &[String], mark: char) -> Option<MarkedList> {
    let at = rows.iter().rposition(|row| row.trim_start().starts_with(mark))?;
    if choice(&rows[at], mark).is_some() {
        return None;
    }
    let column = text_column(&rows[at], mark)?;
    let belongs = |row: &String| text_column(row, mark) == Some(column);
    let above = rows[..at].iter().rev().take_while(|row| belongs(row)).count();
    let below = rows[at + 1..].iter().take_while(|row| belongs(row)).count();
    let (first, end) = (at - above, at + below + 1);
    let mut rows = rows.to_vec();
    for (row, number) in rows[first..end].iter_mut().zip(1..) {
        let text = row.chars().skip(column).collect::<String>();
        *row = format!("{number}. {text}");
    }
    Some(MarkedList { rows, first, end, marked: above })
}

/// Returns the column of a row's first letter behind spaces, the mark and the tick. `None` if there
/// is none.
fn text_column(row: &str, mark: char) -> Option<usize> {
    row.chars().position(|c| !c.is_whitespace() && c != mark && c != TICK)
}

/// One of a dialog's choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) number: u8,
    pub(crate) text: String,
}

/// Reads `❯ 1. Yes`.
pub(crate) fn choice(row: &str, mark: char) -> Option<Choice> {
    let row = row.trim_start().trim_start_matches(mark).trim_start();
    let (number, text) = row.split_once(". ")?;
    let number = number.parse().ok().filter(|number| (1..=9).contains(number))?;
    Some(Choice { number, text: text.trim().to_owned() })
}

/// Returns the choice that is this word, or else the only one that begins with it: where several
/// do, they grant different things.
pub(crate) fn plain<'a>(choices: &'a [Choice], word: &str) -> Option<&'a Choice> {
    let begins: Vec<&Choice> =
        choices.iter().filter(|it| it.text.split([',', ' ']).next() == Some(word)).collect();
    let exact = begins.iter().find(|it| it.text == word);
    exact.copied().or_else(|| if let [only] = begins[..] { Some(only) } else { None })
}

/// Returns the choice of this number, or the only one that begins with these words.
pub(crate) fn by_words<'a>(choices: &'a [Choice], words: &str) -> Option<&'a Choice> {
    if let Ok(number) = words.parse::<u8>() {
        return choices.iter().find(|it| it.number == number);
    }
    let words = words.to_lowercase();
    let begins = |it: &&Choice| !words.is_empty() && it.text.to_lowercase().starts_with(&words);
    let begins: Vec<&Choice> = choices.iter().filter(begins).collect();
    let exact = begins.iter().find(|it| it.text.to_lowercase() == words);
    exact.copied().or_else(|| if let [only] = begins[..] { Some(only) } else { None })
}
