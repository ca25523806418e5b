//! Decides what the branch of a new worktree is made from.

use std::path::PathBuf;

use crate::error::Error;
use crate::model::{BranchName, BranchStart, CommitId, RefName};
use crate::rules::shell::quoted;

/// The facts about a wanted branch and its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchFacts {
    pub wanted: BranchName,
    pub start: BranchStart,
    /// The names of all local branches.
    pub local: Vec<String>,
    /// The names of all branches of the remote. Empty without a remote.
    pub remote: Vec<String>,
    /// The worktree that has the branch checked out. It is not the wanted worktree.
    pub checked_out_at: Option<PathBuf>,
    /// If the branch exists: what it was made from.
    pub pull_request: PullRequestBranch,
    /// The commit at which a new branch starts, and the name of the revision. `None` if the
    /// repository has no commit, or if the revision is not needed.
    pub base: Option<(String, CommitId)>,
}

/// Whether an existing branch belongs to a pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PullRequestBranch {
    #[default]
    No,
    Of(RefName),
}

/// What a branch is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchCase {
    /// The local branch exists.
    Local,
    /// The remote's branch of the same name exists.
    Remote,
    New {
        base: String,
        commit: CommitId,
    },
    PullRequest {
        reference: RefName,
        commit: CommitId,
    },
    /// The repository has no commit.
    First,
}

/// Why a branch cannot be checked out in a new worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchConflict {
    /// Git allows a branch in one worktree only.
    CheckedOut { branch: BranchName, path: PathBuf },
    /// The two names are the same file on some file systems.
    DiffersOnlyInCase { branch: BranchName, other: String },
    /// `a` and `a/b` cannot both be branches.
    SharesPath { branch: BranchName, other: String },
    /// The branch exists and does not belong to the pull request.
    NotOfPullRequest { branch: BranchName, reference: RefName },
}

/// Decides what the branch of a new worktree is made from. A branch that exists is never moved.
pub fn branch_case(facts: &BranchFacts) -> Result<BranchCase, BranchConflict> {
    let branch = facts.wanted.clone();
    if facts.local.iter().any(|name| name == branch.as_str()) {
        return existing(facts);
    }
    let ignoring_case = |name: &&String| name.to_lowercase() == branch.as_str().to_lowercase();
    let is_other = |name: &&String| name.as_str() != branch.as_str();
    let other = facts.local.iter().chain(&facts.remote).filter(is_other).find(ignoring_case);
    if let Some(other) = other {
        return Err(BranchConflict::DiffersOnlyInCase { branch, other: other.clone() });
    }
    if let Some(other) = facts.local.iter().find(|name| shares_path(name, branch.as_str())) {
        return Err(BranchConflict::SharesPath { branch, other: other.clone() });
    }
    Ok(new(facts))
}

fn existing(facts: &BranchFacts) -> Result<BranchCase, BranchConflict> {
    let branch = facts.wanted.clone();
    if let Some(path) = facts.checked_out_at.clone() {
        return Err(BranchConflict::CheckedOut { branch, path });
    }
    match (&facts.start, &facts.pull_request) {
        (BranchStart::PullRequest(wanted), PullRequestBranch::Of(known)) if wanted == known => {
            Ok(BranchCase::Local)
        }
        (BranchStart::PullRequest(reference), _) => {
            Err(BranchConflict::NotOfPullRequest { branch, reference: reference.clone() })
        }
        (BranchStart::DefaultBranch | BranchStart::Base(_), _) => Ok(BranchCase::Local),
    }
}

fn new(facts: &BranchFacts) -> BranchCase {
    let is_remote = facts.remote.iter().any(|name| name == facts.wanted.as_str());
    match (&facts.start, &facts.base) {
        (BranchStart::PullRequest(reference), Some((_, commit))) => {
            BranchCase::PullRequest { reference: reference.clone(), commit: commit.clone() }
        }
        _ if is_remote => BranchCase::Remote,
        (_, Some((base, commit))) => BranchCase::New { base: base.clone(), commit: commit.clone() },
        (_, None) => BranchCase::First,
    }
}

/// Returns whether one name is a folder in the path of the other.
fn shares_path(one: &str, other: &str) -> bool {
    let is_below = |longer: &str, shorter: &str| {
        longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('/'))
    };
    is_below(one, other) || is_below(other, one)
}

impl From<BranchConflict> for Error {
    fn from(conflict: BranchConflict) -> Self {
        match conflict {
            BranchConflict::CheckedOut { branch, path } => {
                let path = quoted(&path);
                Self::conflict(format!("branch `{branch}` is checked out at `{path}`"))
                    .caused_by("git allows a branch in one worktree at a time")
                    .hint("use another branch")
                    .hint(format!("run `git -C {path} switch OTHER` to free it"))
            }
            BranchConflict::DiffersOnlyInCase { branch, other } => {
                Self::conflict(format!("branch `{branch}` differs only in case from `{other}`"))
                    .hint(format!("use `{other}`, or a name that differs in more"))
            }
            BranchConflict::SharesPath { branch, other } => {
                Self::conflict(format!("branch `{branch}` cannot be made beside branch `{other}`"))
                    .caused_by(
                        "git stores branches as files, and one would be a folder of the other",
                    )
                    .hint("use another name")
            }
            BranchConflict::NotOfPullRequest { branch, reference } => Self::conflict(format!(
                "branch `{branch}` exists and does not belong to `{reference}`"
            ))
            .hint("use another name for the branch of the pull request"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(wanted: &str, local: &[&str], remote: &[&str]) -> BranchFacts {
        let owned = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        BranchFacts {
            wanted: BranchName::parse(wanted).unwrap(),
            start: BranchStart::DefaultBranch,
            local: owned(local),
            remote: owned(remote),
            checked_out_at: None,
            pull_request: PullRequestBranch::No,
            base: Some(("origin/main".to_owned(), commit())),
        }
    }

    fn commit() -> CommitId {
        CommitId::parse(&"1".repeat(40)).unwrap()
    }

    #[test]
    fn case_of_a_branch_depends_on_what_the_repository_has() {
        let (local, remote) = (Ok(BranchCase::Local), Ok(BranchCase::Remote));
        let new = Ok(BranchCase::New { base: "origin/main".to_owned(), commit: commit() });
        let branch = |name: &str| BranchName::parse(name).unwrap();
        let case = |name: &str, other: &str| {
            let (branch, other) = (branch(name), other.to_owned());
            Err(BranchConflict::DiffersOnlyInCase { branch, other })
        };
        let path = |name: &str, other: &str| {
            let (branch, other) = (branch(name), other.to_owned());
            Err(BranchConflict::SharesPath { branch, other })
        };
        let table: [(&str, &[&str], &[&str], _); 13] = [
            ("x", &["x"], &[], local.clone()),
            ("x", &["x"], &["x"], local.clone()),
            ("x", &["main"], &["x"], remote.clone()),
            ("x", &["main"], &["main"], new.clone()),
            ("x", &["X"], &[], case("x", "X")),
            ("Fix/A", &[], &["fix/a"], case("Fix/A", "fix/a")),
            ("x", &["X", "x"], &[], local),
            ("x", &["X"], &["x"], case("x", "X")),
            ("a", &["a/b"], &[], path("a", "a/b")),
            ("a/b", &["a"], &[], path("a/b", "a")),
            ("a/b", &["a/c", "ab", "a-b"], &[], new.clone()),
            ("a/b", &["main"], &["a/b", "main"], remote),
            // A conflict with the remote would only matter for a push.
            ("a", &[], &["a/b"], new),
        ];
        for (wanted, local, remote, expected) in table {
            let found = branch_case(&facts(wanted, local, remote));
            assert_eq!(found, expected, "{wanted} {local:?} {remote:?}");
        }
    }

    #[test]
    fn repository_without_commits_gets_its_first_branch() {
        let facts = BranchFacts { base: None, ..facts("x", &[], &[]) };
        assert_eq!(branch_case(&facts), Ok(BranchCase::First));
    }

    #[test]
    fn branch_that_is_checked_out_elsewhere_is_refused_with_the_folder() {
        let at = Some(PathBuf::from("/home/me/app"));
        let facts = BranchFacts { checked_out_at: at, ..facts("x", &["x"], &[]) };
        let error = Error::from(branch_case(&facts).unwrap_err());
        assert_eq!(error.message, "branch `x` is checked out at `/home/me/app`");
    }

    #[test]
    fn branch_of_a_pull_request_is_made_once_and_then_kept() {
        let reference = RefName::parse("refs/pull/7/head").unwrap();
        let other = RefName::parse("refs/pull/8/head").unwrap();
        let start = BranchStart::PullRequest(reference.clone());
        let new = BranchFacts { start: start.clone(), ..facts("x", &[], &["x"]) };
        let case = BranchCase::PullRequest { reference: reference.clone(), commit: commit() };
        assert_eq!(branch_case(&new), Ok(case));
        let existing = |of| {
            let facts = facts("x", &["x"], &[]);
            branch_case(&BranchFacts { start: start.clone(), pull_request: of, ..facts })
        };
        assert_eq!(existing(PullRequestBranch::Of(reference.clone())), Ok(BranchCase::Local));
        let refused =
            BranchConflict::NotOfPullRequest { branch: BranchName::parse("x").unwrap(), reference };
        assert_eq!(existing(PullRequestBranch::Of(other)), Err(refused.clone()));
        assert_eq!(existing(PullRequestBranch::No), Err(refused));
    }
}
