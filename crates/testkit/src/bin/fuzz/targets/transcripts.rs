//! Transcripts in files. Reading forwards and reading backwards must return the same turns.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Turn, VendorDescription, VendorId, VendorSessionId};
use segue_core::ports::{
    Place, StoredConversation, Transcription, TranscriptionOrder, Transcripts, Vendor, Vendors as _,
};
use segue_host::LocalFiles;

use super::{databases, turns};
use crate::corpus;
pub(super) use segue_testkit::vendors::vendor;

/// The id of the conversation. In Codex's recordings it is a fork of the conversation in `PARENT`,
/// which is stored in the same folder.
const ID: &str = "01a1e314-01ed-7c00-99ec-6209a75b8c75";
const PARENT: &str = "rollout-2026-11-16T06-38-20-01a1e313-ff12-75e0-941c-2288f559f3f9.jsonl";

const VENDORS: [&str; 6] = ["claude", "codex", "copilot", "cursor", "gemini", "pi"];

/// Returns the transcripts of a vendor that has some.
pub(super) fn transcripts(vendor: &dyn Vendor) -> &dyn Transcripts {
    vendor.transcripts().expect("a vendor with transcripts")
}

pub(super) fn place(folder: &Path) -> Place {
    Place { config_dir: folder.to_owned(), cwd: "/code/a".into() }
}

pub(super) fn id() -> VendorSessionId {
    VendorSessionId::new(ID)
}

pub(super) fn samples(vendor: &str) -> Vec<Vec<u8>> {
    if vendor == "demo" { vec![turns::as_demo()] } else { corpus::recorded(vendor, ".jsonl") }
}

/// Returns a vendor's transcripts as single JSON documents.
pub(super) fn documents(vendor: &str) -> Vec<Vec<u8>> {
    if vendor == "opencode" {
        return databases::exports();
    }
    let lines = corpus::recorded(vendor, ".jsonl");
    lines.iter().map(|lines| as_document(lines)).collect()
}

/// Returns a JSON document whose list `messages` has the records of a transcript.
fn as_document(lines: &[u8]) -> Vec<u8> {
    let records: Vec<&[u8]> =
        lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let records = records.join(&b",\n"[..]);
    let head = format!("{{\"sessionId\":\"{ID}\",\"startTime\":\"2026-11-16T04:14:49.638Z\",");
    [head.as_bytes(), b"\"messages\":[\n", &records, b"\n]}"].concat()
}

/// Returns transcripts of all vendors, both as lines and as documents.
pub(super) fn of_all_vendors() -> Vec<Vec<u8>> {
    let mut samples: Vec<Vec<u8>> = VENDORS.iter().flat_map(|it| samples(it)).collect();
    let documents: Vec<Vec<u8>> = samples.iter().map(|lines| as_document(lines)).collect();
    samples.extend(documents);
    samples
}

pub(super) fn check(name: &str, bytes: &[u8], folder: &Path) {
    let (vendor, place) = (vendor(name), place(folder));
    let path = match vendor.transcript_files() {
        Some(own) => own.restored_as(&LocalFiles, &place, &id()),
        None => transcripts(vendor.as_ref()).transcript(&LocalFiles, &place, &id()),
    };
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, bytes).expect("a transcript");
    if name == "codex" && !path.with_file_name(PARENT).exists() {
        let parent =
            include_bytes!("../../../../../vendors/src/codex/fixtures/lineage-first.jsonl");
        fs::write(path.with_file_name(PARENT), parent).expect("a transcript");
    }
    both_ways(vendor.as_ref(), &path).expect("a transcript that can be read");
    read_other_facts(vendor.as_ref(), &place, &path, &id());
}

pub(super) fn check_document(name: &str, bytes: &[u8], path: &Path) {
    fs::write(path, bytes).expect("a transcript");
    both_ways(vendor(name).as_ref(), path).expect("a transcript that can be read");
}

pub(super) fn check_described(bytes: &[u8], folder: &Path) {
    let description = VendorDescription {
        command: vec!["own".to_owned()],
        new: None,
        resume: None,
        transcript: Some("~/{id}".to_owned()),
    };
    let vendor = segue_vendors::all().described(&VendorId::new("own"), &description);
    let (place, id) = (place(folder), id());
    let path = transcripts(vendor.as_ref()).transcript(&LocalFiles, &place, &id);
    fs::write(&path, bytes).expect("a transcript");
    both_ways(vendor.as_ref(), &path).expect("a transcript that can be read");
    read_other_facts(vendor.as_ref(), &place, &path, &id);
}

/// Reads a transcript forwards, backwards, and only its newest turns. Panics if the results differ.
pub(super) fn both_ways(vendor: &dyn Vendor, path: &Path) -> Result<()> {
    let (mut forwards, mut back, mut newest) = (Vec::new(), Vec::new(), Vec::new());
    let transcripts = transcripts(vendor);
    transcripts.turns(&LocalFiles, path, &mut |turn| {
        forwards.push(fingerprint(&turn));
        ControlFlow::Continue(())
    })?;
    transcripts.turns_back(&LocalFiles, path, &mut |turn| {
        back.push(fingerprint(&turn));
        ControlFlow::Continue(())
    })?;
    transcripts.turns_back(&LocalFiles, path, &mut |turn| {
        newest.push(fingerprint(&turn));
        if newest.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    assert_eq!(newest, back[..back.len().min(3)], "the newest turns differ");
    back.reverse();
    assert_eq!(forwards, back, "reading forwards and backwards returned different turns");
    Ok(())
}

/// Returns a hash of a turn, so that the turns themselves need not be kept in memory.
fn fingerprint(turn: &Turn) -> u64 {
    let mut hasher = DefaultHasher::new();
    let tool = turn.tool.as_ref().map(|tool| (&tool.id, &tool.name, tool.failed));
    (turn.role, &turn.text, tool, turn.at, &turn.model).hash(&mut hasher);
    hasher.finish()
}

/// Calls all other functions that read a transcript. They may return errors, but must not panic.
pub(super) fn read_other_facts(
    vendor: &dyn Vendor,
    place: &Place,
    path: &Path,
    id: &VendorSessionId,
) {
    let kept = StoredConversation {
        id: id.clone(),
        transcript: path.to_owned(),
        modified: Timestamp::UNIX_EPOCH,
    };
    let transcripts = transcripts(vendor);
    let _begun = transcripts.beginning(&LocalFiles, &kept);
    let _known = transcripts.conversation(&LocalFiles, place, id);
    let _all = transcripts.conversations(&LocalFiles, place);
    let _said = transcripts.user_messages_since(&LocalFiles, place, id, 0);
    let _later = transcripts.user_messages_since(&LocalFiles, place, id, 1000);
    let _length = transcripts.length(&LocalFiles, place, id);
    let _older = vendor.transcript_files().map(|own| own.ancestors(&LocalFiles, path));
    let used = vendor.usage().map(|own| own.read_usage(&LocalFiles, path, None));
    let position = used.and_then(Result::ok).map(|reading| reading.position);
    let _later = vendor.usage().map(|own| own.read_usage(&LocalFiles, path, position));
    append_turns(vendor, place, path, id);
}

/// Continues a transcript with more turns. It may return an error, but must not panic.
fn append_turns(vendor: &dyn Vendor, place: &Place, path: &Path, id: &VendorSessionId) {
    let order = TranscriptionOrder {
        files: &LocalFiles,
        place,
        id,
        title: "a/b",
        model: None,
        now: Timestamp::UNIX_EPOCH,
        append_to: Some(path),
    };
    let transcription = vendor.conversion().map(|it| it.transcription(&order));
    let Some(Ok(Transcription { mut writer, .. })) = transcription else { return };
    let mut written = Vec::new();
    writer.begin(&mut written);
    for role in [Role::User, Role::Assistant, Role::User] {
        writer.turn(&Turn::new(role, "more").at(Some(Timestamp::UNIX_EPOCH)), &mut written);
    }
    writer.end(&mut written);
}
