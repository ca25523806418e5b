//! Finds the rollouts that contain one conversation: a fork refers to the rollout that it
//! continues.

use std::path::{Path, PathBuf};

use segue_core::ports::Files;

use super::{paths, transcript};

/// Maximum number of rollouts in one conversation. It limits the work for a
/// damaged chain.
const MOST_PARTS: usize = 64;

/// A rollout, or the first part of one, that belongs to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RolloutPart {
    pub(super) path: PathBuf,
    /// The ordinal of the first line that does not belong to the conversation. `None` if all lines
    /// belong.
    pub(super) end: Option<u64>,
}

/// Returns the parts of a conversation, the newest first. If a rollout is missing, the parts before
/// it are missing, too.
pub(super) fn parts(files: &dyn Files, rollout: &Path) -> Vec<RolloutPart> {
    let mut parts = vec![RolloutPart { path: rollout.to_owned(), end: None }];
    while let Some(older_part) = parts.last().and_then(|part| older_part(files, part)) {
        let is_known = parts.iter().any(|part| part.path == older_part.path);
        if is_known || parts.len() == MOST_PARTS {
            break;
        }
        parts.push(older_part);
    }
    parts
}

fn older_part(files: &dyn Files, part: &RolloutPart) -> Option<RolloutPart> {
    let (id, end) = transcript::header(files, &part.path)?.base()?;
    // A fork can begin before the first line of this part. Then the older rollout is cut off at the
    // same line.
    let end = part.end.map_or(end, |newer| end.min(newer));
    Some(RolloutPart { path: paths::rollout_with_own_id(files, &part.path, id)?, end: Some(end) })
}

/// Returns the other rollouts that this one needs to be a complete conversation.
pub(super) fn ancestors(files: &dyn Files, rollout: &Path) -> Vec<PathBuf> {
    parts(files, rollout).into_iter().skip(1).map(|part| part.path).collect()
}
