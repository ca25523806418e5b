//! Worktrees in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::model::{
    BranchStart, CloneContent, CommitId, EnsuredWorktree, FileDiff, ListedWorktree, RefName,
    RepositoryId, RepositorySource, RepositoryUrl, Salvage, SalvageOutcome, SharedClone,
    TaskCommit, WorktreeChanges, WorktreeDiff, WorktreeFacts, WorktreeOrigin, WorktreePlace,
    WorktreeSpec,
};
use segue_core::ports::{
    Checkouts, Clock as _, GitCaller, InspectDepth, RemovalOrder, RestorationOrder,
};
use segue_core::{Error, Result};

use crate::{Calls, Disk, FakeClock, samples};

/// The folder for worktrees of projects that name no other one.
const ROOT: &str = "/data/worktrees";

/// Repositories whose worktrees are folders of the disk. The main folder of every repository is
/// [`samples::CWD`].
#[derive(Debug)]
pub struct FakeCheckouts {
    calls: Calls,
    disk: Disk,
    clock: Arc<FakeClock>,
    state: Mutex<FakeCheckoutsState>,
}

#[derive(Debug)]
struct FakeCheckoutsState {
    worktrees: BTreeMap<PathBuf, FakeWorktree>,
    salvages: Vec<Salvage>,
    has_no_repository: bool,
    has_moved_branches: bool,
    remote: Option<RepositoryUrl>,
    /// The commits that every worktree has, oldest first.
    commits: Vec<TaskCommit>,
    /// The difference between every worktree and its base.
    diff: WorktreeDiff,
    /// The caller of the last command.
    caller: Option<GitCaller>,
    clones: Vec<FakeClone>,
}

#[derive(Debug)]
struct FakeClone {
    clone: SharedClone,
    /// Why it must stay.
    holds: Option<String>,
}

impl Default for FakeCheckoutsState {
    fn default() -> Self {
        let diff = WorktreeDiff { base: Some(head()), files: vec![], patch: vec![], is_cut: false };
        Self {
            worktrees: BTreeMap::new(),
            salvages: Vec::new(),
            has_no_repository: false,
            has_moved_branches: false,
            remote: None,
            commits: Vec::new(),
            diff,
            caller: None,
            clones: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
struct FakeWorktree {
    spec: WorktreeSpec,
    changes: WorktreeChanges,
}

impl FakeCheckouts {
    pub(crate) fn new(calls: Calls, disk: Disk, clock: Arc<FakeClock>) -> Self {
        Self { calls, disk, clock, state: Mutex::default() }
    }

    /// Takes the repository away from all folders.
    pub fn remove_repository(&self) {
        self.state.lock().unwrap().has_no_repository = true;
    }

    /// Moves all branches, so that no salvage can be restored.
    pub fn move_branches(&self) {
        self.state.lock().unwrap().has_moved_branches = true;
    }

    /// Sets the remote of the repository.
    pub fn set_remote(&self, url: &str) {
        self.state.lock().unwrap().remote = Some(RepositoryUrl::parse(url).unwrap());
    }

    /// Adds a shared clone. `holds` is why it must stay.
    pub fn add_clone(&self, url: &str, used_at: Timestamp, holds: Option<&str>) -> PathBuf {
        let url = RepositoryUrl::parse(url).unwrap();
        let path = Path::new("/data/clones").join(url.name());
        self.disk.create_folder(&path);
        let content = CloneContent::Complete;
        let clone = SharedClone { path: path.clone(), url: Some(url), used_at, content };
        let holds = holds.map(str::to_owned);
        self.state.lock().unwrap().clones.push(FakeClone { clone, holds });
        path
    }

    /// Adds a commit to all worktrees.
    pub fn commit(&self, subject: &str) {
        let mut state = self.state.lock().unwrap();
        let id = format!("{:040}", state.commits.len() + 1);
        state.commits.push(TaskCommit { id, subject: subject.to_owned() });
    }

    /// Sets the difference between every worktree and its base.
    pub fn set_diff(&self, files: Vec<FileDiff>, patch: &[u8]) {
        let mut state = self.state.lock().unwrap();
        (state.diff.files, state.diff.patch) = (files, patch.to_owned());
    }

    /// Returns the caller of the last worktree that was made, and forgets it.
    pub fn take_caller(&self) -> Option<GitCaller> {
        self.state.lock().unwrap().caller.take()
    }

    /// Gives a worktree an untracked file.
    pub fn change(&self, path: &Path) {
        let mut state = self.state.lock().unwrap();
        state.worktrees.get_mut(path).unwrap().changes.untracked += 1;
    }

    /// Returns the number of changed files of a worktree. `None` if it does not exist.
    pub fn changes(&self, path: &Path) -> Option<WorktreeChanges> {
        self.state.lock().unwrap().worktrees.get(path).map(|it| it.changes)
    }

    fn worktree(&self, path: &Path) -> Result<FakeWorktree> {
        let found = self.state.lock().unwrap().worktrees.get(path).cloned();
        found.ok_or_else(|| Error::not_found(format!("no worktree is at `{}`", path.display())))
    }

    fn ensured(&self, worktree: &FakeWorktree, origin: WorktreeOrigin) -> EnsuredWorktree {
        self.disk.create_folder(&worktree.spec.path);
        EnsuredWorktree {
            path: worktree.spec.path.clone(),
            branch: Some(worktree.spec.branch.to_string()),
            head: Some(head()),
            origin,
            changes: worktree.changes,
            operation: None,
            notices: Vec::new(),
        }
    }
}

fn head() -> CommitId {
    CommitId::parse(&"a".repeat(40)).unwrap()
}

#[async_trait]
impl Checkouts for FakeCheckouts {
    async fn identify(&self, folder: &Path) -> Result<Option<RepositoryId>> {
        self.calls.enter("checkouts.identify")?;
        let remote = self.state.lock().unwrap().remote.as_ref().map(RepositoryUrl::id);
        let of_folder = || self.main_folder(folder).map(|main| RepositoryId::of_folder(&main));
        Ok(remote.or_else(of_folder))
    }

    fn main_folder(&self, _folder: &Path) -> Option<PathBuf> {
        let has_none = self.state.lock().unwrap().has_no_repository;
        (!has_none).then(|| samples::CWD.into())
    }

    fn root(&self, wanted: Option<&Path>) -> PathBuf {
        wanted.unwrap_or(Path::new(ROOT)).to_owned()
    }

    async fn ensure(&self, spec: &WorktreeSpec, caller: &GitCaller) -> Result<EnsuredWorktree> {
        self.calls.enter("checkouts.ensure")?;
        let mut state = self.state.lock().unwrap();
        state.caller = Some(caller.clone());
        let is_there = self.disk.has_folder(&spec.path);
        if let Some(known) = state.worktrees.get(&spec.path).filter(|_| is_there) {
            let branch = &known.spec.branch;
            return match *branch == spec.branch {
                true => Ok(self.ensured(known, WorktreeOrigin::Existing)),
                false => Err(Error::conflict(format!("the worktree is on branch `{branch}`"))),
            };
        }
        let made = FakeWorktree { spec: spec.clone(), changes: WorktreeChanges::default() };
        state.worktrees.insert(spec.path.clone(), made.clone());
        let base = match &spec.start {
            BranchStart::Base(base) => base.clone(),
            _ => "origin/main".to_owned(),
        };
        Ok(self.ensured(&made, WorktreeOrigin::NewBranch { base, commit: head() }))
    }

    async fn list(&self, _source: &RepositorySource) -> Result<Vec<ListedWorktree>> {
        self.calls.enter("checkouts.list")?;
        let state = self.state.lock().unwrap();
        Ok(state.worktrees.values().map(listed).collect())
    }

    async fn inspect(&self, place: &WorktreePlace, depth: InspectDepth) -> Result<WorktreeFacts> {
        self.calls.enter("checkouts.inspect")?;
        let worktree = self.worktree(&place.path)?;
        Ok(WorktreeFacts {
            listed: listed(&worktree),
            changes: worktree.changes,
            operation: None,
            upstream: None,
            default_branch: None,
            has_submodules: false,
            size_bytes: (depth == InspectDepth::StateAndSize).then_some(4096),
            created_at: None,
        })
    }

    async fn diff(
        &self,
        place: &WorktreePlace,
        _base: Option<&str>,
        patch_bytes: usize,
        _caller: &GitCaller,
    ) -> Result<WorktreeDiff> {
        self.calls.enter("checkouts.diff")?;
        if place.path != Path::new(samples::CWD) {
            self.worktree(&place.path)?;
        }
        let mut diff = self.state.lock().unwrap().diff.clone();
        diff.is_cut = diff.patch.len() > patch_bytes;
        diff.patch.truncate(patch_bytes);
        Ok(diff)
    }

    fn around(&self, folder: &Path) -> Option<WorktreePlace> {
        let main = self.main_folder(folder)?;
        Some(WorktreePlace { source: RepositorySource::Folder(main.clone()), path: main })
    }

    async fn head(&self, _place: &WorktreePlace) -> Result<Option<CommitId>> {
        self.calls.enter("checkouts.head")?;
        Ok(Some(head()))
    }

    async fn commits_since(
        &self,
        _place: &WorktreePlace,
        base: Option<&CommitId>,
        limit: usize,
    ) -> Result<Vec<TaskCommit>> {
        self.calls.enter("checkouts.commits_since")?;
        let commits = self.state.lock().unwrap().commits.clone();
        let is_newer = |it: &TaskCommit| base.is_none_or(|base| it.id != base.as_str());
        Ok(commits.into_iter().filter(is_newer).take(limit).collect())
    }

    async fn salvage(&self, place: &WorktreePlace, _include: &[String]) -> Result<SalvageOutcome> {
        self.calls.enter("checkouts.salvage")?;
        let FakeWorktree { spec, changes } = self.worktree(&place.path)?;
        if changes.is_clean() {
            let (branch, head) = (Some(spec.branch), Some(head()));
            return Ok(SalvageOutcome::NothingToSalvage { branch, head });
        }
        let mut state = self.state.lock().unwrap();
        let number = state.salvages.len() + 1;
        let salvage = Salvage {
            reference: RefName::parse(&format!("refs/segue/salvage/x/{number}")).unwrap(),
            commit: head(),
            path: spec.path,
            branch: Some(spec.branch),
            head: Some(head()),
            made_at: self.clock.now(),
            is_remainder: false,
        };
        state.salvages.insert(0, salvage.clone());
        Ok(SalvageOutcome::Made(salvage))
    }

    async fn remove(&self, order: &RemovalOrder) -> Result<SalvageOutcome> {
        self.calls.enter("checkouts.remove")?;
        if let Some(session) = &order.used_by {
            return Err(Error::conflict(format!("`{session}` works in this worktree")));
        }
        let outcome = self.salvage(&order.place, &order.include).await?;
        self.disk.remove(&order.place.path);
        Ok(outcome)
    }

    async fn restore(
        &self,
        order: &RestorationOrder,
        _caller: &GitCaller,
    ) -> Result<EnsuredWorktree> {
        self.calls.enter("checkouts.restore")?;
        let mut state = self.state.lock().unwrap();
        if state.has_moved_branches && order.branch.is_none() {
            return Err(Error::conflict("the branch has moved since"));
        }
        let salvage = state.salvages.iter().find(|it| it.reference == order.salvage);
        let salvage = salvage.ok_or_else(|| Error::not_found("there is no such salvage"))?;
        let (path, own) = (salvage.path.clone(), salvage.branch.clone());
        let worktree = state.worktrees.get_mut(&path).unwrap();
        if let Some(branch) = order.branch.clone().or(own) {
            worktree.spec.branch = branch;
        }
        let origin = WorktreeOrigin::Restored { salvage: order.salvage.clone() };
        Ok(self.ensured(worktree, origin))
    }

    async fn salvages(&self, _source: &RepositorySource) -> Result<Vec<Salvage>> {
        self.calls.enter("checkouts.salvages")?;
        Ok(self.state.lock().unwrap().salvages.clone())
    }

    async fn expire_salvages(
        &self,
        _source: &RepositorySource,
        before: Timestamp,
    ) -> Result<Vec<Salvage>> {
        self.calls.enter("checkouts.expire_salvages")?;
        let mut state = self.state.lock().unwrap();
        let (old, young) = std::mem::take(&mut state.salvages)
            .into_iter()
            .partition(|salvage| salvage.made_at < before);
        state.salvages = young;
        Ok(old)
    }

    fn clones(&self) -> Result<Vec<SharedClone>> {
        self.calls.enter("checkouts.clones")?;
        Ok(self.state.lock().unwrap().clones.iter().map(|it| it.clone.clone()).collect())
    }

    async fn salvage_bytes(&self, _source: &RepositorySource) -> Result<u64> {
        self.calls.enter("checkouts.salvage_bytes")?;
        Ok(1000 * self.state.lock().unwrap().salvages.len() as u64)
    }

    async fn clone_holds(&self, clone: &SharedClone) -> Result<Option<String>> {
        self.calls.enter("checkouts.clone_holds")?;
        let state = self.state.lock().unwrap();
        let found = state.clones.iter().find(|it| it.clone.path == clone.path);
        Ok(found.and_then(|it| it.holds.clone()))
    }

    async fn remove_clone(&self, clone: &SharedClone) -> Result<()> {
        self.calls.enter("checkouts.remove_clone")?;
        if let Some(why) = self.clone_holds(clone).await? {
            return Err(Error::conflict("the clone must stay").caused_by(why));
        }
        self.state.lock().unwrap().clones.retain(|it| it.clone.path != clone.path);
        self.disk.remove(&clone.path);
        Ok(())
    }

    async fn maintain(&self, _source: &RepositorySource) -> Result<()> {
        self.calls.enter("checkouts.maintain")
    }
}

fn listed(worktree: &FakeWorktree) -> ListedWorktree {
    ListedWorktree {
        path: worktree.spec.path.clone(),
        head: Some(head()),
        branch: Some(worktree.spec.branch.to_string()),
        locked: None,
        is_main: false,
    }
}
