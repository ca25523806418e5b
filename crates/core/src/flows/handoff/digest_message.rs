//! Writes a conversation as one message to the next agent.

use super::{ConversationExcerpt, HandoffPlan, SourceConversation, gather};
use crate::error::Result;
use crate::model::{FolderState, Turn};
use crate::ports::Ports;
use crate::rules::digest::{self, DigestInput};
use crate::rules::handoff::open_questions;
use crate::rules::redaction::{KnownSecrets, Redactor};

/// A message that contains a conversation as text, and the turns that it was written from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestMessage {
    pub excerpt: ConversationExcerpt,
    /// `None` if the conversation contains no text.
    pub text: Option<String>,
}

/// Writes the newest turns of a conversation, the state of its folder and its open questions as one
/// message.
pub fn digest_message(
    ports: &Ports,
    plan: &HandoffPlan,
    source: &SourceConversation,
) -> Result<DigestMessage> {
    let limit = plan.limit(digest::DEFAULT_BUDGET_CHARACTERS);
    let excerpt = gather(ports, source, limit, &plan.known_secrets)?;
    let session = &plan.source.session;
    let folder = ports.machine.folder_state(&session.cwd);
    let folder = without_secrets(&plan.known_secrets, folder);
    // The target's earlier session has the first task already.
    let is_needed = |task: &&Turn| plan.earlier.is_none() && !task.text.is_empty();
    let input = DigestInput {
        vendor: source.vendor.support().title,
        task: excerpt.task.as_ref().filter(is_needed),
        turns: &excerpt.turns,
        is_cut: excerpt.is_cut,
        folder: &folder,
        questions: &open_questions(session.status),
    };
    let text = digest::digest(&input, limit.budget);
    Ok(DigestMessage { excerpt, text })
}

/// Returns the state of a folder without secret values.
fn without_secrets(known: &KnownSecrets, folder: FolderState) -> FolderState {
    let mut redactor = Redactor::new(known.clone());
    let mut clean = |text: String| redactor.redact(&text).into_owned();
    FolderState {
        branch: folder.branch.map(&mut clean),
        commits: folder.commits.into_iter().map(&mut clean).collect(),
        dirty: folder.dirty.into_iter().map(&mut clean).collect(),
        ..folder
    }
}
