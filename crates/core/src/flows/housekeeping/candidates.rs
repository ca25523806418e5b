//! What housekeeping may remove, and what must stay.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use jiff::Timestamp;

use crate::error::Result;
use crate::flows::archive::{self, archive_key};
use crate::model::{
    AgentWorktree, HousekeepingItem, LaunchIndexEntry, Session, SessionId, SharedClone, SourceName,
};
use crate::ports::{Ports, SessionQuery, SessionSummary, TaskQuery, WorktreeQuery};
use crate::rules::archive::CopyOwner;
use crate::rules::housekeeping::{RemovalCandidate, RemovalClass, SweepAges, unused_for};

/// Which candidates are wanted.
#[derive(Clone, Debug)]
pub struct CandidateScope {
    pub ages: SweepAges,
    /// The sessions whose issues are closed, and since when: see [`closed_sessions`].
    pub closed: BTreeMap<SessionId, Timestamp>,
    /// What folders use, by their paths.
    pub bytes: HashMap<PathBuf, u64>,
}

/// What is known about all sessions.
struct KnownSessions {
    all: Vec<SessionSummary>,
    /// Sessions that a task that has not ended uses.
    with_tasks: HashSet<SessionId>,
    closed: BTreeMap<SessionId, Timestamp>,
}

/// Returns everything that housekeeping may remove, and the reasons why parts of it must stay.
pub async fn candidates(ports: &Ports, scope: &CandidateScope) -> Result<Vec<RemovalCandidate>> {
    let sessions = known_sessions(ports, scope.closed.clone()).await?;
    let mut found = worktrees(ports, &sessions).await?;
    found.extend(copies(ports).await?);
    found.extend(launches(ports, &sessions, &scope.ages).await?);
    found.extend(clones(ports).await?);
    for candidate in &mut found {
        let path = match &candidate.item {
            HousekeepingItem::Worktree(worktree) => Some(&worktree.path),
            HousekeepingItem::Clone(clone) => Some(&clone.path),
            HousekeepingItem::Archive(_) | HousekeepingItem::Launch(_) => None,
        };
        let measured = path.and_then(|path| scope.bytes.get(path)).copied();
        candidate.bytes = measured.unwrap_or(candidate.bytes);
    }
    Ok(found)
}

/// Returns the sessions whose issues are closed, as far as the store knows, and since when. Forges
/// report closed issues, and are asked for those that they did not report. Leaves out the issues of
/// sources that cannot be asked now.
pub async fn closed_sessions(
    ports: &Ports,
    is_silent: impl Fn(&SourceName) -> bool,
) -> Result<BTreeMap<SessionId, Timestamp>> {
    let mut found = BTreeMap::new();
    for issue in
        ports.store.tracked_issues(None).await?.into_iter().filter(|it| !is_silent(&it.source))
    {
        let Some(closed_at) = issue.closed_at else { continue };
        let sessions = ports.store.sessions_of_issue(&issue.repository, &issue.issue).await?;
        found.extend(sessions.into_iter().map(|(_, session)| (session, closed_at)));
    }
    Ok(found)
}

async fn known_sessions(
    ports: &Ports,
    closed: BTreeMap<SessionId, Timestamp>,
) -> Result<KnownSessions> {
    let all = ports.store.sessions(&SessionQuery::default()).await?;
    let tasks = ports.store.tasks(&TaskQuery::open()).await?;
    let of_issues: HashMap<_, _> = ports.store.issue_sessions().await?.into_iter().collect();
    let with_tasks = tasks.iter().flat_map(|placed| {
        let order = &placed.task.order;
        let of_issue = order.issue_key().and_then(|key| of_issues.get(&key).copied());
        [placed.task.session, order.continues, of_issue]
    });
    let with_tasks = with_tasks.flatten().collect();
    Ok(KnownSessions { all, with_tasks, closed })
}

impl KnownSessions {
    /// Returns why a session is in use. `None` if it is at rest.
    fn use_of(&self, summary: &SessionSummary) -> Option<String> {
        let SessionSummary { session, open, queued_messages, .. } = summary;
        let address = session.address();
        if open.is_some() {
            return Some(format!("session `{address}` runs"));
        }
        if self.with_tasks.contains(&session.id) {
            return Some(format!("a task uses session `{address}`"));
        }
        if *queued_messages > 0 {
            return Some(format!("session `{address}` has queued messages"));
        }
        (!session.is_at_rest()).then(|| format!("session `{address}` is {}", session.status.word()))
    }
}

async fn worktrees(ports: &Ports, sessions: &KnownSessions) -> Result<Vec<RemovalCandidate>> {
    let all = ports.store.worktrees(&WorktreeQuery::default()).await?;
    let existing = all.into_iter().filter(|it| it.complete_removal().is_none());
    Ok(existing.map(|worktree| worktree_candidate(worktree, sessions)).collect())
}

fn worktree_candidate(worktree: AgentWorktree, sessions: &KnownSessions) -> RemovalCandidate {
    let users = || sessions.all.iter().filter(|it| it.session.cwd.starts_with(&worktree.path));
    let owner = worktree.session;
    let closed_at = owner.and_then(|owner| sessions.closed.get(&owner).copied());
    let class = match owner {
        None => RemovalClass::UnusedWorktree,
        Some(_) if closed_at.is_some() => RemovalClass::ClosedWorktree,
        Some(_) => RemovalClass::RestingWorktree,
    };
    let last_used = users().map(|it| it.session.updated_at).max();
    let last_used = last_used.unwrap_or(worktree.created_at).max(worktree.created_at);
    let last_used = closed_at.map_or(last_used, |closed_at| last_used.max(closed_at));
    let hold = users().find_map(|it| sessions.use_of(it));
    let item = HousekeepingItem::Worktree(Box::new(worktree));
    RemovalCandidate { item, class, last_used, bytes: 0, hold }
}

async fn copies(ports: &Ports) -> Result<Vec<RemovalCandidate>> {
    let owners = archive::sessions_of_copies(ports).await?;
    let candidate = |copy: crate::model::CopiedConversation| {
        let owner = owners.get(&copy.conversation).map_or(CopyOwner::None, |(owner, _)| *owner);
        let hold = (owner == CopyOwner::Live).then(|| "its session is alive".to_owned());
        let (last_used, bytes) = (copy.copied_at, copy.bytes);
        let (item, class) = (HousekeepingItem::Archive(copy), RemovalClass::ArchivedCopy);
        RemovalCandidate { item, class, last_used, bytes, hold }
    };
    Ok(ports.archive.copies()?.into_iter().map(candidate).collect())
}

/// Returns the folders of ended launches that are old enough. The last launch of each session stays:
/// its folder has the guards of the transcript.
async fn launches(
    ports: &Ports,
    sessions: &KnownSessions,
    ages: &SweepAges,
) -> Result<Vec<RemovalCandidate>> {
    let now = ports.clock.now();
    let index = ports.store.launch_index().await?;
    let last: HashMap<SessionId, u32> = index.iter().map(|it| (it.session, it.number)).collect();
    let by_id: HashMap<SessionId, &SessionSummary> =
        sessions.all.iter().map(|it| (it.session.id, it)).collect();
    let mut found = Vec::new();
    let mut archived: HashMap<SessionId, bool> = HashMap::new();
    for launch in index {
        let Some(ended_at) = launch.ended_at else { continue };
        let Some(summary) = by_id.get(&launch.session) else { continue };
        let is_last = last.get(&launch.session) == Some(&launch.number);
        if is_last || unused_for(ended_at, now) < ages.launches || !has_folder(ports, &launch) {
            continue;
        }
        let is_archived = match archived.get(&launch.session) {
            Some(known) => *known,
            None => is_archived(ports, &summary.session).await?,
        };
        archived.insert(launch.session, is_archived);
        let hold = match (archive::is_live(summary), is_archived) {
            (true, _) => Some("its session is alive".to_owned()),
            (_, false) => Some("the archive does not have its conversation".to_owned()),
            _ => None,
        };
        found.push(ended_launch(launch, ended_at, hold));
    }
    Ok(found)
}

fn ended_launch(
    launch: LaunchIndexEntry,
    ended_at: Timestamp,
    hold: Option<String>,
) -> RemovalCandidate {
    let (item, class) = (HousekeepingItem::Launch(launch), RemovalClass::EndedLaunch);
    RemovalCandidate { item, class, last_used: ended_at, bytes: 0, hold }
}

fn has_folder(ports: &Ports, launch: &LaunchIndexEntry) -> bool {
    let folder = ports.folders.folder(launch.id);
    ports.files.facts(&folder).is_ok_and(|facts| facts.is_some())
}

/// Returns whether the archive has complete copies of all conversations of a session. The guards in
/// old launch folders are then not needed.
async fn is_archived(ports: &Ports, session: &Session) -> Result<bool> {
    let bindings = ports.store.bindings(session.id).await?;
    Ok(bindings.iter().all(|binding| {
        let id = &binding.vendor_session;
        ports.archive.has(&archive_key(session, id)) && !archive::is_outdated(ports, session, id)
    }))
}

async fn clones(ports: &Ports) -> Result<Vec<RemovalCandidate>> {
    let worktrees = ports.store.worktrees(&WorktreeQuery::default()).await?;
    let mut found = Vec::new();
    for clone in ports.checkouts.clones()? {
        let last_used = clone_use(&clone, &worktrees);
        let hold = ports.checkouts.clone_holds(&clone).await;
        // A clone that git cannot read may have something that is nowhere else.
        let hold = hold.unwrap_or_else(|error| Some(error.in_one_line()));
        let (item, class) = (HousekeepingItem::Clone(clone), RemovalClass::UnusedClone);
        found.push(RemovalCandidate { item, class, last_used, bytes: 0, hold });
    }
    Ok(found)
}

/// Returns when a worktree of a clone was last made or removed, or when the clone was last changed.
fn clone_use(clone: &SharedClone, worktrees: &[AgentWorktree]) -> Timestamp {
    let is_own = |it: &&AgentWorktree| match &it.source {
        crate::model::RepositorySource::Url(url) => Some(url) == clone.url.as_ref(),
        crate::model::RepositorySource::Folder(_) => false,
    };
    let own = worktrees.iter().filter(is_own);
    let uses = own.map(|it| it.removal.as_ref().map_or(it.created_at, |removal| removal.at));
    uses.fold(clone.used_at, Timestamp::max)
}
