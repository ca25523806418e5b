//! The folders of a repository, read from git's own files without running git.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use segue_core::model::GitOperation;
use segue_core::rules::worktrees::{FolderContent, GitLink};
use segue_core::{Error, Result};

/// Maximum number of bytes that are read of a file of git. Real files are smaller.
const LONGEST_FILE_BYTES: u64 = 8192;

/// The folders of one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryFolders {
    /// The git folder that all worktrees share. An absolute path without symlinks.
    pub(crate) common: PathBuf,
    /// The checkout in which the repository was found, or the bare repository.
    pub(crate) checkout: PathBuf,
}

impl RepositoryFolders {
    /// Finds the repository of a folder: in the folder itself or in its nearest ancestor.
    pub(crate) fn around(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::at)
    }

    /// Finds the repository of a folder. Its absence is an error.
    pub(crate) fn of(folder: &Path) -> Result<Self> {
        Self::around(folder).ok_or_else(|| {
            let folder = folder.display();
            Error::not_found(format!("`{folder}` is in no git repository"))
                .hint("run `git init` there, or name another folder")
        })
    }

    fn at(folder: &Path) -> Option<Self> {
        let entry = folder.join(".git");
        let git_folder = match fs::metadata(&entry) {
            Ok(facts) if facts.is_dir() => entry,
            Ok(_) => folder.join(linked(&entry)?),
            Err(_) => folder.to_owned(),
        };
        let common = fs::canonicalize(common_of(&git_folder)).ok()?;
        is_repository(&common).then(|| Self { common, checkout: folder.to_owned() })
    }

    /// Returns the main folder of the repository: the checkout that has the git folder, or the bare
    /// repository.
    pub(crate) fn main(&self) -> &Path {
        match self.common.file_name() {
            Some(name) if name == ".git" => self.common.parent().unwrap_or(&self.common),
            _ => &self.common,
        }
    }

    /// Returns the git folder of the worktree that the repository expects at this path.
    pub(crate) fn admin_folder(&self, path: &Path) -> Option<PathBuf> {
        let entries = fs::read_dir(self.common.join("worktrees")).ok()?;
        let folders = entries.flatten().map(|entry| entry.path());
        folders.into_iter().find(|admin| expected_at(admin).is_some_and(|it| real(&it) == path))
    }

    /// Returns what the `.git` in a folder is, from the point of view of this repository.
    pub(crate) fn link_in(&self, folder: &Path) -> GitLink {
        let entry = folder.join(".git");
        let admin = match fs::symlink_metadata(&entry) {
            Err(_) => return GitLink::Missing,
            Ok(facts) if facts.is_dir() => return GitLink::Repository,
            Ok(_) => match linked(&entry) {
                Some(admin) => folder.join(admin),
                None => return GitLink::Broken,
            },
        };
        match fs::canonicalize(common_of(&admin)) {
            Ok(common) if common == self.common && admin.is_dir() => {
                expectation(expected_at(&admin))
            }
            Ok(_) if admin.is_dir() => GitLink::Foreign,
            _ => self.moved_link(folder, &admin),
        }
    }

    /// Returns what a link means whose target is gone. If this repository was moved, it has a
    /// worktree of the same name.
    fn moved_link(&self, folder: &Path, target: &Path) -> GitLink {
        let admin = target.file_name().map(|name| self.common.join("worktrees").join(name));
        match admin.filter(|admin| admin.is_dir()) {
            None => GitLink::Broken,
            Some(admin) => expectation(expected_at(&admin).filter(|it| real(it) != folder)),
        }
    }
}

fn expectation(expected_at: Option<PathBuf>) -> GitLink {
    let expected_at = expected_at.map(|path| real(&path));
    let is_occupied = expected_at.as_ref().is_some_and(|path| path.join(".git").exists());
    GitLink::Worktree { expected_at, is_occupied }
}

/// Returns the git folder of a checkout.
pub(crate) fn git_folder_of(checkout: &Path) -> Option<PathBuf> {
    let entry = checkout.join(".git");
    let facts = fs::metadata(&entry).ok()?;
    if facts.is_dir() { Some(entry) } else { linked(&entry).map(|target| checkout.join(target)) }
}

/// Returns the path of a worktree according to its git folder.
pub(crate) fn expected_at(admin: &Path) -> Option<PathBuf> {
    let link = admin.join(PathBuf::from(first_line(&admin.join("gitdir"))?));
    link.parent().map(Path::to_owned)
}

/// Returns the operation that is in progress in a worktree, and the branch to which it returns.
pub(crate) fn operation(git_folder: &Path) -> Option<(GitOperation, Option<String>)> {
    let has = |name: &str| git_folder.join(name).exists();
    let branch_in = |name: &str| {
        let reference = first_line(&git_folder.join(name))?.into_string().ok()?;
        let branch = reference.strip_prefix("refs/heads/").unwrap_or(&reference).to_owned();
        (branch != "detached HEAD").then_some(branch)
    };
    if has("rebase-merge") {
        return Some((GitOperation::Rebase, branch_in("rebase-merge/head-name")));
    }
    if has("rebase-apply/applying") {
        return Some((GitOperation::ApplyMail, None));
    }
    if has("rebase-apply") {
        return Some((GitOperation::Rebase, branch_in("rebase-apply/head-name")));
    }
    let plain = [
        ("MERGE_HEAD", GitOperation::Merge),
        ("CHERRY_PICK_HEAD", GitOperation::CherryPick),
        ("REVERT_HEAD", GitOperation::Revert),
    ];
    if let Some((_, operation)) = plain.into_iter().find(|(name, _)| has(name)) {
        return Some((operation, None));
    }
    has("BISECT_LOG").then(|| (GitOperation::Bisect, branch_in("BISECT_START")))
}

/// Returns what a folder contains.
pub(crate) fn content(path: &Path) -> FolderContent {
    match fs::symlink_metadata(path) {
        Err(_) => FolderContent::Missing,
        Ok(facts) if !facts.is_dir() => FolderContent::NotAFolder,
        // A folder that cannot be read may have files.
        Ok(_) => match fs::read_dir(path).map(|mut entries| entries.next().is_none()) {
            Ok(true) => FolderContent::Empty,
            _ => FolderContent::Files,
        },
    }
}

/// Resolves the symlinks in the part of a path that exists, and `.` and `..` in the rest.
pub(crate) fn real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (fs::canonicalize(ancestor), path.strip_prefix(ancestor)) {
            return rest.components().fold(real, |path, component| match component {
                Component::ParentDir => path.parent().map(Path::to_owned).unwrap_or(path),
                component => path.join(component),
            });
        }
    }
    path.to_owned()
}

fn is_repository(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

fn common_of(git_folder: &Path) -> PathBuf {
    match first_line(&git_folder.join("commondir")) {
        Some(common) => git_folder.join(PathBuf::from(common)),
        None => git_folder.to_owned(),
    }
}

/// Returns the target of a `.git` file.
pub(crate) fn linked(file: &Path) -> Option<PathBuf> {
    let line = first_line(file)?.into_vec();
    let target = line.strip_prefix(b"gitdir: ")?.to_vec();
    Some(PathBuf::from(std::ffi::OsString::from_vec(target)))
}

fn first_line(path: &Path) -> Option<std::ffi::OsString> {
    // A pipe or a device could block.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LONGEST_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let line = bytes.split(|byte| *byte == b'\n').next()?.to_vec();
    (!line.is_empty()).then(|| std::ffi::OsString::from_vec(line))
}
