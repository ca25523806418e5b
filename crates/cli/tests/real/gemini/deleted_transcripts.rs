//! Transcripts that Gemini deletes with its default settings, and transcripts that are deleted by
//! others: no conversation is lost.

use std::fs;
use std::path::{Path, PathBuf};

use segue_testkit::{Terminal, archive, isolated, launches};

use super::{GeminiScene, scene, turn_without_segue, wait_written};

#[test]
fn start_without_segue_deletes_only_expired_transcripts_and_those_are_restored() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "?remember ALPHA");
        let old = scene.start_and_wait("old", "remember BETA");
        scene.world.kill_everything();
        let expired = scene.transcript(&old);
        expire(&expired);
        scene.run(&["-d", "--name", "silent"]);
        let silent = scene.wait_idle("silent");
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.wait_idle("coder");
        let id = session["vendor_session_id"].as_str().unwrap();
        let is_empty_copy = |path: &PathBuf| {
            let name = path.to_string_lossy();
            name.contains(&id[..8]) && !name.contains(id)
        };
        assert!(scene.transcripts().iter().any(is_empty_copy), "no empty file");
        let before = fs::read(scene.transcript(&session)).unwrap();
        turn_without_segue(&scene, "stray OMEGA");
        assert!(!expired.exists(), "Gemini did not delete it");
        assert!(fs::read(scene.transcript(&session)).unwrap().starts_with(&before));
        scene.assert_carries("silent", &[], "remember GAMMA");
        wait_written(&scene.transcript(&silent), "turns=1");
        scene.world.kill_everything();

        let report = scene.world.resume(["--all"]);
        report.assert_back("coder", "resumed");
        report.assert_back("old", "restored");
        report.assert_back("silent", "resumed");
        assert_eq!(scene.world.session("silent")["vendor_session_id"], silent["vendor_session_id"]);
        // Gemini itself forgets messages that begin with `?` or `/`. So Segue puts a zero-width
        // space before them.
        scene.assert_carries("coder", &["\u{200b}?remember ALPHA"], "which word, coder?");
        scene.assert_carries("old", &["remember BETA"], "which word, old?");
        scene.assert_carries("silent", &["remember GAMMA"], "which word, silent?");
    });
}

#[test]
fn expired_transcript_without_a_guard_is_restored_from_the_archive() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("old", "remember BETA");
        let path = scene.transcript(&session);
        scene.world.ok(["stop", "old"]);
        archive::wait_archived(&scene.world, &session, &path);
        let bytes = fs::read(&path).unwrap();
        expire(&path);
        launches::remove_guards(&scene.world, &session);
        turn_without_segue(&scene, "stray OMEGA");
        assert!(!path.exists(), "Gemini did not delete it");
        let report = scene.world.resume(["old"]);
        report.assert_back("old", "restored");
        assert!(report.note("old").contains("archive"), "{report:?}");
        assert!(fs::read(scene.transcript(&session)).unwrap().starts_with(&bytes));
        scene.assert_carries("old", &["remember BETA"], "which word, old?");
    });
}

/// Makes a transcript older than Gemini's retention period.
fn expire(transcript: &Path) {
    let old = r#"{"$set":{"lastUpdated":"2020-01-01T00:00:00.000Z"}}"#;
    let text = fs::read_to_string(transcript).unwrap();
    fs::write(transcript, format!("{text}{old}\n")).unwrap();
}

#[test]
fn transcript_deleted_while_its_agent_runs_is_restored_with_later_messages() {
    isolated(|| {
        let scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        let path = scene.transcript(&session);
        fs::remove_file(&path).unwrap();
        let mut send = scene.world.start(["send", "coder", "and BETA"]);
        wait_written(&path, "turns=2");
        send.wait().unwrap();
        scene.world.kill_everything();
        scene.world.resume(["coder"]).assert_back("coder", "restored");
        scene.assert_carries("coder", &["remember ALPHA", "and BETA"], "which words?");
    });
}

#[test]
fn deleted_conversation_that_was_started_inside_the_process_is_restored() {
    isolated(|| {
        let scene = scene();
        let before = scene.start_and_wait("coder", "remember ALPHA");
        let mut person = Terminal::start(&scene.world.command(["attach", "coder"]), 40, 120);
        person.wait_for("remember ALPHA");
        person.write("/clear");
        // Gemini treats Enter as a line break if it arrives together with text. So the test waits
        // until Gemini shows the meaning of the command.
        person.wait_for("Clear the screen");
        person.press_enter();
        let old_id = before["vendor_session_id"].clone();
        let cleared = scene.wait_session("coder", |session| session["vendor_session_id"] != old_id);
        assert_eq!(cleared["launches"], 1, "the process is the same");
        drop(person);
        scene.assert_carries("coder", &[], "remember OMEGA");
        scene.wait_idle("coder");
        // If the file is deleted, the running process writes a new one without the first line,
        // which has the session id.
        let path = transcript_named_by_gemini(&scene, &cleared);
        wait_written(&path, "turns=1");
        fs::remove_file(&path).unwrap();
        scene.assert_carries("coder", &["remember OMEGA"], "and PSI");
        wait_written(&path, "turns=2");
        scene.world.kill_everything();
        scene.world.resume(["coder"]).assert_back("coder", "restored");
        scene.assert_carries("coder", &["remember OMEGA", "and PSI"], "what was it?");
        assert_eq!(scene.world.session("coder")["vendor_session_id"], cleared["vendor_session_id"]);
        scene.transcript(&cleared);
    });
}

#[test]
fn adopted_conversation_is_restored_after_its_transcript_is_deleted() {
    isolated(|| {
        let scene = scene();
        turn_without_segue(&scene, "stray OMEGA");
        let listed = scene.world.json(["adopt", "--json"]);
        let found = listed["candidates"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{listed:#}");
        assert_eq!(found[0]["begins"], "stray OMEGA");
        let id = found[0]["vendor_session_id"].as_str().unwrap();
        scene.world.ok(["adopt", &format!("gemini:{id}"), "--name", "stray"]);
        scene.world.resume(["stray"]).assert_back("stray", "resumed");
        scene.wait_idle("stray");
        scene.wait_has_content("stray");
        scene.world.kill_everything();
        fs::remove_file(transcript_named_by_gemini(&scene, &found[0])).unwrap();
        scene.world.resume(["stray"]).assert_back("stray", "restored");
        scene.assert_carries("stray", &["stray OMEGA"], "which word?");
    });
}

/// Returns the transcript of a conversation that Gemini started itself. Its name has only the
/// beginning of the id.
fn transcript_named_by_gemini(scene: &GeminiScene, session: &serde_json::Value) -> PathBuf {
    let id = session["vendor_session_id"].as_str().unwrap();
    let ending = format!("-{}.jsonl", &id[..8]);
    let all = scene.transcripts();
    let own = all.iter().find(|path| path.to_string_lossy().ends_with(&ending));
    own.unwrap_or_else(|| panic!("no transcript of {id} in {all:?}")).clone()
}
