//! The agent's own list of live processes, one file each.

use std::path::Path;

use segue_core::model::VendorSessionId;
use segue_core::ports::{Files, Live, Place};
use segue_core::{Error, Result};

use super::home;
use super::records::LiveEntry;

const LARGEST_ENTRY: usize = 64 * 1024;

/// Lists what the files say; some may have been left by a crash, which only a look at the
/// processes can tell.
pub(super) fn live(files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
    let folder = home::live(&place.config_dir);
    let paths = files.list(&folder).map_err(|error| {
        Error::vendor(format!("cannot list the live agents in `{}`", folder.display()))
            .caused_by(error)
    })?;
    let mut found: Vec<Live> = paths
        .iter()
        .filter_map(|path| read(files, path))
        .map(|entry| Live {
            pid: entry.pid,
            started: Some(entry.started),
            id: VendorSessionId::new(entry.id),
        })
        .collect();
    found.sort_by_key(|live| live.pid);
    Ok(found)
}

/// Reads one entry; a file that is no entry, or another process's than its name says, is none.
pub(super) fn read(files: &dyn Files, path: &Path) -> Option<LiveEntry> {
    let pid = pid_of(path)?;
    let bytes = files.head(path, LARGEST_ENTRY).ok()?;
    let entry: LiveEntry = serde_json::from_slice(&bytes).ok()?;
    (entry.pid == pid && home::is_id(&entry.id)).then_some(entry)
}

/// Returns the process whose file this is.
pub(super) fn pid_of(path: &Path) -> Option<u32> {
    let is_entry = path.extension().is_some_and(|extension| extension == "json")
        && path.parent()?.ends_with("live");
    if is_entry { path.file_stem()?.to_str()?.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Home;

    fn entry(pid: u32, id: &str) -> String {
        format!(
            r#"{{"pid":{pid},"started":99,"id":"{id}","cwd":"/code/a","status":"idle",
            "at":"2026-01-01T00:00:00Z"}}"#
        )
    }

    #[test]
    fn entries_are_listed_with_what_tells_a_stale_one_from_a_live_one() {
        let home = Home::new();
        home.write("live/20.json", entry(20, "two"));
        home.write("live/10.json", entry(10, "one"));
        let found = live(&home.disk, &home.place).unwrap();
        let live = |pid, id| Live { pid, started: Some(99), id: VendorSessionId::new(id) };
        assert_eq!(found, [live(10, "one"), live(20, "two")]);
    }

    #[test]
    fn what_is_no_entry_is_left_out() {
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
    fn nobody_ever_ran_is_an_empty_list() {
        let home = Home::new();
        assert_eq!(live(&home.disk, &home.place).unwrap(), []);
    }
}
