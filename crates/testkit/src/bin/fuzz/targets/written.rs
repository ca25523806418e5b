//! Turns that Segue writes in a vendor's format. Reading them back must return the same turns.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use segue_core::model::{Role, Turn};
use segue_core::ports::{Target, Transcription, TranscriptionOrder};
use segue_host::LocalFiles;
use serde_json::Value;

use super::rules::clean;
use super::transcripts::{both_ways, id, place, transcripts, vendor};

pub(super) fn check(name: &str, turns: Vec<Turn>, folder: &Path) {
    let turns = clean(turns);
    let (vendor, place, id) = (vendor(name), place(folder), id());
    let order = TranscriptionOrder {
        files: &LocalFiles,
        place: &place,
        id: &id,
        title: "a/b",
        model: Some("provider/model"),
        now: Timestamp::UNIX_EPOCH,
        append_to: None,
    };
    let conversion = vendor.conversion().expect("it takes turns");
    let transcription = conversion.transcription(&order).expect("a transcription");
    let Transcription { target, mut writer, .. } = transcription;
    let path = match target {
        Target::Transcript(path) => path,
        Target::Import => folder.join("import.json"),
    };
    let mut written = Vec::new();
    writer.begin(&mut written);
    turns.iter().for_each(|turn| writer.turn(turn, &mut written));
    writer.end(&mut written);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, written).expect("a transcript");
    both_ways(vendor.as_ref(), &path).expect("a transcript that can be read");
    let mut wanted = turns.iter();
    let each = &mut |read: Turn| {
        let written = wanted.next().unwrap_or_else(|| panic!("{read:?} was not written"));
        assert!(is_same(written, &read), "{written:?} was read as {read:?}");
        ControlFlow::Continue(())
    };
    transcripts(vendor.as_ref())
        .turns(&LocalFiles, &path, each)
        .expect("a transcript that can be read");
    assert!(wanted.next().is_none(), "not all turns were read back");
}

/// Compares a written turn with the turn that was read back. Ignores whitespace at both ends and
/// between JSON arguments, because a vendor need not keep it.
fn is_same(written: &Turn, read: &Turn) -> bool {
    let arguments = |text: &str| serde_json::from_str::<Value>(text).ok();
    written.role == read.role
        && (written.text.trim() == read.text.trim()
            || written.role == Role::ToolCall && arguments(&written.text) == arguments(&read.text))
}
