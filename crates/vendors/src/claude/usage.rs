//! Reads the used tokens from transcripts: one record of the transcript for each part of an answer,
//! all of them with the usage of the whole request.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::{ReportedUsage, Usage, UsagePosition, UsageReading, VendorSessionId};
use segue_core::ports::{Files, Place, Transcripts as _, UsageReports};

use super::records::ClaudeUsage;
use super::turns::record_of_line;
use super::{Claude, paths};
use crate::shared::reading;

/// The folder, beside a transcript, of the transcripts of its subagents.
const SUBAGENTS_FOLDER: &str = "subagents";

impl UsageReports for Claude {
    fn usage_sources(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Vec<PathBuf> {
        let companions = paths::companion_folder(&place.config_dir, &place.cwd, id.as_str());
        let subagents = files.list(&companions.join(SUBAGENTS_FOLDER)).unwrap_or_default();
        let is_transcript = |path: &PathBuf| path.extension() == Some(OsStr::new("jsonl"));
        let mut sources = vec![self.transcript(files, place, id)];
        sources.extend(subagents.into_iter().filter(is_transcript));
        sources
    }

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
    let record = record_of_line(line)?;
    let (key, at) = (record.message.id?, record.timestamp?);
    Some(ReportedUsage { key, at, usage: usage(record.message.usage?) })
}

/// Converts the usage of a record. Claude Code counts cached input apart from other input.
pub(super) fn usage(usage: ClaudeUsage) -> Usage {
    let cache = (usage.cache_read_input_tokens, usage.cache_creation_input_tokens);
    reading::usage_with_cache(usage.input_tokens, cache, usage.output_tokens)
}

#[cfg(test)]
mod tests {
    use crate::testing::Home;

    use super::*;

    #[test]
    fn records_of_one_request_have_the_same_key_and_other_records_report_nothing() {
        let home = Home::new();
        let record = |id: &str, kind: &str, output: u64| {
            format!(
                "{{\"type\":\"assistant\",\"timestamp\":\"2026-11-15T19:24:48.904Z\",\"message\":\
                 {{\"id\":\"{id}\",\"content\":[{{\"type\":\"{kind}\"}}],\"usage\":\
                 {{\"input_tokens\":100,\"cache_creation_input_tokens\":20,\
                 \"cache_read_input_tokens\":30,\"output_tokens\":{output}}}}}}}\n"
            )
        };
        let text = [
            record("m1", "text", 7),
            record("m1", "tool_use", 7),
            "{\"type\":\"user\",\"message\":{\"content\":\"hi\"},\"toolUseResult\":{\"usage\":{}}}\n"
                .to_owned(),
            record("m2", "text", 9),
        ];
        let path = home.write("t.jsonl", text.concat());
        let reading = Claude.read_usage(&home.disk, &path, None).unwrap();
        let keys: Vec<_> = reading.reports.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["m1", "m1", "m2"]);
        let usage = Usage { input: 150, cached: 30, output: 7, cost_usd: None };
        assert_eq!(reading.reports[0].usage, usage);
    }

    #[test]
    fn recorded_transcript_reports_every_request() {
        let home = Home::new();
        let recorded = include_str!("fixtures/interactive-2.1.325.jsonl");
        let path = home.write("t.jsonl", recorded);
        let reading = Claude.read_usage(&home.disk, &path, None).unwrap();
        let mut keys: Vec<_> = reading.reports.iter().map(|it| it.key.as_str()).collect();
        keys.dedup();
        let usage = Usage { input: 100, cached: 0, output: 20, cost_usd: None };
        assert_eq!((keys.len(), reading.reports[0].usage), (2, usage));
        assert_eq!(reading.position.offset, recorded.len() as u64);
    }

    #[test]
    fn transcripts_of_subagents_are_sources_too() {
        let home = Home::new();
        let id = VendorSessionId::new("11111111-2222-4333-8444-555555555555");
        let folder = Claude.transcript(&home.disk, &home.place, &id).with_extension("");
        let folder = folder.strip_prefix(home.folder.path()).unwrap().join(SUBAGENTS_FOLDER);
        let name = |file: &str| folder.join(file).to_string_lossy().into_owned();
        home.write(&name("agent-a.jsonl"), "");
        home.write(&name("agent-a.meta.json"), "");
        let sources = Claude.usage_sources(&home.disk, &home.place, &id);
        assert_eq!(sources[0], Claude.transcript(&home.disk, &home.place, &id));
        assert_eq!(sources[1..], [home.folder.path().join(name("agent-a.jsonl"))]);
    }
}
