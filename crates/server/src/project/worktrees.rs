//! The keys about worktrees and the git identity of agents.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use jiff::SignedDuration;
use segue_core::model::{
    BranchName, BranchStart, RepositoryUrl, TrustClaim, WorktreeCommands, WorktreeOrder,
    WorktreeSettings, is_misleading,
};
use segue_core::rules::secrets;
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
    #[serde(default)]
    setup: Vec<Spanned<String>>,
    setup_timeout: Option<Spanned<String>>,
    #[serde(default)]
    teardown: Vec<Spanned<String>>,
    teardown_timeout: Option<Spanned<String>>,
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
            commands: self.commands(source)?,
        })
    }

    fn commands(&self, source: &ProjectSource) -> Result<WorktreeCommands> {
        for command in self.setup.iter().chain(&self.teardown) {
            check_command(command.as_ref()).map_err(|error| source.at(command, error))?;
        }
        let texts = |commands: &[Spanned<String>]| {
            commands.iter().map(|it| it.as_ref().clone()).collect::<Vec<_>>()
        };
        let limit = |key: &str, written: Option<&Spanned<String>>| {
            written.map(|written| timeout(key, written, source)).transpose()
        };
        Ok(WorktreeCommands {
            setup: texts(&self.setup),
            teardown: texts(&self.teardown),
            setup_timeout: limit("setup_timeout", self.setup_timeout.as_ref())?,
            teardown_timeout: limit("teardown_timeout", self.teardown_timeout.as_ref())?,
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
        let written =
            written.map(|(key, value)| TrustClaim::setting(format!("worktrees: {key}"), value));
        let setup = command_claims("setup", &self.setup, "in each new worktree");
        let teardown = command_claims("teardown", &self.teardown, "before a worktree is removed");
        written.chain(setup).chain(teardown).collect()
    }
}

/// Returns a claim for each command.
fn command_claims(key: &str, commands: &[Spanned<String>], when: &str) -> Vec<TrustClaim> {
    let claim = |(number, command): (usize, &Spanned<String>)| {
        let command = command.as_ref();
        let claim = TrustClaim::setting(format!("worktrees: {key} {number}"), command);
        claim.in_words(format!("runs `{command}` {when}"))
    };
    (1..).zip(commands).map(claim).collect()
}

/// A command is shown as a whole before it is trusted, so it must not be longer.
const MAX_COMMAND_BYTES: usize = 250;

/// Returns an error for a command that cannot be shown in one line before it is trusted, and for a
/// command that seems to contain a secret.
fn check_command(command: &str) -> Result<()> {
    let hint = "put it into a script of the repository, and name the script here";
    if command.trim().is_empty() || command.contains(is_misleading) {
        let error = "a command is empty, has a line break, or has an invisible character";
        return Err(Error::config(error).hint(hint));
    }
    if command.len() > MAX_COMMAND_BYTES {
        let error =
            format!("a command must have at most {MAX_COMMAND_BYTES} bytes, got {}", command.len());
        return Err(Error::config(error).hint(hint));
    }
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    secrets::refuse_in_arguments(&words)
}

const MIN_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

fn timeout(key: &str, written: &Spanned<String>, source: &ProjectSource) -> Result<Duration> {
    let text = written.as_ref();
    let parsed = text.parse::<SignedDuration>().ok().and_then(|it| Duration::try_from(it).ok());
    parsed.filter(|it| (MIN_TIMEOUT..=MAX_TIMEOUT).contains(it)).ok_or_else(|| {
        let error = Error::config(format!("`{key}` must be between `1s` and `24h`, got `{text}`"));
        source.at(written, error.hint("write it as `10m` or `1h 30m`"))
    })
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
            let url = url.map(|(url, _)| url);
            Ok(Some(WorktreeOrder { branch, start, url, allows_commands_of_fork: false }))
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
