//! Reads the used tokens from transcripts. A line that replaces earlier messages contains copies of
//! them, and reports nothing new.

use std::path::Path;

use segue_core::Result;
use segue_core::model::{ReportedUsage, UsagePosition, UsageReading};
use segue_core::ports::{Files, UsageReports};

use super::Gemini;
use super::records::GeminiLine;
use crate::shared::reading;

impl UsageReports for Gemini {
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
    memchr::memmem::find(line, b"\"tokens\"")?;
    let line = GeminiLine::read(line)?;
    let message = line.message()?;
    let (key, at) = (message.id.clone()?, message.timestamp?);
    Some(ReportedUsage { key, at, usage: message.usage()? })
}

#[cfg(test)]
mod tests {
    use segue_core::model::Usage;

    use super::*;
    use crate::testing::Home;

    fn reports(transcript: &str) -> Vec<ReportedUsage> {
        let home = Home::new();
        let path = home.write("t.jsonl", transcript);
        Gemini.read_usage(&home.disk, &path, None).unwrap().reports
    }

    #[test]
    fn copies_of_a_resume_are_not_reported_and_rewritten_messages_have_the_same_key() {
        let found = reports(include_str!("fixtures/resumed.jsonl"));
        let found: Vec<_> =
            found.iter().map(|it| (it.key.as_str(), it.usage.input, it.usage.output)).collect();
        let answer = ("605a18ec-3bca-41e4-b165-b14c8bea9660", 20, 5);
        assert_eq!(found, [("m3", 11, 7), answer, answer]);
    }

    #[test]
    fn thoughts_are_output_and_tool_prompts_are_input() {
        let line = "{\"id\":\"m\",\"timestamp\":\"2026-11-15T10:00:03.000Z\",\"type\":\"gemini\",\
                    \"content\":\"hi\",\"tokens\":{\"input\":11,\"output\":7,\"cached\":4,\
                    \"thoughts\":30,\"tool\":100,\"total\":148}}\n";
        let usage = Usage { input: 111, cached: 4, output: 37, cost_usd: None };
        assert_eq!(reports(line)[0].usage, usage);
    }
}
