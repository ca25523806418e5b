//! Shared clones of repositories that are known by URL: one bare clone each, partial if the server
//! allows it.
//!
//! A clone is made in a temporary folder and renamed when it is complete. Its branches of the
//! remote are in `refs/remotes/origin/`. A damaged clone is moved aside, made again, and gets the
//! local refs and the worktrees of the old one.
//!
//! Git never collects garbage in a clone by itself, neither for us nor for an agent in a worktree:
//! [`maintain`] does.

mod carry;
mod health;
mod settings;
pub(crate) mod stale;
mod stashes;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use segue_core::model::{CheckoutNotice, RepositoryUrl};
use segue_core::ports::GitCaller;
use segue_core::{Error, Result, failpoint};

use crate::command::{GitCommand, TimeLimit};
use crate::failure::cannot;
use crate::locked::LockedRepository;

pub(crate) use settings::{remove_foreign, remove_foreign_settings};

/// Maps the branches of the remote to branches of `origin`.
const REFSPEC: &str = "+refs/heads/*:refs/remotes/origin/*";

/// The names of folders beside a clone begin with the clone's name and one of these parts: a clone
/// that is being made, a damaged clone from which data is still carried over, and a damaged clone
/// that is kept for the user.
const NEW: &str = ".new-";
const REPLACED: &str = ".replaced-";
const DAMAGED: &str = ".damaged-";

/// A clone that is brought up to date. Its lock is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cloning<'a> {
    pub(crate) repository: &'a LockedRepository<'a>,
    pub(crate) url: &'a RepositoryUrl,
    pub(crate) caller: &'a GitCaller,
}

/// A clone after an attempt to bring it up to date.
#[derive(Debug, Default)]
pub(crate) struct CloneState {
    pub(crate) notices: Vec<CheckoutNotice>,
    /// Why the remote could not be asked for new commits.
    pub(crate) not_fetched: Option<Error>,
}

impl Cloning<'_> {
    /// Makes the clone, or fetches new commits.
    pub(crate) async fn update(self) -> Result<CloneState> {
        self.remove_abandoned().await?;
        let mut notices = self.complete_replacements().await?;
        let mut not_fetched = None;
        if !self.folder().exists() {
            self.make().await?;
        } else if let Some(why) = health::damage(self.repository).await? {
            notices.push(self.replace(why).await?);
        } else {
            notices.extend(remove_foreign(self.repository).await?);
            self.configure(self.folder()).await?;
            if let Err(error) = self.fetch(self.folder()).await {
                match health::damage_after(self.repository, &error).await? {
                    Some(why) => notices.push(self.replace(why).await?),
                    None => not_fetched = Some(error),
                }
            }
        }
        Ok(CloneState { notices, not_fetched })
    }

    fn folder(&self) -> &Path {
        &self.repository.folders.common
    }

    /// Returns a path beside the clone, with a name that belongs to it.
    fn beside(&self, suffix: &str) -> PathBuf {
        let name = self.folder().file_name().unwrap_or_default().to_string_lossy();
        self.folder().with_file_name(format!("{name}{suffix}"))
    }

    async fn make(&self) -> Result<()> {
        let new = self.beside(&format!("{NEW}{}", self.repository.clock.random_id().simple()));
        failpoint::hit("git.clone.init.before");
        let parent = new.parent().unwrap_or(&new);
        fs::create_dir_all(parent).map_err(|error| cannot("create", parent, &error))?;
        let made = self.fill(&new).await;
        if let Err(error) = made {
            // Report the failed clone, not a failure of this cleanup.
            let _tidied = remove_folder(new).await;
            return Err(error);
        }
        failpoint::hit("git.clone.rename.before");
        fs::rename(&new, self.folder()).map_err(|error| cannot("rename", &new, &error))?;
        failpoint::hit("git.clone.rename.after");
        Ok(())
    }

    async fn fill(&self, new: &Path) -> Result<()> {
        let format = self.object_format().await?;
        let command = self.repository.git.closed(new.parent().unwrap_or(new));
        let command = command.args(["init", "--bare", "--quiet", "--template="]);
        let command = command.arg(format!("--object-format={format}")).path(new);
        command.holding(&self.repository.lock)?.run().await?;
        self.configure(new).await?;
        self.fetch(new).await?;
        self.ask_default_branch(new).await;
        Ok(())
    }

    /// Asks the remote which hash it uses: ids with SHA-256 are longer. This also fails early if
    /// the remote cannot be reached.
    async fn object_format(&self) -> Result<&'static str> {
        let command = self.user_command(Path::new("/"))?;
        // The error of the command names the URL.
        let command = command.args(["ls-remote", "--quiet"]).path(Path::new(self.url.as_str()));
        let ids = command.line().await?;
        let length = ids.lines().next().and_then(|line| line.split('\t').next()).map(str::len);
        Ok(if length == Some(64) { "sha256" } else { "sha1" })
    }

    /// Writes our settings. An agent in a worktree can change them.
    async fn configure(&self, folder: &Path) -> Result<()> {
        let settings = [
            ("remote.origin.url", self.url.as_str()),
            ("remote.origin.fetch", REFSPEC),
            ("remote.origin.promisor", "true"),
            ("remote.origin.partialclonefilter", "blob:none"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
        ];
        let known = self.settings_of(folder).await?;
        for (key, value) in settings {
            if known.iter().filter(|(name, _)| name == key).map(|(_, it)| it).ne([value]) {
                let command = self.repository.git.bookkeeping_in(folder);
                let command = command.args(["config", "--replace-all", key, value]);
                command.holding(&self.repository.lock)?.run().await?;
            }
        }
        Ok(())
    }

    async fn settings_of(&self, folder: &Path) -> Result<Vec<(String, String)>> {
        let command = self.repository.git.bookkeeping_in(folder);
        let output = command.args(["config", "--local", "--list", "-z"]).run().await?;
        let text = String::from_utf8_lossy(&output).into_owned();
        let pair = |it: &str| it.split_once('\n').map(|(key, it)| (key.to_owned(), it.to_owned()));
        Ok(text.split('\0').filter_map(pair).collect())
    }

    async fn fetch(&self, folder: &Path) -> Result<()> {
        failpoint::hit("git.clone.fetch.before");
        let command = self.user_command(folder)?;
        let command = command.args(["fetch", "--progress", "--prune", "--no-write-fetch-head"]);
        command.args(["--", "origin"]).run().await?;
        failpoint::hit("git.clone.fetch.after");
        Ok(())
    }

    /// Asks the remote for its default branch, and records it in the clone. An empty repository has
    /// none.
    async fn ask_default_branch(&self, folder: &Path) {
        let asked = async {
            let command = self.user_command(folder)?;
            command.args(["remote", "set-head", "origin", "--auto"]).run().await
        };
        if let Err(error) = asked.await {
            tracing::info!(%error, "the remote has no default branch");
        }
    }

    fn user_command(&self, folder: &Path) -> Result<GitCommand> {
        let command = self.repository.as_user(self.caller)?;
        Ok(command.start_in(folder).limit(TimeLimit::NETWORK))
    }

    /// Moves a damaged clone aside and makes it again.
    async fn replace(&self, why: String) -> Result<CheckoutNotice> {
        let time = self.repository.clock.now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let id = self.repository.clock.random_id().simple().to_string();
        let old = self.beside(&format!("{REPLACED}{time}-{}", &id[..8]));
        failpoint::hit("git.clone.aside.before");
        let moved = fs::rename(self.folder(), &old);
        moved.map_err(|error| cannot("move aside", self.folder(), &error))?;
        failpoint::hit("git.clone.aside.after");
        self.complete_replacement(&old, why).await
    }

    /// Completes interrupted replacements. The folder of a damaged clone is named [`REPLACED`] until
    /// its replacement is complete.
    async fn complete_replacements(&self) -> Result<Vec<CheckoutNotice>> {
        let mut notices = Vec::new();
        for old in self.all_beside(REPLACED)? {
            let why = "its replacement was interrupted".to_owned();
            notices.push(self.complete_replacement(&old, why).await?);
        }
        Ok(notices)
    }

    /// Makes the clone if it is missing, and carries over refs and worktrees of the old one.
    async fn complete_replacement(&self, old: &Path, why: String) -> Result<CheckoutNotice> {
        if !self.folder().exists() {
            self.make().await?;
        }
        let lost = carry::carry_over(self.repository, old).await?;
        let name = old.file_name().unwrap_or_default().to_string_lossy();
        let aside = old.with_file_name(name.replace(REPLACED, DAMAGED));
        failpoint::hit("git.clone.replaced.before");
        fs::rename(old, &aside).map_err(|error| cannot("rename", old, &error))?;
        failpoint::hit("git.clone.replaced.after");
        Ok(CheckoutNotice::CloneReplaced { aside, why, lost })
    }

    /// Removes the temporary folders of interrupted clones. The processes that made them are gone:
    /// they held the lock that this process holds now.
    async fn remove_abandoned(&self) -> Result<()> {
        for path in self.all_beside(NEW)? {
            remove_folder(path).await?;
        }
        Ok(())
    }

    /// Returns the folders beside the clone whose names begin with its name and this part.
    fn all_beside(&self, part: &str) -> Result<Vec<PathBuf>> {
        let start = self.beside(part);
        let (Some(parent), Some(start)) = (start.parent(), start.file_name()) else {
            return Ok(Vec::new());
        };
        let entries = match fs::read_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| cannot("read", parent, &error))?,
        };
        let is_meant = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&*start.to_string_lossy())
        };
        Ok(entries.flatten().map(|entry| entry.path()).filter(is_meant).collect())
    }
}

/// Removes a folder with everything in it, which may take long.
async fn remove_folder(folder: PathBuf) -> Result<()> {
    let removed = tokio::task::spawn_blocking(move || {
        fs::remove_dir_all(&folder).map_err(|error| cannot("remove", &folder, &error))
    });
    removed.await.map_err(|error| Error::internal("cannot remove a folder").caused_by(error))?
}

/// Collects garbage in a clone. Objects that an agent is about to use stay, and so do worktrees whose
/// folders are gone: they may have staged files.
pub(crate) async fn maintain(repository: &LockedRepository<'_>) -> Result<()> {
    if let Some(notice) = remove_foreign(repository).await? {
        tracing::warn!(?notice, "settings of a clone could run programs");
    }
    failpoint::hit("git.clone.maintain.before");
    let command = repository.changing()?.setting("gc.worktreePruneExpire=never");
    command.args(["gc", "--quiet", "--prune=2.weeks.ago"]).run().await?;
    failpoint::hit("git.clone.maintain.after");
    Ok(())
}
