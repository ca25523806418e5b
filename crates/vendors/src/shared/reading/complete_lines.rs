//! Reads files line by line, in chunks of a fixed size.

use std::io;
use std::path::Path;

use segue_core::ports::Files;

const PIECE: usize = 64 * 1024;

/// Calls `each` with every complete line from byte `offset` on, which must be the beginning of a
/// line. An incomplete last line is skipped. A missing file has no lines.
pub(crate) fn each_complete_line(
    files: &dyn Files,
    path: &Path,
    mut offset: u64,
    mut each: impl FnMut(&[u8]),
) -> io::Result<()> {
    if files.facts(path)?.is_none() {
        return Ok(());
    }
    let mut partial = Vec::new();
    loop {
        let piece = files.read_at(path, offset, PIECE)?;
        if piece.is_empty() {
            return Ok(());
        }
        offset += piece.len() as u64;
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            partial.extend_from_slice(part);
            if partial.ends_with(b"\n") {
                each(partial.trim_ascii_end());
                partial.clear();
            }
        }
    }
}
