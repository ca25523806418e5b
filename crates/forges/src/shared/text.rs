//! Text, timestamps and ids from a forge, with maximum lengths.

use jiff::Timestamp;
use segue_core::model::{
    CommitId, LONGEST_BODY_BYTES, LONGEST_NAME_BYTES, LONGEST_TITLE_BYTES, LONGEST_URL_BYTES,
    RepositoryUrl, shortened_text,
};

/// Returns the name of a user, a label, a branch or a file.
pub(crate) fn name(text: Option<String>) -> String {
    shortened_text(text.unwrap_or_default(), LONGEST_NAME_BYTES)
}

/// Returns a name. `None` if it is missing or empty.
pub(crate) fn optional_name(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(|text| name(Some(text)))
}

pub(crate) fn title(text: Option<String>) -> String {
    shortened_text(text.unwrap_or_default(), LONGEST_TITLE_BYTES)
}

pub(crate) fn body(text: Option<String>) -> String {
    shortened_text(text.unwrap_or_default(), LONGEST_BODY_BYTES)
}

/// Returns a URL for display. A longer one is left out, because its beginning is another URL.
pub(crate) fn url(text: Option<String>) -> String {
    text.filter(|text| text.len() <= LONGEST_URL_BYTES).unwrap_or_default()
}

/// Returns the first URL that git can use.
pub(crate) fn clone_url(urls: [Option<String>; 2]) -> Option<RepositoryUrl> {
    let urls = urls.into_iter().flatten().filter(|text| text.len() <= LONGEST_URL_BYTES);
    urls.into_iter().find_map(|text| RepositoryUrl::parse(&text).ok())
}

/// Parses the id of a commit. `None` if it is none, or if all digits are zero.
pub(crate) fn commit(text: Option<&str>) -> Option<CommitId> {
    CommitId::parse(text?).ok().filter(|id| !is_zero(id.as_str()))
}

/// Returns whether the id stands for no commit.
pub(crate) fn is_zero(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte == b'0')
}

/// Returns the name of a branch. `None` if the ref is a tag or something else.
pub(crate) fn branch_of_ref(name: &str) -> Option<&str> {
    match name.strip_prefix("refs/") {
        Some(rest) => rest.strip_prefix("heads/"),
        None => Some(name),
    }
}

/// Parses a timestamp. Invalid values become `None`. Forges without a value send the year 1.
pub(crate) fn time(text: Option<&str>) -> Option<Timestamp> {
    let text = text?;
    let parsed = match text.strip_suffix(" UTC") {
        Some(date_and_time) => format!("{date_and_time}Z").parse().ok(),
        None => text.parse().ok(),
    };
    let other = || Timestamp::strptime("%Y-%m-%d %H:%M:%S %z", text).ok();
    parsed.or_else(other).filter(|time| *time > Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_of_every_forge_are_parsed() {
        let table = [
            ("2019-05-15T15:20:18Z", "2019-05-15T15:20:18Z"),
            ("2022-03-09T16:20:23+09:00", "2022-03-09T07:20:23Z"),
            ("2023-12-05 18:43:00 UTC", "2023-12-05T18:43:00Z"),
            ("2023-12-05 18:43:00 +0100", "2023-12-05T17:43:00Z"),
            ("2017-12-10T17:05:56.123Z", "2017-12-10T17:05:56.123Z"),
        ];
        for (text, expected) in table {
            assert_eq!(time(Some(text)).map(|it| it.to_string()).as_deref(), Some(expected));
        }
        for text in ["", "soon", "0001-01-01T00:00:00Z", "2023-12-05", "1970-01-01T00:00:00Z"] {
            assert_eq!(time(Some(text)), None, "{text}");
        }
    }

    #[test]
    fn branch_is_the_rest_of_its_ref() {
        let table = [
            ("refs/heads/a/b", Some("a/b")),
            ("a/b", Some("a/b")),
            ("refs/tags/v1", None),
            ("refs/pull/1/head", None),
        ];
        for (name, expected) in table {
            assert_eq!(branch_of_ref(name), expected, "{name}");
        }
    }

    #[test]
    fn commit_of_zeros_is_no_commit() {
        let digits = "a1".repeat(20);
        assert_eq!(commit(Some(&digits)).unwrap().as_str(), digits);
        let zeros = "0".repeat(40);
        for text in [None, Some(""), Some("abc"), Some(zeros.as_str())] {
            assert_eq!(commit(text), None, "{text:?}");
        }
    }
}
