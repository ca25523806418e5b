//! Transcripts that Gemini deletes with its default settings, and transcripts that are deleted by
//! others: no conversation is lost.

use std::fs;
use std::path::Path;

use segue_testkit::{Terminal, archive, isolated, launches};

use crate::{GeminiScene, by_hand, place, wait_written};

const BY_HAND: [&str; 2] = ["-p", "stray OMEGA"];

#[test]
fn start_without_segue_deletes_only_expired_transcripts_and_those_are_restored() {
    isolated(|| {
        let place = place();
        let session = place.told("coder", "?remember ALPHA");
        let old = place.told("old", "remember BETA");
        place.world.kill_everything();
        let aged = place.transcript(&old);
        age(&aged);
        place.run(&["-d", "--name", "silent"]);
        let silent = place.wait_idle("silent");
        place.world.resume(["coder"]).assert_back("coder", "resumed");
        place.wait_idle("coder");
        let id = session["vendor_session_id"].as_str().unwrap();
        let is_trigger = |path: &std::path::PathBuf| {
            let name = path.to_string_lossy();
            name.contains(&id[..8]) && !name.contains(id)
        };
        assert!(place.transcripts().iter().any(is_trigger), "no empty file");
        let before = fs::read(place.transcript(&session)).unwrap();
        by_hand(&place, &BY_HAND);
        assert!(!aged.exists(), "Gemini did not delete it");
        assert!(fs::read(place.transcript(&session)).unwrap().starts_with(&before));
        place.assert_carries("silent", &[], "remember GAMMA");
        wait_written(&place.transcript(&silent), "turns=1");
        place.world.kill_everything();

        let report = place.world.resume(["--all"]);
        report.assert_back("coder", "resumed");
        report.assert_back("old", "restored");
        report.assert_back("silent", "resumed");
        assert_eq!(place.world.session("silent")["vendor_session_id"], silent["vendor_session_id"]);
        // Gemini itself forgets messages that begin with `?` or `/`. So Segue puts a zero-width
        // space before them.
        place.assert_carries("coder", &["\u{200b}?remember ALPHA"], "which word, coder?");
        place.assert_carries("old", &["remember BETA"], "which word, old?");
        place.assert_carries("silent", &["remember GAMMA"], "which word, silent?");
    });
}

#[test]
fn expired_transcript_without_a_guard_is_restored_from_the_archive() {
    isolated(|| {
        let place = place();
        let session = place.told("old", "remember BETA");
        let path = place.transcript(&session);
        place.world.ok(["stop", "old"]);
        archive::wait_kept(&place.world, &session, &path);
        let bytes = fs::read(&path).unwrap();
        age(&path);
        launches::remove_guards(&place.world, &session);
        by_hand(&place, &BY_HAND);
        assert!(!path.exists(), "Gemini did not delete it");
        let report = place.world.resume(["old"]);
        report.assert_back("old", "restored");
        assert!(report.note("old").contains("archive"), "{report:?}");
        assert!(fs::read(place.transcript(&session)).unwrap().starts_with(&bytes));
        place.assert_carries("old", &["remember BETA"], "which word, old?");
    });
}

/// Makes a transcript older than Gemini's retention period.
fn age(transcript: &Path) {
    let old = r#"{"$set":{"lastUpdated":"2020-01-01T00:00:00.000Z"}}"#;
    let text = fs::read_to_string(transcript).unwrap();
    fs::write(transcript, format!("{text}{old}\n")).unwrap();
}

#[test]
fn transcript_deleted_while_its_agent_runs_is_restored_with_later_messages() {
    isolated(|| {
        let place = place();
        let session = place.told("coder", "remember ALPHA");
        let path = place.transcript(&session);
        fs::remove_file(&path).unwrap();
        let mut send = place.world.start(["send", "coder", "and BETA"]);
        wait_written(&path, "turns=2");
        send.wait().unwrap();
        place.world.kill_everything();
        place.world.resume(["coder"]).assert_back("coder", "restored");
        place.assert_carries("coder", &["remember ALPHA", "and BETA"], "which words?");
    });
}

#[test]
fn deleted_conversation_that_was_started_inside_the_process_is_restored() {
    isolated(|| {
        let place = place();
        let before = place.told("coder", "remember ALPHA");
        let mut person = Terminal::start(&place.world.command(["attach", "coder"]), 40, 120);
        person.wait_for("remember ALPHA");
        person.write("/clear");
        // Enter is a line break if it arrives together with text. So the test waits until Gemini
        // shows the meaning of the command.
        person.wait_for("Clear the screen");
        person.press_enter();
        let left = before["vendor_session_id"].clone();
        let cleared = place.wait_session("coder", |session| session["vendor_session_id"] != left);
        assert_eq!(cleared["launches"], 1, "the process is the same");
        drop(person);
        place.assert_carries("coder", &[], "remember OMEGA");
        place.wait_idle("coder");
        // If the file is deleted, the running process writes a new one without the first line,
        // which has the session id.
        let path = named_by_gemini(&place, &cleared);
        wait_written(&path, "turns=1");
        fs::remove_file(&path).unwrap();
        place.assert_carries("coder", &["remember OMEGA"], "and PSI");
        wait_written(&path, "turns=2");
        place.world.kill_everything();
        place.world.resume(["coder"]).assert_back("coder", "restored");
        place.assert_carries("coder", &["remember OMEGA", "and PSI"], "what was it?");
        assert_eq!(place.world.session("coder")["vendor_session_id"], cleared["vendor_session_id"]);
        place.transcript(&cleared);
    });
}

#[test]
fn adopted_conversation_is_restored_after_its_transcript_is_deleted() {
    isolated(|| {
        let place = place();
        by_hand(&place, &BY_HAND);
        let listed = place.world.json(["adopt", "--json"]);
        let found = listed["candidates"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{listed:#}");
        assert_eq!(found[0]["begins"], "stray OMEGA");
        let id = found[0]["vendor_session_id"].as_str().unwrap();
        place.world.ok(["adopt", &format!("gemini:{id}"), "--name", "stray"]);
        place.world.resume(["stray"]).assert_back("stray", "resumed");
        place.wait_idle("stray");
        place.wait_spoke("stray");
        place.world.kill_everything();
        fs::remove_file(named_by_gemini(&place, &found[0])).unwrap();
        place.world.resume(["stray"]).assert_back("stray", "restored");
        place.assert_carries("stray", &["stray OMEGA"], "which word?");
    });
}

/// Returns the transcript of a conversation, in a file that Gemini named.
fn named_by_gemini(place: &GeminiScene, session: &serde_json::Value) -> std::path::PathBuf {
    let id = session["vendor_session_id"].as_str().unwrap();
    let ending = format!("-{}.jsonl", &id[..8]);
    let all = place.transcripts();
    let own = all.iter().find(|path| path.to_string_lossy().ends_with(&ending));
    own.unwrap_or_else(|| panic!("no transcript of {id} in {all:?}")).clone()
}
