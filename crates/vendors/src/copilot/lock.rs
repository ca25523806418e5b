//! Finds the conversation that a process has open.
//!
//! After the first message of a conversation, the process holds a file in the conversation's folder
//! open. Before that, only its log names the conversation on its screen.
//!
//! The lock `inuse.<pid>.lock` names the process. A killed process leaves the lock behind. The hold
//! file `inuse.<pid>.hold` is open in the process as long as the process is in the conversation.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Files, Live, Place};
use serde_json::{Map, Value};

use super::paths;
use crate::shared::{files, live, reading};

/// The text in a log before the id of the conversation that the process shows on its screen.
const FOREGROUND_PREFIX: &str = "[INFO] Registering foreground session: ";

/// Maximum size of the list of open conversations. Each entry has a few hundred bytes.
const LARGEST_LIST_BYTES: usize = 1024 * 1024;

/// Lists the processes that have a conversation open. Ignores the lock of a crashed process,
/// because its hold file is open in no process.
pub(super) fn live(files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
    let folder = paths::conversations(&place.config_dir);
    let folders = files::list(files, &folder, "conversations")?;
    let mut found: Vec<Live> =
        folders.iter().flat_map(|folder| processes_in(files, folder)).collect();
    for (pid, log) in files.opened_in(&paths::logs(&place.config_dir), None) {
        let own = paths::pid_of_log(&log).filter(|named| *named == pid);
        let foreground = own.and_then(|_| last_foreground(files, &log));
        let foreground = foreground.map(|id| Live { pid, started: None, id });
        found.extend(foreground.filter(|live| !found.contains(live)));
    }
    Ok(live::sorted(found.into_iter()))
}

/// Lists the processes that have the conversation of this folder open. Empty if the folder's name
/// is not a conversation id.
fn processes_in(files: &dyn Files, folder: &Path) -> Vec<Live> {
    let name = folder.file_name().and_then(|name| name.to_str());
    let Some(id) = name.filter(|name| paths::is_id(name)) else { return Vec::new() };
    // A folder that cannot be listed counts as a folder without locks.
    let inside = files.list(folder).unwrap_or_default();
    let pids = inside.iter().filter_map(|path| pid_of_lock(path));
    let holders = pids.filter(|pid| may_hold(files, folder, *pid));
    holders.map(|pid| Live { pid, started: None, id: VendorSessionId::new(id) }).collect()
}

/// Returns whether a process has the conversation of this folder open.
pub(super) fn holds(files: &dyn Files, folder: &Path, pid: u32) -> bool {
    files.is_open_in(&hold_file(folder, pid), pid)
}

/// Returns the current conversation of a process, from Copilot's list of open conversations. `None`
/// if the process holds no conversation, or more than one.
pub(super) fn current(files: &dyn Files, config_dir: &Path, pid: u32) -> Option<VendorSessionId> {
    let bytes = files.head(&paths::open_conversations(config_dir), LARGEST_LIST_BYTES).ok()?;
    let listed: Map<String, Value> = serde_json::from_slice(&bytes).ok()?;
    let ids = listed.keys().filter(|id| paths::is_id(id));
    let mut held = ids.filter(|id| holds(files, &paths::conversation(config_dir, id), pid));
    // While a process switches conversations, it can hold the old and the new one. Another change
    // of the list follows.
    let first = held.next()?;
    held.next().is_none().then(|| VendorSessionId::new(first.as_str()))
}

/// Returns the conversation that a process showed on its screen last, according to its log. `None`
/// if the process does not have the log open, for example because it has exited.
pub(super) fn foreground(files: &dyn Files, log: &Path, pid: u32) -> Option<VendorSessionId> {
    files.is_open_in(log, pid).then_some(())?;
    last_foreground(files, log)
}

fn last_foreground(files: &dyn Files, log: &Path) -> Option<VendorSessionId> {
    let length = files.facts(log).ok()??.length;
    let mut found = None;
    // Ignore a read error: the log is read again after its next change.
    let _ended = reading::each_tail_line(files, log, length, |line| {
        let line = String::from_utf8_lossy(line);
        let id = line
            .split_once(FOREGROUND_PREFIX)
            .map(|(_, id)| id.trim())
            .filter(|id| paths::is_id(id));
        found = id.map(VendorSessionId::new);
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

/// Returns whether a process may have the conversation of this folder open. A lock without a hold
/// file counts as open, because it may come from a version that writes no hold file.
fn may_hold(files: &dyn Files, folder: &Path, pid: u32) -> bool {
    let hold_file = hold_file(folder, pid);
    match files.facts(&hold_file) {
        Ok(None) => true,
        _ => files.is_open_in(&hold_file, pid),
    }
}

fn hold_file(folder: &Path, pid: u32) -> PathBuf {
    folder.join(format!("inuse.{pid}.hold"))
}

fn pid_of_lock(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix("inuse.")?.strip_suffix(".lock")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    const OLD: &str = "21111111-2222-4333-8444-555555555555";
    const NEW: &str = "31111111-2222-4333-8444-555555555555";

    fn lock(home: &Home, id: &str, pid: u32) {
        home.write(&format!("session-state/{id}/inuse.{pid}.lock"), pid.to_string());
        let held = home.write(&format!("session-state/{id}/inuse.{pid}.hold"), "");
        home.disk.open_in(held, pid);
    }

    fn listed(home: &Home, ids: &[&str]) {
        let entries: Vec<String> = ids
            .iter()
            .map(|id| format!(r#""{id}":{{"schemaVersion":1,"working":false}}"#))
            .collect();
        home.write("open-sessions-state.json", format!("{{{}}}", entries.join(",")));
    }

    #[test]
    fn live_lists_processes_that_hold_a_conversation_and_ignores_locks_of_a_crash() {
        let home = Home::new();
        assert_eq!(live(&home.disk, &home.place).unwrap(), []);
        lock(&home, OLD, 9);
        lock(&home, NEW, 8);
        home.write(&format!("session-state/{OLD}/inuse.7.lock"), "7");
        home.write(&format!("session-state/{OLD}/inuse.7.hold"), "");
        home.write("session-state/.session-operation-locks/x.lock", "");
        let wanted = |pid, id| Live { pid, started: None, id: VendorSessionId::new(id) };
        let found = live(&home.disk, &home.place).unwrap();
        assert_eq!(found, [wanted(8, NEW), wanted(9, OLD)]);
        home.write(&format!("session-state/{OLD}/inuse.6.lock"), "6");
        let found = live(&home.disk, &home.place).unwrap();
        assert_eq!(found.first(), Some(&wanted(6, OLD)), "another version has no hold file");
    }

    #[test]
    fn current_returns_the_listed_conversation_that_the_process_holds() {
        let home = Home::new();
        let current = |pid| current(&home.disk, home.folder.path(), pid);
        assert_eq!(current(9), None);
        lock(&home, OLD, 9);
        lock(&home, NEW, 8);
        listed(&home, &[OLD, NEW, "../../x"]);
        assert_eq!(current(9), Some(VendorSessionId::new(OLD)));
        assert_eq!(current(8), Some(VendorSessionId::new(NEW)));
        assert_eq!(current(7), None);
        lock(&home, NEW, 9);
        assert_eq!(current(9), None, "it holds two while it switches");
    }

    #[test]
    fn log_names_the_conversation_only_while_its_process_runs() {
        let home = Home::new();
        let line = |id: &str| {
            format!("2026-11-16T01:51:40Z [INFO] Registering foreground session: {id}\n")
        };
        let text = format!("{}{}2026-11-16T01:51:42Z [INFO] Logged out\n", line(OLD), line(NEW));
        let log = home.write("logs/process-1794793900082-9.log", text);
        assert_eq!(foreground(&home.disk, &log, 9), None, "the process has exited");
        home.disk.open_in(&log, 9);
        assert_eq!(foreground(&home.disk, &log, 9), Some(VendorSessionId::new(NEW)));
        let wanted = [Live { pid: 9, started: None, id: VendorSessionId::new(NEW) }];
        assert_eq!(live(&home.disk, &home.place).unwrap(), wanted);
        lock(&home, NEW, 9);
        assert_eq!(live(&home.disk, &home.place).unwrap(), wanted, "listed once");
    }
}
