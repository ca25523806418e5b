//! The reports of fake vendors about used tokens.

use std::path::Path;

use jiff::SignedDuration;
use segue_core::Result;
use segue_core::model::{ReportedUsage, Usage, UsagePosition, UsageReading};
use segue_core::ports::{Files, UsageReports};

use crate::transcript::unreadable;
use crate::{FakeVendor, samples};

/// A line `used KEY@10: 5 7` of a transcript reports that a request used 5 tokens of input and 7 of
/// output, ten seconds after [`samples::start`]. It is no turn.
impl UsageReports for FakeVendor {
    fn read_usage(
        &self,
        files: &dyn Files,
        source: &Path,
        from: Option<UsagePosition>,
    ) -> Result<UsageReading> {
        let position = from.unwrap_or_default();
        if files.facts(source).map_err(unreadable(source))?.is_none() {
            return Ok(UsageReading { position, ..UsageReading::default() });
        }
        let bytes = files.read_at(source, position.offset, usize::MAX);
        let bytes = bytes.map_err(unreadable(source))?;
        let reports = String::from_utf8_lossy(&bytes).lines().filter_map(report).collect();
        let offset = position.offset + bytes.len() as u64;
        let position = UsagePosition { offset, mark: 0 };
        Ok(UsageReading { reports, position, is_from_start: from.is_none() })
    }
}

fn report(line: &str) -> Option<ReportedUsage> {
    let (who, counts) = line.strip_prefix("used ")?.split_once(": ")?;
    let (key, seconds) = who.split_once('@')?;
    let (input, output) = counts.split_once(' ')?;
    let at = samples::start() + SignedDuration::from_secs(seconds.parse().ok()?);
    let (input, output) = (input.parse().ok()?, output.parse().ok()?);
    let usage = Usage { input, output, ..Usage::default() };
    Some(ReportedUsage { key: key.to_owned(), at, usage })
}
