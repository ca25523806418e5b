//! Finds the transcripts of other sessions that a start of Gemini in the same folder deletes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::ports::{Files, Place};

use super::{paths, process, records, transcript};
use crate::shared::files;

/// Maximum size in bytes of a transcript without messages. It is not empty, because its process
/// records the files of the folder.
const LONGEST: u64 = 1024 * 1024;

/// Lists the transcripts that a start of Gemini deletes although they are still needed. Gemini
/// deletes all transcripts whose names end like that of a transcript without messages. These can be
/// conversations that were resumed, and conversations that a live process has just begun.
pub(super) fn endangered(files: &dyn Files, place: &Place) -> Vec<PathBuf> {
    let mut all = files.list(&paths::chats(files, place)).unwrap_or_default();
    all.retain(|path| paths::named_by_gemini(path).is_some());
    let empty: Vec<&PathBuf> = all.iter().filter(|path| is_empty(files, path)).collect();
    if empty.is_empty() {
        return Vec::new();
    }
    let endings: BTreeSet<&str> =
        empty.iter().filter_map(|path| paths::named_by_gemini(path)).collect();
    let oldest = process::oldest(files);
    let is_needed = |path: &&PathBuf| match paths::named_by_gemini(path) {
        Some(ending) if endings.contains(ending) => {
            !empty.contains(path) || is_of_living(files, path, oldest)
        }
        _ => false,
    };
    all.iter().filter(is_needed).cloned().collect()
}

fn is_empty(files: &dyn Files, path: &Path) -> bool {
    let length = files::length(files, path);
    length <= LONGEST && !transcript::has_words(files, path)
}

/// Returns whether a live process can have begun this transcript and still write to it. A process
/// of ours writes to the transcript that we prepared, and not to this one.
fn is_of_living(files: &dyn Files, path: &Path, oldest: Option<Timestamp>) -> bool {
    let is_ours =
        paths::id_of(files, path).is_some_and(|id| paths::began_at(id.as_str()).is_some());
    let began = paths::first_line(files, path).and_then(|first| records::began_at(&first));
    !is_ours && began.zip(oldest).is_some_and(|(began, oldest)| began >= oldest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    const OURS: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";
    const RESUMED: &str = "ae5d9f06-5781-47ae-9447-8358179ec014";
    const ALONE: &str = "7fd05c81-2d03-47d5-8840-98563a14803d";

    fn write(home: &Home, id: &str, at: &str, more: &str) -> PathBuf {
        let name = format!("tmp/a/chats/session-{at}-{}.jsonl", &id[..8]);
        let time = "2026-11-16T03:38:51.053Z";
        let header = format!(r#"{{"sessionId":"{id}","startTime":"{time}"}}"#);
        home.write(&name, format!("{header}\n{more}"))
    }

    #[test]
    fn transcript_whose_name_ends_like_that_of_an_empty_one_is_endangered() {
        let home = Home::new();
        home.write("projects.json", r#"{"projects":{"/code/a":"a"}}"#);
        let said = "{\"type\":\"user\",\"content\":\"x\"}\n";
        let found = || endangered(&home.disk, &home.place);
        let resumed = write(&home, RESUMED, "2026-11-16T03-38", said);
        write(&home, ALONE, "2026-11-16T03-38", said);
        assert!(found().is_empty());
        let empty = write(&home, RESUMED, "2026-11-16T04-00", "");
        assert!(found().contains(&resumed));
        let at = |text: &str| Some(text.parse().unwrap());
        let is_needed = |path, oldest| is_of_living(&home.disk, path, oldest);
        assert!(is_needed(&empty, at("2026-11-16T03:38:00Z")));
        assert!(!is_needed(&empty, at("2026-11-16T03:39:00Z")));
        assert!(!is_needed(&empty, None), "no process is alive");
        let ours = write(&home, OURS, "2026-11-16T04-00", "");
        assert!(!is_needed(&ours, at("2026-11-16T03:38:00Z")));
    }
}
