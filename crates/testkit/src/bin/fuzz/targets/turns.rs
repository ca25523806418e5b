//! Turns as lines of JSON, which what takes turns is tried with.

use std::ops::ControlFlow;

use jiff::Timestamp;
use segue_core::model::{Role, Turn};
use segue_core::ports::{Transcription, TranscriptionOrder};
use segue_host::LocalFiles;

use super::transcripts::{id, place, vendor};
use crate::corpus;

const VENDORS: [&str; 5] = ["claude", "codex", "copilot", "gemini", "pi"];

/// Returns the turns of recorded conversations.
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
            vendor(name).turns(&LocalFiles, &path, each).expect("a sample");
            samples.push(lines);
        }
    }
    samples.retain(|lines| !lines.is_empty());
    samples
}

/// Reads the lines that are turns. A time that no vendor could have written is none.
pub(super) fn read(bytes: &[u8]) -> Vec<Turn> {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Returns all of them as a transcript of the demo agent.
pub(super) fn as_demo() -> Vec<u8> {
    let (place, id) = (place("/nowhere".as_ref()), id());
    let order = TranscriptionOrder {
        files: &LocalFiles,
        place: &place,
        id: &id,
        title: "a/b",
        model: None,
        now: Timestamp::UNIX_EPOCH,
        onto: None,
    };
    let transcription = vendor("demo").transcription(&order).expect("a vendor that takes turns");
    let Transcription { mut writer, .. } = transcription.expect("a vendor that takes turns");
    let mut written = Vec::new();
    writer.begin(&mut written);
    let turns: Vec<Turn> = samples().iter().flat_map(|lines| read(lines)).collect();
    let short = turns.iter().filter(|turn| turn.role != Role::Summary && turn.text.len() < 2000);
    short.take(60).for_each(|turn| writer.turn(turn, &mut written));
    writer.end(&mut written);
    written
}
