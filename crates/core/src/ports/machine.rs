//! This machine's processes, programs and folders.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::ProgramSpec;
use crate::error::Result;
use crate::model::{Environment, FolderState, LaunchId, LeftoverProcess, MachineIds, ProcessRef};

/// Inspects this machine and ends processes that dead launches left behind.
#[async_trait]
pub trait Machine: Debug + Send + Sync {
    /// Returns the ids by which launches name this machine.
    fn ids(&self) -> &MachineIds;

    /// Returns the process that has this PID now. `None` for a zombie.
    fn process(&self, pid: u32) -> Option<ProcessRef>;

    /// Returns whether exactly this process still runs.
    fn is_alive(&self, process: &ProcessRef) -> bool;

    /// Returns the command line of a process, for display.
    fn describe(&self, pid: u32) -> Option<String>;

    /// Returns the launch that is named by the process's cgroup or environment, or whose holder the
    /// process is.
    fn mark(&self, pid: u32) -> Option<LaunchId>;

    /// Returns whether a process is alive and in the cgroup of this launch.
    fn has_cgroup(&self, process: &ProcessRef, launch: LaunchId) -> bool;

    /// Returns every process whose cgroup or environment names a launch, with that launch.
    fn marked(&self) -> Vec<(u32, LaunchId)>;

    /// Ends every process whose cgroup or environment names one of these launches. Returns when
    /// they are gone.
    async fn end_marked(&self, dead: &[LaunchId]) -> Result<Vec<EndedProcess>>;

    /// Searches for a vendor's program in the PATH of the given environment, then in the usual
    /// folders.
    fn find_program(&self, spec: &ProgramSpec, environment: &Environment) -> Option<Program>;

    /// Returns whether a program can be started by this name: an absolute path, or a name in the
    /// PATH of the given environment.
    fn is_program(&self, name: &str, environment: &Environment) -> bool;

    /// Returns the state of the work in a folder, as far as git knows it.
    fn folder_state(&self, path: &Path) -> FolderState;

    /// Returns the contents of the `.env` files in a folder: `.env` and files whose names begin
    /// with it. Skips symlinks that lead out of the folder, large files, and anything but regular
    /// files.
    fn variable_files(&self, folder: &Path) -> Vec<String>;

    /// Returns whether a program could listen at this TCP port of the loopback address now.
    fn is_port_free(&self, port: u16) -> bool;

    /// Checks a folder in which an agent is to work.
    fn folder(&self, path: &Path) -> Result<Folder>;
}

/// A process that was ended because its launch is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedProcess {
    pub pid: u32,
    pub command: String,
}

impl From<EndedProcess> for LeftoverProcess {
    fn from(EndedProcess { pid, command }: EndedProcess) -> Self {
        Self { pid, command }
    }
}

/// A vendor's program on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    /// Arguments that come before the vendor's own arguments.
    pub arguments: Vec<String>,
    pub version: Option<String>,
}

/// A folder that exists and can be entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    pub real_path: PathBuf,
    pub git_commit: Option<String>,
    pub git_branch: Option<String>,
}
