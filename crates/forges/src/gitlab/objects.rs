//! The objects of GitLab's JSON that deliveries and the API share. Every field is optional, and
//! unknown fields are ignored.

use segue_core::model::{CommentPlace, DiffSide, ForgeRepository, ForgeUser, RefName, UserKind};
use serde::Deserialize;

use crate::shared::list::FirstItems;
use crate::shared::text;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GitlabUserJson {
    pub(crate) id: Option<i64>,
    pub(crate) username: Option<String>,
    bot: Option<bool>,
    /// The state of a review, in lists of reviewers.
    pub(crate) state: Option<String>,
    pub(crate) re_requested: Option<bool>,
}

impl GitlabUserJson {
    pub(crate) fn named(id: Option<i64>, username: Option<String>) -> Self {
        Self { id, username, ..Self::default() }
    }

    /// Returns the user. `None` without a name.
    pub(crate) fn user(self) -> Option<ForgeUser> {
        let login = text::optional_name(self.username)?;
        let is_bot = self.bot.unwrap_or(false) || is_bot_name(&login);
        let kind = if is_bot { UserKind::Bot } else { UserKind::Person };
        Some(ForgeUser { id: self.id.unwrap_or_default(), login, kind })
    }
}

/// Returns whether a name is that of a project's or a group's access token, such as
/// `project_7_bot_abc`.
fn is_bot_name(name: &str) -> bool {
    let rest = name.strip_prefix("project_").or_else(|| name.strip_prefix("group_"));
    let after_digits =
        rest.map(|rest| (rest, rest.trim_start_matches(|c: char| c.is_ascii_digit())));
    after_digits.is_some_and(|(rest, end)| rest.len() > end.len() && end.starts_with("_bot"))
}

pub(crate) fn users(list: FirstItems<GitlabUserJson>) -> Vec<ForgeUser> {
    list.0.into_iter().filter_map(GitlabUserJson::user).collect()
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProjectJson {
    id: Option<u64>,
    path_with_namespace: Option<String>,
    /// The API has other names for the URLs than deliveries.
    #[serde(alias = "http_url_to_repo")]
    git_http_url: Option<String>,
    #[serde(alias = "ssh_url_to_repo")]
    git_ssh_url: Option<String>,
    web_url: Option<String>,
    default_branch: Option<String>,
}

impl ProjectJson {
    /// Returns the repository. `None` without an id or a name.
    pub(crate) fn repository(self) -> Option<ForgeRepository> {
        Some(ForgeRepository {
            id: self.id?,
            full_name: text::optional_name(self.path_with_namespace)?,
            clone_url: text::clone_url([self.git_http_url, self.git_ssh_url]),
            web_url: text::url(self.web_url),
            default_branch: text::optional_name(self.default_branch),
        })
    }
}

/// A label: an object in deliveries, a name in the API.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum GitlabLabelJson {
    Name(String),
    Object {
        #[serde(default)]
        title: Option<String>,
    },
}

pub(crate) fn labels(list: FirstItems<GitlabLabelJson>) -> Vec<String> {
    let name = |label| match label {
        GitlabLabelJson::Name(name) => text::optional_name(Some(name)),
        GitlabLabelJson::Object { title } => text::optional_name(title),
    };
    list.0.into_iter().filter_map(name).collect()
}

/// The place of a comment in a diff.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PositionJson {
    new_path: Option<String>,
    old_path: Option<String>,
    new_line: Option<u32>,
    old_line: Option<u32>,
}

impl PositionJson {
    pub(crate) fn place(self) -> Option<CommentPlace> {
        let is_old = self.new_line.is_none() && self.old_line.is_some();
        let (path, other) = match is_old {
            true => (self.old_path, self.new_path),
            false => (self.new_path, self.old_path),
        };
        Some(CommentPlace {
            path: text::optional_name(path).or_else(|| text::optional_name(other))?,
            line: self.new_line.or(self.old_line),
            start_line: None,
            side: if is_old { DiffSide::Old } else { DiffSide::New },
        })
    }
}

/// Returns the ref that has the head of a merge request.
pub(crate) fn head_ref(number: u64) -> Option<RefName> {
    RefName::parse(&format!("refs/merge-requests/{number}/head")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_access_tokens_are_bots() {
        for name in ["project_7_bot", "project_7_bot_abc", "group_12_bot_x", "project_7_bot2"] {
            assert!(is_bot_name(name), "{name}");
        }
        for name in ["project_bot", "project__bot", "ada", "project_7", "my_project_7_bot"] {
            assert!(!is_bot_name(name), "{name}");
        }
    }
}
