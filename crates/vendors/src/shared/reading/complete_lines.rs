//! Reads the lines that were appended to a file.

use std::io;
use std::path::Path;

use segue_core::ports::Files;

const READ_BYTES: usize = 64 * 1024;

/// Calls `visit` with every complete line from byte `offset` on, which must be the beginning of a
/// line. An incomplete last line is skipped. A missing file has no lines.
pub(crate) fn each_complete_line(
    files: &dyn Files,
    path: &Path,
    mut offset: u64,
    mut visit: impl FnMut(&[u8]),
) -> io::Result<()> {
    if files.facts(path)?.is_none() {
        return Ok(());
    }
    let mut partial = Vec::new();
    loop {
        let bytes = files.read_at(path, offset, READ_BYTES)?;
        if bytes.is_empty() {
            return Ok(());
        }
        offset += bytes.len() as u64;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            partial.extend_from_slice(part);
            if partial.ends_with(b"\n") {
                visit(partial.trim_ascii_end());
                partial.clear();
            }
        }
    }
}
