//! Reads the used tokens and their cost from the database.
//!
//! The offset of a position is the time of a message in milliseconds. `OpenCode` updates an answer
//! until it is complete, so an answer that is not complete is read again.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{ReportedUsage, Usage, UsagePosition, UsageReading};
use segue_core::ports::{Files, UsageReports};

use super::rows::{MessagePages, MessageRow};
use super::{OpenCode, turns};
use crate::shared::database::VendorDatabase;
use crate::shared::reading;

impl UsageReports for OpenCode {
    fn read_usage(
        &self,
        _files: &dyn Files,
        source: &Path,
        from: Option<UsagePosition>,
    ) -> Result<UsageReading> {
        let position = from.unwrap_or_default();
        let mut reading =
            UsageReading { reports: Vec::new(), position, is_from_start: from.is_none() };
        let (Some(folder), Some(id)) = (source.parent(), source.file_name()) else {
            return Ok(reading);
        };
        if let Some(database) = VendorDatabase::open(folder)? {
            read(&database, &id.to_string_lossy(), &mut reading)?;
        }
        Ok(reading)
    }
}

/// Reads the messages from the position on. Messages of that very time were read before; their keys
/// are known.
fn read(database: &VendorDatabase, session: &str, reading: &mut UsageReading) -> Result<()> {
    let from = i64::try_from(reading.position.offset).unwrap_or(i64::MAX);
    let mut messages = MessagePages::from_time(database, session, from);
    let mut is_complete = true;
    while let Some(message) = messages.next()? {
        // A new message of the user ends an answer that was cut off.
        let is_open = !message.is_from_user() && message.data["time"]["completed"].is_null();
        is_complete = (is_complete || message.is_from_user()) && !is_open;
        if is_complete {
            reading.position.offset = u64::try_from(message.time).unwrap_or_default();
        }
        reading.reports.extend(report(&message));
    }
    Ok(())
}

fn report(message: &MessageRow) -> Option<ReportedUsage> {
    let at = Timestamp::from_millisecond(message.time).ok()?;
    Some(ReportedUsage { key: message.id.clone(), at, usage: usage(message)? })
}

fn usage(message: &MessageRow) -> Option<Usage> {
    let cost_usd = message.data["cost"].as_f64().and_then(reading::known_cost);
    turns::usage(&message.data["tokens"]).map(|usage| Usage { cost_usd, ..usage })
}

#[cfg(test)]
mod tests {
    use segue_core::model::UsdAmount;

    use super::super::recorded::{FIRST_ID, RecordedDatabase};
    use super::*;
    use crate::testing::CountingFiles;

    const LAST: &str = "WHERE id = (SELECT max(id) FROM message WHERE session_id = \
                        'ses_01980000000070008000000000000001')";

    impl RecordedDatabase {
        fn usage(&self, from: Option<UsagePosition>) -> UsageReading {
            let source = self.transcript(FIRST_ID);
            OpenCode.read_usage(&CountingFiles::default(), &source, from).unwrap()
        }

        fn set_usage(&self, output: u64) {
            self.change(&format!(
                "UPDATE message SET data = json_set(data, '$.tokens.input', 60, \
                 '$.tokens.cache.read', 40, '$.tokens.output', {output}, '$.cost', 0.5) {LAST}"
            ));
        }
    }

    #[test]
    fn completed_answer_is_read_once_and_its_usage_includes_cached_tokens() {
        let recorded = RecordedDatabase::new();
        recorded.set_usage(20);
        let first = recorded.usage(None);
        let used: Vec<_> = first.reports.iter().filter(|it| !it.usage.is_zero()).collect();
        let cost_usd = UsdAmount::from_dollars(0.5);
        let usage = Usage { input: 100, cached: 40, output: 20, cost_usd };
        assert_eq!(used.iter().map(|it| it.usage).collect::<Vec<_>>(), [usage]);
        let again = recorded.usage(Some(first.position));
        assert_eq!((again.position, again.is_from_start), (first.position, false));
        assert!(again.reports.len() <= 1, "{again:?}");
    }

    #[test]
    fn answer_that_is_not_complete_is_read_again() {
        let recorded = RecordedDatabase::new();
        recorded.change(&format!(
            "UPDATE message SET data = json_remove(data, '$.time.completed') {LAST}"
        ));
        recorded.set_usage(1);
        let first = recorded.usage(None);
        recorded.set_usage(20);
        let next = recorded.usage(Some(first.position));
        let (partial, whole) = (first.reports.last().unwrap(), next.reports.last().unwrap());
        assert_eq!((&partial.key, partial.usage.output), (&whole.key, 1));
        assert_eq!(whole.usage.output, 20);
    }
}
