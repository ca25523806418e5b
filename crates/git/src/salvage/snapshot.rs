//! Stores everything in a worktree as objects of git. Two snapshots of the same content are equal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::CommitId;
use segue_core::rules::worktrees::FolderContent;

use super::disk::{self, DiskContent, DiskFile, DiskFiles, join};
use super::inventory::{IndexEntry, Inventory, split};
use super::metadata::SalvageDetails;
use super::names::{bytes, stored, text};
use crate::failure::cannot;
use crate::layout;
use crate::objects::{FileMode, ObjectId, TreeEntry};
use crate::view::{View, WorktreeFolders};

/// Files of a worktree's git folder that are not stored: git makes them again, and the index is
/// stored separately.
const LEFT_OUT: [&[u8]; 5] = [b"HEAD", b"commondir", b"gitdir", b"index", b"locked"];

/// Everything in a worktree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WorktreeSnapshot {
    /// The files. `None` if the folder is gone.
    pub(super) files: Option<ObjectId>,
    /// The files, and those that a sparse checkout leaves out.
    pub(super) all_files: Option<ObjectId>,
    /// Whether the index has flags that no commit has.
    pub(super) has_flags: bool,
    /// The entries of the index by their stage. `None` for a stage without entries.
    pub(super) stages: [Option<ObjectId>; 4],
    /// The index as a file, with all flags. `None` if there is none.
    pub(super) index_file: Option<ObjectId>,
    /// Repositories and submodules in the worktree, with their git folders.
    pub(super) nested: Option<ObjectId>,
    /// The worktree's git folder: operations in progress, its reflog, its settings.
    pub(super) state: Option<ObjectId>,
    pub(super) details: SalvageDetails,
}

/// Makes a snapshot.
pub(super) struct Snapshotting<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) worktree: &'a WorktreeFolders,
    pub(super) include: &'a [String],
}

impl Snapshotting<'_> {
    pub(super) async fn take(&self) -> Result<WorktreeSnapshot> {
        let has_folder = layout::content(&self.worktree.checkout) == FolderContent::Files;
        let inventory = Inventory::take(self.view, self.include).await?;
        let nested_folders = self.nested_folders(&inventory).await?;
        // Conflicts and `git add -N` refer to the empty file, which need not be stored.
        self.view.write_blob(Vec::new()).await?;
        let mut details = SalvageDetails::default();
        let (mut files, mut all_files, mut nested) = (None, None, None);
        let mut has_flags = inventory.index.iter().any(|entry| entry.is_assumed);
        if has_folder {
            let mut found = self.look(&inventory, &nested_folders, &mut details).await?;
            let unstorable = found.take_unstorable();
            let entries = self.files(&inventory, &nested_folders, &found).await?;
            has_flags |= has_skipped_file(&inventory, &entries);
            files = Some(self.view.write_tree(&entries).await?);
            all_files = self.with_left_out(entries, &inventory, files.clone()).await?;
            nested = self.nested(nested_folders, &unstorable, &mut details).await?;
        }
        Ok(WorktreeSnapshot {
            files,
            all_files,
            nested,
            has_flags,
            stages: self.stages(&inventory.index).await?,
            index_file: self.index_file().await?,
            state: self.state(&mut details).await?,
            details,
        })
    }

    /// Returns the folders with repositories and submodules. The index may have a submodule where the
    /// disk has a file.
    async fn nested_folders(&self, inventory: &Inventory) -> Result<BTreeSet<Vec<u8>>> {
        let submodules = inventory.index.iter().filter(|it| it.mode == FileMode::Submodule);
        let submodules = submodules.map(|entry| entry.path.clone());
        let folders = submodules.chain(inventory.repositories.iter().cloned()).collect();
        disk::folders_at(self.worktree.checkout.clone(), folders).await
    }

    /// Looks at all files to store that are not in nested repositories.
    async fn look(
        &self,
        inventory: &Inventory,
        nested_folders: &BTreeSet<Vec<u8>>,
        details: &mut SalvageDetails,
    ) -> Result<DiskFiles> {
        let tracked = inventory.index.iter().map(|entry| entry.path.clone());
        let paths: BTreeSet<Vec<u8>> = tracked.chain(inventory.untracked.iter().cloned()).collect();
        let is_nested = |path: &[u8]| folders_of(path).any(|it| nested_folders.contains(it));
        let paths = paths.into_iter().filter(|path| !inventory.filtered.contains(path));
        let paths = paths.filter(|path| !is_nested(path)).collect();
        let found = disk::look_at(self.worktree.checkout.clone(), paths).await?;
        details.permissions = texts(found.permissions());
        details.special.extend(found.special.iter().map(|path| text(path)));
        details.filtered = inventory.filtered.iter().map(|path| text(path)).collect();
        Ok(found)
    }

    /// Stores the files, and adds the entries that come from the index.
    async fn files(
        &self,
        inventory: &Inventory,
        nested_folders: &BTreeSet<Vec<u8>>,
        found: &DiskFiles,
    ) -> Result<Vec<TreeEntry>> {
        let mut entries = self.store(&self.worktree.checkout, found, |path| path.to_vec()).await?;
        let kept = inventory.index.iter().filter(|entry| {
            let is_submodule = entry.mode == FileMode::Submodule;
            let is_there = is_submodule && nested_folders.contains(&entry.path);
            entry.stage == 0 && (is_there || inventory.filtered.contains(&entry.path))
        });
        entries.extend(kept.map(IndexEntry::tree_entry));
        Ok(entries)
    }

    /// Returns the tree of all files together with those that a sparse checkout leaves out.
    async fn with_left_out(
        &self,
        mut entries: Vec<TreeEntry>,
        inventory: &Inventory,
        files: Option<ObjectId>,
    ) -> Result<Option<ObjectId>> {
        let there: BTreeSet<Vec<u8>> = entries.iter().map(|entry| entry.path.clone()).collect();
        let is_left_out = |entry: &&IndexEntry| entry.is_skipped && !there.contains(&entry.path);
        let left_out = inventory.index.iter().filter(is_left_out).map(IndexEntry::tree_entry);
        let left_out: Vec<TreeEntry> = left_out.collect();
        // In one tree, a file would replace the folder of the same name.
        let folders: BTreeSet<&[u8]> = there.iter().flat_map(|path| folders_of(path)).collect();
        let is_in_the_way = |entry: &TreeEntry| {
            folders.contains(&entry.path[..])
                || folders_of(&entry.path).any(|it| there.contains(it))
        };
        if left_out.is_empty() || left_out.iter().any(is_in_the_way) {
            return Ok(files);
        }
        entries.extend(left_out);
        self.view.write_tree(&entries).await.map(Some)
    }

    async fn stages(&self, index: &[IndexEntry]) -> Result<[Option<ObjectId>; 4]> {
        let mut trees = [None, None, None, None];
        for (stage, tree) in trees.iter_mut().enumerate() {
            let entries = index.iter().filter(|entry| entry.stage == stage);
            let entries: Vec<TreeEntry> = entries.map(IndexEntry::tree_entry).collect();
            if !entries.is_empty() {
                *tree = Some(self.view.write_tree(&entries).await?);
            }
        }
        Ok(trees)
    }

    pub(super) async fn index_file(&self) -> Result<Option<ObjectId>> {
        let path = self.worktree.admin.join("index");
        match path.is_file() {
            true => Ok(self.view.write_blobs(&[path]).await?.pop()),
            false => Ok(None),
        }
    }

    /// Stores repositories and submodules below the worktree, file by file, and the files whose names
    /// no tree can have.
    async fn nested(
        &self,
        folders: BTreeSet<Vec<u8>>,
        unstorable: &DiskFiles,
        details: &mut SalvageDetails,
    ) -> Result<Option<ObjectId>> {
        let mut entries = self.store(&self.worktree.checkout, unstorable, stored).await?;
        for folder in folders {
            let root = join(&self.worktree.checkout, &folder);
            let found = disk::look_below(root.clone(), |_| false).await?;
            let below = |path: &[u8]| [&folder[..], b"/", path].concat();
            let permissions = found.permissions().into_iter().map(|(path, it)| (below(&path), it));
            details.nested_permissions.extend(texts(permissions));
            let empty = found.empty_folders.iter().map(|path| text(&below(path)));
            details.nested_empty_folders.extend(empty);
            details.special.extend(found.special.iter().map(|path| text(&below(path))));
            entries.extend(self.store(&root, &found, |path| stored(&below(path))).await?);
        }
        self.tree_unless_empty(&entries).await
    }

    async fn state(&self, details: &mut SalvageDetails) -> Result<Option<ObjectId>> {
        let admin = &self.worktree.admin;
        let found = disk::look_below(admin.clone(), is_left_out).await?;
        details.state_empty_folders = found.empty_folders.iter().map(|path| text(path)).collect();
        let entries = self.store(admin, &found, |path| path.to_vec()).await?;
        self.tree_unless_empty(&entries).await
    }

    /// Returns whether the files of a salvage are in the worktree, byte for byte. Files that a filter
    /// makes must exist.
    pub(super) async fn same_files(&self, commit: &CommitId, filtered: &[String]) -> Result<bool> {
        let command = self.view.command().args(["ls-tree", "-r", "-z", "--full-tree"]);
        let output = command.arg(format!("{commit}:files")).output().await?;
        let mut entries: Vec<TreeEntry> = split(&output.stdout).filter_map(parse_tree).collect();
        entries.retain(|entry| entry.mode != FileMode::Submodule);
        let paths: Vec<Vec<u8>> = entries.iter().map(|entry| entry.path.clone()).collect();
        let mut found = disk::look_at(self.worktree.checkout.clone(), paths).await?;
        let filtered: BTreeSet<Vec<u8>> = filtered.iter().map(|path| bytes(path)).collect();
        let has_all = found.files.len() == entries.len();
        entries.retain(|entry| !filtered.contains(&entry.path));
        found.files.retain(|file| !filtered.contains(&file.path));
        let stored = self.store(&self.worktree.checkout, &found, |path| path.to_vec()).await?;
        Ok(has_all && stored == entries)
    }

    async fn tree_unless_empty(&self, entries: &[TreeEntry]) -> Result<Option<ObjectId>> {
        match entries.is_empty() {
            true => Ok(None),
            false => self.view.write_tree(entries).await.map(Some),
        }
    }

    /// Stores the contents of files below a folder.
    async fn store(
        &self,
        folder: &Path,
        found: &DiskFiles,
        name: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Result<Vec<TreeEntry>> {
        let sources: Result<Vec<PathBuf>> = found
            .files
            .iter()
            .enumerate()
            .map(|(number, it)| self.source(folder, number, it))
            .collect();
        let ids = self.view.write_blobs(&sources?).await?;
        let entry = |(file, id): (&DiskFile, ObjectId)| {
            let mode = match file.content {
                DiskContent::File { mode } => mode,
                DiskContent::Symlink { .. } => FileMode::Symlink,
            };
            TreeEntry { mode, id, path: name(&file.path) }
        };
        Ok(found.files.iter().zip(ids).map(entry).collect())
    }

    /// Returns the file that has the content to store. The target of a symlink is written to a
    /// temporary file.
    fn source(&self, folder: &Path, number: usize, file: &DiskFile) -> Result<PathBuf> {
        let DiskContent::Symlink { target } = &file.content else {
            return Ok(join(folder, &file.path));
        };
        let path = self.view.folder.path.join(format!("link-{number}"));
        fs::write(&path, target).map_err(|error| cannot("write", &path, &error))?;
        Ok(path)
    }
}

impl IndexEntry {
    fn tree_entry(&self) -> TreeEntry {
        TreeEntry { mode: self.mode, id: self.id.clone(), path: self.path.clone() }
    }
}

/// Returns whether a file is there that a sparse checkout would leave out.
fn has_skipped_file(inventory: &Inventory, entries: &[TreeEntry]) -> bool {
    let skipped = inventory.index.iter().filter(|entry| entry.is_skipped);
    let skipped: BTreeSet<&[u8]> = skipped.map(|entry| &entry.path[..]).collect();
    entries.iter().any(|entry| skipped.contains(&entry.path[..]))
}

/// Parses `100644 blob <id><TAB>path`.
fn parse_tree(line: &[u8]) -> Option<TreeEntry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
    let mode = FileMode::from_word(words.next()?)?;
    let id = words.nth(1)?.to_owned();
    Some(TreeEntry { mode, id, path: line[tab + 1..].to_vec() })
}

/// Returns the folders that contain a path: `a` and `a/b` for `a/b/c`.
fn folders_of(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| &path[..at])
}

/// Returns whether a file of the worktree's git folder is not stored. The git folder of a submodule
/// has the submodule's name, which may end with `.lock`.
fn is_left_out(path: &[u8]) -> bool {
    LEFT_OUT.contains(&path) || path.ends_with(b".lock") && !path.starts_with(b"modules/")
}

fn texts<T>(pairs: impl IntoIterator<Item = (Vec<u8>, T)>) -> BTreeMap<String, T> {
    pairs.into_iter().map(|(path, value)| (text(&path), value)).collect()
}
