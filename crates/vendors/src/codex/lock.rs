//! Finds the conversation of a process: the process holds the conversation's lock file open.

use std::path::Path;

use segue_core::model::VendorSessionId;
use segue_core::ports::{Files, Live, Place};

use super::{paths, transcript};
use crate::shared::live;

/// Lists the processes that have a conversation open. A lock file that a crash left behind is open
/// in no process.
pub(super) fn live(files: &dyn Files, place: &Place) -> Vec<Live> {
    let open = files.opened_in(&paths::locks(&place.config_dir), None).into_iter();
    live::sorted(open.filter_map(|(pid, path)| {
        let id = VendorSessionId::new(paths::id_of_lock(&path)?.to_string());
        Some(Live { pid, started: None, id })
    }))
}

/// Returns the current conversation of a process: the newest conversation with the user whose lock
/// the process holds. A process keeps the locks of its earlier conversations, and also locks the
/// conversations of its helpers. If a process holds one lock, that is its conversation, unless it
/// belongs to a helper.
pub(super) fn current(files: &dyn Files, config_dir: &Path, pid: u32) -> Option<VendorSessionId> {
    let open = files.opened_in(&paths::locks(config_dir), Some(pid));
    let mut locks: Vec<_> = open
        .iter()
        .filter_map(|(_, path)| Some((path, paths::id_of_lock(path)?)))
        .map(|(path, id)| (taken_at(files, path), VendorSessionId::new(id.to_string())))
        .collect();
    locks.sort();
    if let [(_, only)] = locks.as_slice() {
        return Some(only.clone()).filter(|id| is_with_user(files, config_dir, id) != Some(false));
    }
    let is_with_user =
        |(_, id): &&(_, VendorSessionId)| is_with_user(files, config_dir, id) == Some(true);
    locks.iter().rev().find(is_with_user).map(|(_, id)| id.clone())
}

/// Returns when a lock was taken: its modification time, because Codex creates the file anew each
/// time.
pub(super) fn taken_at(files: &dyn Files, path: &Path) -> Option<jiff::Timestamp> {
    files.facts(path).ok().flatten().map(|facts| facts.modified)
}

/// Returns whether this is a conversation with the user. `None` if its rollout does not exist yet.
fn is_with_user(files: &dyn Files, config_dir: &Path, id: &VendorSessionId) -> Option<bool> {
    let rollout = paths::rollout(files, config_dir, id);
    transcript::header(files, &rollout).map(|header| header.is_with_user())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    const OLD: &str = "01a1e1b4-0000-7600-96ed-000000000001";
    const NEW: &str = "01a1e1b4-0000-7600-96ed-000000000002";

    fn rollout(home: &Home, id: &str, source: &str) {
        let line = format!(
            r#"{{"timestamp":"2026-11-16T00:00:00Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-11-16T00:00:00Z","cwd":"/code/a","source":{source}}}}}"#
        );
        let path = paths::prepared(Path::new(""), id);
        home.write(path.to_str().unwrap(), line + "\n");
    }

    fn lock(home: &Home, id: &str, pid: u32) {
        let path = home.write(&format!("thread-writer-locks/{id}.lock"), "");
        home.disk.open_in(path, pid);
    }

    fn found(home: &Home, pid: u32) -> Option<String> {
        current(&home.disk, home.folder.path(), pid).map(|id| id.to_string())
    }

    #[test]
    fn a_lock_that_the_process_holds_open_names_its_conversation() {
        let home = Home::new();
        assert_eq!(found(&home, 7), None);
        home.write(&format!("thread-writer-locks/{OLD}.lock"), "");
        home.write("thread-writer-locks/.coordination.lock", "");
        assert_eq!(found(&home, 7), None, "a crash left the file");
        lock(&home, OLD, 7);
        assert_eq!(found(&home, 7).as_deref(), Some(OLD));
        assert_eq!(found(&home, 8), None);
    }

    #[test]
    fn newest_of_several_conversations_with_a_person_is_the_current_one() {
        let home = Home::new();
        lock(&home, OLD, 7);
        rollout(&home, OLD, "\"cli\"");
        lock(&home, NEW, 7);
        assert_eq!(found(&home, 7).as_deref(), Some(OLD), "the newer one has no rollout yet");
        rollout(&home, NEW, "\"cli\"");
        assert_eq!(found(&home, 7).as_deref(), Some(NEW));
    }

    #[test]
    fn locks_of_helpers_are_no_conversations() {
        let home = Home::new();
        lock(&home, OLD, 7);
        rollout(&home, OLD, "\"cli\"");
        lock(&home, NEW, 7);
        rollout(&home, NEW, r#"{"subagent":"review"},"thread_source":"subagent""#);
        assert_eq!(found(&home, 7).as_deref(), Some(OLD));
        let alone = Home::new();
        lock(&alone, NEW, 7);
        rollout(&alone, NEW, r#""cli","thread_source":"title""#);
        assert_eq!(found(&alone, 7), None);
    }

    #[test]
    fn live_lists_every_process_with_an_open_conversation() {
        let home = Home::new();
        lock(&home, OLD, 9);
        lock(&home, NEW, 8);
        home.write("thread-writer-locks/01a1e1b4-0000-7600-96ed-000000000003.lock", "");
        let wanted = [(8, NEW), (9, OLD)].map(|(pid, id)| Live {
            pid,
            started: None,
            id: VendorSessionId::new(id),
        });
        assert_eq!(live(&home.disk, &home.place), wanted);
        assert_eq!(live(&home.disk, &Home::new().place), []);
    }
}
