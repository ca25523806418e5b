//! Writes and reads git objects through a view: no filter, no hook, no configuration.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use segue_core::{Error, Result};

use crate::command::TimeLimit;
use crate::failure::cannot;
use crate::view::View;

/// The id of an object, as git prints it.
pub(crate) type ObjectId = String;

/// The kind of a file in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileMode {
    Regular,
    Executable,
    Symlink,
    /// A commit of a submodule.
    Submodule,
}

impl FileMode {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Regular => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Regular, Self::Executable, Self::Symlink, Self::Submodule];
        all.into_iter().find(|mode| mode.word() == word)
    }
}

/// A file in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) mode: FileMode,
    pub(crate) id: ObjectId,
    /// The path in the tree, which need not be UTF-8.
    pub(crate) path: Vec<u8>,
}

impl View<'_> {
    /// Stores files as they are, and returns their ids in the same order. The paths are absolute.
    pub(crate) async fn write_blobs(&self, files: &[PathBuf]) -> Result<Vec<ObjectId>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let lines = files.iter().flat_map(|path| [line(path), b"\n".to_vec()]).flatten().collect();
        let command = self.command().args(["hash-object", "-w", "--no-filters", "--stdin-paths"]);
        let output = command.input(lines).limit(TimeLimit::LOCAL).line().await?;
        let ids: Vec<ObjectId> = output.lines().map(str::to_owned).collect();
        match ids.len() == files.len() {
            true => Ok(ids),
            false => Err(Error::internal("git has not stored every file")),
        }
    }

    /// Stores bytes as a blob.
    pub(crate) async fn write_blob(&self, bytes: Vec<u8>) -> Result<ObjectId> {
        let command = self.command().args(["hash-object", "-w", "--no-filters", "--stdin"]);
        command.input(bytes).line().await
    }

    /// Stores a tree of files. The blobs need not exist: a partial clone lacks some.
    pub(crate) async fn write_tree(&self, entries: &[TreeEntry]) -> Result<ObjectId> {
        let index = self.folder.path.join("tree-index");
        let lines = entries.iter().flat_map(|entry| {
            let mut line = format!("{} {} 0\t", entry.mode.word(), entry.id).into_bytes();
            line.extend_from_slice(&entry.path);
            line.push(0);
            line
        });
        let command = self.command_with_index(&index).args(["update-index", "-z", "--index-info"]);
        command.input(lines.collect()).limit(TimeLimit::LOCAL).run().await?;
        let command = self.command_with_index(&index).args(["write-tree", "--missing-ok"]);
        let tree = command.limit(TimeLimit::LOCAL).line().await?;
        // Git writes no index for an empty list.
        match fs::remove_file(&index) {
            Err(error) if index.exists() => Err(cannot("remove", &index, &error)),
            _ => Ok(tree),
        }
    }

    /// Stores a tree whose entries are trees and blobs, given as type, id and name.
    pub(crate) async fn join_trees(&self, entries: &[(&str, ObjectId, &str)]) -> Result<ObjectId> {
        let line = |(kind, id, name): &(&str, ObjectId, &str)| {
            let mode = if *kind == "tree" { "040000" } else { "100644" };
            format!("{mode} {kind} {id}\t{name}\0")
        };
        let lines: String = entries.iter().map(line).collect();
        let command = self.command().args(["mktree", "-z", "--missing"]);
        command.input(lines.into_bytes()).line().await
    }

    /// Returns the content of a blob, such as `COMMIT:path`. `None` if it does not exist.
    pub(crate) async fn read_blob(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let output = self.command().args(["cat-file", "blob", name]).output().await?;
        Ok(output.status.success().then_some(output.stdout))
    }

    /// Returns the id of an object, such as `COMMIT:path`. `None` if it does not exist.
    pub(crate) async fn object(&self, name: &str) -> Result<Option<ObjectId>> {
        let command = self.command().args(["rev-parse", "--verify", "--quiet"]);
        let output = command.args(["--end-of-options", name]).output().await?;
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(output.status.success().then_some(id))
    }

    /// Returns whether every file of `part` is, unchanged, in `whole`. Both are trees.
    pub(crate) async fn is_part_of(&self, part: &str, whole: &str) -> Result<bool> {
        let command = self.command().args(["diff-tree", "-r", "-z", "--name-status"]);
        let command = command.args(["--no-renames", "--diff-filter=d", whole, part]);
        Ok(command.run().await?.is_empty())
    }
}

/// Returns a line for `--stdin-paths`. Git unquotes a line that begins with a quotation mark.
fn line(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.iter().any(u8::is_ascii_control) {
        return bytes.to_vec();
    }
    let escape = |byte: &u8| match byte {
        b'"' | b'\\' => vec![b'\\', *byte],
        byte if byte.is_ascii_control() => format!("\\{byte:03o}").into_bytes(),
        byte => vec![*byte],
    };
    let quoted = bytes.iter().flat_map(escape);
    std::iter::once(b'"').chain(quoted).chain(std::iter::once(b'"')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_control_characters_are_quoted() {
        assert_eq!(line(Path::new("/a b")), b"/a b");
        assert_eq!(line(Path::new("/a\nb\"\\\r")), b"\"/a\\012b\\\"\\\\\\015\"");
    }
}
