//! Reads the used tokens from rollouts.
//!
//! Codex reports each request twice: as a `token_usage_record`, and as a `token_count` event, which
//! it repeats. Earlier versions write only the event. Both contain the sum over the whole thread,
//! which identifies the request.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{ReportedUsage, Usage, UsagePosition, UsageReading};
use segue_core::ports::{Files, UsageReports};
use serde::Deserialize;
use serde_json::Value;

use super::Codex;
use crate::shared::reading;

impl UsageReports for Codex {
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
struct RolloutUsageJson {
    timestamp: Timestamp,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    payload: Value,
}

fn report(line: &[u8]) -> Option<ReportedUsage> {
    memchr::memmem::find(line, b"_token_usage\"")?;
    let RolloutUsageJson { timestamp: at, kind, payload } = reading::parse_json(line)?;
    let (usage, sum) = match (kind.as_str(), payload["type"].as_str()) {
        ("token_usage_record", _) => (&payload["usage"], &payload["thread_token_usage"]),
        ("event_msg", Some("token_count")) => {
            let info = &payload["info"];
            (&info["last_token_usage"], &info["total_token_usage"])
        }
        _ => return None,
    };
    let Usage { input, cached, output, .. } = tokens(sum)?;
    Some(ReportedUsage { key: format!("{input}/{cached}/{output}"), at, usage: tokens(usage)? })
}

/// Reads numbers of tokens. Codex counts cached tokens as input, and reasoning as output.
fn tokens(counts: &Value) -> Option<Usage> {
    let input = counts["input_tokens"].as_u64()?;
    let cached = counts["cached_input_tokens"].as_u64().unwrap_or_default();
    let output = counts["output_tokens"].as_u64()?;
    Some(Usage { input, cached, output, cost_usd: None })
}

#[cfg(test)]
mod tests {
    use crate::testing::Home;

    use super::*;

    fn reports(rollout: &str) -> Vec<ReportedUsage> {
        let home = Home::new();
        let path = home.write("rollout.jsonl", rollout);
        Codex.read_usage(&home.disk, &path, None).unwrap().reports
    }

    fn line(kind: &str, payload: &str) -> String {
        format!(
            "{{\"timestamp\":\"2026-11-15T19:45:47.764Z\",\"type\":\"{kind}\",\
             \"payload\":{payload}}}\n"
        )
    }

    fn counts(input: u64) -> String {
        format!(
            "{{\"input_tokens\":{input},\"cached_input_tokens\":40,\"output_tokens\":20,\
             \"reasoning_output_tokens\":5,\"total_tokens\":120}}"
        )
    }

    #[test]
    fn record_and_event_of_one_request_have_the_same_key() {
        let (one, sum) = (counts(100), counts(200));
        let record = line(
            "token_usage_record",
            &format!("{{\"usage\":{one},\"turn_token_usage\":{one},\"thread_token_usage\":{sum}}}"),
        );
        let event = line(
            "event_msg",
            &format!(
                "{{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{sum},\
                 \"last_token_usage\":{one}}},\"rate_limits\":null}}"
            ),
        );
        let empty = line("event_msg", "{\"type\":\"token_count\",\"info\":null}");
        let found = reports(&[record, event, empty].concat());
        let usage = Usage { input: 100, cached: 40, output: 20, cost_usd: None };
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|it| it.key == "200/40/20" && it.usage == usage), "{found:?}");
    }

    #[test]
    fn recorded_rollout_reports_every_request() {
        let found = reports(include_str!("fixtures/paginated-tool.jsonl"));
        let mut keys: Vec<_> = found.iter().map(|it| it.key.as_str()).collect();
        keys.dedup();
        assert_eq!(keys, RECORDED_KEYS, "{found:?}");
    }

    /// The sums over the thread after each request of the recorded rollout.
    const RECORDED_KEYS: [&str; 2] = ["10/0/5", "20/0/10"];
}
