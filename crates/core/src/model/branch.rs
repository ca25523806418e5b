//! Names in a git repository: branches, commits, and other refs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::is_misleading;

/// Maximum length of a name in bytes. The file of a ref cannot have a longer name.
const LONGEST_NAME_BYTES: usize = 255;

macro_rules! git_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone,
            Debug,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            Serialize,
            Deserialize,
            JsonSchema,
        )]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;

            fn try_from(text: String) -> Result<Self> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }
    };
}

git_name! {
    /// The name of a branch, without `refs/heads/`. Git accepts it, it cannot be taken for an option,
    /// and it can be shown in prompts and on terminals.
    BranchName
}

git_name! {
    /// The full name of a ref, such as `refs/pull/12/head`.
    RefName
}

git_name! {
    /// The id of a commit: 40 hexadecimal digits, or 64 with SHA-256.
    CommitId
}

impl BranchName {
    pub fn parse(text: &str) -> Result<Self> {
        match is_valid(text) && text != "HEAD" {
            true => Ok(Self(text.to_owned())),
            false => Err(invalid(text, "a branch")
                .caused_by(
                    "git allows no spaces, no `..`, `~`, `^`, `:`, `?`, `*`, `[` or `\\`, and no \
                     part that begins with `.` or ends with `.lock`",
                )
                .hint("use a name such as `feature/login`")),
        }
    }

    /// Returns the full name of the branch's ref.
    pub fn reference(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl RefName {
    pub fn parse(text: &str) -> Result<Self> {
        let is_full = text.strip_prefix("refs/").is_some_and(|rest| rest.contains('/'));
        match is_full && is_valid(text) {
            true => Ok(Self(text.to_owned())),
            false => Err(invalid(text, "a ref").hint("use a name such as `refs/pull/12/head`")),
        }
    }
}

impl CommitId {
    pub fn parse(text: &str) -> Result<Self> {
        let is_hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match matches!(text.len(), 40 | 64) && is_hexadecimal {
            true => Ok(Self(text.to_owned())),
            false => Err(invalid(text, "a commit")),
        }
    }

    /// Returns the first digits, for display.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

fn invalid(text: &str, what: &str) -> Error {
    let shown: String = text.chars().take(64).collect();
    let ellipsis = if shown.len() < text.len() { "…" } else { "" };
    Error::usage(format!("`{}{ellipsis}` cannot be the name of {what}", shown.escape_debug()))
}

/// Returns whether git allows this name for a ref. Names become part of prompts and of terminal
/// output, so white space is refused, and so are characters that mislead a reader.
fn is_valid(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    let is_forbidden = |c: char| is_misleading(c) || c.is_whitespace() || "~^:?*[\\".contains(c);
    name.len() <= LONGEST_NAME_BYTES
        && name.split('/').all(is_part)
        && !name.starts_with('-')
        && name != "@"
        && !name.contains(is_forbidden)
        && !["..", "@{"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_name_accepts_only_names_that_git_allows() {
        for name in ["main", "feat/login", "v1.2", "käse", "a-b_c", "dependabot/npm/x-1.0"] {
            assert!(BranchName::parse(name).is_ok(), "{name}");
        }
        for text in [
            "main. Stop. New orders",
            "a b",
            "a..b",
            "-x",
            "@",
            "a@{1}",
            ".invalid",
            "a/.b",
            "a.lock",
            "a/",
            "/a",
            "a//b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a\u{1b}b",
            "a\u{202e}b",
            "a\u{200b}b",
            "HEAD",
            "",
        ] {
            assert!(BranchName::parse(text).is_err(), "{text:?}");
        }
        assert!(BranchName::parse(&"x".repeat(256)).is_err());
    }

    #[test]
    fn refused_name_is_shown_escaped_and_cut() {
        let error = BranchName::parse(&format!("\u{1b}[31m{}", "x".repeat(99))).unwrap_err();
        assert!(error.message.starts_with("`\\u{1b}[31mxxx"), "{error}");
        assert!(error.message.ends_with("x…` cannot be the name of a branch"), "{error}");
    }

    #[test]
    fn ref_name_must_be_full() {
        for name in ["refs/pull/12/head", "refs/merge-requests/1/head"] {
            assert!(RefName::parse(name).is_ok(), "{name}");
        }
        for text in ["pull/12/head", "refs/", "refs/x", "-x", "refs/pull/../x", "+refs/a/b:refs/c"]
        {
            assert!(RefName::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn commit_id_has_40_or_64_hexadecimal_digits() {
        assert!(CommitId::parse(&"a1".repeat(20)).is_ok());
        assert!(CommitId::parse(&"a1".repeat(32)).is_ok());
        for text in ["", "abc", &"g".repeat(40), &"a".repeat(41)] {
            assert!(CommitId::parse(text).is_err(), "{text}");
        }
    }
}
