//! Asks forges whether the issues of sessions are closed.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::model::{
    ForgeSource, ForgeSubject, IssueRef, PullState, RepositoryAddress, RepositoryId, RepositoryUrl,
    SessionId, SourceName, TrackedIssue,
};
use crate::ports::{ForgeApi, ForgeFault, ForgeResult, Ports, WorktreeQuery};

/// What forges have answered about the issues of sessions.
#[derive(Debug, Default)]
pub struct AskedIssues {
    /// The sessions whose issues are closed, and since when at the latest.
    pub closed: BTreeMap<SessionId, Timestamp>,
    /// The sources that could not be asked. Nothing of them may be removed because an issue is
    /// closed.
    pub failed: BTreeMap<SourceName, Error>,
}

/// An issue with the sessions that worked on it.
struct AskedIssue {
    repository: RepositoryId,
    issue: IssueRef,
    sessions: Vec<SessionId>,
}

/// Asks the forges of the settings about the issues whose sessions have worktrees and that are not
/// known to be closed. Holds nothing while it waits for answers.
pub async fn asked_issues(ports: &Ports) -> Result<AskedIssues> {
    let tracked = ports.store.tracked_issues(None).await?;
    // Settings that cannot be read are reported by `segue doctor`.
    let sources = ports.sources.sources().unwrap_or_default().into_iter();
    let sources: Vec<ForgeSource> = sources.filter(|it| it.has_token).collect();
    let mut asked = AskedIssues::default();
    if sources.is_empty() {
        return Ok(asked);
    }
    let mut repositories = KnownRepositories::default();
    for issue in issues(ports).await? {
        let known = tracked.iter().find(|it| is_about(it, &issue));
        if known.is_some_and(|known| known.closed_at.is_some()) {
            continue;
        }
        for source in sources.iter().filter(|it| known.is_none_or(|known| known.source == it.name))
        {
            if asked.failed.contains_key(&source.name) {
                continue;
            }
            match closed_at(ports, source, (&issue, known), &mut repositories).await {
                Ok(Some(at)) => asked.closed.extend(issue.sessions.iter().map(|it| (*it, at))),
                Ok(None) => {}
                Err(error) => drop(asked.failed.insert(source.name.clone(), error)),
            }
        }
    }
    Ok(asked)
}

/// Returns the issues of sessions that have worktrees.
async fn issues(ports: &Ports) -> Result<Vec<AskedIssue>> {
    let worktrees = ports.store.worktrees(&WorktreeQuery::default()).await?;
    let existing = worktrees.into_iter().filter(|it| it.complete_removal().is_none());
    let with_worktrees: BTreeSet<SessionId> = existing.filter_map(|it| it.session).collect();
    let mut found: BTreeMap<(RepositoryId, String), AskedIssue> = BTreeMap::new();
    for (key, session) in ports.store.issue_sessions().await? {
        if with_worktrees.contains(&session) {
            let name = (key.repository.clone(), key.issue.as_str().to_owned());
            let (repository, issue) = (key.repository, key.issue);
            let new = || AskedIssue { repository, issue, sessions: Vec::new() };
            found.entry(name).or_insert_with(new).sessions.push(session);
        }
    }
    Ok(found.into_values().collect())
}

fn is_about(tracked: &TrackedIssue, issue: &AskedIssue) -> bool {
    tracked.repository == issue.repository && tracked.issue == issue.issue
}

/// Returns until when an issue was open. `None` if it is open, or if the source does not have it.
async fn closed_at(
    ports: &Ports,
    source: &ForgeSource,
    (issue, known): (&AskedIssue, Option<&TrackedIssue>),
    repositories: &mut KnownRepositories,
) -> Result<Option<Timestamp>> {
    let known = known.map(|known| (known.address.clone(), known.subject));
    let place = match known {
        Some(place) => Some(place),
        None => match subject(&issue.issue) {
            Some(subject) => {
                let address = repositories.find(ports, source, &issue.repository).await?;
                address.map(|address| (address, subject))
            }
            None => None,
        },
    };
    let Some((address, subject)) = place else { return Ok(None) };
    let api = ports.sources.paced_api(&source.name).await?;
    let state = optional(ask(api.as_ref(), &address, subject).await)?;
    let Some((false, updated_at)) = state else { return Ok(None) };
    // The issue was closed at the time of its last change or before.
    Ok(Some(updated_at.unwrap_or_else(|| ports.clock.now())))
}

/// Returns the issue or the pull request that a task names. `None` if the name is not that of a forge.
fn subject(issue: &IssueRef) -> Option<ForgeSubject> {
    let text = issue.as_str();
    match text.strip_prefix("pull-") {
        Some(number) => number.parse().ok().map(ForgeSubject::Pull),
        None => text.parse().ok().map(ForgeSubject::Issue),
    }
}

/// Returns whether an issue is open, and when it last changed.
async fn ask(
    api: &dyn ForgeApi,
    address: &RepositoryAddress,
    subject: ForgeSubject,
) -> ForgeResult<(bool, Option<Timestamp>)> {
    match subject {
        ForgeSubject::Issue(number) => {
            let issue = api.issue(address, number).await?;
            Ok((issue.is_open, issue.updated_at))
        }
        ForgeSubject::Pull(number) => {
            let pull = api.pull(address, number).await?;
            Ok((pull.state == PullState::Open, pull.updated_at))
        }
    }
}

/// A missing object is no failure of the forge.
fn optional<T>(answer: ForgeResult<T>) -> Result<Option<T>> {
    match answer {
        Err(failure) if failure.fault == ForgeFault::NotFound => Ok(None),
        other => Ok(Some(other?)),
    }
}

/// The repositories that were looked for on forges.
#[derive(Default)]
struct KnownRepositories {
    found: BTreeMap<(SourceName, RepositoryId), Option<RepositoryAddress>>,
}

impl KnownRepositories {
    /// Finds a repository on the forge of a source. A forge is asked only about repositories of its
    /// own server: their names can be confidential.
    async fn find(
        &mut self,
        ports: &Ports,
        source: &ForgeSource,
        repository: &RepositoryId,
    ) -> Result<Option<RepositoryAddress>> {
        let key = (source.name.clone(), repository.clone());
        if let Some(known) = self.found.get(&key) {
            return Ok(known.clone());
        }
        let found = match RepositoryUrl::parse(repository.as_str()) {
            Ok(url) if is_same_server(ports, source, &url)? => {
                let api = ports.sources.paced_api(&source.name).await?;
                let named = optional(api.repository_named(url.path_name()).await)?;
                named.map(|it| it.address())
            }
            _ => None,
        };
        self.found.insert(key, found.clone());
        Ok(found)
    }
}

/// Returns whether a repository is on the server of a source. Git may use another port than the API.
fn is_same_server(ports: &Ports, source: &ForgeSource, url: &RepositoryUrl) -> Result<bool> {
    let server = ports.sources.web_host(&source.name)?;
    let without_port = |host: &str| host.split(':').next().unwrap_or_default().to_owned();
    let host = without_port(url.host());
    Ok(!host.is_empty() && host == without_port(&server))
}
