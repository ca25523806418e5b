//! The git program of the user: where it is, whether it is new enough, and how it is run as the user
//! or for Segue's own bookkeeping.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use segue_core::model::Environment;
use segue_core::ports::{Askpass, GitCaller};
use segue_core::rules::askpass;
use segue_core::{Error, Result};

use crate::command::GitCommand;
use crate::environment::{of_bookkeeping, of_user};
use crate::layout::RepositoryFolders;

/// The oldest version that has every option that is used here.
const OLDEST: (u32, u32) = (2, 39);

/// Settings of commands for our own bookkeeping. They override those of the repository that could
/// run programs.
const HARMLESS: [&str; 4] =
    ["core.fsmonitor=false", "core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false"];

/// A git program that is new enough.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    program: PathBuf,
    /// The user's own ignore file, which applies to all repositories.
    pub(crate) user_ignore: Option<PathBuf>,
}

impl Git {
    /// Finds git in an absolute folder of `PATH` and checks its version.
    pub(crate) async fn find(environment: &Environment) -> Result<Self> {
        let program = in_path(environment).ok_or_else(|| {
            Error::unavailable("git is not installed: no folder in `PATH` has it")
                .hint("install git 2.39 or newer, for example with `apt install git`")
        })?;
        let command = GitCommand::new(&program, Path::new("/"), of_bookkeeping());
        let text = command.arg("version").line().await?;
        if version(&text).is_none_or(|version| version < OLDEST) {
            return Err(too_old(&program, &text));
        }
        let user_ignore = user_ignore(&program, environment).await?;
        Ok(Self { program, user_ignore })
    }

    /// Prepares a command for our own bookkeeping in a repository. It runs no program that the
    /// repository names, and it does not read the user's configuration.
    pub(crate) fn bookkeeping(&self, repository: &RepositoryFolders) -> GitCommand {
        self.bookkeeping_in(&repository.common)
    }

    /// Prepares such a command in a git folder: that of a repository or that of one worktree.
    pub(crate) fn bookkeeping_in(&self, git_folder: &Path) -> GitCommand {
        let mut option = OsString::from("--git-dir=");
        option.push(git_folder);
        let command = self.closed(git_folder).option(option);
        HARMLESS.iter().fold(command, |command, setting| command.setting(setting))
    }

    /// Prepares a command with an environment of its own.
    pub(crate) fn closed(&self, folder: &Path) -> GitCommand {
        GitCommand::new(&self.program, folder, of_bookkeeping()).option("--no-pager")
    }

    /// Prepares a command that runs as the user's own git would: with the user's configuration,
    /// hooks and filters. It collects no garbage in the background.
    pub(crate) fn as_user(&self, folder: &Path, caller: &GitCaller) -> GitCommand {
        let command = GitCommand::new(&self.program, folder, of_user(&caller.environment))
            .option("--no-pager")
            .setting("gc.auto=0")
            .setting("maintenance.auto=false")
            .progress(&caller.progress);
        caller.askpass.iter().fold(command, with_askpass)
    }
}

/// Makes a command ask for the credentials of a host. No credential helper of the user gets them.
fn with_askpass(command: GitCommand, askpass: &Askpass) -> GitCommand {
    let Askpass { program, host, ticket } = askpass;
    let command = command.path_variable("GIT_ASKPASS", program);
    let command = command.variable(askpass::TICKET, ticket.secret().expose());
    let settings = askpass::helper_settings(host);
    settings.iter().fold(command, |command, key| command.setting(&format!("{key}=")))
}

/// Returns the path of the user's own ignore file, according to the user's own configuration.
async fn user_ignore(program: &Path, environment: &Environment) -> Result<Option<PathBuf>> {
    let command = GitCommand::new(program, Path::new("/"), of_user(environment));
    let command = command.args(["config", "--global", "--type=path", "--get", "core.excludesFile"]);
    let output = command.output().await?;
    let configured = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    if output.status.success() && !configured.is_empty() {
        return Ok(Some(PathBuf::from(configured)));
    }
    let folder = |name: &str| environment.get(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let settings = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    Ok(settings.map(|settings| settings.join("git/ignore")))
}

fn too_old(program: &Path, text: &str) -> Error {
    let (major, minor) = OLDEST;
    let program = program.display();
    Error::unavailable(format!("`{program}` is too old: `{text}`"))
        .caused_by(format!("worktrees need git {major}.{minor} or newer"))
        .hint("install a newer git, and run `git version` to check it")
}

/// Parses `git version 2.47.3`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn in_path(environment: &Environment) -> Option<PathBuf> {
    let folders = std::env::split_paths(environment.get("PATH")?);
    // A relative folder would name a different program in each working folder.
    let absolute = folders.filter(|folder| folder.is_absolute());
    absolute.map(|folder| folder.join("git")).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_from_the_forms_that_git_prints() {
        assert_eq!(version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(version("git version 3.0.rc1"), Some((3, 0)));
        assert_eq!(version("hub version 2.14"), None);
    }

    fn with_git(script: &str) -> (tempfile::TempDir, Environment) {
        let folder = tempfile::TempDir::new().unwrap();
        let program = folder.path().join("git");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().display().to_string();
        (folder, Environment::new([("PATH".to_owned(), path)]))
    }

    #[tokio::test]
    async fn old_git_is_refused_with_its_version() {
        let (_folder, environment) = with_git("echo git version 2.38.1");
        let error = Git::find(&environment).await.unwrap_err();
        assert!(error.message.ends_with("is too old: `git version 2.38.1`"), "{error}");
        let (_folder, environment) = with_git("echo git version 2.39.0");
        assert!(Git::find(&environment).await.is_ok());
    }

    #[tokio::test]
    async fn missing_git_is_reported_with_a_hint() {
        let environment =
            Environment::new([("PATH".to_owned(), "relative:/nonexistent".to_owned())]);
        let error = Git::find(&environment).await.unwrap_err();
        assert!(error.message.starts_with("git is not installed"), "{error}");
    }
}
