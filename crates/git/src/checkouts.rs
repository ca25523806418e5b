//! The port `Checkouts`, by the git program.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::model::{
    CheckoutNotice, CommitId, EnsuredWorktree, Environment, ListedWorktree, RepositoryId,
    RepositorySource, RepositoryUrl, Salvage, SalvageOutcome, SharedClone, TaskCommit,
    WorktreeDiff, WorktreeFacts, WorktreePlace, WorktreeSpec,
};
use segue_core::ports::{
    Checkouts, Clock, GitCaller, InspectDepth, RemovalOrder, RestorationOrder,
};
use segue_core::rules::worktrees::clone_name;
use segue_core::{Error, Result};
use tokio::sync::OnceCell;

use crate::clone::{self, Cloning};
use crate::diff::{self, Comparing};
use crate::ensure;
use crate::layout::{self, RepositoryFolders};
use crate::left_locks;
use crate::listing;
use crate::lock::RepositoryLock;
use crate::locked::LockedRepository;
use crate::program::Git;
use crate::refs::Refs;
use crate::removal;
use crate::salvage::{self, SalvageSizes, Salvaging};
use crate::scratch::Scratch;
use crate::worktree;

/// The folders in which repositories, locks and temporary files are kept.
#[derive(Clone, Debug, Default)]
pub struct CheckoutFolders {
    /// The worktrees of projects that name no other folder for them.
    pub worktrees: PathBuf,
    /// The shared clones.
    pub clones: PathBuf,
    /// One lock file for each repository.
    pub locks: PathBuf,
    /// Temporary files. Only this user's processes may reach it.
    pub scratch: PathBuf,
}

/// Worktrees, clones and salvages, by the git program of the user.
#[derive(Debug)]
pub struct GitCheckouts {
    folders: CheckoutFolders,
    /// The environment in which git is looked for.
    environment: Environment,
    clock: Arc<dyn Clock>,
    scratch: OnceLock<Scratch>,
    git: OnceCell<Git>,
    salvage_sizes: SalvageSizes,
}

impl GitCheckouts {
    /// Changes nothing: folders are made and git is looked for when they are first needed.
    pub fn new(folders: CheckoutFolders, environment: Environment, clock: Arc<dyn Clock>) -> Self {
        let (scratch, git) = (OnceLock::new(), OnceCell::new());
        Self { folders, environment, clock, scratch, git, salvage_sizes: SalvageSizes::default() }
    }

    fn scratch(&self) -> Result<&Scratch> {
        if let Some(scratch) = self.scratch.get() {
            return Ok(scratch);
        }
        let scratch = Scratch::new(&self.folders.scratch, || self.clock.random_id())?;
        // If another call was faster, this folder is removed again.
        Ok(self.scratch.get_or_init(|| scratch))
    }

    async fn git(&self) -> Result<&Git> {
        self.git.get_or_try_init(|| Git::find(&self.environment)).await
    }

    /// Returns the folders of a repository. `None` for a URL of which there is no clone.
    fn known(&self, source: &RepositorySource) -> Result<Option<RepositoryFolders>> {
        match source {
            RepositorySource::Folder(folder) => RepositoryFolders::of(folder).map(Some),
            RepositorySource::Url(_) => {
                let folders = self.clone_folders(source);
                Ok(folders.common.is_dir().then_some(folders))
            }
        }
    }

    fn clone_folders(&self, source: &RepositorySource) -> RepositoryFolders {
        let common = layout::real(&self.folders.clones).join(clone_name(source));
        RepositoryFolders { checkout: common.clone(), common }
    }

    /// Returns the folders of a repository. A missing clone is an error.
    fn existing(&self, source: &RepositorySource) -> Result<RepositoryFolders> {
        match source {
            RepositorySource::Folder(folder) => RepositoryFolders::of(folder),
            RepositorySource::Url(url) => self.known(source)?.ok_or_else(|| {
                Error::not_found(format!("the repository `{url}` has no clone and no worktrees"))
            }),
        }
    }

    /// Waits until no other process changes the repository.
    async fn lock(
        &self,
        source: &RepositorySource,
        folders: RepositoryFolders,
    ) -> Result<LockedRepository<'_>> {
        // The name of a lock comes from the real folder, so that all paths lead to one lock.
        let name = clone_name(&RepositorySource::Folder(folders.common.clone()));
        let lock = RepositoryLock::acquire(self.folders.locks.join(name)).await?;
        let removed_locks = left_locks::remove(&folders, &lock).await?;
        Ok(LockedRepository {
            removed_locks,
            git: self.git().await?,
            scratch: self.scratch()?,
            clock: &*self.clock,
            folders,
            is_clone: matches!(source, RepositorySource::Url(_)),
            lock,
        })
    }

    async fn locked(&self, source: &RepositorySource) -> Result<LockedRepository<'_>> {
        let folders = self.existing(source)?;
        self.lock(source, folders).await
    }

    /// Makes or updates the clone of a URL, and makes the worktree.
    async fn ensure_from_url(
        &self,
        spec: &WorktreeSpec,
        url: &RepositoryUrl,
        caller: &GitCaller,
    ) -> Result<EnsuredWorktree> {
        let folders = self.clone_folders(&spec.source);
        let repository = self.lock(&spec.source, folders).await?;
        let state = Cloning { repository: &repository, url, caller }.update().await?;
        let Some(error) = state.not_fetched else {
            return ensure::ensure(&repository, spec, caller, state.notices).await;
        };
        // A branch that the clone has can be used without the remote.
        if repository.refs().branch(&spec.branch).await?.is_none() {
            return Err(error);
        }
        let mut notices = state.notices;
        notices.push(CheckoutNotice::NotFetched { why: error.to_string() });
        ensure::ensure(&repository, spec, caller, notices).await
    }
}

/// Removes settings that could run programs from a shared clone. The settings of a repository of the
/// user stay.
async fn clean_settings(repository: &LockedRepository<'_>) -> Result<Vec<CheckoutNotice>> {
    match repository.is_clone {
        true => Ok(clone::remove_foreign(repository).await?.into_iter().collect()),
        false => Ok(Vec::new()),
    }
}

#[async_trait]
impl Checkouts for GitCheckouts {
    async fn identify(&self, folder: &Path) -> Result<Option<RepositoryId>> {
        let Some(repository) = RepositoryFolders::around(folder) else { return Ok(None) };
        let refs = Refs { git: self.git().await?, repository: &repository };
        let of_folder = || RepositoryId::of_folder(repository.main());
        let Some(remote) = refs.remote().await? else { return Ok(Some(of_folder())) };
        let url = refs.setting(&format!("remote.{remote}.url")).await?.unwrap_or_default();
        // The remote can also be a path, which is not a URL.
        let url = RepositoryUrl::without_credentials(&url);
        Ok(Some(url.map_or_else(|_| of_folder(), |url| url.id())))
    }

    fn main_folder(&self, folder: &Path) -> Option<PathBuf> {
        RepositoryFolders::around(folder).map(|repository| repository.main().to_owned())
    }

    fn root(&self, wanted: Option<&Path>) -> PathBuf {
        layout::real(wanted.unwrap_or(&self.folders.worktrees))
    }

    async fn ensure(&self, spec: &WorktreeSpec, caller: &GitCaller) -> Result<EnsuredWorktree> {
        if !spec.path.is_absolute() {
            let path = spec.path.display();
            return Err(Error::internal(format!("the path `{path}` of a worktree is relative")));
        }
        match &spec.source {
            RepositorySource::Url(url) => self.ensure_from_url(spec, url, caller).await,
            RepositorySource::Folder(_) => {
                let repository = self.locked(&spec.source).await?;
                ensure::ensure(&repository, spec, caller, Vec::new()).await
            }
        }
    }

    async fn list(&self, source: &RepositorySource) -> Result<Vec<ListedWorktree>> {
        match self.known(source)? {
            Some(folders) => listing::list(self.git().await?, &folders).await,
            None => Ok(Vec::new()),
        }
    }

    async fn inspect(&self, place: &WorktreePlace, depth: InspectDepth) -> Result<WorktreeFacts> {
        let folders = self.existing(&place.source)?;
        worktree::inspect(self.git().await?, self.scratch()?, &folders, &place.path, depth).await
    }

    async fn diff(
        &self,
        place: &WorktreePlace,
        base: Option<&str>,
        patch_bytes: usize,
        caller: &GitCaller,
    ) -> Result<WorktreeDiff> {
        let repository = &self.existing(&place.source)?;
        let (git, scratch) = (self.git().await?, self.scratch()?);
        let comparing = Comparing { git, scratch, repository };
        let sides = comparing.find(&place.path, base).await?;
        if comparing.lacks_files(&sides).await? {
            let locked = self.locked(&place.source).await?;
            clean_settings(&locked).await?;
            diff::fetch_files(locked.as_user(caller)?, &sides).await?;
        }
        comparing.diff(sides, patch_bytes).await
    }

    fn around(&self, folder: &Path) -> Option<WorktreePlace> {
        let repository = RepositoryFolders::around(folder)?;
        let source = RepositorySource::Folder(repository.main().to_owned());
        Some(WorktreePlace { source, path: repository.checkout })
    }

    async fn head(&self, place: &WorktreePlace) -> Result<Option<CommitId>> {
        let repository = &self.existing(&place.source)?;
        Ok(worktree::listed_at(self.git().await?, repository, &place.path).await?.head)
    }

    async fn commits_since(
        &self,
        place: &WorktreePlace,
        base: Option<&CommitId>,
        limit: usize,
    ) -> Result<Vec<TaskCommit>> {
        let repository = &self.existing(&place.source)?;
        let git = self.git().await?;
        let Some(head) = worktree::listed_at(git, repository, &place.path).await?.head else {
            return Ok(Vec::new());
        };
        Refs { git, repository }.commits_since(&head, base, limit).await
    }

    async fn salvage(&self, place: &WorktreePlace, include: &[String]) -> Result<SalvageOutcome> {
        let repository = &self.locked(&place.source).await?;
        let listed = &worktree::listed_at(repository.git, &repository.folders, &place.path).await?;
        if listed.is_main {
            let path = listed.path.display();
            return Err(Error::usage(format!("`{path}` is the main folder of a repository"))
                .caused_by("only linked worktrees can be salvaged"));
        }
        Salvaging { repository, listed, include, is_remainder: false }.take().await
    }

    async fn remove(&self, order: &RemovalOrder) -> Result<SalvageOutcome> {
        removal::remove(&self.locked(&order.place.source).await?, order).await
    }

    async fn restore(
        &self,
        order: &RestorationOrder,
        caller: &GitCaller,
    ) -> Result<EnsuredWorktree> {
        let repository = self.locked(&order.source).await?;
        let notices = clean_settings(&repository).await?;
        ensure::restore(&repository, order, caller, notices).await
    }

    async fn salvages(&self, source: &RepositorySource) -> Result<Vec<Salvage>> {
        match self.known(source)? {
            Some(folders) => salvage::list(self.git().await?, &folders).await,
            None => Ok(Vec::new()),
        }
    }

    async fn expire_salvages(
        &self,
        source: &RepositorySource,
        before: Timestamp,
    ) -> Result<Vec<Salvage>> {
        match self.known(source)? {
            Some(folders) => salvage::expire(&self.lock(source, folders).await?, before).await,
            None => Ok(Vec::new()),
        }
    }

    fn clones(&self) -> Result<Vec<SharedClone>> {
        clone::stale::list(&layout::real(&self.folders.clones))
    }

    async fn salvage_bytes(&self, source: &RepositorySource) -> Result<u64> {
        match self.known(source)? {
            Some(folders) => self.salvage_sizes.of(self.git().await?, &folders).await,
            None => Ok(0),
        }
    }

    async fn clone_holds(&self, clone: &SharedClone) -> Result<Option<String>> {
        clone::stale::reason_to_stay(self.git().await?, clone).await
    }

    async fn remove_clone(&self, clone: &SharedClone) -> Result<()> {
        let folders = clone::stale::folders_of(clone);
        // The name of the lock comes from the folder, so this is the lock of the URL.
        let source = RepositorySource::Folder(folders.common.clone());
        clone::stale::remove(&self.lock(&source, folders).await?, clone).await
    }

    async fn maintain(&self, source: &RepositorySource) -> Result<()> {
        let folders = self.known(source)?;
        match (source, folders) {
            (RepositorySource::Url(_), Some(folders)) => {
                clone::maintain(&self.lock(source, folders).await?).await
            }
            _ => Ok(()),
        }
    }
}
