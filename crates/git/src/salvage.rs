//! Salvages: everything in a worktree as one commit under `refs/segue/salvage/`.
//!
//! The tree of the commit has:
//!
//! | entry | content |
//! |---|---|
//! | `files` | the working tree: tracked, untracked and included ignored files, byte for byte |
//! | `index-0` … `index-3` | the entries of the index by their stage, so that git keeps their objects |
//! | `index` | the index as a file, with all flags |
//! | `nested` | repositories and submodules with their git folders; files whose names no tree can have |
//! | `state` | the worktree's git folder: operations in progress, reflog, settings |
//! | `salvage.json` | path, branch, HEAD, unusual permissions and others |
//!
//! Its parents are HEAD and the commits that only the worktree keeps. It is made without filters,
//! hooks and the repository's configuration, and compared with the worktree afterwards.

mod bytes;
mod comparison;
mod disk;
mod inventory;
mod kept;
mod metadata;
mod names;
mod pointers;
mod restoring;
mod snapshot;
mod stored;

use std::fs::File;
use std::path::Path;

use segue_core::model::{BranchName, CommitId, ListedWorktree, RefName, Salvage, SalvageOutcome};
use segue_core::rules::worktrees::salvage_key;
use segue_core::{Error, Result, failpoint};

use crate::create::with_identity;
use crate::failure::cannot;
use crate::layout;
use crate::locked::LockedRepository;
use crate::objects::ObjectId;
use crate::view::{FileReading, View, WorktreeFolders};
use crate::worktree;
use metadata::{Metadata, SalvagedWorktree};
use snapshot::{Snapshotting, WorktreeSnapshot};

pub(crate) use bytes::SalvageSizes;
pub(crate) use comparison::{is_part_of_commit, is_part_of_salvage};
pub(crate) use kept::{commit_ids, commit_ids_in, commits as kept_commits};
pub(crate) use restoring::restore;
pub(crate) use stored::{expire, list, read};

/// The refs of salvages are below this prefix.
const PREFIX: &str = "refs/segue/salvage/";

/// A worktree that is salvaged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Salvaging<'a> {
    pub(crate) repository: &'a LockedRepository<'a>,
    pub(crate) listed: &'a ListedWorktree,
    /// Patterns of ignored files to store.
    pub(crate) include: &'a [String],
    /// Whether an earlier salvage has most of the content, and this one only has the rest.
    pub(crate) is_remainder: bool,
}

impl Salvaging<'_> {
    /// Stores everything in the worktree, and compares the result with it.
    pub(crate) async fn take(self) -> Result<SalvageOutcome> {
        let repository = self.repository;
        let worktree = worktree::folders(&repository.folders, self.listed)?;
        let head = self.listed.head.as_ref();
        let view =
            View::open(repository.git, repository.scratch, &worktree, head, FileReading::Raw)
                .await?;
        let snapshotting = Snapshotting { view: &view, worktree: &worktree, include: self.include };
        let snapshot = snapshotting.take().await?;
        let branch = self.listed.branch.as_deref();
        let kept = kept::commits(repository, &worktree, branch, head).await?;
        let is_detached = is_detached(repository, &worktree).await?;
        let has_operation = layout::operation(&worktree.admin).is_some();
        let is_bound = !is_detached && !has_operation && kept.is_empty();
        if is_bound && is_unchanged(&view, &snapshot, head).await? {
            failpoint::hit("git.salvage.nothing.before");
            if snapshotting.take().await? != snapshot {
                return Err(self.changed());
            }
            let branch = branch.and_then(|branch| BranchName::parse(branch).ok());
            return Ok(SalvageOutcome::NothingToSalvage { branch, head: head.cloned() });
        }
        let metadata = self.describe(&worktree, &snapshot, is_detached);
        let salvage = self.store(&view, &snapshot, &metadata, &kept).await?;
        self.verify(&snapshotting, &snapshot, &salvage).await?;
        Ok(SalvageOutcome::Made(salvage))
    }

    fn describe(
        &self,
        worktree: &WorktreeFolders,
        snapshot: &WorktreeSnapshot,
        is_detached: bool,
    ) -> Metadata {
        let described = SalvagedWorktree {
            path: &worktree.checkout,
            git_folder: &worktree.admin,
            branch: self.listed.branch.as_deref(),
            head: self.listed.head.as_ref(),
            is_detached,
            is_remainder: self.is_remainder,
            include: self.include,
        };
        Metadata::new(described, snapshot.details.clone(), self.repository.clock.now())
    }

    /// Makes the commit, and then its ref.
    async fn store(
        &self,
        view: &View<'_>,
        snapshot: &WorktreeSnapshot,
        metadata: &Metadata,
        kept: &[CommitId],
    ) -> Result<Salvage> {
        let description = view.write_blob(metadata.json()?).await?;
        let tree = view.join_trees(&parts(snapshot, description)).await?;
        let parents = self.listed.head.iter().chain(kept).flat_map(|it| ["-p", it.as_str()]);
        let command = with_identity(view.command()).args(["commit-tree", "-m"]);
        let message = format!("segue: salvage of {}", metadata.path().display());
        let commit = command.arg(message).args(parents).arg(&tree).line().await?;
        sync(&self.repository.folders.common).await?;
        failpoint::hit("git.salvage.commit.after");
        let reference = self.reference(&metadata.path())?;
        let none = "0".repeat(commit.len());
        let command = self.repository.changing()?.arg("update-ref");
        command.args([reference.as_str(), &commit, &none]).run().await?;
        failpoint::hit("git.salvage.ref.after");
        sync(&self.repository.folders.common).await?;
        Ok(metadata.salvage(reference, CommitId::parse(&commit)?))
    }

    /// Returns a new name. Two salvages of one worktree have different timestamps or ids.
    fn reference(&self, path: &Path) -> Result<RefName> {
        let clock = self.repository.clock;
        let time = clock.now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let id = clock.random_id().simple().to_string();
        RefName::parse(&format!("{PREFIX}{}/{time}-{}", salvage_key(path), &id[..8]))
    }

    /// Compares a salvage with the worktree, and checks that git can read all of it.
    async fn verify(
        &self,
        snapshotting: &Snapshotting<'_>,
        snapshot: &WorktreeSnapshot,
        salvage: &Salvage,
    ) -> Result<()> {
        let again = snapshotting.take().await?;
        let reference = &salvage.reference;
        if again != *snapshot {
            return Err(self.changed().caused_by(format!("`{reference}` has an earlier state")));
        }
        let found = self.repository.refs().commit(reference.as_str()).await?;
        if found.as_ref() != Some(&salvage.commit) {
            return Err(Error::internal(format!("`{reference}` is not the salvage that was made")));
        }
        self.check_objects(salvage).await?;
        failpoint::hit("git.salvage.verify.after");
        Ok(())
    }

    fn changed(&self) -> Error {
        let path = self.listed.path.display();
        Error::conflict(format!("`{path}` changed while it was salvaged"))
            .hint("stop the programs that write there, and try again")
    }

    /// Walks through all objects that the salvage adds to HEAD.
    async fn check_objects(&self, salvage: &Salvage) -> Result<()> {
        let command = self.repository.git.bookkeeping(&self.repository.folders);
        let command = command.args(["rev-list", "--objects", "--quiet"]);
        // A partial clone lacks objects that its remote has.
        let partial = self.repository.refs().is_partial().await?;
        let command = command.args(partial.then_some("--exclude-promisor-objects"));
        let command = command.args([salvage.commit.as_str(), "--not"]);
        command.args(self.listed.head.as_ref().map(CommitId::as_str)).run().await?;
        Ok(())
    }
}

/// Returns the entries of a salvage's tree.
fn parts(
    snapshot: &WorktreeSnapshot,
    description: ObjectId,
) -> Vec<(&'static str, ObjectId, &'static str)> {
    let WorktreeSnapshot { files, stages, index_file, nested, state, .. } = snapshot;
    let [zero, one, two, three] = stages;
    let all = [
        ("tree", files, "files"),
        ("blob", index_file, "index"),
        ("tree", zero, "index-0"),
        ("tree", one, "index-1"),
        ("tree", two, "index-2"),
        ("tree", three, "index-3"),
        ("tree", nested, "nested"),
        ("tree", state, "state"),
    ];
    let there = all.into_iter().filter_map(|(kind, id, name)| Some((kind, id.clone()?, name)));
    there.chain([("blob", description, metadata::FILE)]).collect()
}

/// Returns whether index and files are those of the commit that is checked out.
async fn is_unchanged(
    view: &View<'_>,
    snapshot: &WorktreeSnapshot,
    head: Option<&CommitId>,
) -> Result<bool> {
    let empty = view.write_tree(&[]).await?;
    let committed = match head {
        Some(head) => view.object(&format!("{head}^{{tree}}")).await?,
        None => Some(empty.clone()),
    };
    let [staged, conflicts @ ..] = &snapshot.stages;
    let has_same_index = Some(staged.as_ref().unwrap_or(&empty)) == committed.as_ref();
    let has_same_files = snapshot.all_files.is_none() || snapshot.all_files == committed;
    let has_more =
        conflicts.iter().any(Option::is_some) || snapshot.nested.is_some() || snapshot.has_flags;
    Ok(has_same_index && has_same_files && !has_more)
}

/// Returns whether HEAD names a commit and not a branch.
async fn is_detached(
    repository: &LockedRepository<'_>,
    worktree: &WorktreeFolders,
) -> Result<bool> {
    let command = repository.git.bookkeeping_in(&worktree.admin);
    let output = command.args(["symbolic-ref", "--quiet", "HEAD"]).output().await?;
    Ok(!output.status.success())
}

/// Waits until all objects and refs are on disk, because the worktree is removed after that.
async fn sync(folder: &Path) -> Result<()> {
    let folder = folder.to_owned();
    let synced = tokio::task::spawn_blocking(move || {
        let file = File::open(&folder).map_err(|error| cannot("open", &folder, &error))?;
        rustix::fs::syncfs(file).map_err(|error| cannot("sync", &folder, &error.into()))
    });
    synced.await.map_err(|error| Error::internal("cannot sync objects").caused_by(error))?
}
