//! How much disk space Segue's folders use.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::api::{DiskItem, DiskItemKind, DiskReport, DiskRepository};
use crate::error::Result;
use crate::failpoint;
use crate::model::{
    AgentWorktree, CloneContent, DiskLevel, EventPayload, LaunchIndexEntry, NewEvent,
    RepositorySource, SessionId, SharedClone,
};
use crate::ports::{
    Change, Commit, DiskMeasurement, FolderUse, MeasuredFolder, Ports, SessionQuery,
    SessionSummary, WorktreeQuery,
};
use crate::rules::housekeeping::{DiskBudget, level_of};

/// The folders to measure, and what they are.
#[derive(Debug)]
pub struct DiskPlan {
    pub folders: Vec<MeasuredFolder>,
    items: Vec<PlannedItem>,
    salvages: BTreeMap<RepositorySource, Option<u64>>,
}

/// What a measured folder is.
#[derive(Clone, Debug)]
struct PlannedItem {
    kind: DiskItemKind,
    name: String,
    source: Option<RepositorySource>,
    session: Option<SessionId>,
    path: Option<PathBuf>,
}

/// Finds out which folders to measure. With `is_exact`, all of them are read in full.
pub async fn disk_plan(ports: &Ports, is_exact: bool) -> Result<DiskPlan> {
    let sessions = ports.store.sessions(&SessionQuery::default()).await?;
    let worktrees = ports.store.worktrees(&WorktreeQuery::default()).await?;
    let launches = ports.store.launch_index().await?;
    let clones = ports.checkouts.clones()?;
    let salvages = salvages(ports, &worktrees, &clones).await;
    let mut plan = DiskPlan { folders: Vec::new(), items: Vec::new(), salvages };
    plan.add_areas(ports);
    for clone in &clones {
        plan.add_clone(clone, &worktrees, &sessions);
    }
    for worktree in worktrees.iter().filter(|it| it.complete_removal().is_none()) {
        plan.add_worktree(worktree, &sessions);
    }
    let addresses: HashMap<SessionId, String> =
        sessions.iter().map(|it| (it.session.id, it.session.address())).collect();
    for launch in &launches {
        plan.add_launch(ports, launch, &addresses);
    }
    if is_exact {
        plan.folders.iter_mut().for_each(|folder| folder.last_use = FolderUse::Now);
    }
    Ok(plan)
}

/// Counts the salvages of each repository. Git that cannot count them is no reason to report nothing.
async fn salvages(
    ports: &Ports,
    worktrees: &[AgentWorktree],
    clones: &[SharedClone],
) -> BTreeMap<RepositorySource, Option<u64>> {
    let of_clones = clones.iter().filter_map(|it| it.url.clone()).map(RepositorySource::Url);
    let sources = worktrees.iter().map(|it| it.source.clone()).chain(of_clones);
    let mut counted = BTreeMap::new();
    for source in sources.collect::<BTreeSet<_>>() {
        let bytes = ports.checkouts.salvage_bytes(&source).await;
        counted.insert(source, bytes.ok());
    }
    counted
}

impl DiskPlan {
    fn add_areas(&mut self, ports: &Ports) {
        let areas = ports.disk.areas();
        let folders = [
            (areas.data, DiskItemKind::Store, FolderUse::Now),
            (areas.state, DiskItemKind::State, FolderUse::Now),
            // A copy that grows gets a new record, which changes its folder.
            (areas.archive, DiskItemKind::Archive, FolderUse::Until(Timestamp::UNIX_EPOCH)),
            (areas.clones, DiskItemKind::Store, FolderUse::Until(Timestamp::UNIX_EPOCH)),
        ];
        for (path, kind, last_use) in folders {
            let name = kind.word().to_owned();
            let item = PlannedItem { kind, name, source: None, session: None, path: None };
            self.add(path, last_use, item);
        }
    }

    fn add_clone(
        &mut self,
        clone: &SharedClone,
        worktrees: &[AgentWorktree],
        sessions: &[SessionSummary],
    ) {
        let source = clone.url.clone().map(RepositorySource::Url);
        let own = worktrees.iter().filter(|it| Some(&it.source) == source.as_ref());
        let uses = own.map(|it| last_use(&it.path, it.created_at, sessions));
        let last_use = uses.max().unwrap_or(FolderUse::Until(clone.used_at));
        let name = match (&source, clone.content) {
            (Some(source), CloneContent::Complete) => source.to_string(),
            _ => clone.path.display().to_string(),
        };
        let path = Some(clone.path.clone());
        let item = PlannedItem { kind: DiskItemKind::Clone, name, source, session: None, path };
        self.add(clone.path.clone(), last_use, item);
    }

    fn add_worktree(&mut self, worktree: &AgentWorktree, sessions: &[SessionSummary]) {
        let AgentWorktree { path, source, session, created_at, .. } = worktree;
        let item = PlannedItem {
            kind: DiskItemKind::Worktree,
            name: path.display().to_string(),
            source: Some(source.clone()),
            session: *session,
            path: Some(path.clone()),
        };
        self.add(path.clone(), last_use(path, *created_at, sessions), item);
    }

    fn add_launch(
        &mut self,
        ports: &Ports,
        launch: &LaunchIndexEntry,
        addresses: &HashMap<SessionId, String>,
    ) {
        let name = addresses.get(&launch.session);
        let name = name.cloned().unwrap_or_else(|| launch.session.to_string());
        let session = Some(launch.session);
        let kind = DiskItemKind::Session;
        let item = PlannedItem { kind, name, source: None, session, path: None };
        let last_use = launch.ended_at.map_or(FolderUse::Now, FolderUse::Until);
        self.add(ports.folders.folder(launch.id), last_use, item);
    }

    fn add(&mut self, path: PathBuf, last_use: FolderUse, item: PlannedItem) {
        self.folders.push(MeasuredFolder { path, last_use });
        self.items.push(item);
    }

    /// Returns how many bytes each worktree and each clone uses, by its path.
    pub fn bytes_by_path(&self, measured: &DiskMeasurement) -> HashMap<PathBuf, u64> {
        let folders = self.folders.iter().map(|it| it.path.clone());
        folders.zip(measured.bytes.iter().copied()).collect()
    }

    /// Returns the report about a measurement of the folders.
    pub fn report(&self, measured: &DiskMeasurement, budget: Option<&DiskBudget>) -> DiskReport {
        let total = measured.bytes.iter().sum();
        let level = budget.map_or(DiskLevel::Normal, |budget| level_of(total, budget));
        DiskReport {
            total,
            budget: budget.map(|budget| budget.bytes),
            level: level.into(),
            items: self.report_items(measured),
            repositories: self.report_repositories(measured),
            unreadable: measured.unreadable.iter().map(|it| it.display().to_string()).collect(),
        }
    }

    /// Returns the items, the largest first. All launch folders of a session are one item.
    fn report_items(&self, measured: &DiskMeasurement) -> Vec<DiskItem> {
        let mut items: BTreeMap<(&str, &str), DiskItem> = BTreeMap::new();
        for (planned, bytes) in self.items.iter().zip(&measured.bytes) {
            let key = (planned.kind.word(), planned.name.as_str());
            let item = items.entry(key).or_insert_with(|| planned.item());
            item.bytes += bytes;
        }
        let mut items: Vec<DiskItem> = items.into_values().filter(|it| it.bytes > 0).collect();
        items.sort_by(|one, other| other.bytes.cmp(&one.bytes).then(one.name.cmp(&other.name)));
        items
    }

    fn report_repositories(&self, measured: &DiskMeasurement) -> Vec<DiskRepository> {
        let mut found: BTreeMap<&RepositorySource, DiskRepository> = BTreeMap::new();
        for (planned, bytes) in self.items.iter().zip(&measured.bytes) {
            let Some(source) = &planned.source else { continue };
            let entry = found.entry(source).or_insert_with(|| self.repository(source));
            entry.bytes += bytes;
            match planned.kind {
                DiskItemKind::Clone => entry.clone += bytes,
                _ => entry.worktrees += bytes,
            }
        }
        // A repository without worktrees can still have salvages.
        for source in self.salvages.keys() {
            found.entry(source).or_insert_with(|| self.repository(source));
        }
        let is_used = |it: &DiskRepository| it.bytes > 0 || it.salvage.is_some_and(|it| it > 0);
        let mut found: Vec<DiskRepository> = found.into_values().filter(is_used).collect();
        found.sort_by(|one, other| {
            other.bytes.cmp(&one.bytes).then(one.repository.cmp(&other.repository))
        });
        found
    }

    fn repository(&self, source: &RepositorySource) -> DiskRepository {
        DiskRepository {
            repository: source.to_string(),
            bytes: 0,
            clone: 0,
            worktrees: 0,
            salvage: self.salvages.get(source).copied().flatten(),
        }
    }
}

impl PlannedItem {
    fn item(&self) -> DiskItem {
        DiskItem {
            kind: self.kind.into(),
            name: self.name.clone(),
            bytes: 0,
            repository: self.source.as_ref().map(ToString::to_string),
            session: self.session,
            path: self.path.clone(),
        }
    }
}

/// Returns when a session last worked in a folder. `created_at` is the answer if none did.
fn last_use(folder: &Path, created_at: Timestamp, sessions: &[SessionSummary]) -> FolderUse {
    let own = sessions.iter().filter(|it| it.session.cwd.starts_with(folder));
    let uses = own.map(|it| match it.open {
        Some(_) => FolderUse::Now,
        None => FolderUse::Until(it.session.updated_at),
    });
    uses.max().unwrap_or(FolderUse::Until(created_at)).max(FolderUse::Until(created_at))
}

/// Records the level of disk use if it is another one than the recorded level. Returns the new level
/// if the user has to be notified: it is higher than before.
pub async fn note_level(
    ports: &Ports,
    used: u64,
    budget: &DiskBudget,
) -> Result<Option<DiskLevel>> {
    let (before, level) = (ports.store.housekeeping().await?.disk_level, level_of(used, budget));
    if before == level {
        return Ok(None);
    }
    let payload = EventPayload::DiskLevelChanged { level, used, budget: budget.bytes };
    let event = NewEvent { at: ports.clock.now(), session: None, launch: None, payload };
    failpoint::hit("disk.level.before");
    let changes = vec![Change::SetDiskLevel(level)];
    ports.store.commit(Commit { changes, events: vec![event] }).await?;
    failpoint::hit("disk.level.after");
    let is_higher = level == DiskLevel::Full || before == DiskLevel::Normal;
    Ok(Some(level).filter(|_| is_higher))
}
