//! Numbered choices of a dialog, and the one that a person means.

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
