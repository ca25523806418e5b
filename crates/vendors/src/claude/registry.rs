//! What every live process says about itself in `sessions/<pid>.json`.

use std::path::Path;

use segue_core::model::{VendorSessionId, WaitingFor};
use segue_core::ports::{Activity, Files, Live, Place};
use segue_core::{Error, Result};
use serde::Deserialize;

use super::home;

/// An entry is a few hundred bytes; what is larger is none.
const LARGEST_ENTRY: usize = 64 * 1024;

/// What a process says about itself, as far as it is of interest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pid: u32,
    session_id: String,
    /// Clock ticks since boot at which it began, as text.
    proc_start: Option<String>,
    status: Option<String>,
    waiting_for: Option<String>,
}

impl Entry {
    pub(super) fn id(&self) -> VendorSessionId {
        VendorSessionId::new(self.session_id.clone())
    }

    pub(super) fn started(&self) -> Option<u64> {
        self.proc_start.as_ref()?.parse().ok()
    }

    pub(super) fn activity(&self) -> Option<Activity> {
        match self.status.as_deref()? {
            "idle" => Some(Activity::Idle),
            "busy" => Some(Activity::Working),
            "waiting" => Some(Activity::Waiting(self.reason())),
            _ => None,
        }
    }

    fn reason(&self) -> WaitingFor {
        match self.waiting_for.as_deref() {
            Some("input needed" | "dialog open") => WaitingFor::Question,
            // A permission prompt, or the request of a worker or a sandbox, which asks for the same.
            _ => WaitingFor::Permission,
        }
    }
}

/// Lists which processes say that they have which conversation open.
pub(super) fn live(files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
    let folder = home::registry(&place.config_dir);
    let paths = files.list(&folder).map_err(|error| {
        Error::vendor(format!("cannot list the live sessions in `{}`", folder.display()))
            .caused_by(error)
    })?;
    let entries = paths.iter().filter_map(|path| read(files, path));
    let mut found: Vec<Live> = entries
        .map(|entry| Live { pid: entry.pid, started: entry.started(), id: entry.id() })
        .collect();
    found.sort_by_key(|live| live.pid);
    Ok(found)
}

/// Reads one entry; a file that is no entry, or another process's than its name says, is none.
pub(super) fn read(files: &dyn Files, path: &Path) -> Option<Entry> {
    let pid = pid_of(path)?;
    let bytes = files.head(path, LARGEST_ENTRY).ok()?;
    let entry: Entry = serde_json::from_slice(&bytes).ok()?;
    (entry.pid == pid && home::is_id(&entry.session_id)).then_some(entry)
}

/// Returns the process whose entry this is.
pub(super) fn pid_of(path: &Path) -> Option<u32> {
    let is_entry = path.extension().is_some_and(|extension| extension == "json")
        && path.parent()?.ends_with("sessions");
    if is_entry { path.file_stem()?.to_str()?.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Home;

    const WAITING: &str = include_str!("fixtures/registry-waiting.json");
    const ID: &str = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";

    fn entry(status: &str) -> Entry {
        let text = WAITING.replace(r#""status":"waiting""#, &format!(r#""status":"{status}""#));
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_recorded_entry_is_understood() {
        let home = Home::new();
        let path = home.write("sessions/4.json", WAITING);
        let found = read(&home.disk, &path).unwrap();
        assert_eq!((found.id().as_str(), found.started()), (ID, Some(1_232_756)));
        assert_eq!(found.activity(), Some(Activity::Waiting(WaitingFor::Permission)));
        assert_eq!(entry("busy").activity(), Some(Activity::Working));
        assert_eq!(entry("idle").activity(), Some(Activity::Idle));
        assert_eq!(entry("unheard of").activity(), None);
    }

    #[test]
    fn what_it_waits_for_is_told() {
        let reason = |text: &str| {
            let entry = Entry { waiting_for: Some(text.to_owned()), ..entry("waiting") };
            entry.activity()
        };
        for text in ["permission prompt", "worker request", "sandbox request"] {
            assert_eq!(reason(text), Some(Activity::Waiting(WaitingFor::Permission)), "{text}");
        }
        for text in ["dialog open", "input needed"] {
            assert_eq!(reason(text), Some(Activity::Waiting(WaitingFor::Question)), "{text}");
        }
    }

    #[test]
    fn what_is_no_entry_is_left_out() {
        let home = Home::new();
        home.write("sessions/4.json", WAITING);
        home.write("sessions/5.json", WAITING);
        home.write("sessions/6.json", &WAITING[..40]);
        home.write("sessions/.4.json.tmp", WAITING);
        home.write(
            "sessions/7.json",
            WAITING.replace(r#""pid":4"#, r#""pid":7"#).replace(ID, "../x"),
        );
        let found = live(&home.disk, &home.place).unwrap();
        let wanted = Live { pid: 4, started: Some(1_232_756), id: VendorSessionId::new(ID) };
        assert_eq!(found, [wanted]);
    }

    #[test]
    fn nobody_ever_ran_is_an_empty_list() {
        let home = Home::new();
        assert_eq!(live(&home.disk, &home.place).unwrap(), []);
    }
}
