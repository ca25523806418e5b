//! Finds the transcripts that a start of Gemini in the same folder would delete.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::ports::{Files, Place};

use super::{paths, process, records, transcript};
use crate::shared::files;

/// A larger transcript counts as one with messages. A transcript without messages is not empty,
/// because Gemini records the files of the folder in it.
const EMPTY_LIMIT_BYTES: u64 = 1024 * 1024;

/// Lists the transcripts that a start of Gemini would delete although they are needed. Gemini
/// deletes all transcripts whose names have the same ending as the name of a transcript without
/// messages. A transcript is needed if its conversation was resumed, or if a live process has just
/// begun it.
pub(super) fn endangered(files: &dyn Files, place: &Place) -> Vec<PathBuf> {
    let mut all = files.list(&paths::chats(files, place)).unwrap_or_default();
    all.retain(|path| paths::generated_ending(path).is_some());
    let empty: Vec<&PathBuf> = all.iter().filter(|path| is_empty(files, path)).collect();
    if empty.is_empty() {
        return Vec::new();
    }
    let endings: BTreeSet<&str> =
        empty.iter().filter_map(|path| paths::generated_ending(path)).collect();
    let oldest_start = process::oldest_write_time(files);
    let is_needed = |path: &&PathBuf| match paths::generated_ending(path) {
        Some(ending) if endings.contains(ending) => {
            !empty.contains(path) || may_belong_to_live_process(files, path, oldest_start)
        }
        _ => false,
    };
    all.iter().filter(is_needed).cloned().collect()
}

fn is_empty(files: &dyn Files, path: &Path) -> bool {
    let length = files::length(files, path);
    length <= EMPTY_LIMIT_BYTES && !transcript::has_user_message(files, path)
}

/// Returns whether a live process may have created this transcript and may still write to it. A
/// process of Segue writes to its prepared transcript instead.
fn may_belong_to_live_process(
    files: &dyn Files,
    path: &Path,
    oldest_start: Option<Timestamp>,
) -> bool {
    let is_prepared =
        paths::id_of(files, path).is_some_and(|id| paths::began_at(id.as_str()).is_some());
    let began = paths::first_line(files, path).and_then(|first| records::began_at(&first));
    !is_prepared
        && began.zip(oldest_start).is_some_and(|(began, oldest_start)| began >= oldest_start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    const PREPARED: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";
    const RESUMED: &str = "ae5d9f06-5781-47ae-9447-8358179ec014";
    const UNIQUE: &str = "7fd05c81-2d03-47d5-8840-98563a14803d";

    fn write(home: &Home, id: &str, at: &str, more: &str) -> PathBuf {
        let name = format!("tmp/a/chats/session-{at}-{}.jsonl", &id[..8]);
        let time = "2026-11-16T03:38:51.053Z";
        let header = format!(r#"{{"sessionId":"{id}","startTime":"{time}"}}"#);
        home.write(&name, format!("{header}\n{more}"))
    }

    #[test]
    fn transcript_with_the_ending_of_an_empty_transcript_is_endangered() {
        let home = Home::new();
        home.write("projects.json", r#"{"projects":{"/code/a":"a"}}"#);
        let message = "{\"type\":\"user\",\"content\":\"x\"}\n";
        let found = || endangered(&home.disk, &home.place);
        let resumed = write(&home, RESUMED, "2026-11-16T03-38", message);
        write(&home, UNIQUE, "2026-11-16T03-38", message);
        assert!(found().is_empty());
        let empty = write(&home, RESUMED, "2026-11-16T04-00", "");
        assert!(found().contains(&resumed));
        let at = |text: &str| Some(text.parse().unwrap());
        let is_needed =
            |path, oldest_start| may_belong_to_live_process(&home.disk, path, oldest_start);
        assert!(is_needed(&empty, at("2026-11-16T03:38:00Z")));
        assert!(!is_needed(&empty, at("2026-11-16T03:39:00Z")));
        assert!(!is_needed(&empty, None), "no process is alive");
        let prepared = write(&home, PREPARED, "2026-11-16T04-00", "");
        assert!(!is_needed(&prepared, at("2026-11-16T03:38:00Z")));
    }
}
