//! Suggestions for a mistyped name ("did you mean").

use std::collections::BTreeSet;

/// At most this many names are suggested.
pub(super) const MAX_SUGGESTIONS: usize = 3;

/// Returns the names with the fewest typing errors compared with a word. At most one error per
/// three characters is allowed. A word of two letters can have one error if only one name is that
/// similar.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let is_short = word.len() == 2;
    let allowed = if is_short { 1 } else { word.len() / 3 };
    let near = names.into_iter().filter_map(|name| {
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        // The difference in length is a lower bound for the number of errors.
        let is_possible = letters.len().abs_diff(word.len()) <= allowed;
        // A one-letter name has nothing in common with most two-letter words.
        let is_possible = is_possible && !(is_short && letters.len() < word.len());
        let errors = is_possible.then(|| errors(&word, &letters))?;
        (errors <= allowed && !word.is_empty()).then_some((errors, name))
    });
    let near: BTreeSet<(usize, &str)> = near.collect();
    let fewest = near.first().map(|(errors, _)| *errors);
    let near: Vec<_> = near.into_iter().filter(|(errors, _)| Some(*errors) == fewest).collect();
    // With one error in two letters, nearly every short name matches, so several matches are no
    // suggestion.
    if is_short && near.len() > 1 {
        return Vec::new();
    }
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}

/// Counts the typing errors between two words: an extra, missing or wrong character, or two swapped
/// neighbours.
fn errors(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, a) in left.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, b) in right.iter().enumerate() {
            let changed = last[column] + usize::from(a != b);
            let mut best = changed.min(last[column + 1] + 1).min(next[column] + 1);
            let swapped = row > 0
                && column > 0
                && Some(a) == right.get(column - 1)
                && left.get(row - 1) == Some(b);
            if swapped {
                best = best.min(before[column - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_the_fewest_typing_errors_are_suggested() {
        let names = ["coder", "codec", "reviewer", "tester", "a"];
        let table: [(&str, &[&str]); 10] = [
            ("codr", &["coder"]),
            ("coedr", &["coder"]),
            ("codet", &["codec", "coder"]),
            ("CODER", &["coder"]),
            ("reveiwer", &["reviewer"]),
            ("viewer", &["reviewer"]),
            ("x", &[]),
            ("ab", &[]),
            ("", &[]),
            ("something else", &[]),
        ];
        for (word, expected) in table {
            assert_eq!(nearest(word, names), expected, "{word:?}");
        }
    }

    #[test]
    fn two_letter_word_with_one_error_is_matched_only_if_one_name_is_similar() {
        assert_eq!(nearest("fx", ["fox", "owl", "f"]), ["fox"]);
        assert_eq!(nearest("xf", ["fx", "owl"]), ["fx"]);
        assert_eq!(nearest("fx", ["fox", "fax"]), [""; 0]);
        assert_eq!(nearest("fx", ["foxy"]), [""; 0]);
    }

    #[test]
    fn at_most_three_names_are_suggested() {
        assert_eq!(nearest("fox", ["fox1", "fox2", "fox3", "fox4"]).len(), MAX_SUGGESTIONS);
    }
}
