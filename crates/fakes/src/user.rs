//! Project files, the login shell, shell commands, notifications and watched folders of the user.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use segue_core::model::{
    AgentName, Environment, FleetScale, Project, ProjectAgent, VendorId, WorktreeId,
};
use segue_core::ports::{
    CommandOrder, CommandReport, Commands, EnvironmentSettings, Environments, FolderChange,
    FolderWatcher, FolderWatchers, Notification, Notifier, ProjectFile, Projects,
};
use segue_core::rules::scale;
use segue_core::{Error, Result};
use tokio::sync::Notify;

use crate::Calls;

/// Project files that a test writes as data.
#[derive(Debug)]
pub struct FakeProjects {
    calls: Calls,
    state: Mutex<ProjectState>,
}

#[derive(Debug, Default)]
struct ProjectState {
    projects: BTreeMap<PathBuf, Project>,
    default_vendor: Option<VendorId>,
}

impl FakeProjects {
    pub(crate) fn new(calls: Calls) -> Self {
        Self { calls, state: Mutex::default() }
    }

    /// Writes a project file into the project's folder.
    pub fn write(&self, project: Project) {
        self.state.lock().unwrap().projects.insert(project.folder.clone(), project);
    }

    /// Sets the default vendor of the user's settings.
    pub fn set_default_vendor(&self, vendor: &str) {
        self.state.lock().unwrap().default_vendor = Some(VendorId::new(vendor));
    }
}

impl Projects for FakeProjects {
    fn root(&self, folder: &Path) -> Option<PathBuf> {
        let state = self.state.lock().unwrap();
        folder.ancestors().find(|it| state.projects.contains_key(*it)).map(Path::to_owned)
    }

    fn read(&self, root: &Path) -> Result<Arc<dyn ProjectFile>> {
        self.calls.enter("projects.read")?;
        let project = self.state.lock().unwrap().projects.get(root).cloned();
        let missing = || Error::config(format!("there is no project in `{}`", root.display()));
        Ok(Arc::new(FakeProjectFile(project.ok_or_else(missing)?)))
    }

    fn default_vendor(&self) -> Result<Option<VendorId>> {
        self.calls.enter("projects.default_vendor")?;
        Ok(self.state.lock().unwrap().default_vendor.clone())
    }
}

/// A project whose agents are numbered by `segue scale`, as in a real project file.
#[derive(Debug)]
struct FakeProjectFile(Project);

impl ProjectFile for FakeProjectFile {
    fn project(&self, scale: &FleetScale) -> Result<Project> {
        let mut agents = Vec::new();
        for kind in &self.0.kinds {
            let is_own = |it: &&ProjectAgent| scale::is_called(it.name.as_str(), kind.as_str());
            let own: Vec<&ProjectAgent> = self.0.agents.iter().filter(is_own).collect();
            let counts = (u32::try_from(own.len()).unwrap(), scale.counts.get(kind).copied());
            let exists = |name: &str| scale.sessions.contains(name);
            for name in scale::names(kind.as_str(), counts, exists) {
                agents.push(ProjectAgent { name: AgentName::parse(&name)?, ..own[0].clone() });
            }
        }
        Ok(Project { agents, ..self.0.clone() })
    }
}

/// A login shell whose variables a test sets.
#[derive(Debug)]
pub struct FakeEnvironments {
    calls: Calls,
    shell: Mutex<Environment>,
}

impl FakeEnvironments {
    pub(crate) fn new(calls: Calls) -> Self {
        Self { calls, shell: Mutex::default() }
    }

    /// Sets the variables of the login shell.
    pub fn set_login_shell(&self, environment: Environment) {
        *self.shell.lock().unwrap() = environment;
    }
}

#[async_trait]
impl Environments for FakeEnvironments {
    async fn login_shell(&self, _settings: &EnvironmentSettings) -> Result<Environment> {
        self.calls.enter("environments.login_shell")?;
        Ok(self.shell.lock().unwrap().clone())
    }

    fn check_files(&self, _settings: &EnvironmentSettings) -> Vec<Error> {
        Vec::new()
    }
}

/// Remembers notifications.
#[derive(Debug, Default)]
pub struct FakeNotifier(Mutex<Vec<Notification>>);

impl FakeNotifier {
    /// Returns the notifications so far, oldest first.
    pub fn shown(&self) -> Vec<Notification> {
        self.0.lock().unwrap().clone()
    }
}

impl Notifier for FakeNotifier {
    fn show(&self, notification: Notification) {
        self.0.lock().unwrap().push(notification);
    }

    fn run(&self, _command: Vec<String>, notification: Notification) {
        self.show(notification);
    }
}

/// Watchers that report the changes that a test makes.
#[derive(Clone, Debug, Default)]
pub struct FakeWatchers(Arc<WatchedFolders>);

#[derive(Debug, Default)]
struct WatchedFolders {
    folders: Mutex<BTreeSet<PathBuf>>,
    changes: Mutex<VecDeque<FolderChange>>,
    has_changed: Notify,
}

impl FakeWatchers {
    /// Reports a change of a file, if its folder is watched.
    pub fn change(&self, path: impl Into<PathBuf>) {
        let path = path.into();
        let is_watched =
            path.parent().is_some_and(|it| self.0.folders.lock().unwrap().contains(it));
        if is_watched {
            let change = FolderChange::At { path, gone: false };
            self.0.changes.lock().unwrap().push_back(change);
            self.0.has_changed.notify_one();
        }
    }
}

impl FolderWatchers for FakeWatchers {
    fn watcher(&self) -> Result<Box<dyn FolderWatcher>> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait]
impl FolderWatcher for FakeWatchers {
    fn add(&mut self, folder: &Path) -> Result<()> {
        self.0.folders.lock().unwrap().insert(folder.to_owned());
        Ok(())
    }

    fn remove(&mut self, folder: &Path) {
        self.0.folders.lock().unwrap().remove(folder);
    }

    async fn next(&mut self) -> Result<FolderChange> {
        loop {
            let next = self.0.changes.lock().unwrap().pop_front();
            match next {
                Some(change) => return Ok(change),
                None => self.0.has_changed.notified().await,
            }
        }
    }
}

/// Shell commands whose ends a test sets.
#[derive(Debug, Default)]
pub struct FakeCommands {
    reports: Mutex<VecDeque<CommandReport>>,
    orders: Mutex<Vec<CommandOrder>>,
    removed_logs: Mutex<Vec<WorktreeId>>,
}

impl FakeCommands {
    /// Sets the end of the next command. Without it, a command passes.
    pub fn end_with(&self, report: CommandReport) {
        self.reports.lock().unwrap().push_back(report);
    }

    /// Makes the next command fail.
    pub fn fail_next(&self, output: &str) {
        let (ending, output) = ("exit status: 1".to_owned(), output.to_owned());
        self.end_with(CommandReport { passed: false, ending, output });
    }

    /// Returns the commands that were run, and forgets them.
    pub fn take(&self) -> Vec<CommandOrder> {
        std::mem::take(&mut self.orders.lock().unwrap())
    }

    /// Returns the worktrees whose logs were removed.
    pub fn removed_logs(&self) -> Vec<WorktreeId> {
        self.removed_logs.lock().unwrap().clone()
    }
}

#[async_trait]
impl Commands for FakeCommands {
    async fn run(&self, order: CommandOrder) -> Result<CommandReport> {
        self.orders.lock().unwrap().push(order);
        let next = self.reports.lock().unwrap().pop_front();
        let (ending, output) = ("exit status: 0".to_owned(), String::new());
        Ok(next.unwrap_or(CommandReport { passed: true, ending, output }))
    }

    fn log_of(&self, worktree: WorktreeId) -> PathBuf {
        format!("/state/worktree-logs/{worktree}.log").into()
    }

    fn remove_log(&self, worktree: WorktreeId) {
        self.removed_logs.lock().unwrap().push(worktree);
    }
}
