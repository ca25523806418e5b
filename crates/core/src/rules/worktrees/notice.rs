//! Sentences about worktrees for the user.

use crate::model::{CheckoutNotice, EnsuredWorktree, Salvage, WorktreeChanges, WorktreeOrigin};

/// Describes where a worktree comes from, after its branch: "new, from origin/main".
pub fn origin(origin: &WorktreeOrigin) -> String {
    match origin {
        WorktreeOrigin::Existing => "used as it was".to_owned(),
        WorktreeOrigin::LocalBranch => "existing branch".to_owned(),
        WorktreeOrigin::RemoteBranch => "branch of the remote".to_owned(),
        WorktreeOrigin::NewBranch { base, .. } => format!("new branch from {base}"),
        WorktreeOrigin::PullRequest { reference, .. } => {
            format!("new branch from the pull request {reference}")
        }
        WorktreeOrigin::FirstBranch => "new branch without commits".to_owned(),
        WorktreeOrigin::Restored { salvage } => format!("restored from {salvage}"),
    }
}

/// Describes something unusual that happened and was handled.
pub fn notice(notice: &CheckoutNotice) -> String {
    match notice {
        CheckoutNotice::CloneReplaced { aside, why, lost } => {
            let lost = match lost.as_slice() {
                [] => String::new(),
                lost => format!("; not carried over: {}", lost.join(", ")),
            };
            let aside = aside.display();
            format!("the clone was damaged ({why}): it was moved to {aside} and made again{lost}")
        }
        CheckoutNotice::NotFetched { why } => format!("new commits were not fetched: {why}"),
        CheckoutNotice::SettingsRemoved { names } => {
            format!("settings that could run programs were removed: {}", names.join(", "))
        }
        CheckoutNotice::Repaired { path } => {
            format!("the links of {} were repaired", path.display())
        }
        CheckoutNotice::FolderWasGone { salvage } => {
            with_salvage("its folder was gone", salvage.as_ref())
        }
        CheckoutNotice::AttemptUndone { salvage } => {
            with_salvage("an interrupted attempt to make it was undone", salvage.as_ref())
        }
        CheckoutNotice::RemovalCompleted { salvage } => {
            with_salvage("an interrupted removal was completed", salvage.as_ref())
        }
        CheckoutNotice::LockFileRemoved { path } => {
            format!("a lock file that a killed git left was removed: {}", path.display())
        }
        CheckoutNotice::NotProvided { path, why } => {
            format!("{} was not copied or linked: {why}", path.display())
        }
        CheckoutNotice::HasSubmodules => "its submodules are not initialized".to_owned(),
    }
}

/// Describes the work that an existing worktree has from before: uncommitted changes, and an
/// operation of git that is not finished. `None` if there is neither, and for a new worktree.
pub fn earlier_work(worktree: &EnsuredWorktree) -> Option<String> {
    if worktree.origin != WorktreeOrigin::Existing {
        return None;
    }
    let WorktreeChanges { staged, modified, untracked, conflicted } = worktree.changes;
    let counts = [
        (conflicted, "conflicted"),
        (staged, "staged"),
        (modified, "modified"),
        (untracked, "untracked"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let changes =
        (!counts.is_empty()).then(|| format!("it has uncommitted changes: {}", counts.join(", ")));
    let operation = worktree.operation.map(|it| format!("a {} is in progress", it.word()));
    let parts: Vec<String> = changes.into_iter().chain(operation).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn with_salvage(what: &str, salvage: Option<&Salvage>) -> String {
    match salvage {
        Some(salvage) => format!("{what}; what was left is in {}", salvage.reference),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::GitOperation;

    use super::*;

    #[test]
    fn earlier_work_is_described_for_existing_worktrees_only() {
        let clean = EnsuredWorktree {
            path: "/w".into(),
            branch: Some("fix".to_owned()),
            head: None,
            origin: WorktreeOrigin::Existing,
            changes: WorktreeChanges::default(),
            operation: None,
            notices: Vec::new(),
        };
        let changes = WorktreeChanges { staged: 0, modified: 2, untracked: 1, conflicted: 0 };
        let dirty = EnsuredWorktree { changes, ..clean.clone() };
        let both = EnsuredWorktree { operation: Some(GitOperation::Rebase), ..dirty.clone() };
        let new = WorktreeOrigin::LocalBranch;
        let table = [
            (clean, None),
            (dirty.clone(), Some("it has uncommitted changes: 2 modified, 1 untracked")),
            (
                both,
                Some(
                    "it has uncommitted changes: 2 modified, 1 untracked; a rebase is in progress",
                ),
            ),
            (EnsuredWorktree { origin: new, ..dirty }, None),
        ];
        for (worktree, expected) in table {
            assert_eq!(earlier_work(&worktree).as_deref(), expected, "{worktree:?}");
        }
    }

    #[test]
    fn notices_are_sentences_with_the_object_and_the_reason() {
        let table = [
            (
                CheckoutNotice::CloneReplaced {
                    aside: "/c/app.git.damaged-1".into(),
                    why: "bad object".to_owned(),
                    lost: vec!["branch x".to_owned()],
                },
                "the clone was damaged (bad object): it was moved to /c/app.git.damaged-1 and made \
                 again; not carried over: branch x",
            ),
            (
                CheckoutNotice::NotFetched { why: "no route".to_owned() },
                "new commits were not fetched: no route",
            ),
            (CheckoutNotice::FolderWasGone { salvage: None }, "its folder was gone"),
            (CheckoutNotice::HasSubmodules, "its submodules are not initialized"),
        ];
        for (given, expected) in table {
            assert_eq!(notice(&given), expected);
        }
    }
}
