//! Reads the used tokens and their cost from transcripts.

use std::path::Path;

use segue_core::Result;
use segue_core::model::{ReportedUsage, Usage, UsagePosition, UsageReading};
use segue_core::ports::{Files, UsageReports};

use super::Pi;
use super::records::{PiRecord, PiUsage};
use crate::shared::reading;

impl UsageReports for Pi {
    fn read_usage(
        &self,
        files: &dyn Files,
        source: &Path,
        from: Option<UsagePosition>,
    ) -> Result<UsageReading> {
        reading::read_usage(files, source, from, report)
    }
}

fn report(line: &[u8]) -> Option<ReportedUsage> {
    memchr::memmem::find(line, b"\"usage\"")?;
    let record = PiRecord::read(line)?;
    let (key, at) = (record.id?, record.timestamp?);
    Some(ReportedUsage { key, at, usage: usage(record.message?.usage?) })
}

/// Converts the usage of a message. Pi counts cached input apart from other input.
pub(super) fn usage(usage: PiUsage) -> Usage {
    let cache = (usage.cache_read, usage.cache_write);
    let cost_usd = usage.cost.and_then(|cost| reading::known_cost(cost.total));
    Usage { cost_usd, ..reading::usage_with_cache(usage.input, cache, usage.output) }
}

#[cfg(test)]
mod tests {
    use segue_core::model::UsdAmount;

    use super::*;
    use crate::testing::Home;

    #[test]
    fn recorded_requests_are_reported_and_a_cost_of_zero_is_unknown() {
        let home = Home::new();
        let path = home.write("t.jsonl", include_str!("fixtures/recorded.jsonl"));
        let reports = Pi.read_usage(&home.disk, &path, None).unwrap().reports;
        let used: Vec<_> = reports.iter().filter(|it| !it.usage.is_zero()).collect();
        let usage = Usage { input: 1, cached: 0, output: 7, cost_usd: None };
        assert_eq!((used[0].key.as_str(), used[0].usage), ("ac397aa8", usage));
        assert!(used.iter().all(|it| it.usage.cost_usd.is_none()), "{used:?}");
    }

    #[test]
    fn cost_and_cached_tokens_are_reported() {
        let home = Home::new();
        let line = "{\"type\":\"message\",\"id\":\"a\",\"timestamp\":\"2026-11-16T01:30:41.493Z\",\
                    \"message\":{\"role\":\"assistant\",\"content\":[],\"usage\":{\"input\":1,\
                    \"output\":7,\"cacheRead\":20,\"cacheWrite\":3,\"cost\":{\"total\":0.25}}}}\n";
        let path = home.write("t.jsonl", line);
        let reports = Pi.read_usage(&home.disk, &path, None).unwrap().reports;
        let cost_usd = UsdAmount::from_dollars(0.25);
        assert_eq!(reports[0].usage, Usage { input: 24, cached: 20, output: 7, cost_usd });
    }
}
