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

/// Returns the key with the number of the choice at this position: `1` for position 0.
pub(crate) fn number_key(position: usize) -> Vec<u8> {
    (position + 1).to_string().into_bytes()
}

/// Returns the position of the choice that an answer means. `None` if the answer fits no choice, or
/// several. `yes` and `no` list the words that such a choice can begin with. The first word that
/// identifies one choice counts.
pub(crate) fn find_choice(
    choices: &[String],
    answer: &Answer,
    yes: &[&str],
    no: &[&str],
) -> Option<usize> {
    match answer {
        Answer::Yes => yes.iter().find_map(|word| by_first_word(choices, word)),
        Answer::No => no.iter().find_map(|word| by_first_word(choices, word)),
        Answer::Choice(text) => by_number_or_text(choices, text.trim()),
    }
}

/// Returns the choice that equals this word, or else the only choice that begins with it. Several
/// choices that begin with it grant different things, so the result is `None`.
fn by_first_word(choices: &[String], word: &str) -> Option<usize> {
    let begins_with_word = |choice: &str| {
        choice
            .to_lowercase()
            .strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric()))
    };
    equal_or_only(choices, word, begins_with_word)
}

/// Returns the choice with this number. For another text, returns the choice that equals it, or
/// else the only choice that begins with it.
fn by_number_or_text(choices: &[String], text: &str) -> Option<usize> {
    if let Ok(number) = text.parse::<usize>() {
        return number.checked_sub(1).filter(|position| *position < choices.len());
    }
    let text = text.to_lowercase();
    let begins_with_text =
        |choice: &str| !text.is_empty() && choice.to_lowercase().starts_with(&text);
    equal_or_only(choices, &text, begins_with_text)
}

/// Returns the choice that equals this text, or else the only choice that fits.
fn equal_or_only(choices: &[String], text: &str, fits: impl Fn(&str) -> bool) -> Option<usize> {
    let equal = choices.iter().position(|choice| choice.to_lowercase() == text);
    let mut fitting = (0..choices.len()).filter(|at| fits(&choices[*at]));
    equal.or_else(|| fitting.next().filter(|_| fitting.next().is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_choice_returns_the_only_choice_that_fits() {
        let choices = ["Yes", "Yes, and always", "No, exit"].map(str::to_owned);
        let several = ["Yes, once", "Yes, always", "Nothing"].map(str::to_owned);
        let choice = |text: &str| Answer::Choice(text.to_owned());
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
            assert_eq!(find_choice(choices, &answer, &["yes"], &["no"]), expected, "{answer:?}");
        }
    }
}
