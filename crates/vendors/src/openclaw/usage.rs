//! Reads the used tokens from the database. The offset of a position is the number of the last row.

use std::ops::ControlFlow;
use std::path::Path;

use segue_core::Result;
use segue_core::model::{ReportedUsage, UsagePosition, UsageReading};
use segue_core::ports::{Files, UsageReports};

use super::OpenClaw;
use super::records::OpenclawEvent;
use super::turns::{self, FORWARD_QUERY, OpenclawRow};

impl UsageReports for OpenClaw {
    fn read_usage(
        &self,
        _files: &dyn Files,
        source: &Path,
        from: Option<UsagePosition>,
    ) -> Result<UsageReading> {
        let position = from.unwrap_or_default();
        let mut reading =
            UsageReading { reports: Vec::new(), position, is_from_start: from.is_none() };
        let Some((database, id)) = turns::open(source)? else { return Ok(reading) };
        let last_row = i64::try_from(position.offset).unwrap_or(i64::MAX);
        turns::each_row(&database, FORWARD_QUERY, (&id, last_row), |row| {
            reading.position.offset = u64::try_from(row.seq).unwrap_or_default();
            reading.reports.extend(report(row));
            ControlFlow::Continue(())
        })?;
        Ok(reading)
    }
}

fn report(row: &OpenclawRow) -> Option<ReportedUsage> {
    let event: OpenclawEvent = serde_json::from_str(row.event.as_deref()?).ok()?;
    let OpenclawEvent::Message { message, timestamp } = event else { return None };
    let usage = turns::usage(message.usage?)?;
    Some(ReportedUsage { key: row.seq.to_string(), at: timestamp?, usage })
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use segue_core::model::Usage;

    use super::*;
    use crate::testing::Home;

    #[test]
    fn recorded_requests_are_reported_once() {
        let home = Home::new();
        let path = home.write("claw.sqlite", "");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch(include_str!("fixtures/recorded.sql")).unwrap();
        let source = path.join("019a0000-0000-7000-8000-000000000001");
        let first = OpenClaw.read_usage(&home.disk, &source, None).unwrap();
        let usage = Usage { input: 11, output: 7, ..Usage::default() };
        assert_eq!(first.reports.iter().map(|it| it.usage).collect::<Vec<_>>(), [usage, usage]);
        let again = OpenClaw.read_usage(&home.disk, &source, Some(first.position)).unwrap();
        assert_eq!((again.reports, again.position), (Vec::new(), first.position));
    }
}
