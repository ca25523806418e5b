//! What Segue removes by itself, and how full its folders are.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AgentWorktree, CopiedConversation, LaunchId, RepositoryUrl, SessionId};
use crate::word_enum::word_enum;

word_enum! {
    /// How full Segue's folders are, compared with the user's budget.
    pub enum DiskLevel {
        Normal = "normal",
        /// The user's warning level is reached.
        Warning = "warning",
        /// The budget is used up.
        Full = "full",
    }
}

word_enum! {
    /// A kind of thing that uses disk space and that can be removed.
    pub enum HousekeepingKind {
        Worktree = "worktree",
        Archive = "archive",
        Launch = "launch",
        Clone = "clone",
        Session = "session",
        /// Headers and bodies of deliveries.
        Delivery = "delivery",
    }
}

/// What a new daemon has to know about housekeeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HousekeepingState {
    /// When the next sweep is due. `None` before the first daemon with a sweeper.
    pub next_sweep: Option<Timestamp>,
    /// The level that was reported last.
    pub disk_level: DiskLevel,
}

impl Default for HousekeepingState {
    fn default() -> Self {
        Self { next_sweep: None, disk_level: DiskLevel::Normal }
    }
}

/// The facts about a launch that decide about its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchIndexEntry {
    pub id: LaunchId,
    pub session: SessionId,
    /// 1 for the session's first launch.
    pub number: u32,
    /// `None` while no end is recorded.
    pub ended_at: Option<Timestamp>,
}

/// A folder that has, or had, a shared clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedClone {
    pub path: PathBuf,
    /// `None` if its settings do not name the URL that belongs to the folder.
    pub url: Option<RepositoryUrl>,
    /// When its refs, objects or worktrees last changed.
    pub used_at: Timestamp,
    pub content: CloneContent,
}

/// What the folder of a shared clone has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloneContent {
    Complete,
    /// What an interrupted clone or an interrupted removal has left.
    Unfinished,
    /// A damaged clone that was replaced. It is kept for the user.
    Damaged,
}

/// Something that housekeeping can remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HousekeepingItem {
    Worktree(Box<AgentWorktree>),
    Archive(CopiedConversation),
    Launch(LaunchIndexEntry),
    Clone(SharedClone),
}

impl HousekeepingItem {
    pub fn kind(&self) -> HousekeepingKind {
        match self {
            Self::Worktree(_) => HousekeepingKind::Worktree,
            Self::Archive(_) => HousekeepingKind::Archive,
            Self::Launch(_) => HousekeepingKind::Launch,
            Self::Clone(_) => HousekeepingKind::Clone,
        }
    }

    /// Returns the name for people: a path or an id.
    pub fn name(&self) -> String {
        match self {
            Self::Worktree(worktree) => worktree.path.display().to_string(),
            Self::Archive(copy) => {
                format!("{}:{}", copy.conversation.vendor, copy.conversation.id)
            }
            Self::Launch(launch) => launch.id.to_string(),
            Self::Clone(clone) => clone.path.display().to_string(),
        }
    }
}
