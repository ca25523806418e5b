//! Lists the processes that have a conversation open.

use std::path::Path;

use segue_core::ports::{Files, Live};
use serde::de::DeserializeOwned;

/// Maximum size of a registry entry. Entries have a few hundred bytes; a larger file is no entry.
const LARGEST_ENTRY_BYTES: usize = 64 * 1024;

/// Sorts processes by process id, and then by conversation.
pub(crate) fn sorted(processes: impl Iterator<Item = Live>) -> Vec<Live> {
    let mut processes: Vec<Live> = processes.collect();
    processes.sort_by(|a, b| (a.pid, &a.id).cmp(&(b.pid, &b.id)));
    processes
}

/// Reads the file in which a process has registered itself, and the process id in its name. Returns
/// `None` if the path is not `<folder>/<pid>.json`, or if the content has another form.
pub(crate) fn read_entry<T: DeserializeOwned>(
    files: &dyn Files,
    path: &Path,
    folder: &str,
) -> Option<(u32, T)> {
    let pid = pid_of_entry(path, folder)?;
    let bytes = files.head(path, LARGEST_ENTRY_BYTES).ok()?;
    Some((pid, serde_json::from_slice(&bytes).ok()?))
}

/// Returns the process id in a path `<folder>/<pid>.json`. `None` for any other path.
pub(crate) fn pid_of_entry(path: &Path, folder: &str) -> Option<u32> {
    let is_entry = path.extension().is_some_and(|extension| extension == "json")
        && path.parent()?.ends_with(folder);
    if is_entry { path.file_stem()?.to_str()?.parse().ok() } else { None }
}
