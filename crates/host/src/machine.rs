//! This machine as the flows see it.

use std::path::Path;

use async_trait::async_trait;
use segue_core::Result;
use segue_core::model::{Environment, LaunchId, ProcessRef};
use segue_core::ports::{Ended, Folder, Machine, Program, ProgramSpec};
use segue_core::rules::digest::FolderState;

use crate::{checkout, folder, git, hold, leftovers, process, programs};

/// The machine that this program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalMachine;

#[async_trait]
impl Machine for LocalMachine {
    fn process(&self, pid: u32) -> Option<ProcessRef> {
        process::find(pid)
    }

    fn is_alive(&self, process: &ProcessRef) -> bool {
        process::is_alive(process)
    }

    fn describe(&self, pid: u32) -> Option<String> {
        process::command_line(pid)
    }

    fn ancestry(&self, pid: u32) -> Vec<u32> {
        process::ancestry(pid)
    }

    fn mark(&self, pid: u32) -> Option<LaunchId> {
        launch_of(pid)
    }

    fn marked(&self) -> Vec<(u32, LaunchId)> {
        leftovers::marked()
    }

    async fn end_marked(&self, dead: &[LaunchId]) -> Result<Vec<Ended>> {
        leftovers::end_marked(dead).await
    }

    fn find_program(&self, spec: &ProgramSpec, environment: &Environment) -> Option<Program> {
        programs::find(spec, environment)
    }

    fn folder_state(&self, path: &Path) -> FolderState {
        checkout::state(path)
    }

    fn folder(&self, path: &Path) -> Result<Folder> {
        folder::look(path)
    }
}

/// Returns the branch that is checked out in a folder.
pub fn branch(folder: &Path) -> Option<String> {
    git::head(folder)?.branch
}

/// Tells whether a process is an agent's: whatever an agent starts stays below its holder.
pub fn is_inside_launch(pid: u32) -> bool {
    process::ancestry(pid).into_iter().any(|pid| launch_of(pid).is_some())
}

/// Returns the launch that a process's environment names, or that it holds. An agent can clear its
/// environment, but it cannot do anything about the command line of its holder.
pub(crate) fn launch_of(pid: u32) -> Option<LaunchId> {
    leftovers::mark(pid).or_else(|| hold::held_launch(&process::words(pid)))
}
