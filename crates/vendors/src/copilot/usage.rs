//! Reads the used tokens from transcripts. Copilot reports no cost in dollars: its `cost` counts
//! premium requests.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{ReportedUsage, Usage, UsagePosition, UsageReading};
use segue_core::ports::{Files, UsageReports};
use serde::Deserialize;

use super::Copilot;
use crate::shared::reading;

/// The type of the lines that report the usage of a request.
const RECORD_TYPE: &str = "session.usage_record";

impl UsageReports for Copilot {
    fn read_usage(
        &self,
        files: &dyn Files,
        source: &Path,
        from: Option<UsagePosition>,
    ) -> Result<UsageReading> {
        reading::read_usage(files, source, from, report)
    }
}

#[derive(Deserialize)]
struct CopilotUsageLine {
    #[serde(rename = "type")]
    kind: String,
    id: String,
    timestamp: Timestamp,
    data: CopilotUsageData,
}

#[derive(Deserialize)]
struct CopilotUsageData {
    usage: CopilotUsage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotUsage {
    input_tokens: u64,
    output_tokens: u64,
    #[serde(default)]
    cache_read_tokens: u64,
}

fn report(line: &[u8]) -> Option<ReportedUsage> {
    memchr::memmem::find(line, RECORD_TYPE.as_bytes())?;
    let line: CopilotUsageLine = reading::parse_json(line)?;
    let CopilotUsage { input_tokens, output_tokens, cache_read_tokens } = line.data.usage;
    let (input, cached, output) = (input_tokens, cache_read_tokens, output_tokens);
    let usage = Usage { input, cached, output, cost_usd: None };
    let report = ReportedUsage { key: line.id, at: line.timestamp, usage };
    (line.kind == RECORD_TYPE).then_some(report)
}

#[cfg(test)]
mod tests {
    use crate::testing::Home;

    use super::*;

    #[test]
    fn each_recorded_request_is_reported_once_and_empty_records_report_nothing() {
        let home = Home::new();
        let path = home.write("events.jsonl", include_str!("fixtures/usage.jsonl"));
        let reports = Copilot.read_usage(&home.disk, &path, None).unwrap().reports;
        let keys: Vec<_> = reports.iter().map(|it| it.key.as_str()).collect();
        let expected = [
            "1b37e178-cc55-4257-b953-21d0ea3201f6",
            "11c66954-1b53-42f2-9c73-2c1d9e658223",
            "32ab2665-66da-4e1b-a7a7-cee4a007a9e6",
        ];
        assert_eq!(keys, expected);
        let usage = Usage { input: 11, cached: 0, output: 7, cost_usd: None };
        assert!(reports.iter().all(|it| it.usage == usage), "{reports:?}");
        let without = home.write("empty.jsonl", include_str!("fixtures/compacted.jsonl"));
        assert_eq!(Copilot.read_usage(&home.disk, &without, None).unwrap().reports, []);
    }
}
