//! Finds the files of Git LFS whose content need not be stored: the index has a pointer to the
//! content, and git takes the file for unchanged. Git LFS makes the content again from the pointer.
//!
//! Files of other filters are stored byte for byte. Some filters remove parts of a file before a
//! commit, so the filter could not make the file again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use segue_core::Result;

use super::disk::{blocking, join};
use super::inventory::{IndexEntry, split};
use crate::objects::{FileMode, ObjectId};
use crate::view::{FileReading, View};

/// Git LFS treats only files of at most this length as pointers.
const LONGEST_POINTER_BYTES: u64 = 1024;
/// The first line of a pointer.
const VERSION: &str = "version https://git-lfs.github.com/spec/v1";

/// Files, and the ids that the index has for them.
type IndexedFiles = BTreeMap<Vec<u8>, ObjectId>;

/// Returns the files of Git LFS whose content the pointer in the index describes.
pub(super) async fn unchanged(view: &View<'_>, index: &[IndexEntry]) -> Result<BTreeSet<Vec<u8>>> {
    let mut files = with_filter(view, index).await?;
    if files.is_empty() {
        return Ok(BTreeSet::new());
    }
    let command = view.command().args(["ls-files", "-z", "--modified", "--deleted"]);
    for path in split(&command.run().await?) {
        files.remove(path);
    }
    let sizes = pointed_sizes(view, files.values().cloned().collect()).await?;
    let checkout = view.checkout().to_owned();
    blocking(move || {
        let has_content = |(path, id): &(Vec<u8>, ObjectId)| {
            // A checkout without Git LFS writes the pointer itself, which has another size.
            let facts = fs::symlink_metadata(join(&checkout, path));
            facts.is_ok_and(|facts| facts.is_file() && sizes.get(id) == Some(&facts.len()))
        };
        Ok(files.into_iter().filter(has_content).map(|(path, _)| path).collect())
    })
    .await
}

/// Returns the files that have a filter. Git never reports a change of a file with a flag, so such
/// files are left out.
async fn with_filter(view: &View<'_>, index: &[IndexEntry]) -> Result<IndexedFiles> {
    let is_attributes = |entry: &IndexEntry| entry.path.ends_with(b".gitattributes");
    if !index.iter().any(is_attributes) && !view.has_attributes() {
        return Ok(IndexedFiles::new());
    }
    let is_plain = |entry: &&IndexEntry| {
        let is_file = matches!(entry.mode, FileMode::Regular | FileMode::Executable);
        is_file && entry.stage == 0 && !entry.is_skipped && !entry.is_assumed
    };
    let mut files: IndexedFiles =
        index.iter().filter(is_plain).map(|entry| (entry.path.clone(), entry.id.clone())).collect();
    let paths = files.keys().flat_map(|path| [&path[..], b"\0"].concat()).collect();
    view.use_attributes(FileReading::Text)?;
    let command = view.command().args(["check-attr", "-z", "--stdin", "filter"]);
    let output = command.input(paths).run().await?;
    view.use_attributes(FileReading::Raw)?;
    let words: Vec<&[u8]> = split(&output).collect();
    let has_no_filter = |word: &[u8]| [&b"unspecified"[..], b"unset", b"set"].contains(&word);
    for words in words.chunks_exact(3).filter(|words| has_no_filter(words[2])) {
        files.remove(words[0]);
    }
    Ok(files)
}

/// Returns the sizes of the contents that pointers name. Objects that are not pointers are left out.
async fn pointed_sizes(view: &View<'_>, ids: BTreeSet<ObjectId>) -> Result<HashMap<ObjectId, u64>> {
    let command = view.command().args(["cat-file", "--batch-check=%(objectname) %(objectsize)"]);
    let output = command.input(lines(ids.iter().map(String::as_str))).line().await?;
    let small = output.lines().filter_map(|line| {
        let (id, size) = line.split_once(' ')?;
        (size.parse::<u64>().ok()? <= LONGEST_POINTER_BYTES).then_some(id)
    });
    let command = view.command().args(["cat-file", "--batch"]);
    let output = command.input(lines(small)).run().await?;
    Ok(parse_batch(&output))
}

fn lines<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<u8> {
    ids.flat_map(|id| [id, "\n"]).collect::<String>().into_bytes()
}

/// Parses the output of `git cat-file --batch`.
fn parse_batch(mut output: &[u8]) -> HashMap<ObjectId, u64> {
    let mut sizes = HashMap::new();
    while let Some(end) = output.iter().position(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(&output[..end]).into_owned();
        output = &output[end + 1..];
        let mut words = line.split(' ');
        let (id, kind, length) = (words.next(), words.next(), words.next());
        // A missing object has no length and no content.
        let Some(length) = length.and_then(|it| it.parse::<usize>().ok()) else { continue };
        let content = output.get(..length).unwrap_or_default();
        if let (Some(id), Some("blob"), Some(size)) = (id, kind, pointed_size(content)) {
            sizes.insert(id.to_owned(), size);
        }
        output = output.get(length + 1..).unwrap_or_default();
    }
    sizes
}

/// Returns the size of the content that a pointer names. `None` if this is not a pointer.
fn pointed_size(content: &[u8]) -> Option<u64> {
    let mut lines = std::str::from_utf8(content).ok()?.lines();
    if lines.next() != Some(VERSION) {
        return None;
    }
    let lines: Vec<&str> = lines.collect();
    let has_id = lines.iter().any(|line| line.starts_with("oid sha256:"));
    let size = lines.iter().find_map(|line| line.strip_prefix("size "))?;
    size.parse().ok().filter(|_| has_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_pointers_and_other_objects_are_left_out() {
        let pointer = format!("{VERSION}\noid sha256:{}\nsize 12\n", "a".repeat(64));
        let output = format!(
            "1111 blob {}\n{pointer}\n2222 missing\n3333 blob 4\na\nb\n\n4444 blob {}\n{pointer}\n",
            pointer.len(),
            pointer.len()
        );
        let wanted = HashMap::from([("1111".to_owned(), 12), ("4444".to_owned(), 12)]);
        assert_eq!(parse_batch(output.as_bytes()), wanted);
        for content in ["", "version 1\nsize 12\n", &format!("{VERSION}\nsize 12\n")] {
            assert_eq!(pointed_size(content.as_bytes()), None, "{content}");
        }
    }
}
