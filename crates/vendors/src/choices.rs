//! Which of a dialog's choices a person means, and the keys that take it.

use segue_core::ports::Answer;

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

/// Returns the key that is the number of a choice.
pub(crate) fn number_of(position: usize) -> Vec<u8> {
    (position + 1).to_string().into_bytes()
}

/// Returns the position of the choice that an answer means. `yes` and `no` are the first of these
/// words that only one choice begins with.
pub(crate) fn meant(
    choices: &[String],
    answer: &Answer,
    yes: &[&str],
    no: &[&str],
) -> Option<usize> {
    match answer {
        Answer::Yes => yes.iter().find_map(|word| plain(choices, word)),
        Answer::No => no.iter().find_map(|word| plain(choices, word)),
        Answer::Choice(words) => by_words(choices, words.trim()),
    }
}

/// Returns the choice that is this word, or else the only one that begins with it: where several
/// do, they grant different things.
fn plain(choices: &[String], word: &str) -> Option<usize> {
    let begins = |text: &str| {
        text.to_lowercase()
            .strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric()))
    };
    only(choices, word, begins)
}

/// Returns the choice of this number, or the only one that begins with these words.
fn by_words(choices: &[String], words: &str) -> Option<usize> {
    if let Ok(number) = words.parse::<usize>() {
        return number.checked_sub(1).filter(|position| *position < choices.len());
    }
    let words = words.to_lowercase();
    only(choices, &words, |text| !words.is_empty() && text.to_lowercase().starts_with(&words))
}

fn only(choices: &[String], exact: &str, fits: impl Fn(&str) -> bool) -> Option<usize> {
    let is_exact = |text: &String| text.to_lowercase() == exact;
    let mut fitting = (0..choices.len()).filter(|at| fits(&choices[*at]));
    let exact = choices.iter().position(is_exact);
    exact.or_else(|| fitting.next().filter(|_| fitting.next().is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_means_one_choice_or_none() {
        let choices = ["Yes", "Yes, and always", "No, exit"].map(str::to_owned);
        let several = ["Yes, once", "Yes, always", "Nothing"].map(str::to_owned);
        let choice = |words: &str| Answer::Choice(words.to_owned());
        let table = [
            (&choices, Answer::Yes, Some(0)),
            (&choices, Answer::No, Some(2)),
            (&choices, choice("2"), Some(1)),
            (&choices, choice("yes, and"), Some(1)),
            (&choices, choice("yes"), Some(0)),
            (&choices, choice("0"), None),
            (&choices, choice("4"), None),
            (&choices, choice(""), None),
            (&choices, choice("maybe"), None),
            (&several, Answer::Yes, None),
            (&several, Answer::No, None),
        ];
        for (choices, answer, expected) in table {
            assert_eq!(meant(choices, &answer, &["yes"], &["no"]), expected, "{answer:?}");
        }
    }
}
