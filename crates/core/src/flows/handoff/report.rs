//! The result of a handoff for the caller.

use super::{ConversationExcerpt, HandoffPlan, TargetSession, WrittenConversation};
use crate::api::{HandoffReport, OutcomeNote, SessionRef};
use crate::model::HandoffForm;
use crate::rules::redaction::Removed;

/// How much is handed over, and in which form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferSummary {
    pub form: HandoffForm,
    pub turns: u64,
    /// The number of omitted turns. `None` if they were not counted.
    pub left_out: Option<u64>,
    pub characters: u64,
    /// Secrets that were removed.
    pub removed: Removed,
}

impl TransferSummary {
    /// Returns the summary of an empty conversation.
    pub fn empty(form: HandoffForm) -> Self {
        let removed = Removed::default();
        Self { form, turns: 0, left_out: Some(0), characters: 0, removed }
    }

    /// Returns the summary of turns that are handed over in this form.
    pub fn of(excerpt: &ConversationExcerpt, form: HandoffForm) -> Self {
        let (turns, characters) = (excerpt.turns.len() as u64, excerpt.characters());
        let (left_out, removed) = (excerpt.left_out, excerpt.removed.clone());
        Self { form, turns, left_out, characters, removed }
    }

    pub(super) fn of_written(written: &WrittenConversation, left_out: Option<u64>) -> Self {
        Self {
            form: HandoffForm::Native,
            turns: written.turns,
            left_out,
            characters: written.characters,
            removed: written.removed.clone(),
        }
    }
}

impl HandoffPlan {
    /// Returns the report of this handoff. A session that is not in the store has no id in it.
    pub fn report(
        &self,
        target: &TargetSession,
        summary: &TransferSummary,
        note: OutcomeNote,
    ) -> HandoffReport {
        let (session, from) = (&target.session, self.source.session.address());
        let queued = self.source.queued;
        let waiting = (queued > 0).then(|| format!("{queued} messages wait for {from}"));
        let of = SessionRef::of_draft(session);
        HandoffReport {
            from,
            to: session.address(),
            of: SessionRef { session: target.is_recorded.then_some(session.id), ..of },
            vendor: session.vendor.clone(),
            headless: session.headless,
            mode: summary.form.into(),
            turns_carried: summary.turns,
            turns_left_out: summary.left_out,
            chars: summary.characters,
            note: note.and(waiting.into()),
            dialog: None,
            redacted: summary.removed.by_kind(),
            turns: Vec::new(),
            content: None,
        }
    }
}
