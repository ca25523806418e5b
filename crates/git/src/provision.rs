//! Gives a new worktree files that git does not track: copies of files such as `.env`, and symlinks
//! to folders such as `node_modules`.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use segue_core::model::{CheckoutNotice, Provision};
use segue_core::{Error, Result, failpoint};

use crate::confined::{copy_below, link_below};
use crate::failure::cannot;
use crate::layout;
use crate::locked::LockedRepository;
use crate::view::{FileReading, View, WorktreeFolders};

/// The file in a repository that names ignored files to copy, in the syntax of `.gitignore`.
const INCLUDE_FILE: &str = ".worktreeinclude";
/// Maximum length of that file. Real files are smaller.
const LONGEST_FILE_BYTES: u64 = 1 << 20;

/// Copies and links files into a new worktree. Returns what was left out.
pub(crate) async fn provide(
    repository: &LockedRepository<'_>,
    provision: &Provision,
    path: &Path,
) -> Result<Vec<CheckoutNotice>> {
    let Some(from) = &provision.from else { return Ok(Vec::new()) };
    let from = layout::real(from);
    let files = files_to_copy(repository, provision, &from).await?;
    let (folders, to) = (provision.link.clone(), path.to_owned());
    let copied = tokio::task::spawn_blocking(move || copy_and_link(&from, &files, &folders, &to));
    copied.await.map_err(|error| Error::internal("cannot copy files").caused_by(error))
}

fn copy_and_link(
    from: &Path,
    files: &BTreeSet<PathBuf>,
    folders: &[PathBuf],
    to: &Path,
) -> Vec<CheckoutNotice> {
    let mut notices = Vec::new();
    for file in files {
        failpoint::hit("git.provision.copy.before");
        note(&mut notices, file, copy(from, file, to));
    }
    for folder in folders {
        failpoint::hit("git.provision.link.before");
        note(&mut notices, folder, link(from, folder, to));
    }
    notices
}

fn note(notices: &mut Vec<CheckoutNotice>, path: &Path, done: io::Result<()>) {
    if let Err(error) = done {
        let (path, why) = (path.to_owned(), error.to_string());
        notices.push(CheckoutNotice::NotProvided { path, why });
    }
}

/// Returns the untracked files that match a pattern, relative to the folder. The file
/// `.worktreeinclude` of the repository only names ignored files.
async fn files_to_copy(
    repository: &LockedRepository<'_>,
    provision: &Provision,
    from: &Path,
) -> Result<BTreeSet<PathBuf>> {
    let written = include_file(from);
    if provision.include.is_empty() && written.is_none() {
        return Ok(BTreeSet::new());
    }
    let folders = WorktreeFolders {
        admin: layout::git_folder_of(from).unwrap_or_else(|| repository.folders.common.clone()),
        checkout: from.to_owned(),
        repository: repository.folders.clone(),
    };
    let view =
        View::open(repository.git, repository.scratch, &folders, None, FileReading::Text).await?;
    let patterns = provision.include.join("\n").into_bytes();
    let mut files = matching(&view, &patterns).await?;
    if let Some(written) = written {
        let ignored = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
        let ignored = paths(&view.command().args(ignored).run().await?);
        files.extend(matching(&view, &written).await?.intersection(&ignored).cloned());
    }
    Ok(files)
}

async fn matching(view: &View<'_>, patterns: &[u8]) -> Result<BTreeSet<PathBuf>> {
    let file = view.folder.path.join("patterns");
    fs::write(&file, [patterns, b"\n"].concat()).map_err(|error| cannot("write", &file, &error))?;
    let command = view.command().args(["ls-files", "-z", "--others", "--ignored"]);
    Ok(paths(&command.arg("--exclude-from").arg(&file).run().await?))
}

fn paths(output: &[u8]) -> BTreeSet<PathBuf> {
    let parts = output.split(|byte| *byte == 0);
    // A path with a trailing slash is a repository of its own.
    let files = parts.filter(|part| !part.is_empty() && !part.ends_with(b"/"));
    files.map(|part| PathBuf::from(OsStr::from_bytes(part))).collect()
}

pub(crate) fn include_file(from: &Path) -> Option<Vec<u8>> {
    let path = from.join(INCLUDE_FILE);
    let facts = fs::symlink_metadata(&path).ok()?;
    let is_usable = facts.is_file() && facts.len() <= LONGEST_FILE_BYTES;
    is_usable.then(|| fs::read(&path).ok()).flatten()
}

fn copy(from: &Path, file: &Path, to: &Path) -> io::Result<()> {
    let source = inside(from, file)?;
    if !fs::metadata(&source)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    made(copy_below(to, file, File::open(source)?)?)
}

fn link(from: &Path, folder: &Path, to: &Path) -> io::Result<()> {
    let target = inside(from, folder)?;
    if !fs::metadata(&target)?.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    made(link_below(to, folder, &target)?)
}

fn made(is_new: bool) -> io::Result<()> {
    match is_new {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::AlreadyExists, "the worktree has it already")),
    }
}

/// Returns the real path of a file, which must be inside the folder.
fn inside(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(folder.join(path))?;
    match real.starts_with(folder) {
        true => Ok(real),
        false => Err(io::Error::other("it is a symlink that leads out of the folder")),
    }
}
