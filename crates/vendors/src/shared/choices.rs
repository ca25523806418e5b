//! Finds the choice of a dialog that an answer means, and the keys that select it.

use segue_core::ports::Answer;

pub(crate) const UP: &[u8] = b"\x1b[A";
pub(crate) const DOWN: &[u8] = b"\x1b[B";
pub(crate) const ENTER: &[u8] = b"\r";

/// Returns the keys that move the mark from the choice `marked` to the choice `wanted` and confirm
/// it.
pub(crate) fn keys_to(wanted: usize, marked: usize) -> Vec<u8> {
    let key = if wanted < marked { UP } else { DOWN };
    let mut keys = key.repeat(wanted.abs_diff(marked));
    keys.extend_from_slice(ENTER);
    keys
}

/// Returns the number key of the choice at this position: `1` for position 0.
pub(crate) fn number_of(position: usize) -> Vec<u8> {
    (position + 1).to_string().into_bytes()
}

/// Returns the position of the choice that an answer means, or `None` if that is not exactly one
/// choice. `yes` and `no` list the words that such a choice can begin with; the first word that
/// identifies one choice counts.
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

/// Returns the choice that equals this word, or else the only choice that begins with it. If
/// several choices begin with it, they grant different things, so the result is `None`.
fn plain(choices: &[String], word: &str) -> Option<usize> {
    let begins = |text: &str| {
        text.to_lowercase()
            .strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric()))
    };
    only(choices, word, begins)
}

/// Returns the choice with this number. For other words, returns the choice that equals them, or
/// else the only choice that begins with them.
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
