//! Shared clones that nothing needs any more.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::model::{CloneContent, RepositorySource, RepositoryUrl, SharedClone};
use segue_core::rules::worktrees::clone_name;
use segue_core::{Error, Result, failpoint};

use super::{DAMAGED, NEW, REPLACED, remove_folder};
use crate::failure::cannot;
use crate::layout::RepositoryFolders;
use crate::listing;
use crate::locked::LockedRepository;
use crate::program::Git;

/// The settings of a repository are read up to this length.
const LONGEST_SETTINGS_BYTES: u64 = 1 << 20;

/// Returns the clones in a folder, and what interrupted or damaged ones have left there.
pub(crate) fn list(folder: &Path) -> Result<Vec<SharedClone>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| cannot("read", folder, &error))?,
    };
    let folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    let mut clones: Vec<SharedClone> = folders.map(describe).collect();
    clones.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(clones)
}

fn describe(path: PathBuf) -> SharedClone {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (own_name, content) = content_of(&name);
    // An agent can change the settings of a clone. The name of the folder has a hash of the URL.
    let is_own = |url: &RepositoryUrl| clone_name(&RepositorySource::Url(url.clone())) == own_name;
    SharedClone {
        url: configured_url(&path.join("config")).filter(is_own),
        used_at: used_at(&path),
        content,
        path,
    }
}

/// Returns the name of the clone to which a folder belongs, and what the folder has.
fn content_of(name: &str) -> (&str, CloneContent) {
    let parts = [
        (NEW, CloneContent::Unfinished),
        (REPLACED, CloneContent::Damaged),
        (DAMAGED, CloneContent::Damaged),
    ];
    let found = parts.iter().find_map(|(part, content)| Some((name.find(part)?, *content)));
    found.map_or((name, CloneContent::Complete), |(at, content)| (&name[..at], content))
}

/// Returns the folders of the clone to which a folder belongs.
pub(crate) fn folders_of(clone: &SharedClone) -> RepositoryFolders {
    let name = clone.path.file_name().unwrap_or_default().to_string_lossy();
    let common = clone.path.with_file_name(content_of(&name).0);
    RepositoryFolders { checkout: common.clone(), common }
}

/// Returns why a folder must stay. `None` if nothing is lost without it.
pub(crate) async fn reason_to_stay(git: &Git, clone: &SharedClone) -> Result<Option<String>> {
    match clone.content {
        CloneContent::Unfinished => Ok(None),
        CloneContent::Damaged => Ok(Some("it is damaged, and kept for you".to_owned())),
        CloneContent::Complete if clone.url.is_none() => {
            Ok(Some("its settings name another repository".to_owned()))
        }
        CloneContent::Complete => holds(git, &folders_of(clone)).await,
    }
}

/// Returns the URL of `origin` in a file of settings that Segue wrote.
fn configured_url(file: &Path) -> Option<RepositoryUrl> {
    let facts = fs::symlink_metadata(file).ok()?;
    if !facts.is_file() || facts.len() > LONGEST_SETTINGS_BYTES {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let lines = text.lines().map(str::trim);
    let section = lines.skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let mut own = section.take_while(|line| !line.starts_with('['));
    let value = own.find_map(|line| line.strip_prefix("url = "))?;
    RepositoryUrl::parse(value).ok()
}

/// Returns when refs, objects or worktrees of a clone last changed.
fn used_at(clone: &Path) -> Timestamp {
    let parts = ["", "packed-refs", "refs/heads", "refs/remotes/origin", "objects", "objects/pack"];
    let parts = parts.iter().chain(&["worktrees", "logs"]).map(|part| clone.join(part));
    let times = parts.filter_map(|part| fs::metadata(part).ok()?.modified().ok());
    let newest = times.filter_map(|time| Timestamp::try_from(time).ok()).max();
    newest.unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Returns why a clone must stay. `None` if nothing is lost without it.
async fn holds(git: &Git, folders: &RepositoryFolders) -> Result<Option<String>> {
    let listed = listing::list(git, folders).await?;
    if let Some(worktree) = listed.iter().find(|it| !it.is_main) {
        return Ok(Some(format!("it has the worktree `{}`", worktree.path.display())));
    }
    // Salvages and stashes are commits that no branch of the remote has.
    let command = git.bookkeeping(folders).args(["rev-list", "--max-count=1"]);
    let command = command.args(["--exclude=refs/remotes/*", "--all", "--not", "--remotes"]);
    let commit = command.line().await?;
    let commit = commit.trim();
    if commit.is_empty() {
        return Ok(None);
    }
    let command = git.bookkeeping(folders).args(["for-each-ref", "--count=1"]);
    let reference = command.args(["--format=%(refname)", "--contains", commit]).line().await?;
    Ok(Some(format!("the remote does not have `{}` ({commit})", reference.trim())))
}

/// Removes a clone that nothing needs. It gets the name of an unfinished clone first: whatever an
/// interrupted removal leaves is removed by the next one.
pub(crate) async fn remove(repository: &LockedRepository<'_>, clone: &SharedClone) -> Result<()> {
    let folder = &repository.folders.common;
    remove_leftovers(folder).await?;
    if clone.content == CloneContent::Unfinished || !folder.is_dir() {
        return Ok(());
    }
    if let Some(why) = reason_to_stay(repository.git, clone).await? {
        let path = folder.display();
        return Err(Error::conflict(format!("the clone `{path}` must stay")).caused_by(why));
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let id = repository.clock.random_id().simple();
    let aside = folder.with_file_name(format!("{name}{NEW}removed-{id}"));
    failpoint::hit("git.clone.remove.before");
    fs::rename(folder, &aside).map_err(|error| cannot("rename", folder, &error))?;
    failpoint::hit("git.clone.remove.renamed");
    remove_folder(aside).await?;
    failpoint::hit("git.clone.remove.after");
    Ok(())
}

/// Removes the folders of unfinished clones and of interrupted removals.
async fn remove_leftovers(folder: &Path) -> Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Ok(()) };
    let start = format!("{}{NEW}", name.to_string_lossy());
    for clone in list(parent)? {
        let name = clone.path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(&start) {
            remove_folder(clone.path).await?;
        }
    }
    Ok(())
}
