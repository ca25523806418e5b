//! Reads the last lines of a file, from the end towards the beginning, within a limit of bytes.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::ports::Files;

/// Size of the first read. [`each_tail_line`] doubles it with each read, up to
/// `LARGEST_READ_BYTES`.
const FIRST_READ_BYTES: u64 = 64 * 1024;
const LARGEST_READ_BYTES: u64 = 1024 * 1024;

/// [`each_tail_line`] stops after it has read at least this many bytes.
const LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// Why reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The callback needs no further line.
    Done,
    /// The beginning of the file was reached.
    AtBeginning,
    /// The limit of bytes was reached before the beginning of the file.
    LimitReached,
}

/// Calls `visit` with every non-empty line, the last one first, until it returns
/// `ControlFlow::Break`. `length` is the length of the file in bytes.
pub(crate) fn each_tail_line(
    files: &dyn Files,
    path: &Path,
    length: u64,
    mut visit: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<StopReason> {
    let (mut start, mut read_size) = (length, FIRST_READ_BYTES);
    // The end of a line whose beginning is not read yet.
    let mut partial = Vec::new();
    while start > 0 {
        if length - start >= LIMIT_BYTES {
            return Ok(StopReason::LimitReached);
        }
        let mut bytes = read_before(files, path, &mut start, read_size)?;
        bytes.append(&mut partial);
        let first_whole =
            if start == 0 { 0 } else { after_line_end(&bytes).unwrap_or(bytes.len()) };
        let lines = bytes[first_whole..].rsplit(|byte| *byte == b'\n');
        for line in lines.filter(|line| !line.is_empty()) {
            if visit(line).is_break() {
                return Ok(StopReason::Done);
            }
        }
        bytes.truncate(first_whole);
        partial = bytes;
        read_size = (read_size * 2).min(LARGEST_READ_BYTES);
    }
    Ok(StopReason::AtBeginning)
}

/// Searches the last lines of a file. Reads more and more of the end, and passes all whole lines
/// that were read to `find`, until it returns a value or at least `limit` bytes were read. Returns
/// that value, and why reading stopped.
pub(crate) fn find_in_tail<T>(
    files: &dyn Files,
    path: &Path,
    (length, limit): (u64, usize),
    mut find: impl FnMut(&[u8]) -> Option<T>,
) -> io::Result<(Option<T>, StopReason)> {
    let (mut start, mut tail) = (length, Vec::new());
    while start > 0 && tail.len() < limit {
        let mut bytes = read_before(files, path, &mut start, FIRST_READ_BYTES)?;
        bytes.append(&mut tail);
        tail = bytes;
        let first_whole = if start == 0 { Some(0) } else { after_line_end(&tail) };
        if let Some(found) = first_whole.and_then(|at| find(&tail[at..])) {
            return Ok((Some(found), StopReason::Done));
        }
    }
    Ok((None, if start > 0 { StopReason::LimitReached } else { StopReason::AtBeginning }))
}

/// Reads at most `size` bytes before the offset `start`, and moves `start` to their beginning.
fn read_before(files: &dyn Files, path: &Path, start: &mut u64, size: u64) -> io::Result<Vec<u8>> {
    let size = size.min(*start);
    *start -= size;
    files.read_at(path, *start, usize::try_from(size).unwrap_or(usize::MAX))
}

/// Returns the position after the first line break.
fn after_line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    fn read(bytes: &[u8]) -> (Vec<usize>, StopReason) {
        let home = Home::new();
        let path = home.write("lines", bytes);
        let mut lengths = Vec::new();
        let stopped = each_tail_line(&home.disk, &path, bytes.len() as u64, |line| {
            lengths.push(line.len());
            ControlFlow::Continue(())
        });
        (lengths, stopped.unwrap())
    }

    #[test]
    fn every_line_is_visited_once_from_the_last_to_the_first() {
        let mut bytes = Vec::new();
        let wanted = [3, 70_000, 1, 200_000, 65_536, 5];
        for length in wanted {
            bytes.extend(vec![b'x'; length]);
            bytes.push(b'\n');
        }
        let (lengths, stopped) = read(&bytes);
        assert_eq!(lengths, wanted.into_iter().rev().collect::<Vec<_>>());
        assert_eq!(stopped, StopReason::AtBeginning);
        bytes.extend(b"torn");
        assert_eq!(read(&bytes).0[0], 4);
        assert_eq!(read(b""), (vec![], StopReason::AtBeginning));
    }

    #[test]
    fn line_longer_than_the_limit_stops_reading() {
        let mut bytes = vec![b'x'; 6 * 1024 * 1024];
        bytes.extend(b"\nlast\n");
        assert_eq!(read(&bytes), (vec![4], StopReason::LimitReached));
    }

    #[test]
    fn find_in_tail_gets_only_whole_lines_and_stops_at_its_limit() {
        let home = Home::new();
        let text = format!("wanted\n{}\nlast\n", "x".repeat(200_000));
        let path = home.write("lines", &text);
        let find = |word: &'static [u8], limit| {
            let search = (text.len() as u64, limit);
            let find = |lines: &[u8]| {
                let mut lines = lines.split(|byte| *byte == b'\n');
                lines.any(|line| line == word).then_some(word)
            };
            find_in_tail(&home.disk, &path, search, find).unwrap()
        };
        assert_eq!(find(b"last", 100_000), (Some(&b"last"[..]), StopReason::Done));
        assert_eq!(find(b"wanted", 100_000), (None, StopReason::LimitReached));
        assert_eq!(find(b"wanted", 1_000_000), (Some(&b"wanted"[..]), StopReason::Done));
        assert_eq!(find(b"xxx", 1_000_000), (None, StopReason::AtBeginning));
    }
}
