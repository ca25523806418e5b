//! The rollouts that one conversation is in: a fork refers to the rollout that it goes on from.

use std::path::{Path, PathBuf};

use segue_core::ports::Files;

use super::{home, transcript};

/// Nobody forks this often.
const LONGEST: usize = 64;

/// A rollout, as far as a conversation has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    /// The number of the first line that is not the conversation's; none where all are.
    pub(super) end: Option<u64>,
}

/// Returns the parts of a conversation, the newest first. What is before one that is gone is gone,
/// too.
pub(super) fn parts(files: &dyn Files, rollout: &Path) -> Vec<Part> {
    let mut parts = vec![Part { path: rollout.to_owned(), end: None }];
    while let Some(older) = parts.last().and_then(|part| older(files, part)) {
        let is_known = parts.iter().any(|part| part.path == older.path);
        if is_known || parts.len() == LONGEST {
            break;
        }
        parts.push(older);
    }
    parts
}

fn older(files: &dyn Files, part: &Part) -> Option<Part> {
    let (id, end) = transcript::meta(files, &part.path)?.base()?;
    // A part of the older one's own beginning may be all that was taken over.
    let end = part.end.map_or(end, |newer| end.min(newer));
    Some(Part { path: home::named_rollout(files, &part.path, id)?, end: Some(end) })
}

/// Returns the other rollouts without which this one is no conversation.
pub(super) fn ancestors(files: &dyn Files, rollout: &Path) -> Vec<PathBuf> {
    parts(files, rollout).into_iter().skip(1).map(|part| part.path).collect()
}
