//! Finds the issue that a pull request is about.

use super::closing_words::closed_issues;
use crate::model::{ForgePull, ForgeRepository};

/// The most issues that one text links to.
const MAX_LINKED: usize = 20;

/// Returns the numbers of the issues of the same repository that a pull request closes or links to,
/// each once: first those that it closes, then those whose addresses are in its text.
pub fn issues_of(pull: &ForgePull, repository: &ForgeRepository) -> Vec<u64> {
    let texts = [pull.title.as_str(), pull.body.as_str()];
    let closed = texts.iter().flat_map(|text| closed_issues(text, &repository.full_name));
    let linked = texts.iter().flat_map(|text| linked_in(text, repository));
    let mut issues = Vec::new();
    for number in closed.chain(linked) {
        if !issues.contains(&number) {
            issues.push(number);
        }
    }
    issues
}

/// Returns the numbers of the addresses of issues of a repository in a text.
fn linked_in(text: &str, repository: &ForgeRepository) -> Vec<u64> {
    if repository.web_url.is_empty() {
        return Vec::new();
    }
    let base = repository.web_url.trim_end_matches('/');
    let bases = [format!("{base}/issues/"), format!("{base}/-/issues/")];
    let after = |base: &String| {
        let after = text.split(base.as_str()).skip(1);
        after.filter_map(leading_number).take(MAX_LINKED).collect::<Vec<_>>()
    };
    bases.iter().flat_map(after).collect()
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PullState;

    #[test]
    fn closing_words_and_addresses_name_issues_of_the_same_repository() {
        let web = "https://hub.example.org/team/app";
        let table: [(&str, &str, &[u64]); 10] = [
            ("Parser", "", &[]),
            ("Fix #7", "", &[7]),
            ("Parser", "closes: #7, resolves team/app#8.", &[7, 8]),
            ("Parser", "Fixes https://hub.example.org/team/app/issues/9", &[9]),
            ("Parser", "See https://hub.example.org/team/app/-/issues/9#note_1", &[9]),
            ("Parser", "closes other/app#7", &[]),
            ("Parser", "see #7", &[]),
            ("Parser", "See https://hub.example.org/team/app2/issues/9", &[]),
            ("Parser", "fixes #x and fixes #99999999999999999999", &[]),
            ("fixes #2", "https://hub.example.org/team/app/issues/1 fixes #2", &[2, 1]),
        ];
        for (title, body, expected) in table {
            let pull = sample(title, body);
            let repository = ForgeRepository {
                id: 1,
                full_name: "team/app".into(),
                clone_url: None,
                web_url: web.into(),
                default_branch: None,
            };
            assert_eq!(issues_of(&pull, &repository), expected, "{title} {body}");
        }
    }

    fn sample(title: &str, body: &str) -> ForgePull {
        ForgePull {
            id: 1,
            number: 12,
            title: title.into(),
            body: body.into(),
            web_url: String::new(),
            state: PullState::Open,
            is_draft: false,
            author: None,
            labels: Vec::new(),
            assignees: Vec::new(),
            head_branch: "fix".into(),
            base_branch: "main".into(),
            head_sha: None,
            is_fork: false,
            head_ref: None,
            updated_at: None,
        }
    }
}
