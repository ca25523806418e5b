//! Lists the files of a worktree as git knows them: the index, untracked files, and files of Git LFS.

use std::collections::BTreeSet;
use std::fs;

use segue_core::{Error, Result};

use super::pointers;
use crate::failure::cannot;
use crate::objects::{FileMode, ObjectId};
use crate::provision::include_file;
use crate::view::View;

/// An entry of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub(super) mode: FileMode,
    pub(super) id: ObjectId,
    /// 0, or 1 to 3 in a conflict.
    pub(super) stage: usize,
    pub(super) path: Vec<u8>,
    /// Whether a sparse checkout leaves the file out.
    pub(super) is_skipped: bool,
    /// Whether `git update-index --assume-unchanged` hides changes of the file.
    pub(super) is_assumed: bool,
}

/// The files of a worktree as git knows them.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    pub(super) index: Vec<IndexEntry>,
    /// Files that git does not track, and ignored files that were asked for.
    pub(super) untracked: BTreeSet<Vec<u8>>,
    /// Folders with a repository of their own, without the trailing slash.
    pub(super) repositories: BTreeSet<Vec<u8>>,
    /// Files of Git LFS whose content the pointer in the index describes.
    pub(super) filtered: BTreeSet<Vec<u8>>,
}

impl Inventory {
    /// Lists the files. `include` are patterns of ignored files. The file `.worktreeinclude` of the
    /// worktree has more of them.
    pub(super) async fn take(view: &View<'_>, include: &[String]) -> Result<Self> {
        let mut inventory = Self { index: index(view).await?, ..Self::default() };
        let standard = ["ls-files", "-z", "--others", "--exclude-standard"];
        // Git only warns about folders that it cannot read.
        let untracked = view.command().args(standard).run_without_warnings().await?;
        inventory.add_untracked(&untracked);
        let of_worktree = include_file(view.checkout()).unwrap_or_default();
        if !include.is_empty() || !of_worktree.is_empty() {
            let patterns = [include.join("\n").as_bytes(), &of_worktree[..], b""].join(&b'\n');
            inventory.add_matching(view, &patterns).await?;
        }
        inventory.filtered = pointers::unchanged(view, &inventory.index).await?;
        Ok(inventory)
    }

    /// Adds the files that match patterns in the syntax of `.gitignore`.
    async fn add_matching(&mut self, view: &View<'_>, patterns: &[u8]) -> Result<()> {
        let file = view.folder.path.join("include");
        fs::write(&file, patterns).map_err(|error| cannot("write", &file, &error))?;
        let command = view.command().args(["ls-files", "-z", "--others", "--ignored"]);
        let command = command.arg("--exclude-from").arg(&file);
        self.add_untracked(&command.run_without_warnings().await?);
        Ok(())
    }

    fn add_untracked(&mut self, output: &[u8]) {
        for path in split(output) {
            match path.strip_suffix(b"/") {
                Some(folder) => self.repositories.insert(folder.to_vec()),
                None => self.untracked.insert(path.to_vec()),
            };
        }
    }
}

async fn index(view: &View<'_>) -> Result<Vec<IndexEntry>> {
    let output = view.command().args(["ls-files", "-z", "--stage", "-v"]).run().await?;
    let unreadable = |line: &[u8]| {
        let line = String::from_utf8_lossy(line).into_owned();
        Error::internal("git printed an unknown entry of the index").caused_by(line)
    };
    split(&output).map(|line| parse(line).ok_or_else(|| unreadable(line))).collect()
}

/// Parses `H 100644 <id> 0<TAB>path`.
fn parse(line: &[u8]) -> Option<IndexEntry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let facts = std::str::from_utf8(&line[..tab]).ok()?;
    let mut words = facts.split(' ');
    let tag = words.next()?;
    Some(IndexEntry {
        mode: FileMode::from_word(words.next()?)?,
        id: words.next()?.to_owned(),
        stage: words.next()?.parse().ok()?,
        path: line[tab + 1..].to_vec(),
        is_skipped: tag.eq_ignore_ascii_case("S"),
        is_assumed: tag.bytes().all(|byte| byte.is_ascii_lowercase()),
    })
}

pub(super) fn split(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_the_index_are_parsed() {
        let id = "a".repeat(40);
        let line = format!("s 100755 {id} 2\tnew\nline\tand tab");
        let entry = parse(line.as_bytes()).unwrap();
        let wanted = IndexEntry {
            mode: FileMode::Executable,
            id,
            stage: 2,
            path: b"new\nline\tand tab".to_vec(),
            is_skipped: true,
            is_assumed: true,
        };
        assert_eq!(entry, wanted);
        assert_eq!(parse(b"no tab"), None);
    }
}
