//! Reads the lines of a file from its end or from its beginning. Memory use is bounded: very long
//! lines are shortened.

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::ports::Files;

use super::clip;

/// Size of the first read in bytes. The size doubles with each read up to `LARGEST_PIECE`, so that
/// reading only the last lines costs little.
const FIRST_PIECE: u64 = 64 * 1024;
const LARGEST_PIECE: u64 = 1024 * 1024;

/// A line longer than this many bytes is never held as a whole: the middle of its long strings is
/// left out.
const LONG: usize = 4 * 1024 * 1024;

/// A line, and the byte offset at which it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TranscriptLine<'a> {
    pub(crate) start: u64,
    pub(crate) bytes: &'a [u8],
}

/// Calls `each` with every non-empty line, the last one first, until it returns
/// `ControlFlow::Break`. A missing file has no lines.
pub(crate) fn each_back(
    files: &dyn Files,
    path: &Path,
    mut each: impl FnMut(TranscriptLine<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    let Some(facts) = files.facts(path)? else { return Ok(()) };
    let (mut start, mut size) = (facts.length, FIRST_PIECE);
    let mut rest = PartialLine::new(facts.length);
    while start > 0 {
        let piece_size = size.min(start);
        start -= piece_size;
        let piece = files.read_at(path, start, usize::try_from(piece_size).unwrap_or(0))?;
        let mut end = piece.len();
        while let Some(at) = memchr::memrchr(b'\n', &piece[..end]) {
            let line_start = start + at as u64 + 1;
            if rest.give((files, path), line_start, &piece[at + 1..end], &mut each)?.is_break() {
                return Ok(());
            }
            rest = PartialLine::new(start + at as u64);
            end = at;
        }
        rest.put_before(&piece[..end]);
        size = (size * 2).min(LARGEST_PIECE);
    }
    rest.give((files, path), 0, &[], &mut each).map(drop)
}

/// The end of a line whose beginning is not read yet.
struct PartialLine {
    end: u64,
    held: Vec<u8>,
    is_long: bool,
}

impl PartialLine {
    fn new(end: u64) -> Self {
        Self { end, held: Vec::new(), is_long: false }
    }

    fn put_before(&mut self, bytes: &[u8]) {
        if self.is_long || self.held.len() + bytes.len() > LONG {
            self.is_long = true;
            self.held = Vec::new();
        } else {
            let mut whole = Vec::with_capacity(bytes.len() + self.held.len());
            whole.extend_from_slice(bytes);
            whole.append(&mut self.held);
            self.held = whole;
        }
    }

    /// Calls `each` with the line that begins at `start` and consists of `head` and the held bytes.
    fn give(
        &mut self,
        (files, path): (&dyn Files, &Path),
        start: u64,
        head: &[u8],
        each: &mut impl FnMut(TranscriptLine<'_>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        let whole = if self.is_long || self.held.len() + head.len() > LONG {
            clip::read(files, path, (start, self.end))?.map(Cow::Owned)
        } else if self.held.is_empty() {
            Some(Cow::Borrowed(head))
        } else {
            self.put_before(head);
            Some(Cow::Borrowed(self.held.as_slice()))
        };
        Ok(give(start, whole.as_deref(), each))
    }
}

/// Calls `each` with every non-empty line from byte `from` on, which must be the beginning of a
/// line, until it returns `ControlFlow::Break`. A missing file has no lines.
pub(crate) fn each_forward(
    files: &dyn Files,
    path: &Path,
    from: u64,
    mut each: impl FnMut(TranscriptLine<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    if files.facts(path)?.is_none() {
        return Ok(());
    }
    let (mut offset, mut start) = (from, from);
    let (mut held, mut is_long) = (Vec::new(), false);
    loop {
        let piece = files.read_at(path, offset, usize::try_from(LARGEST_PIECE).unwrap_or(0))?;
        let mut begin = 0;
        for at in memchr::memchr_iter(b'\n', &piece) {
            let part = &piece[begin..at];
            let end = offset + at as u64;
            let flow = if is_long || held.len() + part.len() > LONG {
                give(start, clip::read(files, path, (start, end))?.as_deref(), &mut each)
            } else if held.is_empty() {
                give(start, Some(part), &mut each)
            } else {
                held.extend_from_slice(part);
                give(start, Some(&held), &mut each)
            };
            if flow.is_break() {
                return Ok(());
            }
            (begin, start, is_long) = (at + 1, end + 1, false);
            held.clear();
        }
        let part = &piece[begin..];
        is_long = is_long || held.len() + part.len() > LONG;
        if is_long {
            held = Vec::new();
        } else {
            held.extend_from_slice(part);
        }
        offset += piece.len() as u64;
        if piece.is_empty() {
            let clipped =
                if is_long { clip::read(files, path, (start, offset))? } else { Some(held) };
            let _last = give(start, clipped.as_deref(), &mut each);
            return Ok(());
        }
    }
}

fn give(
    start: u64,
    bytes: Option<&[u8]>,
    each: &mut impl FnMut(TranscriptLine<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match bytes.map(<[u8]>::trim_ascii) {
        Some(bytes) if !bytes.is_empty() => each(TranscriptLine { start, bytes }),
        _ => ControlFlow::Continue(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    type Starts = Vec<(u64, usize)>;

    fn both_ways(bytes: &[u8]) -> (Starts, Starts) {
        let home = Home::new();
        let path = home.write("lines", bytes);
        let (mut back, mut forward) = (Vec::new(), Vec::new());
        each_back(&home.disk, &path, |line| {
            back.push((line.start, line.bytes.len()));
            ControlFlow::Continue(())
        })
        .unwrap();
        each_forward(&home.disk, &path, 0, |line| {
            forward.push((line.start, line.bytes.len()));
            ControlFlow::Continue(())
        })
        .unwrap();
        back.reverse();
        (back, forward)
    }

    #[test]
    fn both_directions_give_the_same_lines() {
        let mut bytes = Vec::new();
        let mut wanted = Vec::new();
        for length in [3, 70_000, 1, 0, 200_000, 65_536, LONG, 1_048_576, 5, 65_535, 2] {
            if length > 0 {
                wanted.push((bytes.len() as u64, length));
            }
            bytes.extend(vec![b'x'; length]);
            bytes.push(b'\n');
        }
        assert_eq!(both_ways(&bytes), (wanted.clone(), wanted.clone()));
        wanted.push((bytes.len() as u64, 4));
        bytes.extend(b"torn");
        assert_eq!(both_ways(&bytes), (wanted.clone(), wanted));
        assert_eq!(both_ways(b""), (vec![], vec![]));
        assert_eq!(both_ways(b"\n\n"), (vec![], vec![]));
    }

    #[test]
    fn a_line_of_many_megabytes_loses_the_middle_of_its_strings_only() {
        let long = format!("{{\"a\":\"{}\",\"b\":2}}", "x".repeat(9 * 1024 * 1024));
        let text = format!("{{\"first\":1}}\n{long}\n{{\"last\":3}}\n");
        let (back, forward) = both_ways(text.as_bytes());
        assert_eq!(back, forward);
        assert_eq!(back.len(), 3);
        assert!(back[1].1 < 1024 * 1024, "{back:?}");
    }

    #[test]
    fn reading_stops_on_break_and_starts_at_any_line() {
        let home = Home::new();
        let path = home.write("lines", "one\ntwo\nthree\n");
        let mut seen = Vec::new();
        let stop_at_two = |line: TranscriptLine<'_>| {
            seen.push(line.bytes.to_vec());
            if line.bytes == b"two" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        each_back(&home.disk, &path, stop_at_two).unwrap();
        assert_eq!(seen, [&b"three"[..], b"two"]);
        let mut seen = Vec::new();
        each_forward(&home.disk, &path, 4, |line| {
            seen.push((line.start, line.bytes.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(seen, [(4, b"two".to_vec()), (8, b"three".to_vec())]);
        assert!(each_back(&home.disk, Path::new("/absent/x"), |_| ControlFlow::Break(())).is_ok());
    }
}
