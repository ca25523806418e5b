//! Reads a growing file line by line, such as the output of a headless launch.

use std::path::{Path, PathBuf};

use segue_core::ports::Files;

const CHUNK_BYTES: usize = 64 * 1024;
/// A longer line is skipped: no signal is that long.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// A reading position in a growing file.
#[derive(Clone, Debug)]
pub(crate) struct StreamReader {
    path: PathBuf,
    offset: u64,
    /// The part of an incomplete line that was read.
    partial: Vec<u8>,
    /// Whether the rest of the current line is skipped.
    is_skipping: bool,
}

impl StreamReader {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, partial: Vec::new(), is_skipping: false }
    }

    /// Starts near the end of a file that may have grown for days: at the first line that begins in
    /// its last chunk.
    pub(crate) fn near_end(files: &dyn Files, path: PathBuf) -> Self {
        let length = files.facts(&path).ok().flatten().map_or(0, |facts| facts.length);
        let offset = length.saturating_sub(CHUNK_BYTES as u64);
        Self { offset, is_skipping: offset > 0, ..Self::new(path) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the complete lines that were added since the last call.
    pub(crate) fn new_lines(&mut self, files: &dyn Files) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let chunk = files.read_at(&self.path, self.offset, CHUNK_BYTES).unwrap_or_default();
            if chunk.is_empty() {
                return lines;
            }
            self.offset += chunk.len() as u64;
            self.take(&chunk, &mut lines);
        }
    }

    fn take(&mut self, chunk: &[u8], lines: &mut Vec<String>) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_skipping {
                self.partial.extend_from_slice(piece);
            }
            self.is_skipping |= self.partial.len() > MAX_LINE_BYTES;
            if piece.ends_with(b"\n") {
                if !self.is_skipping {
                    lines.push(String::from_utf8_lossy(&self.partial).trim_end().to_owned());
                }
                self.partial.clear();
                self.is_skipping = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use super::*;
    use crate::wiring;

    #[test]
    fn complete_lines_are_returned_once_and_a_partial_line_when_complete() {
        let (folder, files) = (tempfile::tempdir().unwrap(), wiring::files());
        let path = folder.path().join("stream.jsonl");
        let add = |text: &[u8]| {
            let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
            file.write_all(text).unwrap();
        };
        let mut reader = StreamReader::new(path.clone());
        assert_eq!(reader.new_lines(files.as_ref()), Vec::<String>::new(), "no file yet");
        add(b"one\ntw");
        assert_eq!(reader.new_lines(files.as_ref()), ["one"]);
        add(b"o\nthr\xffee\n");
        assert_eq!(reader.new_lines(files.as_ref()), ["two", "thr\u{fffd}ee"]);
        assert_eq!(reader.new_lines(files.as_ref()), Vec::<String>::new());
    }

    #[test]
    fn long_file_is_read_from_near_its_end() {
        let (folder, files) = (tempfile::tempdir().unwrap(), wiring::files());
        let path = folder.path().join("hooks.jsonl");
        assert_eq!(StreamReader::near_end(files.as_ref(), path.clone()).offset, 0);
        let old = "x".repeat(1_000) + "\n";
        std::fs::write(&path, old.repeat(1_000) + "last\n").unwrap();
        let lines = StreamReader::near_end(files.as_ref(), path).new_lines(files.as_ref());
        assert!(lines.len() < 70, "{}", lines.len());
        assert!(lines[0].len() == 1_000 && lines[lines.len() - 1] == "last", "{:?}", lines.last());
    }

    #[test]
    fn overlong_line_is_skipped_and_not_kept_in_memory() {
        let (folder, files) = (tempfile::tempdir().unwrap(), wiring::files());
        let path = folder.path().join("stream.jsonl");
        let mut content = vec![b'x'; 2 * MAX_LINE_BYTES];
        content.extend_from_slice(b"\nafter\n");
        std::fs::write(&path, content).unwrap();
        let mut reader = StreamReader::new(path);
        assert_eq!(reader.new_lines(files.as_ref()), ["after"]);
        assert!(reader.partial.capacity() <= 4 * MAX_LINE_BYTES);
    }
}
