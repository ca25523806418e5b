//! Launch folders and fleet files on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use segue_core::model::{FleetName, FleetRecord, LaunchEnd, LaunchId, LaunchRecord, SessionId};
use segue_core::ports::{Guarded, LaunchPaths, LaunchRecords, TranscriptGuards};
use segue_core::{Error, Result, failpoint};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::atomic::{self, Points, sync_folder};
use crate::companion_files;
use crate::failure::cannot;
use crate::files::open_regular;
use crate::guard;
use crate::hold::socket_path;
use crate::hook;
use crate::last_output;
use crate::own_folder::{Openness, ensure_folder};
use crate::paths::Paths;
use crate::points;
use crate::removal::{self, unless_absent};

/// The name of the write-ahead record in a launch folder.
pub const RECORD: &str = "session.json";
/// The name of the file with the message and the instructions of a launch. The record does not
/// contain them.
const TEXTS: &str = "texts.json";
/// The name of the file in which a holder records how its agent ended: a serialised [`LaunchEnd`].
pub const END: &str = "end.json";
/// The name of the file with the standard error of a headless agent.
pub(crate) const ERRORS: &str = "stderr.log";
/// The name of the file with the output of a headless launch.
pub const STREAM: &str = "stream.jsonl";
/// The name of the file with a message that is too long for an argument.
const MESSAGE: &str = "message.md";
/// The name of the file with the payloads of the vendor's hooks, one line each.
pub(crate) const HOOKS: &str = "hooks.jsonl";
/// The name of the folder with the guards of a launch.
const GUARD: &str = "guard";

/// The launch folders (`launches/<id>/`) and fleet files (`fleets/<name>.json`) in the state
/// folder.
#[derive(Clone, Debug)]
pub struct DiskFolders {
    paths: Paths,
}

impl DiskFolders {
    pub fn new(paths: Paths) -> Self {
        Self { paths }
    }

    /// Returns the path of a transcript's guard. It contains the names of the folder and of the
    /// file, because some vendors name the folder after the conversation and others the file.
    fn guard_of(&self, launch: LaunchId, transcript: &Path) -> Result<PathBuf> {
        let folder = transcript.parent().and_then(Path::file_name);
        let (Some(folder), Some(name)) = (folder, transcript.file_name()) else {
            let transcript = transcript.display();
            return Err(Error::internal(format!("`{transcript}` does not name a transcript")));
        };
        Ok(self.paths.launch(launch).join(GUARD).join(folder).join(name))
    }

    fn fleet_file(&self, fleet: &FleetName) -> Result<PathBuf> {
        // A name that comes from a file was never checked. Refuse a name that leads out of the
        // folder.
        let name = FleetName::parse(fleet.as_str())?;
        Ok(self.paths.fleets().join(format!("{name}.json")))
    }
}

impl LaunchRecords for DiskFolders {
    fn hook_report(&self, line: &str, agent: u32) -> Option<String> {
        hook::payload_of(line, agent)
    }

    fn write(&self, record: &LaunchRecord) -> Result<()> {
        let folder = self.paths.launch(record.launch.id);
        failpoint::hit("launch_folder.make.before");
        ensure_folder(&folder, Openness::Private)?;
        failpoint::hit("launch_folder.make.after");
        let mut record = record.clone();
        let file = folder.join(TEXTS);
        // The texts never change during a launch, so they are written once.
        if let Some(texts) = record.take_texts(TEXTS).filter(|_| !file.exists()) {
            write_json(&file, &texts, points!("texts.write"))?;
        }
        write_json(&folder.join(RECORD), &record, points!("record.write"))
    }

    fn read_all(&self) -> Result<(Vec<LaunchRecord>, Vec<PathBuf>)> {
        let mut records = Vec::new();
        let mut unreadable = Vec::new();
        for folder in entries(&self.paths.launches())? {
            match read_record(&folder) {
                Some(record) => records.push(record),
                None => unreadable.push(folder),
            }
        }
        Ok((records, unreadable))
    }

    fn end(&self, launch: LaunchId) -> Result<Option<LaunchEnd>> {
        read_if_valid(&self.paths.launch(launch).join(END))
    }

    fn last_output(&self, launch: LaunchId) -> Option<String> {
        last_output::read(&self.paths.launch(launch))
    }

    fn write_message(&self, launch: LaunchId, message: &str) -> Result<()> {
        ensure_folder(&self.paths.launch(launch), Openness::Private)?;
        atomic::write(&self.message(launch), message.as_bytes(), points!("message.write"))
    }

    fn remove(&self, launch: LaunchId) -> Result<()> {
        let folder = self.paths.launch(launch);
        failpoint::hit("launch_folder.remove.before");
        removal::remove_folder(&folder).map_err(|error| cannot("remove", &folder, &error))?;
        failpoint::hit("launch_folder.remove.after");
        Ok(())
    }

    fn write_fleet(&self, record: &FleetRecord) -> Result<()> {
        let path = self.fleet_file(&record.fleet)?;
        ensure_folder(&self.paths.fleets(), Openness::Private)?;
        write_json(&path, record, points!("fleet.write"))
    }

    fn read_fleet(&self, fleet: &FleetName) -> Result<Option<FleetRecord>> {
        read_if_valid(&self.fleet_file(fleet)?)
    }

    fn remove_fleet(&self, fleet: &FleetName) -> Result<()> {
        let path = self.fleet_file(fleet)?;
        failpoint::hit("fleet.remove.before");
        let removed = unless_absent(fs::remove_file(&path))
            .and_then(|()| unless_absent(sync_folder(&self.paths.fleets())));
        removed.map_err(|error| cannot("remove", &path, &error))?;
        failpoint::hit("fleet.remove.after");
        Ok(())
    }
}

impl TranscriptGuards for DiskFolders {
    fn guard(&self, launch: LaunchId, name: &Path, transcript: &Path) -> Result<Guarded> {
        guard::keep(transcript, &self.guard_of(launch, name)?)
    }

    fn guard_companions(&self, launch: LaunchId, folder: &Path) -> Result<()> {
        companion_files::link(folder, &self.guard_of(launch, folder)?)
            .map_err(|error| cannot("guard", folder, &error))
    }

    fn restore_companions(&self, launch: LaunchId, folder: &Path) -> Result<()> {
        companion_files::link(&self.guard_of(launch, folder)?, folder)
            .map_err(|error| cannot("restore", folder, &error))
    }

    fn has_guard(&self, launch: LaunchId, name: &Path) -> bool {
        self.guarded(launch, name).is_some()
    }

    fn guarded(&self, launch: LaunchId, name: &Path) -> Option<PathBuf> {
        self.guard_of(launch, name).ok().filter(|guard| guard.is_file())
    }

    fn lacks_beginning(&self, launch: LaunchId, name: &Path, transcript: &Path) -> bool {
        self.guard_of(launch, name).is_ok_and(|guard| guard::lacks_beginning(&guard, transcript))
    }

    fn rejoin(&self, launch: LaunchId, name: &Path, transcript: &Path) -> Result<()> {
        guard::rejoin(&self.guard_of(launch, name)?, transcript)
    }

    fn restore(&self, launch: LaunchId, name: &Path) -> Result<()> {
        guard::restore(&self.guard_of(launch, name)?, name)
    }

    fn unguard(&self, launch: LaunchId, name: &Path) -> Result<()> {
        unless_absent(fs::remove_file(self.guard_of(launch, name)?))
            .map_err(|error| cannot("unguard", name, &error))
    }
}

impl LaunchPaths for DiskFolders {
    fn folder(&self, launch: LaunchId) -> PathBuf {
        self.paths.launch(launch)
    }

    fn stream(&self, launch: LaunchId) -> PathBuf {
        self.paths.launch(launch).join(STREAM)
    }

    fn errors(&self, launch: LaunchId) -> PathBuf {
        self.paths.launch(launch).join(ERRORS)
    }

    fn socket(&self, launch: LaunchId) -> PathBuf {
        socket_path(&self.paths.launch(launch))
    }

    fn hooks(&self, launch: LaunchId) -> PathBuf {
        self.paths.launch(launch).join(HOOKS)
    }

    fn message(&self, launch: LaunchId) -> PathBuf {
        self.paths.launch(launch).join(MESSAGE)
    }

    fn import(&self, session: SessionId) -> PathBuf {
        self.paths.imports().join(format!("{session}.json"))
    }

    fn reading(&self, session: SessionId) -> PathBuf {
        self.paths.readings().join(session.to_string())
    }
}

/// Returns the sorted entries of a folder. Skips hidden entries: they are being created or removed.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let found = match fs::read_dir(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot("read", folder, &error)),
    };
    let paths: io::Result<Vec<PathBuf>> = found.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(|error| cannot("read", folder, &error))?;
    paths.retain(|path| !name_of(path).starts_with('.'));
    paths.sort();
    Ok(paths)
}

/// Returns the record of a launch folder. `None` if it is missing, damaged or about another launch.
fn read_record(folder: &Path) -> Option<LaunchRecord> {
    let launch: LaunchId = name_of(folder).parse().ok()?;
    let mut record: LaunchRecord = read_json(&folder.join(RECORD)).ok()?;
    if record.texts.is_some() {
        // Without its instructions the agent would behave differently. So a record without its
        // texts counts as damaged.
        record.put_texts(read_json(&folder.join(TEXTS)).ok()?);
    }
    (record.launch.id == launch && record.launch.session == record.session.id).then_some(record)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a file that Segue writes atomically. A damaged file is logged and treated as missing.
fn read_if_valid<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match read_json(path) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            tracing::warn!(path = %path.display(), %error, "a file of Segue is damaged");
            Ok(None)
        }
        Err(error) => Err(cannot("read", path, &error)),
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let text = io::read_to_string(open_regular(path)?)?;
    serde_json::from_str(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn write_json<T: Serialize>(path: &Path, value: &T, points: Points) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| {
        Error::internal(format!("cannot write `{}`", path.display())).caused_by(error)
    })?;
    text.push(b'\n');
    atomic::write(path, &text, points)
}

#[cfg(test)]
mod tests;
