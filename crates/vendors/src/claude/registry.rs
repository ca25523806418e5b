//! The registry of live processes: each process records its state in `sessions/<pid>.json`.

use std::path::Path;

use segue_core::Result;
use segue_core::model::{Activity, VendorSessionId, WaitingFor};
use segue_core::ports::{Files, Live, Place};
use serde::Deserialize;

use super::paths;
use crate::shared::{files, live};

/// The fields of a registry entry that are used here.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RegistryEntry {
    pid: u32,
    pub(super) session_id: String,
    /// Clock ticks since boot at which the process started, as text.
    proc_start: Option<String>,
    status: Option<String>,
    waiting_for: Option<String>,
}

impl RegistryEntry {
    pub(super) fn started(&self) -> Option<u64> {
        self.proc_start.as_ref()?.parse().ok()
    }

    pub(super) fn activity(&self) -> Option<Activity> {
        match self.status.as_deref()? {
            "idle" => Some(Activity::Idle),
            "busy" => Some(Activity::Working),
            "waiting" => Some(Activity::Waiting(self.waiting_reason())),
            _ => None,
        }
    }

    fn waiting_reason(&self) -> WaitingFor {
        match self.waiting_for.as_deref() {
            Some("input needed" | "dialog open") => WaitingFor::Question,
            // A permission prompt. The requests of a worker and of a sandbox ask for a permission,
            // too.
            _ => WaitingFor::Permission,
        }
    }
}

/// Lists the processes in the registry, with the conversation that each has open.
pub(super) fn live(files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
    let folder = paths::registry(&place.config_dir);
    let paths = files::list(files, &folder, "live sessions")?;
    let entries = paths.iter().filter_map(|path| read(files, path));
    let process = |entry: RegistryEntry| Live {
        pid: entry.pid,
        started: entry.started(),
        id: VendorSessionId::new(entry.session_id),
    };
    Ok(live::sorted(entries.map(process)))
}

/// Reads one entry. Returns `None` if the file is not a valid entry, or if the pid in the entry
/// differs from the pid in the file name.
pub(super) fn read(files: &dyn Files, path: &Path) -> Option<RegistryEntry> {
    let (pid, entry) = live::read_entry::<RegistryEntry>(files, path, paths::REGISTRY)?;
    (entry.pid == pid && paths::is_id(&entry.session_id)).then_some(entry)
}

/// Returns the process id in the path of an entry. `None` if the path is not one of an entry.
pub(super) fn pid_of(path: &Path) -> Option<u32> {
    live::pid_of_entry(path, paths::REGISTRY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    const WAITING: &str = include_str!("fixtures/registry-waiting.json");
    const ID: &str = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";

    fn entry(status: &str) -> RegistryEntry {
        let text = WAITING.replace(r#""status":"waiting""#, &format!(r#""status":"{status}""#));
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn recorded_entry_yields_id_start_time_and_activity() {
        let home = Home::new();
        let path = home.write("sessions/4.json", WAITING);
        let found = read(&home.disk, &path).unwrap();
        assert_eq!((found.session_id.as_str(), found.started()), (ID, Some(1_232_756)));
        assert_eq!(found.activity(), Some(Activity::Waiting(WaitingFor::Permission)));
        assert_eq!(entry("busy").activity(), Some(Activity::Working));
        assert_eq!(entry("idle").activity(), Some(Activity::Idle));
        assert_eq!(entry("unheard of").activity(), None);
    }

    #[test]
    fn waiting_entry_is_a_permission_or_a_question_by_its_reason() {
        let reason = |text: &str| {
            let entry = RegistryEntry { waiting_for: Some(text.to_owned()), ..entry("waiting") };
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
    fn live_skips_files_that_are_no_valid_entries() {
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
    fn missing_registry_is_an_empty_list() {
        let home = Home::new();
        assert_eq!(live(&home.disk, &home.place).unwrap(), []);
    }
}
