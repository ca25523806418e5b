//! The implementation of the port `Machine` for this machine.

mod ids;

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use async_trait::async_trait;
use segue_core::Result;
use segue_core::model::{Environment, FolderState, LaunchId, MachineIds, ProcessRef};
use segue_core::ports::{EndedProcess, Folder, Machine, Program, ProgramSpec};

use crate::paths::Paths;
use crate::{cgroup, checkout, folder, git, hold, leftovers, process, programs, variables};

/// The machine that this program runs on.
#[derive(Clone, Debug)]
pub struct LocalMachine {
    ids: MachineIds,
}

impl LocalMachine {
    /// Reads the ids of this machine from the state folder. The first call generates an id.
    pub fn of(paths: &Paths) -> Result<Self> {
        Ok(Self { ids: ids::read_or_create(&paths.machine_ids())? })
    }
}

#[async_trait]
impl Machine for LocalMachine {
    fn ids(&self) -> &MachineIds {
        &self.ids
    }

    fn process(&self, pid: u32) -> Option<ProcessRef> {
        process::find(pid)
    }

    fn is_alive(&self, process: &ProcessRef) -> bool {
        process::is_alive(process)
    }

    fn describe(&self, pid: u32) -> Option<String> {
        process::command_line(pid)
    }

    fn mark(&self, pid: u32) -> Option<LaunchId> {
        leftovers::mark(pid).or_else(|| hold::held_launch(&process::words(pid)))
    }

    fn has_cgroup(&self, process: &ProcessRef, launch: LaunchId) -> bool {
        has_cgroup(process, launch)
    }

    fn marked(&self) -> Vec<(u32, LaunchId)> {
        leftovers::marked()
    }

    async fn end_marked(&self, dead: &[LaunchId]) -> Result<Vec<EndedProcess>> {
        leftovers::end_marked(dead).await
    }

    fn find_program(&self, spec: &ProgramSpec, environment: &Environment) -> Option<Program> {
        programs::find(spec, environment)
    }

    fn is_program(&self, name: &str, environment: &Environment) -> bool {
        programs::exists(name, environment)
    }

    fn folder_state(&self, path: &Path) -> FolderState {
        checkout::state(path)
    }

    fn variable_files(&self, folder: &Path) -> Vec<String> {
        variables::read(folder)
    }

    fn is_port_free(&self, port: u16) -> bool {
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
    }

    fn folder(&self, path: &Path) -> Result<Folder> {
        folder::check(path)
    }
}

/// Returns whether a process is alive and in the cgroup of this launch.
pub(crate) fn has_cgroup(process: &ProcessRef, launch: LaunchId) -> bool {
    cgroup::launch_of(process.pid) == Some(launch) && process::is_alive(process)
}

/// Returns the branch that is checked out in a folder.
pub fn branch(folder: &Path) -> Option<String> {
    git::head(folder)?.branch
}
