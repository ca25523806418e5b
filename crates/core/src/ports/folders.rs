//! Launch folders: the copies of the truth that people and `segue doctor` read, and the guard.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::model::{FleetName, FleetRecord, LaunchEnd, LaunchId, LaunchRecord, SessionId};

/// `launches/<id>/` and `fleets/<name>.json`. Every write is atomic and on disk when it returns.
pub trait LaunchFolders: Debug + Send + Sync {
    /// Writes `session.json`, making the folder if need be.
    fn write(&self, record: &LaunchRecord) -> Result<()>;

    /// Returns every launch whose folder can be read, and the paths of those that cannot.
    fn read_all(&self) -> Result<(Vec<LaunchRecord>, Vec<PathBuf>)>;

    /// Returns how the launch ended, if its holder wrote that down.
    fn end(&self, launch: LaunchId) -> Result<Option<LaunchEnd>>;

    /// Returns the file in which a headless launch's output stream is kept.
    fn stream(&self, launch: LaunchId) -> PathBuf;

    /// Returns the file in which a headless launch's standard error is kept.
    fn errors(&self, launch: LaunchId) -> PathBuf;

    /// Returns what the agent of a launch printed last, as its holder wrote it down: in one line,
    /// without control characters and secrets. `None` if nothing was printed, or the holder was
    /// killed or is older than this file.
    fn last_words(&self, launch: LaunchId) -> Option<String>;

    /// Returns the launch's own folder.
    fn folder(&self, launch: LaunchId) -> PathBuf;

    /// Returns the file to which hooks add what the vendor told them, a line each.
    fn hooks(&self, launch: LaunchId) -> PathBuf;

    /// Returns the file for a message that is too long for a command line.
    fn message(&self, launch: LaunchId) -> PathBuf;

    /// Writes that file.
    fn write_message(&self, launch: LaunchId, message: &str) -> Result<()>;

    /// Returns the file for a conversation that the vendor's program takes in before the session's
    /// first launch.
    fn import(&self, session: SessionId) -> PathBuf;

    /// Returns the folder into which what the archive has of the session is laid out to be read; it
    /// goes with the daemon.
    fn reading(&self, session: SessionId) -> PathBuf;

    /// Makes sure that the launch's guard of this name is a hard link to the transcript as it is now.
    fn guard(&self, launch: LaunchId, name: &Path, transcript: &Path) -> Result<Guarded>;

    /// Guards the files in a folder that belongs to the transcript; those that cannot be are left.
    fn guard_belongings(&self, launch: LaunchId, folder: &Path) -> Result<()>;

    /// Links what is missing of a guarded folder back to where it was.
    fn restore_belongings(&self, launch: LaunchId, folder: &Path) -> Result<()>;

    /// Tells whether the launch guards a transcript under that name.
    fn has_guard(&self, launch: LaunchId, name: &Path) -> bool;

    /// Returns the file in which the launch guards a transcript under that name, if it does.
    fn guarded(&self, launch: LaunchId, name: &Path) -> Option<PathBuf>;

    /// Tells whether the transcript does not begin as what the launch guards: it was deleted while
    /// somebody wrote it, and begun anew.
    fn lacks_beginning(&self, launch: LaunchId, name: &Path, transcript: &Path) -> bool;

    /// Puts what the launch guards before what the transcript has now.
    fn rejoin(&self, launch: LaunchId, name: &Path, transcript: &Path) -> Result<()>;

    /// Links what is guarded under this name back to it.
    fn restore(&self, launch: LaunchId, name: &Path) -> Result<()>;

    /// Gives up the guard of this name.
    fn unguard(&self, launch: LaunchId, name: &Path) -> Result<()>;

    fn write_fleet(&self, record: &FleetRecord) -> Result<()>;

    fn read_fleet(&self, fleet: &FleetName) -> Result<Option<FleetRecord>>;

    fn remove_fleet(&self, fleet: &FleetName) -> Result<()>;

    /// Forgets a launch: its folder goes, with its guard.
    fn remove(&self, launch: LaunchId) -> Result<()>;
}

/// What came of guarding a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// The link was made now.
    Linked,
    /// The link was there and still names the same file.
    Already,
    /// There is no transcript yet.
    NoTranscript,
    /// Another filesystem: a hard link cannot be made.
    OtherFilesystem,
}
