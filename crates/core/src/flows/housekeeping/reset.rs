//! Drops the conversation of an agent about an issue.
//!
//! The steps are: cancel the tasks about the issue, end the process, salvage and remove the worktree,
//! and forget the conversation. The last step is one commit, which also ends the reservation of the
//! worktree. Everything before it can be repeated, so a reset that was interrupted is completed by
//! the next one, and reports the same.

use std::collections::BTreeSet;
use std::path::Path;

use crate::api::{DroppedParts, ResetRequest};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::model::{
    AgentName, AgentWorktree, EventPayload, FleetName, IssueKey, IssueRef, NewEvent, RepositoryId,
    RepositoryUrl, Status, Task, TaskState, TaskWait,
};
use crate::ports::{Change, Commit, Ports, SessionQuery, SessionSummary, TaskQuery, WorktreeQuery};

/// The longest text that can name a repository.
const LONGEST_REPOSITORY: usize = 4096;

/// The work of one agent about one issue.
#[derive(Clone, Debug)]
pub struct ResetTarget {
    pub key: IssueKey,
    pub session: Option<SessionSummary>,
    /// The worktree that is reserved for the session.
    pub worktree: Option<AgentWorktree>,
    /// The tasks about the issue that have not ended.
    pub tasks: Vec<Task>,
}

/// A repository as a request names it.
enum RepositoryName {
    Id(RepositoryId),
    /// The end of the identity of a repository.
    End(String),
}

/// Returns what a request is about: nothing, if the agent has no work about the issue. Agents of
/// several fleets can have the same name.
pub async fn reset_targets(ports: &Ports, request: &ResetRequest) -> Result<Vec<ResetTarget>> {
    let agent = AgentName::parse(&request.agent)?;
    let issue = IssueRef::parse(&request.issue)?;
    let fleet = request.fleet.as_deref().map(FleetName::parse).transpose()?;
    let repository = repository(ports, request).await?;
    let keys = known_keys(ports).await?.into_iter().filter(|key| {
        key.agent == agent
            && key.issue == issue
            && fleet.as_ref().is_none_or(|fleet| key.fleet == *fleet)
            && repository.is(&key.repository)
    });
    let keys: Vec<IssueKey> = keys.collect();
    let repositories: BTreeSet<&RepositoryId> = keys.iter().map(|key| &key.repository).collect();
    if repositories.len() > 1 {
        let names: Vec<String> = repositories.iter().map(|it| format!("`{it}`")).collect();
        let message = format!("`{}` can mean several repositories", request.repo);
        return Err(Error::usage(message).hint(format!("use one of {}", names.join(", "))));
    }
    let mut targets = Vec::new();
    for key in keys {
        targets.push(target(ports, key).await?);
    }
    Ok(targets)
}

/// Returns the issues that agents work on, or are to work on.
async fn known_keys(ports: &Ports) -> Result<BTreeSet<IssueKey>> {
    let sessions = ports.store.issue_sessions().await?.into_iter().map(|(key, _)| key);
    let tasks = ports.store.tasks(&TaskQuery::open()).await?;
    let tasks = tasks.iter().filter_map(|placed| placed.task.order.issue_key());
    Ok(sessions.chain(tasks).collect())
}

async fn target(ports: &Ports, key: IssueKey) -> Result<ResetTarget> {
    let session = match ports.store.issue_session(&key).await? {
        Some(id) => ports.store.sessions(&SessionQuery::id(id)).await?.pop(),
        None => None,
    };
    let worktree = match &session {
        Some(summary) => {
            let session = Some(summary.session.id);
            ports.store.worktrees(&WorktreeQuery { session, path: None }).await?.pop()
        }
        None => None,
    };
    let query = TaskQuery { issue: Some(key.clone()), ..TaskQuery::open() };
    let tasks = ports.store.tasks(&query).await?.into_iter().map(|placed| placed.task).collect();
    Ok(ResetTarget { key, session, worktree, tasks })
}

impl RepositoryName {
    fn is(&self, id: &RepositoryId) -> bool {
        match self {
            Self::Id(wanted) => wanted == id,
            Self::End(end) => {
                let rest = id.as_str().strip_suffix(end.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', ':']))
            }
        }
    }
}

/// Returns the repository that a request names. Fails if the text can be the name of none.
async fn repository(ports: &Ports, request: &ResetRequest) -> Result<RepositoryName> {
    let text = request.repo.as_str();
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace();
    if text.is_empty() || text.len() > LONGEST_REPOSITORY || !text.chars().all(is_plain) {
        let shown: String = text.chars().take(60).collect();
        let message = format!("`{}` is not the name of a repository", shown.escape_debug());
        return Err(Error::usage(message).hint(
            "use its URL, the path of its folder, or the end of its URL such as `team/app`",
        ));
    }
    if text.contains("://") || text.contains('@') {
        return RepositoryUrl::parse(text).map(|url| RepositoryName::Id(url.id()));
    }
    let path = Path::new(text);
    let folder = request.cwd.as_deref().map_or_else(|| path.to_owned(), |cwd| cwd.join(path));
    let is_folder = folder.is_absolute() && ports.machine.folder(&folder).is_ok();
    match is_folder {
        true => match ports.checkouts.identify(&folder).await? {
            Some(id) => Ok(RepositoryName::Id(id)),
            None => Err(Error::usage(format!("`{}` is in no git repository", folder.display()))),
        },
        // The folder of a repository may be gone. Its identity is then the path itself.
        false if path.is_absolute() => Ok(RepositoryName::Id(RepositoryId::of_folder(path))),
        false => Ok(RepositoryName::End(text.to_owned())),
    }
}

/// Returns whether a turn runs, or is about to.
pub fn is_busy(target: &ResetTarget) -> bool {
    let runs = target.session.as_ref().is_some_and(|summary| {
        let status = summary.session.status;
        let is_in_turn = matches!(status, Status::Starting | Status::Working | Status::Waiting(_));
        summary.open.is_some() && is_in_turn
    });
    let has_turn = |task: &Task| {
        matches!(task.state, TaskState::Running | TaskState::Waiting(TaskWait::Question { .. }))
    };
    runs || target.tasks.iter().any(has_turn)
}

/// Returns what a reset of these targets drops.
pub fn dropped(targets: &[ResetTarget]) -> DroppedParts {
    DroppedParts {
        worktree: targets.iter().any(|it| it.worktree.is_some()),
        session: targets.iter().any(|it| it.session.is_some()),
    }
}

/// Forgets the conversations about an issue and ends the reservations of their worktrees, in one
/// commit with `same_commit`. The conversations stay in the list of sessions and in the archive.
pub async fn drop_targets(
    ports: &Ports,
    targets: &[ResetTarget],
    same_commit: Vec<Change>,
) -> Result<()> {
    let mut commit = Commit { changes: same_commit, events: Vec::new() };
    for ResetTarget { key, session, worktree, .. } in targets {
        let Some(summary) = session else { continue };
        let worktree = worktree.as_ref().map(|it| it.id);
        let release = worktree.map(|worktree| Change::ReleaseWorktree { worktree });
        let forget = Change::SetIssueSession { key: key.clone(), session: None };
        commit.changes.extend(release.into_iter().chain([forget]));
        let payload = EventPayload::IssueReset {
            agent: key.agent.to_string(),
            repository: key.repository.to_string(),
            issue: key.issue.as_str().to_owned(),
        };
        let session = Some(summary.session.id);
        commit.events.push(NewEvent { at: ports.clock.now(), session, launch: None, payload });
    }
    failpoint::hit("reset.drop.before");
    ports.store.commit(commit).await?;
    failpoint::hit("reset.drop.after");
    Ok(())
}
