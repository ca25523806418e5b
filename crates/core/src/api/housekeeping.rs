//! `segue du`, `segue sweep` and `segue reset`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{FailedTarget, MaybeKnown};
use crate::model::{DiskLevel, HousekeepingKind, RefName, SessionId};
use crate::word_enum::word_enum;

/// The query of `GET /v1/disk`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskRequest {
    /// Whether every file is examined, also in folders that were not used since the last request.
    #[serde(default)]
    pub exact: bool,
}

/// The response to `GET /v1/disk`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskReport {
    /// The sum of all items, in bytes.
    pub total: u64,
    /// How much Segue may use. `None` without a limit.
    pub budget: Option<u64>,
    pub level: MaybeKnown<DiskLevel>,
    /// What uses disk space, the largest first.
    pub items: Vec<DiskItem>,
    /// The repositories that have clones or worktrees, the largest first.
    pub repositories: Vec<DiskRepository>,
    /// Folders that cannot be read. Their contents are missing in the sums.
    pub unreadable: Vec<String>,
}

/// Something that uses disk space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskItem {
    pub kind: MaybeKnown<DiskItemKind>,
    /// The address of a session, the repository of a clone, the path of a worktree.
    pub name: String,
    pub bytes: u64,
    /// The repository of a clone or of a worktree.
    pub repository: Option<String>,
    /// The session that the launch folders belong to, or that works in the worktree.
    pub session: Option<SessionId>,
    pub path: Option<PathBuf>,
}

word_enum! {
    /// A kind of thing that uses disk space.
    pub enum DiskItemKind {
        Worktree = "worktree",
        Clone = "clone",
        /// The launch folders of a session.
        Session = "session",
        /// Copies of conversations.
        Archive = "archive",
        /// The store and everything else in the data folder.
        Store = "store",
        /// Everything else in the state folder: locks, logs and temporary files.
        State = "state",
    }
}

/// What a repository uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskRepository {
    pub repository: String,
    /// The clone and the worktrees.
    pub bytes: u64,
    pub clone: u64,
    pub worktrees: u64,
    /// The objects that only salvages need. They are part of the clone or of your own repository.
    /// `None` if git cannot count them.
    pub salvage: Option<u64>,
}

/// `POST /v1/sweep`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepRequest {
    /// Whether only a report is made.
    #[serde(default)]
    pub dry_run: bool,
}

/// The response to `POST /v1/sweep`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepReport {
    pub dry_run: bool,
    /// What was removed, or would be removed.
    pub removed: Vec<SweptItem>,
    /// What was not removed because of an error.
    pub failed: Vec<FailedTarget>,
}

/// Something that a sweep has removed, or would remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweptItem {
    pub kind: MaybeKnown<HousekeepingKind>,
    pub name: String,
    pub reason: String,
    /// The salvage of a worktree. `None` if its branch has everything, and in a dry run.
    pub salvage: Option<RefName>,
}

/// `POST /v1/reset`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResetRequest {
    pub agent: String,
    /// The URL of the repository, the path of its folder, or the end of its URL, such as
    /// `team/app`.
    pub repo: String,
    /// The number of the issue, as a number or as text.
    #[serde(deserialize_with = "number_or_text")]
    pub issue: String,
    /// `None` for the agents of all fleets that have this name.
    #[serde(default)]
    pub fleet: Option<String>,
    /// Whether a running turn is ended.
    #[serde(default)]
    pub interrupt: bool,
    /// The folder to which a path is relative.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
}

/// The response to `POST /v1/reset`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResetReport {
    pub dropped: DroppedParts,
}

/// What a reset has dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DroppedParts {
    /// Whether a worktree was reserved for the issue.
    pub worktree: bool,
    /// Whether the issue had a session.
    pub session: bool,
}

fn number_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => Ok(text),
        serde_json::Value::Number(number) if number.is_u64() => Ok(number.to_string()),
        other => Err(D::Error::custom(format!("`issue` must be a number or a text, got {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_of_a_reset_is_a_number_or_a_text() {
        let parse = |issue: &str| {
            let body = format!(r#"{{"agent": "a", "repo": "r", "issue": {issue}}}"#);
            serde_json::from_str::<ResetRequest>(&body).map(|it| it.issue)
        };
        assert_eq!(parse("17").unwrap(), "17");
        assert_eq!(parse("\"PROJ-17\"").unwrap(), "PROJ-17");
        for bad in ["-1", "1.5", "null", "[]", "true"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
