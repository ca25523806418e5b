//! Makes the worktree of a salvage again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use segue_core::model::{BranchName, CommitId, ListedWorktree, RefName};
use segue_core::ports::GitCaller;
use segue_core::rules::worktrees::{BranchConflict, UnfinishedStep};
use segue_core::{Error, Result, failpoint};

use super::disk::{self, DiskContent, join};
use super::metadata::Metadata;
use super::names::{bytes, unstored};
use super::snapshot::Snapshotting;
use crate::clone::remove_foreign_settings;
use crate::command::TimeLimit;
use crate::confined::{copy_below, link_below, make_folder_below, set_permissions_below};
use crate::create::{empty_commit, point_head};
use crate::failure::cannot;
use crate::layout;
use crate::listing;
use crate::locked::LockedRepository;
use crate::view::{FileReading, View, WorktreeFolders};
use crate::worktree;

/// What HEAD of a restored worktree is.
enum RestoredHead {
    Branch(BranchName),
    NewBranch(BranchName, CommitId),
    Detached(CommitId),
    /// A branch without commits.
    Unborn(BranchName),
}

/// Makes the worktree of a salvage at its path, which must be free. Returns the path.
pub(crate) async fn restore(
    repository: &LockedRepository<'_>,
    caller: &GitCaller,
    reference: &RefName,
    branch: Option<&BranchName>,
) -> Result<PathBuf> {
    let (salvage, metadata) = super::read(repository.git, &repository.folders, reference).await?;
    let path = layout::real(&metadata.path());
    let head = head(repository, &metadata, branch).await?;
    add(repository, caller, &path, reference, &head).await?;
    let listed = worktree::listed_at(repository.git, &repository.folders, &path).await?;
    let folders = worktree::folders(&repository.folders, &listed)?;
    let view = View::open(
        repository.git,
        repository.scratch,
        &folders,
        metadata.head().as_ref(),
        FileReading::Raw,
    )
    .await?;
    let restoring = Restoring {
        repository,
        caller,
        view: &view,
        worktree: &folders,
        commit: &salvage.commit,
        metadata: &metadata,
    };
    restoring.fill().await?;
    restoring.verify().await?;
    repository.end_step(&path).await?;
    Ok(path)
}

/// Decides what HEAD becomes. Fails if the branch has moved or is checked out elsewhere.
async fn head(
    repository: &LockedRepository<'_>,
    metadata: &Metadata,
    wanted: Option<&BranchName>,
) -> Result<RestoredHead> {
    let name = wanted.cloned().or_else(|| metadata.branch());
    if let (None, Some(branch), false) = (&name, &metadata.branch, metadata.is_detached) {
        let branch = branch.escape_debug();
        return Err(Error::conflict(format!(
            "the branch `{branch}` of the salvage cannot be used"
        ))
        .hint("restore it on a new branch"));
    }
    if let Some(branch) = &name {
        refuse_checked_out(repository, branch).await?;
    }
    let tip = match &name {
        Some(branch) => repository.refs().branch(branch).await?,
        None => None,
    };
    match (name, metadata.head(), tip) {
        (None, None, _) => Err(Error::unavailable("the salvage has neither branch nor commit")),
        (_, Some(head), _) if metadata.is_detached && wanted.is_none() => {
            Ok(RestoredHead::Detached(head))
        }
        (None, Some(head), _) => Ok(RestoredHead::Detached(head)),
        (Some(branch), Some(head), None) => Ok(RestoredHead::NewBranch(branch, head)),
        // Also for a new branch: an interrupted attempt may have made it.
        (Some(branch), Some(head), Some(tip)) if head == tip => Ok(RestoredHead::Branch(branch)),
        (Some(branch), None, None) => Ok(RestoredHead::Unborn(branch)),
        (Some(branch), head, Some(tip)) => Err(moved(&branch, head.as_ref(), &tip)),
    }
}

async fn refuse_checked_out(repository: &LockedRepository<'_>, branch: &BranchName) -> Result<()> {
    let listed = listing::list(repository.git, &repository.folders).await?;
    let holder = listed.into_iter().find(|it| it.branch.as_deref() == Some(branch.as_str()));
    match holder {
        Some(ListedWorktree { path, .. }) => {
            Err(BranchConflict::CheckedOut { branch: branch.clone(), path }.into())
        }
        None => Ok(()),
    }
}

fn moved(branch: &BranchName, head: Option<&CommitId>, tip: &CommitId) -> Error {
    let then = head.map_or("had no commit", CommitId::short);
    Error::conflict(format!("branch `{branch}` is at {}, and the salvage at {then}", tip.short()))
        .caused_by("the salvage has changes to an earlier commit of the branch")
        .hint("restore it on a new branch")
}

async fn add(
    repository: &LockedRepository<'_>,
    caller: &GitCaller,
    path: &Path,
    reference: &RefName,
    head: &RestoredHead,
) -> Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(|error| cannot("create", parent, &error))?;
    let reason = UnfinishedStep::Restoring { salvage: reference.clone() }.reason();
    let command = repository.as_user(caller)?.args(["worktree", "add", "--no-checkout", "--lock"]);
    let command = command.args(["--reason", &reason]);
    let command = match head {
        RestoredHead::Branch(branch) => command.path(path).arg(branch.as_str()),
        RestoredHead::NewBranch(branch, commit) => {
            let command = command.args(["--no-track", "-b", branch.as_str()]).path(path);
            command.arg(commit.as_str())
        }
        RestoredHead::Detached(commit) => command.arg("--detach").path(path).arg(commit.as_str()),
        RestoredHead::Unborn(_) => {
            let commit = empty_commit(repository).await?;
            command.arg("--detach").path(path).arg(commit.as_str())
        }
    };
    failpoint::hit("git.restore.add.before");
    command.run().await?;
    failpoint::hit("git.restore.add.after");
    match head {
        RestoredHead::Unborn(branch) => point_head(repository, path, branch).await,
        _ => Ok(()),
    }
}

/// A worktree that has HEAD and no files yet.
struct Restoring<'a> {
    repository: &'a LockedRepository<'a>,
    caller: &'a GitCaller,
    view: &'a View<'a>,
    worktree: &'a WorktreeFolders,
    commit: &'a CommitId,
    metadata: &'a Metadata,
}

impl Restoring<'_> {
    async fn fill(&self) -> Result<()> {
        let details = &self.metadata.details;
        self.unpack("files", &self.worktree.checkout, &details.filtered).await?;
        failpoint::hit("git.restore.files.after");
        self.restore_index().await?;
        failpoint::hit("git.restore.index.after");
        self.unpack("state", &self.worktree.admin, &[]).await?;
        make_folders(&self.worktree.admin, &details.state_empty_folders)?;
        failpoint::hit("git.restore.state.after");
        if self.repository.is_clone {
            // An agent may have written the settings of the worktree. Filters come from the user.
            let settings = self.worktree.admin.join("config.worktree");
            remove_foreign_settings(self.repository, &settings).await?;
        }
        self.run_filters().await?;
        self.restore_nested().await?;
        set_permissions(&self.worktree.checkout, &details.permissions)?;
        set_permissions(&self.worktree.checkout, &details.nested_permissions)
    }

    /// Writes the files of a tree into a folder, byte for byte. Existing files of the folder stay,
    /// except in the worktree's git folder, which git has just made.
    async fn unpack(&self, part: &str, folder: &Path, without: &[String]) -> Result<()> {
        let tree = format!("{}:{part}", self.commit);
        if self.view.object(&tree).await?.is_none() {
            return Ok(());
        }
        let index = self.view.folder.path.join(format!("{part}-index"));
        let command = || self.view.command_with_index(&index).limit(TimeLimit::LOCAL);
        command().args(["read-tree", &tree]).run().await?;
        if !without.is_empty() {
            let paths = without.iter().flat_map(|path| [bytes(path), vec![0]]).flatten().collect();
            let command = command().args(["update-index", "-z", "--force-remove", "--stdin"]);
            command.input(paths).run().await?;
        }
        let command = command().path_variable("GIT_WORK_TREE", folder).start_in(folder);
        let command = command.args(["checkout-index", "--all", "--quiet"]);
        let is_admin = folder == self.worktree.admin;
        command.args(is_admin.then_some("--force")).run().await?;
        Ok(())
    }

    async fn restore_index(&self) -> Result<()> {
        let name = format!("{}:index", self.commit);
        let Some(content) = self.view.read_blob(&name).await? else { return Ok(()) };
        let (path, new) =
            (self.worktree.admin.join("index"), self.worktree.admin.join("index.segue"));
        let written = fs::write(&new, content).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| cannot("write", &path, &error))
    }

    /// Lets Git LFS make the files of which the salvage has the pointers.
    async fn run_filters(&self) -> Result<()> {
        let filtered = &self.metadata.details.filtered;
        if filtered.is_empty() {
            return Ok(());
        }
        let paths = filtered.iter().flat_map(|path| [bytes(path), vec![0]]).flatten().collect();
        let command = self.repository.git.as_user(&self.worktree.checkout, self.caller);
        let command = command.args(["checkout-index", "-z", "--quiet", "--stdin"]);
        command.limit(TimeLimit::LOCAL).input(paths).run().await?;
        Ok(())
    }

    /// Writes repositories and submodules below the worktree. Their names are changed in the tree,
    /// so they are unpacked elsewhere first.
    async fn restore_nested(&self) -> Result<()> {
        let folder = self.repository.scratch.new_folder()?;
        self.unpack("nested", &folder.path, &[]).await?;
        let found = disk::look_below(folder.path.clone(), |_| false).await?;
        let checkout = self.worktree.checkout.clone();
        let folders = (self.metadata.git_folder(), self.worktree.admin.clone());
        let empty_folders = self.metadata.details.nested_empty_folders.clone();
        disk::blocking(move || {
            for file in &found.files {
                let source = join(&folder.path, &file.path);
                let target = PathBuf::from(OsString::from_vec(unstored(&file.path)));
                let copied = copy(&source, &checkout, &target, &file.content);
                let linked = copied.and_then(|()| relink(&checkout.join(&target), &folders));
                linked.map_err(|it| cannot("write", &checkout.join(&target), &it))?;
            }
            make_folders(&checkout, &empty_folders)
        })
        .await
    }

    /// Compares the restored files and the index with the salvage.
    async fn verify(&self) -> Result<()> {
        let snapshotting = Snapshotting { view: self.view, worktree: self.worktree, include: &[] };
        let files = snapshotting.same_files(self.commit, &self.metadata.details.filtered).await?;
        let name = format!("{}:index", self.commit);
        let index = snapshotting.index_file().await? == self.view.object(&name).await?;
        match files && index {
            true => Ok(()),
            false => {
                let path = self.worktree.checkout.display();
                Err(Error::unavailable(format!("`{path}` differs from its salvage"))
                    .caused_by("a file could not be restored as it was"))
            }
        }
    }
}

fn make_folders(root: &Path, folders: &[String]) -> Result<()> {
    for folder in folders {
        let path = join(Path::new(""), &bytes(folder));
        let made = make_folder_below(root, &path);
        made.map_err(|error| cannot("create", &root.join(&path), &error))?;
    }
    Ok(())
}

fn set_permissions(root: &Path, permissions: &BTreeMap<String, u32>) -> Result<()> {
    for (path, bits) in permissions {
        let path = join(Path::new(""), &bytes(path));
        let set = set_permissions_below(root, &path, *bits);
        set.map_err(|error| cannot("change the permissions of", &root.join(&path), &error))?;
    }
    Ok(())
}

/// Changes the `.git` file of a submodule if the worktree's git folder has another path now. `folders`
/// are the old and the new path.
fn relink(file: &Path, folders: &(PathBuf, PathBuf)) -> io::Result<()> {
    let (old, new) = folders;
    let is_link = file.file_name().is_some_and(|name| name == ".git") && !file.is_symlink();
    let target = if is_link && old != new { layout::linked(file) } else { None };
    let (Some(target), Some(folder)) = (target, file.parent()) else { return Ok(()) };
    match layout::real(&folder.join(target)).strip_prefix(old) {
        Ok(below) => {
            let target = new.join(below).into_os_string().into_vec();
            fs::write(file, [&b"gitdir: "[..], &target, b"\n"].concat())
        }
        Err(_) => Ok(()),
    }
}

/// Copies a file to a path below a folder, where there must be nothing.
fn copy(source: &Path, folder: &Path, path: &Path, content: &DiskContent) -> io::Result<()> {
    let is_new = match content {
        DiskContent::Symlink { .. } => link_below(folder, path, &fs::read_link(source)?)?,
        DiskContent::File { .. } => copy_below(folder, path, File::open(source)?)?,
    };
    if is_new { Ok(()) } else { Err(io::ErrorKind::AlreadyExists.into()) }
}
