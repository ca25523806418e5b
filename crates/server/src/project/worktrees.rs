//! The keys about worktrees and the git identity of agents.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use segue_core::model::{
    BranchName, BranchStart, RepositoryUrl, TrustClaim, WorktreeOrder, WorktreeSettings,
};
use segue_core::{Error, Result};
use serde::Deserialize;
use toml::Spanned;

use super::source::ProjectSource;
use super::variables::VariableValues;

/// The table `[worktrees]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenWorktrees {
    path: Option<Spanned<PathBuf>>,
    #[serde(default)]
    include: Vec<Spanned<String>>,
    #[serde(default)]
    link: Vec<Spanned<PathBuf>>,
}

impl WrittenWorktrees {
    pub(super) fn settings(
        &self,
        folder: &Path,
        source: &ProjectSource,
    ) -> Result<WorktreeSettings> {
        for pattern in &self.include {
            if pattern.as_ref().is_empty() || pattern.as_ref().contains(['\n', '\0']) {
                let error = Error::config("a pattern of `include` is empty or has a line break");
                return Err(source.at(pattern, error.hint("use a pattern such as `.env`")));
            }
        }
        for linked in &self.link {
            check_inside(linked.as_ref()).map_err(|error| source.at(linked, error))?;
        }
        let values =
            |paths: &[Spanned<PathBuf>]| paths.iter().map(|it| it.as_ref().clone()).collect();
        Ok(WorktreeSettings {
            root: self.path.as_ref().map(|path| folder.join(path.as_ref())),
            include: self.include.iter().map(|it| it.as_ref().clone()).collect(),
            link: values(&self.link),
        })
    }

    /// Returns the claims that the user has to trust: files of the user that reach agents.
    pub(super) fn claims(&self) -> Vec<TrustClaim> {
        let shown = |paths: Vec<String>| paths.join(", ");
        let path = self.path.iter().map(|it| format!("{:?}", it.as_ref())).collect::<Vec<_>>();
        let include = self.include.iter().map(|it| format!("{:?}", it.as_ref())).collect();
        let link = self.link.iter().map(|it| format!("{:?}", it.as_ref())).collect();
        let claims = [("path", shown(path)), ("include", shown(include)), ("link", shown(link))];
        let written = claims.into_iter().filter(|(_, value)| !value.is_empty());
        written
            .map(|(key, value)| TrustClaim::setting(format!("worktrees: {key}"), value))
            .collect()
    }
}

/// Returns an error for a path that leads out of the folder of the project.
fn check_inside(path: &Path) -> Result<()> {
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    match is_inside && path.components().next().is_some() {
        true => Ok(()),
        false => Err(Error::config(format!("`{}` leads out of the project", path.display()))
            .hint("use a relative path without `..`, such as `node_modules`")),
    }
}

/// The keys `worktree` and `repo` of an agent.
pub(super) fn order(
    worktree: Option<&Spanned<String>>,
    repo: Option<&Spanned<String>>,
    (source, variables): (&ProjectSource, &VariableValues<'_>),
) -> Result<Option<WorktreeOrder>> {
    let url = match repo {
        Some(repo) => {
            let url =
                RepositoryUrl::parse(repo.as_ref()).map_err(|error| source.at(repo, error))?;
            Some((url, repo))
        }
        None => None,
    };
    match (worktree, url) {
        (Some(branch), url) => {
            let text = variables.fill_value(branch.as_ref());
            let branch = text
                .and_then(|text| BranchName::parse(&text))
                .map_err(|error| source.at(branch, error))?;
            let start = BranchStart::DefaultBranch;
            Ok(Some(WorktreeOrder { branch, start, url: url.map(|(url, _)| url) }))
        }
        (None, Some((_, repo))) => {
            let error = Error::config("`repo` needs a branch");
            Err(source.at(repo, error.hint("add `worktree = \"feature/{{agent}}\"`")))
        }
        (None, None) => Ok(None),
    }
}

/// Returns the claims for the keys `worktree` and `repo`.
pub(super) fn claims(
    agent: &str,
    worktree: Option<&Spanned<String>>,
    repo: Option<&Spanned<String>>,
) -> Vec<TrustClaim> {
    let quoted = |value: &Spanned<String>| format!("{:?}", value.as_ref());
    let worktree = worktree.map(|branch| {
        let words = format!(
            "{}; if the vendor asks whether to trust that folder, Segue answers yes",
            quoted(branch)
        );
        TrustClaim::setting(format!("{agent}: worktree"), quoted(branch)).in_words(words)
    });
    let repo = repo.map(|url| TrustClaim::setting(format!("{agent}: repo"), quoted(url)));
    worktree.into_iter().chain(repo).collect()
}

/// The key `git` of an agent: the identity for its commits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenIdentity {
    name: String,
    email: String,
}

impl WrittenIdentity {
    /// Returns the variables from which git takes the identity.
    pub(super) fn variables(&self) -> BTreeMap<String, String> {
        let roles = ["AUTHOR", "COMMITTER"];
        let both = |role: &str| {
            [
                (format!("GIT_{role}_NAME"), self.name.clone()),
                (format!("GIT_{role}_EMAIL"), self.email.clone()),
            ]
        };
        roles.into_iter().flat_map(both).collect()
    }

    /// Returns an error if git would not accept the identity.
    pub(super) fn check(&self) -> Result<()> {
        let is_usable = |text: &str| {
            !text.trim().is_empty() && !text.contains(|c: char| c.is_control() || "<>".contains(c))
        };
        match is_usable(&self.name) && is_usable(&self.email) {
            true => Ok(()),
            false => Err(Error::config(
                "`git` needs a name and an email without `<`, `>` and line breaks",
            )
            .hint("write `git = { name = \"Coder\", email = \"coder@example.org\" }`")),
        }
    }
}
