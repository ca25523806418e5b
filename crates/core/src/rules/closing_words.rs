//! Finds the issues that a pull request closes by the words in its text, such as `fixes #7`.

use std::sync::LazyLock;

use regex::Regex;

/// The most issues that one text closes.
const MAX_CLOSED: usize = 20;

/// The most bytes of a text in which words are looked for.
const SEARCHED_BYTES: usize = 256 * 1024;

#[expect(clippy::unwrap_used, reason = "the pattern is constant, and tests compile it")]
static CLOSING: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)";
    let place = r"(?:([\w.-]+/[\w.-]+)?#|https?://[^\s/]+/([\w.-]+/[\w.-]+)/issues/)";
    Regex::new(&format!(r"(?i)\b{words}:?\s+{place}(\d{{1,18}})\b")).unwrap()
});

/// Returns the numbers of the issues of a repository that the text of a pull request closes, in the
/// order of their first mention. The words are those that forges with this feature share. Issues of
/// other repositories are left out.
pub fn closed_issues(text: &str, repository: &str) -> Vec<u64> {
    let text = &text[..text.floor_char_boundary(SEARCHED_BYTES)];
    let mut found = Vec::new();
    for captures in CLOSING.captures_iter(text) {
        let named = captures.get(1).or_else(|| captures.get(2)).map(|it| it.as_str());
        let is_here = named.is_none_or(|name| name.eq_ignore_ascii_case(repository));
        let number = captures.get(3).and_then(|it| it.as_str().parse().ok());
        if let Some(number) = number.filter(|it| is_here && !found.contains(it))
            && found.len() < MAX_CLOSED
        {
            found.push(number);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_words_before_a_number_of_the_same_repository_close_the_issue() {
        let table: [(&str, &[u64]); 16] = [
            ("Fixes #7", &[7]),
            ("closes: #7, and resolved #8", &[7, 8]),
            ("close #7\nfix #7\nresolve #9", &[7, 9]),
            ("fixes team/app#12", &[12]),
            ("Fixes Team/App#12", &[12]),
            ("fixes https://git.example.org/team/app/issues/3.", &[3]),
            ("fixes other/app#12", &[]),
            ("fixes https://git.example.org/other/app/issues/3", &[]),
            ("see #7", &[]),
            ("#7", &[]),
            ("prefixes #7", &[]),
            ("fixes#7", &[]),
            ("fixes #7a", &[]),
            ("fixes #99999999999999999999", &[]),
            ("fixing #7", &[]),
            ("", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(closed_issues(text, "team/app"), expected, "{text}");
        }
    }

    #[test]
    fn long_text_closes_a_limited_number_of_issues() {
        let many: String = (1..=100_000).map(|number| format!("fixes #{number}\n")).collect();
        assert_eq!(closed_issues(&many, "team/app").len(), MAX_CLOSED);
    }
}
