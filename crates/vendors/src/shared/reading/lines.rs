//! Reads the lines of a file from its end or from its beginning. Memory use is bounded: very long
//! lines are shortened.

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::ports::Files;

use super::clip;

/// Size of the first read from the end. The size doubles with each read up to `LARGEST_READ_BYTES`,
/// so that reading only the last lines costs little.
const FIRST_READ_BYTES: u64 = 64 * 1024;
const LARGEST_READ_BYTES: u64 = 1024 * 1024;

/// A longer line is read without the middle of its long strings.
const LONGEST_WHOLE_LINE_BYTES: usize = 4 * 1024 * 1024;

/// A line, and the byte offset at which it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TranscriptLine<'a> {
    pub(crate) start: u64,
    pub(crate) bytes: &'a [u8],
}

/// Returns the first value that `find` returns for a line, from the last line to the first.
pub(crate) fn find_line_back<T>(
    files: &dyn Files,
    path: &Path,
    mut find: impl FnMut(&[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    let mut found = None;
    each_line_back(files, path, |line| {
        found = find(line.bytes);
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found)
}

/// Calls `visit` with every non-empty line, the last one first, until it returns
/// `ControlFlow::Break`. A missing file has no lines.
pub(crate) fn each_line_back(
    files: &dyn Files,
    path: &Path,
    mut visit: impl FnMut(TranscriptLine<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    let Some(facts) = files.facts(path)? else { return Ok(()) };
    let (mut start, mut read_size) = (facts.length, FIRST_READ_BYTES);
    let mut partial = PartialLine::new(facts.length);
    while start > 0 {
        let size = read_size.min(start);
        start -= size;
        let bytes = files.read_at(path, start, usize::try_from(size).unwrap_or(0))?;
        let mut end = bytes.len();
        while let Some(at) = memchr::memrchr(b'\n', &bytes[..end]) {
            let line_start = start + at as u64 + 1;
            let beginning = &bytes[at + 1..end];
            if partial.visit((files, path), line_start, beginning, &mut visit)?.is_break() {
                return Ok(());
            }
            partial = PartialLine::new(start + at as u64);
            end = at;
        }
        partial.prepend(&bytes[..end]);
        read_size = (read_size * 2).min(LARGEST_READ_BYTES);
    }
    partial.visit((files, path), 0, &[], &mut visit).map(drop)
}

/// The end of a line whose beginning is not read yet.
struct PartialLine {
    /// The byte offset at which the line ends.
    end: u64,
    held: Vec<u8>,
    /// The line is too long to be held. Then `held` is empty.
    is_long: bool,
}

impl PartialLine {
    fn new(end: u64) -> Self {
        Self { end, held: Vec::new(), is_long: false }
    }

    fn prepend(&mut self, bytes: &[u8]) {
        if self.is_long || self.held.len() + bytes.len() > LONGEST_WHOLE_LINE_BYTES {
            self.is_long = true;
            self.held = Vec::new();
        } else {
            let mut whole = Vec::with_capacity(bytes.len() + self.held.len());
            whole.extend_from_slice(bytes);
            whole.append(&mut self.held);
            self.held = whole;
        }
    }

    /// Calls `visit` with the line that begins at `start` and consists of `beginning` and the held
    /// bytes.
    fn visit(
        &mut self,
        (files, path): (&dyn Files, &Path),
        start: u64,
        beginning: &[u8],
        visit: &mut impl FnMut(TranscriptLine<'_>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        let whole = if self.is_long || self.held.len() + beginning.len() > LONGEST_WHOLE_LINE_BYTES
        {
            clip::read(files, path, (start, self.end))?.map(Cow::Owned)
        } else if self.held.is_empty() {
            Some(Cow::Borrowed(beginning))
        } else {
            self.prepend(beginning);
            Some(Cow::Borrowed(self.held.as_slice()))
        };
        Ok(visit_non_empty(start, whole.as_deref(), visit))
    }
}

/// Calls `visit` with every non-empty line from byte `from` on, which must be the beginning of a
/// line, until it returns `ControlFlow::Break`. A missing file has no lines.
pub(crate) fn each_line(
    files: &dyn Files,
    path: &Path,
    from: u64,
    visit: impl FnMut(TranscriptLine<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    visit_lines(files, path, from, LastLine::Visit, visit).map(drop)
}

/// Calls `visit` with every non-empty line that has a line break, from byte `from` on. Returns the
/// offset behind the last line break.
pub(crate) fn each_finished_line(
    files: &dyn Files,
    path: &Path,
    from: u64,
    mut visit: impl FnMut(&[u8]),
) -> io::Result<u64> {
    visit_lines(files, path, from, LastLine::Skip, |line| {
        visit(line.bytes);
        ControlFlow::Continue(())
    })
}

/// What to do with a last line that has no line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLine {
    Visit,
    Skip,
}

/// Calls `visit` with the lines until it returns `ControlFlow::Break`. Returns the offset at which the
/// line begins that was not visited or has no line break.
fn visit_lines(
    files: &dyn Files,
    path: &Path,
    from: u64,
    last: LastLine,
    mut visit: impl FnMut(TranscriptLine<'_>) -> ControlFlow<()>,
) -> io::Result<u64> {
    if files.facts(path)?.is_none() {
        return Ok(from);
    }
    let (mut offset, mut start) = (from, from);
    let (mut held, mut is_long) = (Vec::new(), false);
    loop {
        let bytes =
            files.read_at(path, offset, usize::try_from(LARGEST_READ_BYTES).unwrap_or(0))?;
        let mut begin = 0;
        for at in memchr::memchr_iter(b'\n', &bytes) {
            let part = &bytes[begin..at];
            let end = offset + at as u64;
            let flow = if is_long || held.len() + part.len() > LONGEST_WHOLE_LINE_BYTES {
                visit_non_empty(
                    start,
                    clip::read(files, path, (start, end))?.as_deref(),
                    &mut visit,
                )
            } else if held.is_empty() {
                visit_non_empty(start, Some(part), &mut visit)
            } else {
                held.extend_from_slice(part);
                visit_non_empty(start, Some(&held), &mut visit)
            };
            if flow.is_break() {
                return Ok(end + 1);
            }
            (begin, start, is_long) = (at + 1, end + 1, false);
            held.clear();
        }
        let part = &bytes[begin..];
        is_long = is_long || held.len() + part.len() > LONGEST_WHOLE_LINE_BYTES;
        if is_long {
            held = Vec::new();
        } else {
            held.extend_from_slice(part);
        }
        offset += bytes.len() as u64;
        if bytes.is_empty() && last == LastLine::Skip {
            return Ok(start);
        }
        if bytes.is_empty() {
            let clipped =
                if is_long { clip::read(files, path, (start, offset))? } else { Some(held) };
            let _last = visit_non_empty(start, clipped.as_deref(), &mut visit);
            return Ok(start);
        }
    }
}

/// Calls `visit` with a line, unless the line is blank or too long even after it was clipped.
fn visit_non_empty(
    start: u64,
    bytes: Option<&[u8]>,
    visit: &mut impl FnMut(TranscriptLine<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match bytes.map(<[u8]>::trim_ascii) {
        Some(bytes) if !bytes.is_empty() => visit(TranscriptLine { start, bytes }),
        _ => ControlFlow::Continue(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    type Starts = Vec<(u64, usize)>;

    fn lines_in_both_directions(bytes: &[u8]) -> (Starts, Starts) {
        let home = Home::new();
        let path = home.write("lines", bytes);
        let (mut back, mut forward) = (Vec::new(), Vec::new());
        each_line_back(&home.disk, &path, |line| {
            back.push((line.start, line.bytes.len()));
            ControlFlow::Continue(())
        })
        .unwrap();
        each_line(&home.disk, &path, 0, |line| {
            forward.push((line.start, line.bytes.len()));
            ControlFlow::Continue(())
        })
        .unwrap();
        back.reverse();
        (back, forward)
    }

    #[test]
    fn both_directions_visit_the_same_lines() {
        let mut bytes = Vec::new();
        let mut wanted = Vec::new();
        for length in
            [3, 70_000, 1, 0, 200_000, 65_536, LONGEST_WHOLE_LINE_BYTES, 1_048_576, 5, 65_535, 2]
        {
            if length > 0 {
                wanted.push((bytes.len() as u64, length));
            }
            bytes.extend(vec![b'x'; length]);
            bytes.push(b'\n');
        }
        assert_eq!(lines_in_both_directions(&bytes), (wanted.clone(), wanted.clone()));
        wanted.push((bytes.len() as u64, 4));
        bytes.extend(b"torn");
        assert_eq!(lines_in_both_directions(&bytes), (wanted.clone(), wanted));
        assert_eq!(lines_in_both_directions(b""), (vec![], vec![]));
        assert_eq!(lines_in_both_directions(b"\n\n"), (vec![], vec![]));
    }

    #[test]
    fn a_line_of_many_megabytes_loses_the_middle_of_its_strings_only() {
        let long = format!("{{\"a\":\"{}\",\"b\":2}}", "x".repeat(9 * 1024 * 1024));
        let text = format!("{{\"first\":1}}\n{long}\n{{\"last\":3}}\n");
        let (back, forward) = lines_in_both_directions(text.as_bytes());
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
        each_line_back(&home.disk, &path, stop_at_two).unwrap();
        assert_eq!(seen, [&b"three"[..], b"two"]);
        let mut seen = Vec::new();
        each_line(&home.disk, &path, 4, |line| {
            seen.push((line.start, line.bytes.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(seen, [(4, b"two".to_vec()), (8, b"three".to_vec())]);
        assert!(
            each_line_back(&home.disk, Path::new("/absent/x"), |_| ControlFlow::Break(())).is_ok()
        );
    }
}
