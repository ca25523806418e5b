//! Long conversations: reading their end, and converting them to another vendor's format.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::alone::{self, Cost};
use crate::recording::{self, CWD, RecordingContent};
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, whole_run};

/// The number of measurements of a fast operation, and of a slow one.
const FAST_TIMES: usize = 9;
const SLOW_TIMES: usize = 3;

const SHORT_BYTES: u64 = 1_000_000;
const MIDDLE_BYTES: u64 = 250_000_000;
const LONG_BYTES: u64 = 1_000_000_000;

const CHARACTERS: &str = "50000";
const BUDGET: &str = "400000";

const MEMORY_AIM: Aim = Aim::Below(Figure::Memory(20_000_000));
const CONVERSION_MEMORY_AIM: Aim = Aim::Below(Figure::Memory(64_000_000));
const BUDGET_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(50)));

/// A recorded conversation in a temporary folder, which is deleted when this value is dropped.
struct RecordedConversation {
    folder: TempDir,
    path: PathBuf,
}

impl RecordedConversation {
    fn new(size: u64, content: RecordingContent) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(format!("projects/-code-a/{}.jsonl", recording::ID));
        recording::write(&path, size, content);
        Self { folder, path }
    }

    /// Measures an operation with this conversation. `words` has the operation and its arguments.
    fn cost(&self, words: &[&str], times: usize) -> Cost {
        let path = self.path.display().to_string();
        costs(times, &[&words[..1], &[&path], &words[1..]].concat())
    }
}

/// Measures an operation several times. Returns the median time and the maximum of the peak memory.
fn costs(times: usize, words: &[&str]) -> Cost {
    let all: Vec<Cost> = (0..times).map(|_| alone::run(words)).collect();
    Cost {
        time: median(all.iter().map(|cost| cost.time).collect()),
        peak: all.iter().map(|cost| cost.peak).max().unwrap_or_default(),
    }
}

/// Measures reading the end of a conversation, and all of it for comparison.
pub(crate) fn ends(_program: &Path) -> Vec<Row> {
    let (short, long) = (
        RecordedConversation::new(SHORT_BYTES, RecordingContent::Turns),
        RecordedConversation::new(LONG_BYTES, RecordingContent::Turns),
    );
    let of_short = short.cost(&["last", CHARACTERS], FAST_TIMES);
    let of_long = long.cost(&["last", CHARACTERS], FAST_TIMES);
    let whole = long.cost(&["whole"], 1);
    let forwards = long.cost(&["forwards"], 1);
    let lines = long.cost(&["lines"], SLOW_TIMES);
    let time = |cost: Cost| Figure::Time(cost.time);
    vec![
        Row::new("the last 50,000 characters of 1 GB, against 1 MB", time(of_long))
            .against(time(of_short))
            .aim(Aim::Within(2.0)),
        Row::new("  memory for it", Figure::Memory(of_long.peak))
            .against(Figure::Memory(of_short.peak))
            .aim(MEMORY_AIM),
        Row::new("  all of it instead, from the end", time(whole)).against(time(of_long)),
        Row::new("  all of it, from the beginning, against its lines", time(forwards))
            .against(time(lines)),
        Row::new("  memory for that", Figure::Memory(forwards.peak)),
    ]
}

/// Measures reading the beginning and the end of a transcript that also has copies of API requests,
/// which are larger than the turns.
pub(crate) fn among_requests(_program: &Path) -> Vec<Row> {
    let plain = RecordedConversation::new(MIDDLE_BYTES, RecordingContent::Turns);
    let mixed = RecordedConversation::new(MIDDLE_BYTES, RecordingContent::TurnsAndRequests);
    let against = |name: &str, words: &[&str]| {
        let (of_plain, of_mixed) = (plain.cost(words, FAST_TIMES), mixed.cost(words, FAST_TIMES));
        [
            Row::new(name, Figure::Time(of_mixed.time)).against(Figure::Time(of_plain.time)),
            Row::new("  memory for it", Figure::Memory(of_mixed.peak)).aim(MEMORY_AIM),
        ]
    };
    let ends = against(
        "the last 50,000 characters of 250 MB with copies of requests, against none",
        &["last", CHARACTERS],
    );
    let decisions =
        against("  its beginning and the state of its last turn", &["conversation", CWD]);
    ends.into_iter().chain(decisions).collect()
}

/// Measures converting a conversation to another vendor's format.
pub(crate) fn conversions(_program: &Path) -> Vec<Row> {
    let recorded = RecordedConversation::new(MIDDLE_BYTES, RecordingContent::Turns);
    let folder = recorded.folder.path().display().to_string();
    let lines = recorded.cost(&["lines"], SLOW_TIMES);
    let wc = median(
        (0..SLOW_TIMES)
            .map(|_| whole_run(Command::new("wc").arg("-l").arg(&recorded.path)))
            .collect(),
    );
    let mut rows =
        vec![Row::new("wc -l of 250 MB", Figure::Time(wc)).against(Figure::Time(lines.time))];
    for vendor in ["codex", "claude"] {
        let all = costs(SLOW_TIMES, &["convert", &folder, vendor]);
        let part = costs(FAST_TIMES, &["budget", &folder, vendor, BUDGET]);
        rows.extend([
            Row::new(format!("250 MB as a conversation of {vendor}"), Figure::Time(all.time))
                .against(Figure::Time(wc))
                .aim(Aim::Within(2.0)),
            Row::new("  memory for it", Figure::Memory(all.peak)).aim(CONVERSION_MEMORY_AIM),
            Row::new("  its last 400,000 characters", Figure::Time(part.time)).aim(BUDGET_AIM),
        ]);
    }
    rows
}
