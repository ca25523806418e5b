//! The processes, programs and folders of a machine, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use async_trait::async_trait;
use segue_core::model::{Environment, FolderState, LaunchId, MachineIds, ProcessRef};
use segue_core::ports::{EndedProcess, Folder, Machine, Program, ProgramSpec};
use segue_core::{Error, Result};

use crate::{Calls, Disk, samples};

/// A machine whose processes a test starts and ends.
#[derive(Debug)]
pub struct FakeMachine {
    calls: Calls,
    disk: Disk,
    ids: MachineIds,
    state: Mutex<FakeMachineState>,
}

#[derive(Debug, Default)]
struct FakeMachineState {
    processes: BTreeMap<u32, FakeProcess>,
    links: BTreeMap<PathBuf, PathBuf>,
    folder_state: FolderState,
    is_uninstalled: bool,
    used_ports: BTreeSet<u16>,
}

#[derive(Debug)]
struct FakeProcess {
    command: String,
    mark: Option<LaunchId>,
}

impl FakeMachine {
    pub(crate) fn new(calls: Calls, disk: Disk) -> Self {
        let ids = MachineIds {
            own: samples::machine(),
            replaced: Vec::new(),
            file: "/state/machine-id".into(),
        };
        Self { calls, disk, ids, state: Mutex::default() }
    }

    /// Starts a process. `mark` is the launch that its environment names.
    pub fn start_process(&self, pid: u32, command: &str, mark: Option<LaunchId>) {
        let process = FakeProcess { command: command.to_owned(), mark };
        self.state.lock().unwrap().processes.insert(pid, process);
    }

    /// Removes the programs of all vendors.
    pub fn uninstall(&self) {
        self.state.lock().unwrap().is_uninstalled = true;
    }

    /// Sets the state of the work in every folder.
    pub fn set_folder_state(&self, state: FolderState) {
        self.state.lock().unwrap().folder_state = state;
    }

    /// Lets a program listen at a port.
    pub fn use_port(&self, port: u16) {
        self.state.lock().unwrap().used_ports.insert(port);
    }

    /// Makes a path a symlink.
    pub fn link(&self, path: impl Into<PathBuf>, target: impl Into<PathBuf>) {
        self.state.lock().unwrap().links.insert(path.into(), target.into());
    }
}

#[async_trait]
impl Machine for FakeMachine {
    fn ids(&self) -> &MachineIds {
        &self.ids
    }

    fn is_program(&self, name: &str, environment: &Environment) -> bool {
        let spec = ProgramSpec::Named { name: name.to_owned(), native: &[] };
        self.find_program(&spec, environment).is_some()
    }

    fn process(&self, pid: u32) -> Option<ProcessRef> {
        self.state.lock().unwrap().processes.contains_key(&pid).then(|| samples::process(pid))
    }

    fn is_alive(&self, process: &ProcessRef) -> bool {
        self.process(process.pid).as_ref() == Some(process)
    }

    fn describe(&self, pid: u32) -> Option<String> {
        self.state.lock().unwrap().processes.get(&pid).map(|it| it.command.clone())
    }

    fn mark(&self, pid: u32) -> Option<LaunchId> {
        self.state.lock().unwrap().processes.get(&pid).and_then(|it| it.mark)
    }

    fn has_cgroup(&self, process: &ProcessRef, launch: LaunchId) -> bool {
        self.mark(process.pid) == Some(launch)
    }

    fn marked(&self) -> Vec<(u32, LaunchId)> {
        let state = self.state.lock().unwrap();
        state.processes.iter().filter_map(|(pid, it)| Some((*pid, it.mark?))).collect()
    }

    async fn end_marked(&self, dead: &[LaunchId]) -> Result<Vec<EndedProcess>> {
        self.calls.enter("machine.end_marked")?;
        let mut state = self.state.lock().unwrap();
        let is_left = |it: &FakeProcess| it.mark.is_some_and(|mark| dead.contains(&mark));
        let left: Vec<u32> =
            state.processes.iter().filter(|(_, it)| is_left(it)).map(|(pid, _)| *pid).collect();
        let end = |pid: u32| {
            let command = state.processes.remove(&pid).map(|it| it.command).unwrap_or_default();
            EndedProcess { pid, command }
        };
        Ok(left.into_iter().map(end).collect())
    }

    fn find_program(&self, spec: &ProgramSpec, _environment: &Environment) -> Option<Program> {
        let is_uninstalled = self.state.lock().unwrap().is_uninstalled;
        let (path, arguments) = match spec {
            ProgramSpec::Segue { subcommand } => {
                ("segue".to_owned(), vec![(*subcommand).to_owned()])
            }
            ProgramSpec::Named { .. } if is_uninstalled => return None,
            ProgramSpec::Named { name, .. } => (name.clone(), Vec::new()),
        };
        let path = Path::new("/usr/bin").join(path);
        Some(Program { path, arguments, version: Some("1.0.0".to_owned()) })
    }

    fn folder_state(&self, _path: &Path) -> FolderState {
        self.state.lock().unwrap().folder_state.clone()
    }

    fn variable_files(&self, folder: &Path) -> Vec<String> {
        self.disk.text(folder.join(".env")).into_iter().collect()
    }

    fn is_port_free(&self, port: u16) -> bool {
        !self.state.lock().unwrap().used_ports.contains(&port)
    }

    fn folder(&self, path: &Path) -> Result<Folder> {
        self.calls.enter("machine.folder")?;
        let real_path = self.state.lock().unwrap().links.get(path).cloned();
        let real_path = real_path.unwrap_or_else(|| path.to_owned());
        if !self.disk.has_folder(&real_path) {
            return Err(Error::not_found(format!("there is no folder `{}`", path.display())));
        }
        Ok(Folder { real_path, git_commit: None, git_branch: None })
    }
}
