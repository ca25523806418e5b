//! Reads the used tokens from transcripts. The demo agent counts words.

use std::path::Path;

use segue_core::Result;
use segue_core::model::{ReportedUsage, Usage, UsagePosition, UsageReading};
use segue_core::ports::{Files, UsageReports};

use super::Demo;
use super::records::DemoRecord;
use crate::shared::reading;

impl UsageReports for Demo {
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
    let DemoRecord::TurnEnd { at, words } = DemoRecord::read(line)? else { return None };
    let words = words?;
    let usage = Usage { input: words.read, output: words.written, ..Usage::default() };
    Some(ReportedUsage { key: at.to_string(), at, usage })
}
