//! Reads a file line by line, from its end to its beginning.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::ports::Files;

const FIRST_PIECE: u64 = 64 * 1024;
const LARGEST_PIECE: u64 = 1024 * 1024;

/// Reading stops after at least this many bytes at the end of the file were read.
const BUDGET: u64 = 4 * 1024 * 1024;

/// Why reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The callback returned `ControlFlow::Break`.
    Asked,
    /// The beginning of the file was reached.
    AtBeginning,
    /// `BUDGET` bytes were read before the beginning was reached.
    TooFar,
}

/// Calls `each` with every non-empty line, the last one first, until it returns
/// `ControlFlow::Break`. `length` is the length of the file in bytes.
pub(crate) fn each_tail_line(
    files: &dyn Files,
    path: &Path,
    length: u64,
    mut each: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<StopReason> {
    let (mut start, mut piece) = (length, FIRST_PIECE);
    // The end of a line whose beginning is not read yet.
    let mut partial = Vec::new();
    while start > 0 {
        if length - start >= BUDGET {
            return Ok(StopReason::TooFar);
        }
        let size = piece.min(start);
        start -= size;
        let mut bytes = files.read_at(path, start, usize::try_from(size).unwrap_or(usize::MAX))?;
        bytes.append(&mut partial);
        let whole = if start == 0 { 0 } else { after_first_line_end(&bytes) };
        for line in bytes[whole..].rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            if each(line).is_break() {
                return Ok(StopReason::Asked);
            }
        }
        bytes.truncate(whole);
        partial = bytes;
        piece = (piece * 2).min(LARGEST_PIECE);
    }
    Ok(StopReason::AtBeginning)
}

fn after_first_line_end(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    fn read(bytes: &[u8]) -> (Vec<usize>, StopReason) {
        let home = Home::new();
        let path = home.write("lines", bytes);
        let mut lengths = Vec::new();
        let ended = each_tail_line(&home.disk, &path, bytes.len() as u64, |line| {
            lengths.push(line.len());
            ControlFlow::Continue(())
        });
        (lengths, ended.unwrap())
    }

    #[test]
    fn each_passes_every_line_once_from_the_last_to_the_first() {
        let mut bytes = Vec::new();
        let wanted = [3, 70_000, 1, 200_000, 65_536, 5];
        for length in wanted {
            bytes.extend(vec![b'x'; length]);
            bytes.push(b'\n');
        }
        let (lengths, ended) = read(&bytes);
        assert_eq!(lengths, wanted.into_iter().rev().collect::<Vec<_>>());
        assert_eq!(ended, StopReason::AtBeginning);
        bytes.extend(b"torn");
        assert_eq!(read(&bytes).0[0], 4);
        assert_eq!(read(b""), (vec![], StopReason::AtBeginning));
    }

    #[test]
    fn line_longer_than_the_budget_stops_reading() {
        let mut bytes = vec![b'x'; 6 * 1024 * 1024];
        bytes.extend(b"\nlast\n");
        assert_eq!(read(&bytes), (vec![4], StopReason::TooFar));
    }
}
