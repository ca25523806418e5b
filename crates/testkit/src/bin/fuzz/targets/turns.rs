//! Turns as lines of JSON: the inputs for targets that take turns.

use std::ops::ControlFlow;

use jiff::Timestamp;
use segue_core::model::{Role, Turn};
use segue_core::ports::{Transcription, TranscriptionOrder};
use segue_host::LocalFiles;

use super::transcripts::{id, place, transcripts, vendor};
use crate::corpus;

const VENDORS: [&str; 5] = ["claude", "codex", "copilot", "gemini", "pi"];

/// Returns the turns of the recorded conversations, one JSON line for each turn.
pub(super) fn samples() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sample.jsonl");
    let mut samples = Vec::new();
    for name in VENDORS {
        for recorded in corpus::recorded(name, ".jsonl") {
            std::fs::write(&path, recorded).expect("a sample");
            let mut lines = Vec::new();
            let each = &mut |turn: Turn| {
                serde_json::to_writer(&mut lines, &turn).expect("a turn");
                lines.push(b'\n');
                ControlFlow::Continue(())
            };
            let vendor = vendor(name);
            transcripts(vendor.as_ref()).turns(&LocalFiles, &path, each).expect("a sample");
            samples.push(lines);
        }
    }
    samples.retain(|lines| !lines.is_empty());
    samples
}

/// Parses each line as a turn. Skips lines that are not valid turns, for example because of an
/// invalid timestamp.
pub(super) fn read(bytes: &[u8]) -> Vec<Turn> {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Returns short turns of all samples as a transcript of the demo agent.
pub(super) fn as_demo() -> Vec<u8> {
    let (place, id) = (place("/nowhere".as_ref()), id());
    let order = TranscriptionOrder {
        files: &LocalFiles,
        place: &place,
        id: &id,
        title: "a/b",
        model: None,
        now: Timestamp::UNIX_EPOCH,
        append_to: None,
    };
    let demo = vendor("demo");
    let conversion = demo.conversion().expect("a vendor that takes turns");
    let Transcription { mut writer, .. } = conversion.transcription(&order).expect("a writer");
    let mut written = Vec::new();
    writer.begin(&mut written);
    let turns: Vec<Turn> = samples().iter().flat_map(|lines| read(lines)).collect();
    let short = turns.iter().filter(|turn| turn.role != Role::Summary && turn.text.len() < 2000);
    short.take(60).for_each(|turn| writer.turn(turn, &mut written));
    writer.end(&mut written);
    written
}
