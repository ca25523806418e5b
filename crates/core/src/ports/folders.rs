//! Launch folders: copies of the stored data for users and `segue doctor`, and the guards.
//!
//! A guard is a hard link to a transcript. It keeps the contents if the vendor's file is deleted.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::model::{FleetName, FleetRecord, LaunchEnd, LaunchId, LaunchRecord, SessionId};

/// Access to everything in launch folders.
pub trait LaunchFolders: LaunchRecords + TranscriptGuards + LaunchPaths {}

impl<T: LaunchRecords + TranscriptGuards + LaunchPaths> LaunchFolders for T {}

/// The records in `launches/<id>/` and `fleets/<name>.json`. Every write is atomic and on disk when it
/// returns.
pub trait LaunchRecords: Debug + Send + Sync {
    /// Writes `session.json`. Creates the folder if it is missing.
    fn write(&self, record: &LaunchRecord) -> Result<()>;

    /// Returns every launch whose folder can be read, and the paths of the folders that cannot be
    /// read.
    fn read_all(&self) -> Result<(Vec<LaunchRecord>, Vec<PathBuf>)>;

    /// Returns how the launch ended. `None` if its holder has not recorded an end.
    fn end(&self, launch: LaunchId) -> Result<Option<LaunchEnd>>;

    /// Returns the last output of a launch's agent as its holder recorded it: in one line, without
    /// control characters and secrets. `None` if there was no output, if the holder was killed, or
    /// if the holder's version does not record the output.
    fn last_output(&self, launch: LaunchId) -> Option<String>;

    /// Returns the vendor's report in a line of a launch's hooks file. `None` if another process
    /// than `agent` and its descendants wrote the line, or if the line cannot be parsed.
    fn hook_report(&self, line: &str, agent: u32) -> Option<String>;

    /// Writes the file for a message that is too long for a command line.
    fn write_message(&self, launch: LaunchId, message: &str) -> Result<()>;

    /// Removes a launch's folder with its guards.
    fn remove(&self, launch: LaunchId) -> Result<()>;

    fn write_fleet(&self, record: &FleetRecord) -> Result<()>;

    fn read_fleet(&self, fleet: &FleetName) -> Result<Option<FleetRecord>>;

    fn remove_fleet(&self, fleet: &FleetName) -> Result<()>;
}

/// The guards in `launches/<id>/`.
pub trait TranscriptGuards: Debug + Send + Sync {
    /// Ensures that the launch's guard for `name` is a hard link to the current transcript file.
    fn guard(&self, launch: LaunchId, name: &Path, transcript: &Path) -> Result<Guarded>;

    /// Guards the files in a folder that accompanies the transcript. Files that cannot be linked
    /// are skipped.
    fn guard_companions(&self, launch: LaunchId, folder: &Path) -> Result<()>;

    /// Links the missing files of a guarded folder back to their original place.
    fn restore_companions(&self, launch: LaunchId, folder: &Path) -> Result<()>;

    /// Returns whether the launch has a guard for `name`.
    fn has_guard(&self, launch: LaunchId, name: &Path) -> bool;

    /// Returns the path of the launch's guard for `name`. `None` if there is no guard.
    fn guarded(&self, launch: LaunchId, name: &Path) -> Option<PathBuf>;

    /// Returns whether the transcript does not begin with the guarded content. This happens if the
    /// transcript was deleted while the vendor's process was writing it, and the process created it
    /// again.
    fn lacks_beginning(&self, launch: LaunchId, name: &Path, transcript: &Path) -> bool;

    /// Inserts the guarded content before the current content of the transcript.
    fn rejoin(&self, launch: LaunchId, name: &Path, transcript: &Path) -> Result<()>;

    /// Links the guarded file back to `name`.
    fn restore(&self, launch: LaunchId, name: &Path) -> Result<()>;

    /// Removes the guard for `name`.
    fn unguard(&self, launch: LaunchId, name: &Path) -> Result<()>;
}

/// The paths of a launch's and a session's files. A path does not mean that the file exists.
pub trait LaunchPaths: Debug + Send + Sync {
    /// Returns the path of the launch's folder.
    fn folder(&self, launch: LaunchId) -> PathBuf;

    /// Returns the path of the socket at which the launch's holder listens.
    fn socket(&self, launch: LaunchId) -> PathBuf;

    /// Returns the path of the file with a headless launch's output stream.
    fn stream(&self, launch: LaunchId) -> PathBuf;

    /// Returns the path of the file with a headless launch's standard error.
    fn errors(&self, launch: LaunchId) -> PathBuf;

    /// Returns the path of the file to which hooks append the vendor's reports, one per line.
    fn hooks(&self, launch: LaunchId) -> PathBuf;

    /// Returns the path of the file for a message that is too long for a command line.
    fn message(&self, launch: LaunchId) -> PathBuf;

    /// Returns the path of the file for a conversation that the vendor's program imports before the
    /// session's first launch.
    fn import(&self, session: SessionId) -> PathBuf;

    /// Returns the folder into which the archive's copy of a session is unpacked for reading. The
    /// next daemon deletes it when it starts.
    fn reading(&self, session: SessionId) -> PathBuf;
}

/// The result of guarding a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// The link was created.
    Linked,
    /// The link existed already and points to the same file.
    Already,
    /// There is no transcript yet.
    NoTranscript,
    /// The transcript is on another filesystem, so that a hard link cannot be created.
    OtherFilesystem,
}
