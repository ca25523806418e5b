//! Gemini processes that a person started in the same folder: a start through Segue deletes none of
//! their conversations.

use std::fs;
use std::path::{Path, PathBuf};

use segue_testkit::vendors::command;
use segue_testkit::{Terminal, isolated, launches};

use super::{scene, turn_without_segue};

#[test]
fn start_through_segue_deletes_no_conversation_of_a_person() {
    isolated(|| {
        let scene = scene();
        turn_without_segue(&scene, "remember PSI");
        let resumed = only_other(&scene.transcripts(), &[]);
        let mut person = Terminal::start(&command(&scene.world, "gemini", [""; 0]), 40, 120);
        let chats = resumed.parent().unwrap();
        launches::wait_until(&[chats], "a transcript", || scene.transcripts().len() == 2);
        let idle = only_other(&scene.transcripts(), &[&resumed]);
        let empty = write_empty_copy(&resumed);

        scene.start_and_wait("coder", "remember ALPHA");
        // Gemini has deleted the file without messages, which loses nothing.
        assert!(!empty.exists(), "Gemini did not delete it");
        assert!(fs::read_to_string(&resumed).unwrap().contains("remember PSI"));
        person.write_until_shown("remember OMEGA");
        person.press_enter();
        scene.model.wait_answered("remember OMEGA");
        person.wait_for("turns=1");
        let text = fs::read_to_string(&idle).unwrap();
        assert!(text.starts_with(r#"{"sessionId":"#), "{text}");
        assert!(text.contains("remember OMEGA"), "{text}");
    });
}

/// Writes the file without messages that Gemini leaves beside a transcript if it resumes it in a later
/// minute. Returns its path.
fn write_empty_copy(transcript: &Path) -> PathBuf {
    let text = fs::read_to_string(transcript).unwrap();
    let name = transcript.file_name().unwrap().to_str().unwrap();
    let ending = name.rsplit('-').next().unwrap();
    let path = transcript.with_file_name(format!("session-2026-01-01T00-00-{ending}"));
    fs::write(&path, format!("{}\n", text.lines().next().unwrap())).unwrap();
    path
}

/// Returns the only transcript that is not among the known ones.
fn only_other(all: &[PathBuf], known: &[&PathBuf]) -> PathBuf {
    let found: Vec<&PathBuf> = all.iter().filter(|path| !known.contains(path)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}
