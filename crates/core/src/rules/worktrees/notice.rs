//! Sentences about worktrees for the user.

use crate::model::{CheckoutNotice, Salvage, WorktreeOrigin};

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

fn with_salvage(what: &str, salvage: Option<&Salvage>) -> String {
    match salvage {
        Some(salvage) => format!("{what}; what was left is in {}", salvage.reference),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
