//! Measures how long it takes to copy one turn into the archive, for a long and a short
//! conversation.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use segue_core::model::{Archived, Environment, VendorId, VendorSessionId};
use segue_core::ports::{Archive as _, ArchiveOrder, Content, Place};
use segue_host::Paths;
use segue_host::archive::DiskArchive;

use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed};

const TURNS: usize = 30;
/// The number of bytes that a turn adds to a transcript.
const TURN_BYTES: usize = 8 * 1024;
const SHORT_BYTES: usize = 1024 * 1024;
const LONG_BYTES: usize = 200 * SHORT_BYTES;
/// The aim for copying one turn, which includes two syncs of files to the disk.
const AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(20)));

pub(crate) fn measure(_program: &Path) -> Vec<Row> {
    let (short, _) = copies(SHORT_BYTES);
    let (long, first) = copies(LONG_BYTES);
    vec![
        Row::new("archiving a turn (8 KB) after 200 MB, against 1 MB", Figure::Time(long))
            .against(Figure::Time(short))
            .aim(AIM),
        Row::new("  the first copy of 200 MB", Figure::Time(first)),
    ]
}

/// Creates a transcript of `length` bytes. Returns the median time to copy one more turn, and the
/// time to copy the whole transcript at first.
fn copies(length: usize) -> (Duration, Duration) {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("segue").display().to_string();
    let environment = Environment::new([("SEGUE_HOME".to_owned(), home)]);
    let archive = DiskArchive::new(&Paths::from_environment(&environment).expect("paths"));
    let transcript = folder.path().join("transcript.jsonl");
    fs::write(&transcript, lines(0, length)).expect("a transcript");
    let order = order(folder.path(), &transcript);
    let keep = || timed(|| archive.copy(&order).expect("a copy")).0;
    let first = keep();
    let mut file = File::options().append(true).open(&transcript).expect("a transcript");
    let turns = (0..TURNS).map(|number| {
        file.write_all(&lines(number + 1, TURN_BYTES)).expect("a turn");
        keep()
    });
    (median(turns.collect()), first)
}

fn order(folder: &Path, transcript: &Path) -> ArchiveOrder {
    let (vendor, id) = (VendorId::new("demo"), VendorSessionId::new("bench"));
    ArchiveOrder {
        conversation: Archived { vendor, id },
        place: Place { config_dir: folder.to_owned(), cwd: folder.to_owned() },
        content: Content::Transcript(transcript.to_owned()),
        companion_folder: None,
        ancestors: Vec::new(),
        now: Timestamp::UNIX_EPOCH,
    }
}

/// Returns at least `length` bytes of lines that look like those of a transcript.
fn lines(turn: usize, length: usize) -> Vec<u8> {
    let line = |number: usize| {
        let id = number.wrapping_mul(2_654_435_761) ^ turn;
        format!(
            "{{\"id\":\"{id:x}\",\"type\":\"assistant\",\"text\":\"line {number} of {turn}\"}}\n"
        )
    };
    let mut bytes = Vec::with_capacity(length + 200);
    for number in 0.. {
        if bytes.len() >= length {
            break;
        }
        bytes.extend(line(number).into_bytes());
    }
    bytes
}
