//! Launch folders in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use segue_core::Result;
use segue_core::model::{FleetName, FleetRecord, LaunchEnd, LaunchId, LaunchRecord, SessionId};
use segue_core::ports::{Guarded, LaunchPaths, LaunchRecords, TranscriptGuards};

use crate::{Calls, Disk};

const LAUNCHES: &str = "/state/launches";

/// Records and guards of launches. Guards are hard links on the [`Disk`].
#[derive(Debug)]
pub struct FakeFolders {
    calls: Calls,
    disk: Disk,
    state: Mutex<FakeFoldersState>,
}

#[derive(Debug, Default)]
struct FakeFoldersState {
    records: BTreeMap<LaunchId, LaunchRecord>,
    ends: BTreeMap<LaunchId, LaunchEnd>,
    last_output: BTreeMap<LaunchId, String>,
    fleets: BTreeMap<FleetName, FleetRecord>,
    unreadable: Vec<PathBuf>,
    is_on_other_filesystem: bool,
}

impl FakeFolders {
    pub(crate) fn new(calls: Calls, disk: Disk) -> Self {
        Self { calls, disk, state: Mutex::default() }
    }

    /// Records how a launch ended, as its holder does.
    pub fn record_end(&self, launch: LaunchId, end: LaunchEnd) {
        self.state.lock().unwrap().ends.insert(launch, end);
    }

    /// Records the last output of a launch, as its holder does.
    pub fn record_last_output(&self, launch: LaunchId, words: &str) {
        self.state.lock().unwrap().last_output.insert(launch, words.to_owned());
    }

    /// Adds a launch folder that cannot be read.
    pub fn add_unreadable(&self, path: impl Into<PathBuf>) {
        self.state.lock().unwrap().unreadable.push(path.into());
    }

    /// Moves the launch folders to another filesystem than the transcripts.
    pub fn move_to_other_filesystem(&self) {
        self.state.lock().unwrap().is_on_other_filesystem = true;
    }

    /// Returns the `session.json` of a launch.
    pub fn record(&self, launch: LaunchId) -> Option<LaunchRecord> {
        self.state.lock().unwrap().records.get(&launch).cloned()
    }

    /// Adds a launch folder that the store does not know.
    pub fn add_record(&self, record: LaunchRecord) {
        self.state.lock().unwrap().records.insert(record.launch.id, record);
    }

    fn guard_path(&self, launch: LaunchId, name: &Path) -> PathBuf {
        self.folder(launch).join("guard").join(name.strip_prefix("/").unwrap_or(name))
    }
}

impl LaunchRecords for FakeFolders {
    fn write(&self, record: &LaunchRecord) -> Result<()> {
        self.calls.enter("folders.write")?;
        self.add_record(record.clone());
        Ok(())
    }

    fn read_all(&self) -> Result<(Vec<LaunchRecord>, Vec<PathBuf>)> {
        self.calls.enter("folders.read_all")?;
        let state = self.state.lock().unwrap();
        Ok((state.records.values().cloned().collect(), state.unreadable.clone()))
    }

    fn end(&self, launch: LaunchId) -> Result<Option<LaunchEnd>> {
        self.calls.enter("folders.end")?;
        Ok(self.state.lock().unwrap().ends.get(&launch).copied())
    }

    fn last_output(&self, launch: LaunchId) -> Option<String> {
        self.state.lock().unwrap().last_output.get(&launch).cloned()
    }

    fn hook_report(&self, line: &str, _agent: u32) -> Option<String> {
        Some(line.to_owned())
    }

    fn write_message(&self, launch: LaunchId, message: &str) -> Result<()> {
        self.calls.enter("folders.write_message")?;
        self.disk.write(self.message(launch), message);
        Ok(())
    }

    fn remove(&self, launch: LaunchId) -> Result<()> {
        self.calls.enter("folders.remove")?;
        self.state.lock().unwrap().records.remove(&launch);
        self.disk.remove(self.folder(launch));
        Ok(())
    }

    fn write_fleet(&self, record: &FleetRecord) -> Result<()> {
        self.calls.enter("folders.write_fleet")?;
        self.state.lock().unwrap().fleets.insert(record.fleet.clone(), record.clone());
        Ok(())
    }

    fn read_fleet(&self, fleet: &FleetName) -> Result<Option<FleetRecord>> {
        self.calls.enter("folders.read_fleet")?;
        Ok(self.state.lock().unwrap().fleets.get(fleet).cloned())
    }

    fn remove_fleet(&self, fleet: &FleetName) -> Result<()> {
        self.calls.enter("folders.remove_fleet")?;
        self.state.lock().unwrap().fleets.remove(fleet);
        Ok(())
    }
}

impl TranscriptGuards for FakeFolders {
    fn guard(&self, launch: LaunchId, name: &Path, transcript: &Path) -> Result<Guarded> {
        self.calls.enter("folders.guard")?;
        let guard = self.guard_path(launch, name);
        let Some(inode) = self.disk.inode(transcript) else { return Ok(Guarded::NoTranscript) };
        if self.state.lock().unwrap().is_on_other_filesystem {
            return Ok(Guarded::OtherFilesystem);
        }
        if self.disk.inode(&guard) == Some(inode) {
            return Ok(Guarded::Already);
        }
        self.disk.link(transcript, guard);
        Ok(Guarded::Linked)
    }

    fn guard_companions(&self, launch: LaunchId, folder: &Path) -> Result<()> {
        self.calls.enter("folders.guard_companions")?;
        for file in self.disk.files_below(folder) {
            self.disk.link(&file, self.guard_path(launch, &file));
        }
        Ok(())
    }

    fn restore_companions(&self, launch: LaunchId, folder: &Path) -> Result<()> {
        self.calls.enter("folders.restore_companions")?;
        let guards = self.guard_path(launch, folder);
        for guard in self.disk.files_below(&guards) {
            let file = folder.join(guard.strip_prefix(&guards).unwrap_or(&guard));
            if self.disk.read(&file).is_none() {
                self.disk.link(guard, file);
            }
        }
        Ok(())
    }

    fn has_guard(&self, launch: LaunchId, name: &Path) -> bool {
        self.guarded(launch, name).is_some()
    }

    fn guarded(&self, launch: LaunchId, name: &Path) -> Option<PathBuf> {
        let guard = self.guard_path(launch, name);
        self.disk.read(&guard).is_some().then_some(guard)
    }

    fn lacks_beginning(&self, launch: LaunchId, name: &Path, transcript: &Path) -> bool {
        let guard = self.disk.read(self.guard_path(launch, name));
        match (guard, self.disk.read(transcript)) {
            (Some(guard), Some(transcript)) => !transcript.starts_with(&guard),
            _ => false,
        }
    }

    fn rejoin(&self, launch: LaunchId, name: &Path, transcript: &Path) -> Result<()> {
        self.calls.enter("folders.rejoin")?;
        let mut whole = self.disk.read(self.guard_path(launch, name)).unwrap_or_default();
        whole.extend(self.disk.read(transcript).unwrap_or_default());
        self.disk.replace(transcript, whole);
        Ok(())
    }

    fn restore(&self, launch: LaunchId, name: &Path) -> Result<()> {
        self.calls.enter("folders.restore")?;
        self.disk.link(self.guard_path(launch, name), name);
        Ok(())
    }

    fn unguard(&self, launch: LaunchId, name: &Path) -> Result<()> {
        self.calls.enter("folders.unguard")?;
        self.disk.remove(self.guard_path(launch, name));
        Ok(())
    }
}

impl LaunchPaths for FakeFolders {
    fn folder(&self, launch: LaunchId) -> PathBuf {
        Path::new(LAUNCHES).join(launch.to_string())
    }

    fn socket(&self, launch: LaunchId) -> PathBuf {
        self.folder(launch).join("socket")
    }

    fn stream(&self, launch: LaunchId) -> PathBuf {
        self.folder(launch).join("stream")
    }

    fn errors(&self, launch: LaunchId) -> PathBuf {
        self.folder(launch).join("errors")
    }

    fn hooks(&self, launch: LaunchId) -> PathBuf {
        self.folder(launch).join("hooks")
    }

    fn message(&self, launch: LaunchId) -> PathBuf {
        self.folder(launch).join("message.md")
    }

    fn import(&self, session: SessionId) -> PathBuf {
        Path::new("/state/imports").join(session.to_string())
    }

    fn reading(&self, session: SessionId) -> PathBuf {
        Path::new("/state/reading").join(session.to_string())
    }
}
