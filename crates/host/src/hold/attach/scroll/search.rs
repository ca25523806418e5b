//! Finds text in lines.

use std::ops::Range;

use crate::hold::styled_lines::StyledLine;

/// The direction of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

impl Direction {
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Forward => Self::Backward,
            Self::Backward => Self::Forward,
        }
    }
}

/// A search text. If it has no capital letters, upper and lower case are not distinguished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) text: String,
    ignores_case: bool,
}

/// A match: a line, and a byte range in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) line: usize,
    pub(super) part: Range<usize>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchResult {
    pub(super) place: Match,
    /// Whether the search continued at the other end.
    pub(super) has_wrapped: bool,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), ignores_case: !text.chars().any(char::is_uppercase) }
    }

    /// Returns all matches in a text, without overlaps.
    pub(super) fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
            match self.length_at(rest) {
                Some(length) if length > 0 => {
                    found.push(from..from + length);
                    from += length;
                }
                _ => from += rest.chars().next().map_or(1, char::len_utf8),
            }
        }
        found
    }

    /// Returns the length in bytes of a match at the beginning of a text. `None` if there is no
    /// match.
    fn length_at(&self, text: &str) -> Option<usize> {
        let mut length = 0;
        let mut characters = text.chars();
        for expected in self.text.chars() {
            let character = characters.next().filter(|it| self.is_same(*it, expected))?;
            length += character.len_utf8();
        }
        Some(length)
    }

    fn is_same(&self, one: char, other: char) -> bool {
        one == other || self.ignores_case && one.to_lowercase().eq(other.to_lowercase())
    }
}

/// Finds the next match after or before this line and byte. If there is none, continues at the
/// other end.
pub(super) fn find(
    lines: &[StyledLine],
    pattern: &Pattern,
    from: (usize, usize),
    direction: Direction,
) -> Option<SearchResult> {
    let is_after = |place: &Match| (place.line, place.part.start) > from;
    let is_before = |place: &Match| (place.line, place.part.start) < from;
    let found = |place, has_wrapped| SearchResult { place, has_wrapped };
    match direction {
        Direction::Forward => {
            let next = in_lines(lines, pattern, from.0..lines.len()).find(is_after);
            let first = || in_lines(lines, pattern, 0..lines.len()).next();
            next.map(|it| found(it, false)).or_else(|| first().map(|it| found(it, true)))
        }
        Direction::Backward => {
            let end = (from.0 + 1).min(lines.len());
            let next = in_lines_backwards(lines, pattern, end).find(is_before);
            let last = || in_lines_backwards(lines, pattern, lines.len()).next();
            next.map(|it| found(it, false)).or_else(|| last().map(|it| found(it, true)))
        }
    }
}

fn in_line(line: usize, lines: &[StyledLine], pattern: &Pattern) -> Vec<Match> {
    let places = lines.get(line).map(|it| pattern.places(&it.text)).unwrap_or_default();
    places.into_iter().map(|part| Match { line, part }).collect()
}

fn in_lines(
    lines: &[StyledLine],
    pattern: &Pattern,
    range: Range<usize>,
) -> impl Iterator<Item = Match> {
    range.flat_map(|line| in_line(line, lines, pattern))
}

fn in_lines_backwards(
    lines: &[StyledLine],
    pattern: &Pattern,
    end: usize,
) -> impl Iterator<Item = Match> {
    (0..end).rev().flat_map(|line| in_line(line, lines, pattern).into_iter().rev())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hold::styled_lines::parse;

    #[test]
    fn lower_case_finds_capitals_and_capitals_find_only_capitals() {
        type Places = &'static [(usize, usize)];
        let table: [(&str, &str, Places); 8] = [
            ("ab", "xabABx", &[(1, 3), (3, 5)]),
            ("Ab", "ab Ab AB", &[(3, 5)]),
            ("aa", "aaaa", &[(0, 2), (2, 4)]),
            ("", "abc", &[]),
            ("x", "", &[]),
            ("漢", "a漢b漢", &[(1, 4), (5, 8)]),
            ("ä", "Ä ä", &[(0, 2), (3, 5)]),
            ("[a.", "x[a.x", &[(1, 4)]),
        ];
        for (pattern, text, expected) in table {
            let places = Pattern::new(pattern).places(text);
            let places: Vec<_> = places.into_iter().map(|it| (it.start, it.end)).collect();
            assert_eq!(places, expected, "{pattern:?} in {text:?}");
        }
    }

    #[test]
    fn find_searches_in_both_directions_and_wraps_around() {
        let lines = parse("x a a\nnone\na\n");
        let pattern = Pattern::new("a");
        let table = [
            ((0, 0), Direction::Forward, (0, 2, false)),
            ((0, 2), Direction::Forward, (0, 4, false)),
            ((0, 4), Direction::Forward, (2, 0, false)),
            ((2, 0), Direction::Forward, (0, 2, true)),
            ((2, 0), Direction::Backward, (0, 4, false)),
            ((0, 4), Direction::Backward, (0, 2, false)),
            ((0, 2), Direction::Backward, (2, 0, true)),
            ((3, 0), Direction::Backward, (2, 0, false)),
        ];
        for (from, direction, (line, start, has_wrapped)) in table {
            let found = find(&lines, &pattern, from, direction).unwrap();
            let place = (found.place.line, found.place.part.start, found.has_wrapped);
            assert_eq!(place, (line, start, has_wrapped), "{from:?} {direction:?}");
        }
        assert_eq!(find(&lines, &Pattern::new("y"), (0, 0), Direction::Forward), None);
    }
}
