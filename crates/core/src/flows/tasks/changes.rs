//! What a task has changed in the repository of its folder.

use std::fmt::Display;

use crate::error::Result;
use crate::flows::credentials::git_caller;
use crate::flows::worktrees;
use crate::model::{
    DiffStat, Environment, FileDiff, Session, Task, TaskBase, TaskCommit, TaskProgress,
    WorktreePlace,
};
use crate::ports::{GitCaller, Ports};

/// A result lists at most this many commits.
const MAX_COMMITS: usize = 500;

/// What a task has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskChanges {
    pub(super) commits: Vec<TaskCommit>,
    pub(super) diff: Option<DiffStat>,
    /// Why the changes are unknown.
    pub(super) note: Option<String>,
}

/// Returns the task with its base: the commit that is checked out in the folder of its session. A
/// task that was started before keeps its base. If git fails, the task runs without a base, and its
/// result reports that the changes are unknown.
pub async fn with_base(ports: &Ports, task: &Task, session: &Session) -> Task {
    if task.progress.base.is_some() {
        return task.clone();
    }
    let base = base(ports, session).await.unwrap_or_default();
    Task { progress: TaskProgress { base, ..task.progress.clone() }, ..task.clone() }
}

async fn base(ports: &Ports, session: &Session) -> Result<Option<TaskBase>> {
    let Some((place, _)) = place(ports, session).await? else { return Ok(None) };
    Ok(Some(TaskBase { commit: ports.checkouts.head(&place).await? }))
}

/// Returns what a task has changed since it was first started. A failure of git does not change how
/// the task ends.
pub(super) async fn since_base(ports: &Ports, task: &Task) -> TaskChanges {
    compare(ports, task).await.unwrap_or_else(|error| unknown(&error))
}

fn unknown(reason: &dyn Display) -> TaskChanges {
    let note = Some(format!("the changes are unknown: {reason}"));
    TaskChanges { note, ..TaskChanges::default() }
}

async fn compare(ports: &Ports, task: &Task) -> Result<TaskChanges> {
    let session = match task.session {
        Some(session) => ports.store.session(session).await?,
        None => None,
    };
    let Some(session) = session else { return Ok(TaskChanges::default()) };
    let Some((place, caller)) = place(ports, &session).await? else {
        return Ok(TaskChanges::default());
    };
    let Some(TaskBase { commit }) = &task.progress.base else {
        return Ok(unknown(&"git could not read which commit was checked out at the start"));
    };
    let commits = ports.checkouts.commits_since(&place, commit.as_ref(), MAX_COMMITS).await?;
    let diff = match commit {
        Some(base) => Some(ports.checkouts.diff(&place, Some(base.as_str()), 0, &caller).await?),
        None => None,
    };
    Ok(TaskChanges { commits, diff: diff.map(|diff| stat(&diff.files)), note: None })
}

fn stat(files: &[FileDiff]) -> DiffStat {
    let lines = || files.iter().filter_map(|file| file.lines);
    DiffStat {
        files: u32::try_from(files.len()).unwrap_or(u32::MAX),
        insertions: lines().map(|(added, _)| added).sum(),
        deletions: lines().map(|(_, removed)| removed).sum(),
    }
}

/// Returns the worktree in which a session works, and the caller of git commands there. `None` if
/// its folder is in no repository.
async fn place(ports: &Ports, session: &Session) -> Result<Option<(WorktreePlace, GitCaller)>> {
    if let Some(worktree) = worktrees::of_session(ports, session).await? {
        let caller = git_caller(ports, &worktree, &Environment::default())?;
        return Ok(Some((worktree.place(), caller)));
    }
    let around = ports.checkouts.around(&session.cwd);
    Ok(around.map(|place| (place, GitCaller::default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_text_files_are_counted() {
        let file = |path: &str, lines| FileDiff { path: path.into(), lines };
        let files = [file("a", Some((3, 1))), file("b.png", None), file("c", Some((0, 4)))];
        assert_eq!(stat(&files), DiffStat { files: 3, insertions: 3, deletions: 5 });
        assert_eq!(stat(&[]), DiffStat::default());
    }
}
