//! Finds the files that belong to a conversation.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::ports::{ArchiveOrder, Content};

use super::manifest::FileRole;

/// The maximum depth of subfolders. No vendor nests its files deeper.
const MAX_DEPTH: usize = 6;
/// The maximum number of files beside a transcript. No conversation should have more.
const MAX_FILES: usize = 5000;

/// A file, and its role in the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    pub(super) role: FileRole,
    pub(super) path: PathBuf,
}

/// Lists the files that belong to a conversation. The transcript is the last, so that a copied
/// transcript has all files that it needs.
pub(super) fn of(order: &ArchiveOrder) -> Vec<SourceFile> {
    let mut sources = Vec::new();
    if let Some(folder) = &order.companion_folder {
        collect(folder, Path::new(""), MAX_DEPTH, &mut sources);
    }
    for path in &order.ancestors {
        let role = FileRole::Ancestor(below(&order.place.config_dir, path));
        sources.push(SourceFile { role, path: path.clone() });
    }
    if let Content::Transcript(path) = &order.content {
        sources.push(SourceFile { role: FileRole::Transcript, path: path.clone() });
    }
    // A path that is not UTF-8 cannot be stored in the record.
    sources.retain(|source| source.path.to_str().is_some());
    sources
}

/// Returns the path relative to a folder, or the whole path if it is not below the folder.
pub(super) fn below(folder: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(folder).unwrap_or(path).to_owned()
}

fn collect(folder: &Path, name: &Path, depth: usize, sources: &mut Vec<SourceFile>) {
    // A folder that is missing or belongs to another user is skipped.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&path, &name, depth - 1, sources),
            Ok(kind) if kind.is_file() && sources.len() < MAX_FILES => {
                sources.push(SourceFile { role: FileRole::Companion(name), path });
            }
            _ => {}
        }
    }
}
