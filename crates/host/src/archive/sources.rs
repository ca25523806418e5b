//! Which files belong to a conversation.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::ports::{ArchiveOrder, Content};

use super::manifest::Role;

/// Deeper than any vendor nests its files.
const DEEPEST: usize = 6;
/// More files than any conversation should have beside it.
const MOST: usize = 5000;

/// A file, and what it is to the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) role: Role,
    pub(super) path: PathBuf,
}

/// Lists the files that belong to a conversation; the transcript is the last, so that what it needs
/// is there when it is.
pub(super) fn of(order: &ArchiveOrder) -> Vec<Source> {
    let mut sources = Vec::new();
    if let Some(folder) = &order.belongings {
        collect(folder, Path::new(""), DEEPEST, &mut sources);
    }
    for path in &order.ancestors {
        let role = Role::Ancestor(below(&order.place.config_dir, path));
        sources.push(Source { role, path: path.clone() });
    }
    if let Content::Transcript(path) = &order.content {
        sources.push(Source { role: Role::Transcript, path: path.clone() });
    }
    // A name that cannot be written down in our record cannot be kept.
    sources.retain(|source| source.path.to_str().is_some());
    sources
}

/// Returns the rest of a path below a folder; the whole of it where it is elsewhere.
pub(super) fn below(folder: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(folder).unwrap_or(path).to_owned()
}

fn collect(folder: &Path, name: &Path, depth: usize, sources: &mut Vec<Source>) {
    // What is absent, or belongs to somebody else, is not copied.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&path, &name, depth - 1, sources),
            Ok(kind) if kind.is_file() && sources.len() < MOST => {
                sources.push(Source { role: Role::Belonging(name), path });
            }
            _ => {}
        }
    }
}
