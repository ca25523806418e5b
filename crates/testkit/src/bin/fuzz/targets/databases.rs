//! Conversations in databases with damaged rows or a damaged file.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use segue_core::model::VendorSessionId;
use segue_host::LocalFiles;

use super::transcripts::{both_ways, place, read_other_facts, transcripts, vendor};
use crate::corpus;

/// Returns the id of the conversation in a vendor's recorded database.
fn id(vendor: &str) -> VendorSessionId {
    VendorSessionId::new(match vendor {
        "opencode" => "ses_01980000000070008000000000000001",
        _ => "019a0000-0000-7000-8000-000000000001",
    })
}

pub(super) fn scripts(vendor: &str) -> Vec<Vec<u8>> {
    corpus::recorded(vendor, ".sql")
}

/// Returns the contents of database files, which are created from the recorded scripts.
pub(super) fn files(vendor: &str) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sample.db");
    let sample = |script: Vec<u8>| {
        make(&path, &script);
        fs::read(&path).expect("a database")
    };
    scripts(vendor).into_iter().map(sample).collect()
}

/// Returns the exports of `OpenCode`'s recorded conversations, in the format that `OpenCode`
/// imports.
pub(super) fn exports() -> Vec<Vec<u8>> {
    let (folder, vendor) = (tempfile::tempdir().expect("a folder"), vendor("opencode"));
    let (place, id) = (place(folder.path()), id("opencode"));
    let path = transcripts(vendor.as_ref()).transcript(&LocalFiles, &place, &id);
    let scripts = scripts("opencode");
    let database = vendor.transcript_database().expect("a database");
    let export = |script: &Vec<u8>| {
        make(path.parent().expect("a database"), script);
        database.export(&place, &id).expect("a database").expect("a conversation")
    };
    scripts.iter().map(export).collect()
}

/// Creates a database from an SQL script. Skips statements that fail.
fn make(path: &Path, script: &[u8]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    // Removing fails if no database exists yet.
    let _removed = fs::remove_file(path);
    let database = Connection::open(path).expect("a database");
    database.pragma_update(None, "journal_mode", "off").expect("a setting");
    database.pragma_update(None, "synchronous", "off").expect("a setting");
    let script = String::from_utf8_lossy(script);
    database.execute_batch("BEGIN").expect("a beginning");
    for statement in script.split(";\n") {
        let _made = database.execute_batch(statement);
    }
    let _ended = database.execute_batch("COMMIT");
}

pub(super) fn check_script(name: &str, script: &[u8], folder: &Path) {
    check(name, folder, |path| make(path, script));
}

pub(super) fn check_file(name: &str, bytes: &[u8], folder: &Path) {
    check(name, folder, |path| {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a database");
    });
}

fn check(name: &str, folder: &Path, write: impl FnOnce(&Path)) {
    let (vendor, place, id) = (vendor(name), place(folder), id(name));
    let transcript: PathBuf = transcripts(vendor.as_ref()).transcript(&LocalFiles, &place, &id);
    write(transcript.parent().expect("a database"));
    // An error is a valid result for a damaged database. Only a panic is a bug.
    let _read = both_ways(vendor.as_ref(), &transcript);
    read_other_facts(vendor.as_ref(), &place, &transcript, &id);
    let _exported = vendor.transcript_database().map(|it| it.export(&place, &id));
}
