//! Reads the reports about used tokens that were appended to a file.

use std::io;
use std::path::Path;

use segue_core::Result;
use segue_core::model::{ReportedUsage, UsagePosition, UsageReading};
use segue_core::ports::Files;

use super::lines::each_finished_line;
use super::unreadable;
use crate::shared::hash::fnv1a;

/// How many bytes before a position show whether the file was rewritten.
const MARK_BYTES: u64 = 512;

/// Reads the reports of the complete lines from a position on. `report` reads one line.
pub(crate) fn read_usage(
    files: &dyn Files,
    path: &Path,
    from: Option<UsagePosition>,
    report: impl FnMut(&[u8]) -> Option<ReportedUsage>,
) -> Result<UsageReading> {
    read(files, path, from, report).map_err(|error| unreadable(path, error))
}

fn read(
    files: &dyn Files,
    path: &Path,
    from: Option<UsagePosition>,
    mut report: impl FnMut(&[u8]) -> Option<ReportedUsage>,
) -> io::Result<UsageReading> {
    let Some(facts) = files.facts(path)? else {
        let position = from.unwrap_or_default();
        return Ok(UsageReading { position, ..UsageReading::default() });
    };
    let is_continued = match from {
        Some(from) if from.offset <= facts.length => mark(files, path, from.offset)? == from.mark,
        _ => false,
    };
    let start = from.filter(|_| is_continued).map_or(0, |from| from.offset);
    let mut reports = Vec::new();
    let offset = each_finished_line(files, path, start, |line| reports.extend(report(line)))?;
    let position = UsagePosition { offset, mark: mark(files, path, offset)? };
    Ok(UsageReading { reports, position, is_from_start: !is_continued })
}

/// Returns a checksum of the bytes right before an offset.
fn mark(files: &dyn Files, path: &Path, offset: u64) -> io::Result<u64> {
    let length = offset.min(MARK_BYTES);
    if length == 0 {
        return Ok(0);
    }
    let bytes = files.read_at(path, offset - length, usize::try_from(length).unwrap_or(0))?;
    Ok(fnv1a(&bytes))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use segue_core::model::Usage;

    use super::*;
    use crate::testing::Home;

    fn report(line: &[u8]) -> Option<ReportedUsage> {
        let key = String::from_utf8_lossy(line).into_owned();
        let usage = Usage { output: 1, ..Usage::default() };
        Some(ReportedUsage { key, at: Timestamp::UNIX_EPOCH, usage })
    }

    fn keys(reading: &UsageReading) -> Vec<&str> {
        reading.reports.iter().map(|it| it.key.as_str()).collect()
    }

    #[test]
    fn only_complete_lines_after_the_position_are_read() {
        let home = Home::new();
        let path = home.write("t.jsonl", "one\ntwo\nthr");
        let first = read_usage(&home.disk, &path, None, report).unwrap();
        assert_eq!((keys(&first), first.is_from_start), (vec!["one", "two"], true));
        assert_eq!(first.position.offset, 8);
        home.write("t.jsonl", "one\ntwo\nthree\n");
        let next = read_usage(&home.disk, &path, Some(first.position), report).unwrap();
        assert_eq!((keys(&next), next.is_from_start), (vec!["three"], false));
        let again = read_usage(&home.disk, &path, Some(next.position), report).unwrap();
        assert_eq!((again.position, again.reports), (next.position, Vec::new()));
    }

    #[test]
    fn rewritten_or_shortened_file_is_read_from_its_beginning() {
        let home = Home::new();
        let path = home.write("t.jsonl", "one\ntwo\n");
        let first = read_usage(&home.disk, &path, None, report).unwrap();
        for rewritten in ["one\n", "ONE\nTWO\nthree\n"] {
            home.write("t.jsonl", rewritten);
            let next = read_usage(&home.disk, &path, Some(first.position), report).unwrap();
            assert!(next.is_from_start, "{rewritten}");
            assert_eq!(keys(&next), rewritten.lines().collect::<Vec<_>>());
        }
    }

    #[test]
    fn missing_file_keeps_its_position() {
        let home = Home::new();
        let position = UsagePosition { offset: 7, mark: 1 };
        let reading =
            read_usage(&home.disk, &home.folder.path().join("no"), Some(position), report).unwrap();
        assert_eq!((reading.position, reading.reports), (position, Vec::new()));
    }
}
