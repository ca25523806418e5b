//! Reading a headless launch's output as it grows, line by line.

use std::path::{Path, PathBuf};

use segue_core::ports::Files;

const CHUNK: usize = 64 * 1024;
/// A line longer than this is passed over: no signal is that long.
const LONGEST_LINE: usize = 4 * 1024 * 1024;

/// A place in a growing file.
#[derive(Clone, Debug)]
pub(crate) struct StreamReader {
    path: PathBuf,
    offset: u64,
    partial: Vec<u8>,
    skipping: bool,
}

impl StreamReader {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, partial: Vec::new(), skipping: false }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the whole lines that were added since the last call.
    pub(crate) fn new_lines(&mut self, files: &dyn Files) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let chunk = files.read_at(&self.path, self.offset, CHUNK).unwrap_or_default();
            if chunk.is_empty() {
                return lines;
            }
            self.offset += chunk.len() as u64;
            self.take(&chunk, &mut lines);
        }
    }

    fn take(&mut self, chunk: &[u8], lines: &mut Vec<String>) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if !self.skipping {
                self.partial.extend_from_slice(piece);
            }
            self.skipping |= self.partial.len() > LONGEST_LINE;
            if piece.ends_with(b"\n") {
                if !self.skipping {
                    lines.push(String::from_utf8_lossy(&self.partial).trim_end().to_owned());
                }
                self.partial.clear();
                self.skipping = false;
            }
        }
    }
}
