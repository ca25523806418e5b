//! This machine's processes, programs and folders.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::ProgramSpec;
use crate::error::Result;
use crate::model::{Environment, LaunchId, ProcessRef};
use crate::rules::digest::FolderState;

/// Looking at the machine, and ending what dead launches left on it.
#[async_trait]
pub trait Machine: Debug + Send + Sync {
    /// Returns the process that has this number now; a zombie is nobody.
    fn process(&self, pid: u32) -> Option<ProcessRef>;

    /// Tells whether this very process still runs.
    fn is_alive(&self, process: &ProcessRef) -> bool;

    /// Returns a process's command line, for a person.
    fn describe(&self, pid: u32) -> Option<String>;

    /// Returns the launch that a process's cgroup or environment names, or that it holds.
    fn mark(&self, pid: u32) -> Option<LaunchId>;

    /// Tells whether a process is in the cgroup of this launch.
    fn has_cgroup(&self, process: &ProcessRef, launch: LaunchId) -> bool;

    /// Returns every process that carries the mark of a launch, whichever.
    fn marked(&self) -> Vec<(u32, LaunchId)>;

    /// Ends every process that carries the mark of one of these launches, and waits for that.
    async fn end_marked(&self, dead: &[LaunchId]) -> Result<Vec<Ended>>;

    /// Finds a vendor's program in the given environment's PATH, then in the usual places.
    fn find_program(&self, spec: &ProgramSpec, environment: &Environment) -> Option<Program>;

    /// Says what state a folder's work is in, as far as git knows.
    fn folder_state(&self, path: &Path) -> FolderState;

    /// Returns the contents of the files of variables in a folder: `.env` and those whose names begin
    /// with it. Links that lead out of the folder, and what is long or no regular file, are not read.
    fn variable_files(&self, folder: &Path) -> Vec<String>;

    /// Looks at a folder in which an agent shall work.
    fn folder(&self, path: &Path) -> Result<Folder>;
}

/// A process that was ended because its launch was dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub pid: u32,
    pub command: String,
}

/// A vendor's program on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    /// What comes before the vendor's own arguments.
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
