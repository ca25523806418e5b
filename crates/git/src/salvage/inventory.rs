//! Lists the files of a worktree as git knows them: the index, untracked files, and files that a
//! filter makes.

use std::collections::BTreeSet;
use std::fs;

use segue_core::Result;

use crate::objects::{FileMode, ObjectId};
use crate::view::{FileReading, View};

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
    /// Files that are as a filter made them from the index.
    pub(super) filtered: BTreeSet<Vec<u8>>,
}

impl Inventory {
    /// Lists the files. `include` are patterns of ignored files.
    pub(super) async fn take(view: &View<'_>, include: &[String]) -> Result<Self> {
        let mut inventory = Self { index: index(view).await?, ..Self::default() };
        let standard = ["ls-files", "-z", "--others", "--exclude-standard"];
        inventory.add_untracked(&view.command().args(standard).run().await?);
        if !include.is_empty() {
            let patterns = view.folder.path.join("include");
            let written = fs::write(&patterns, include.join("\n") + "\n");
            written.map_err(|error| crate::failure::cannot("write", &patterns, &error))?;
            let command = view.command().args(["ls-files", "-z", "--others", "--ignored"]);
            let command = command.arg("--exclude-from").arg(&patterns);
            inventory.add_untracked(&command.run().await?);
        }
        inventory.filtered = filtered(view, &inventory.index).await?;
        Ok(inventory)
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
    Ok(split(&output).filter_map(parse).collect())
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

/// Returns the files that have a filter attribute and that git takes for unchanged. Their content on
/// disk may be large, as with Git LFS, and the filter can make it again.
async fn filtered(view: &View<'_>, index: &[IndexEntry]) -> Result<BTreeSet<Vec<u8>>> {
    let is_attributes = |entry: &IndexEntry| entry.path.ends_with(b".gitattributes");
    if !index.iter().any(is_attributes) && !view.has_attributes() {
        return Ok(BTreeSet::new());
    }
    let settled = index.iter().filter(|it| it.stage == 0 && it.mode != FileMode::Submodule);
    let paths = settled.flat_map(|entry| [&entry.path[..], b"\0"].concat()).collect();
    view.use_attributes(FileReading::Text)?;
    let command = view.command().args(["check-attr", "-z", "--stdin", "filter"]);
    let output = command.input(paths).run().await?;
    view.use_attributes(FileReading::Raw)?;
    let words: Vec<&[u8]> = split(&output).collect();
    let has_filter = |word: &[u8]| ![&b"unspecified"[..], b"unset", b"set"].contains(&word);
    let with_filter = words.chunks_exact(3).filter(|it| has_filter(it[2])).map(|it| it[0].to_vec());
    let mut filtered: BTreeSet<Vec<u8>> = with_filter.collect();
    if !filtered.is_empty() {
        let command = view.command().args(["ls-files", "-z", "--modified", "--deleted"]);
        for path in split(&command.run().await?) {
            filtered.remove(path);
        }
    }
    Ok(filtered)
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
