//! Checks that the target's reader understands what was written.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::source::transcripts_of;
use super::{Destination, WrittenConversation};
use crate::error::{Error, Result};
use crate::model::Role;
use crate::ports::Files;

/// Reads the newest turns from the written file with the vendor's reader. Returns an error if they
/// differ from those that were written.
pub(super) fn read_back(
    files: &dyn Files,
    to: &Destination,
    written: &WrittenConversation,
    newest: &VecDeque<(Role, String)>,
) -> Result<()> {
    let mut wanted = newest.iter().rev();
    let mut next = wanted.next();
    let mut is_same = true;
    transcripts_of(to.vendor.as_ref())?.turns_back(files, &written.path, &mut |turn| {
        let Some((role, text)) = next else { return ControlFlow::Break(()) };
        is_same = has_same_role(*role, turn.role) && has_same_text(*role, text, &turn.text);
        next = wanted.next();
        if is_same { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    if is_same && next.is_none() {
        return Ok(());
    }
    Err(Error::internal(format!(
        "the turns read back from `{}` differ from those that were written",
        written.path.display()
    ))
    .caused_by(format!("{} would not continue the same conversation", to.vendor.id())))
}

/// Compares two texts. Vendors need not preserve whitespace at the ends, or between the arguments
/// of a tool call.
fn has_same_text(role: Role, written: &str, read: &str) -> bool {
    let arguments = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    written.trim() == read.trim()
        || role == Role::ToolCall
            && arguments(written).is_some_and(|it| Some(it) == arguments(read))
}

/// Compares two roles. Vendors may store a summary as a user's message, so these roles count as
/// equal.
fn has_same_role(written: Role, read: Role) -> bool {
    let plain = |role| if role == Role::Summary { Role::User } else { role };
    plain(written) == plain(read)
}
