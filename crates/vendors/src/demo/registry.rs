//! Reads the live entries that running agents publish, one file for each process.

use std::path::Path;

use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Files, Live, Place};

use super::paths;
use super::records::LiveEntry;
use crate::shared::{files, live};

/// Lists the live entries. An entry may belong to a process that has crashed; the caller checks the
/// process.
pub(super) fn live(files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
    let folder = paths::live_folder(&place.config_dir);
    let paths = files::list(files, &folder, "live agents")?;
    let entries = paths.iter().filter_map(|path| read(files, path));
    let process = |entry: LiveEntry| Live {
        pid: entry.pid,
        started: Some(entry.started),
        id: VendorSessionId::new(entry.id),
    };
    Ok(live::sorted(entries.map(process)))
}

/// Reads a live entry. `None` if the file is not a live entry, or if the process id in the file
/// differs from the file name.
pub(super) fn read(files: &dyn Files, path: &Path) -> Option<LiveEntry> {
    let (pid, entry) = live::read_entry::<LiveEntry>(files, path, paths::LIVE_FOLDER)?;
    (entry.pid == pid && paths::is_id(&entry.id)).then_some(entry)
}

/// Returns the process id in the file name of a live entry. `None` if the path is not that of a
/// live entry.
pub(super) fn pid_of(path: &Path) -> Option<u32> {
    live::pid_of_entry(path, paths::LIVE_FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    fn entry(pid: u32, id: &str) -> String {
        format!(
            r#"{{"pid":{pid},"started":99,"id":"{id}","cwd":"/code/a","status":"idle",
            "at":"2026-01-01T00:00:00Z"}}"#
        )
    }

    #[test]
    fn live_lists_entries_with_the_start_time_of_their_process() {
        let home = Home::new();
        home.write("live/20.json", entry(20, "two"));
        home.write("live/10.json", entry(10, "one"));
        let found = live(&home.disk, &home.place).unwrap();
        let live = |pid, id| Live { pid, started: Some(99), id: VendorSessionId::new(id) };
        assert_eq!(found, [live(10, "one"), live(20, "two")]);
    }

    #[test]
    fn live_ignores_files_that_are_no_entries() {
        let home = Home::new();
        home.write("live/10.json", &entry(10, "one")[..40]);
        home.write("live/.20.json.tmp", entry(20, "two"));
        home.write("live/30.json", entry(31, "of-another-process"));
        home.write("live/40.json", entry(40, "../../escape"));
        home.write("live/50.json", vec![b'x'; 200 * 1024]);
        assert_eq!(live(&home.disk, &home.place).unwrap(), []);
        assert!(home.disk.bytes_read() < 100 * 1024, "{}", home.disk.bytes_read());
    }

    #[test]
    fn live_is_empty_before_the_first_launch() {
        let home = Home::new();
        assert_eq!(live(&home.disk, &home.place).unwrap(), []);
    }
}
