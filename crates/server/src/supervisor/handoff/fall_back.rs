//! Starts the target without a transcript of its own: with a digest, or without any message.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{HandoffReport, Outcome, OutcomeNote};
use segue_core::flows::handoff::{DigestMessage, TransferSummary, digest_message};
use segue_core::model::HandoffForm;

use super::start_target::{Transfer, did_not_start};
use crate::blocking::blocking;

/// Starts the target with one message that contains the conversation as text. `why` states why the
/// conversation was not transferred in the target's own format.
pub(super) async fn send_digest(transfer: Transfer, why: OutcomeNote) -> Result<HandoffReport> {
    let Some(source) = transfer.plan.source.conversation.clone() else {
        return start_without_message(transfer).await;
    };
    let (ports, plan) = (transfer.supervisor.ports.clone(), Arc::clone(&transfer.plan));
    let digest = blocking(move || digest_message(&ports, &plan, &source)).await?;
    let DigestMessage { excerpt, text: Some(text) } = digest else {
        return start_without_message(transfer).await;
    };
    let characters = text.chars().count() as u64;
    let summary = TransferSummary::of(&excerpt, HandoffForm::Digest);
    start(transfer, TransferSummary { characters, ..summary }, Some(text), why).await
}

/// Starts the target without a message, because the conversation is empty.
pub(super) async fn start_without_message(transfer: Transfer) -> Result<HandoffReport> {
    let why = OutcomeNote::new("the conversation was empty");
    start(transfer, TransferSummary::empty(HandoffForm::Plain), None, why).await
}

/// Starts the target with a message. If it has an earlier conversation, it continues there.
async fn start(
    mut transfer: Transfer,
    summary: TransferSummary,
    message: Option<String>,
    note: OutcomeNote,
) -> Result<HandoffReport> {
    let outcome = if !transfer.target.is_new {
        transfer.continue_earlier(&summary, message).await?
    } else if message.is_none() && transfer.target.session.headless {
        transfer.record(&summary).await?;
        return Ok(transfer.report(&summary, note));
    } else {
        transfer.start_new(&summary, message).await?
    };
    if outcome.outcome == Outcome::Refused {
        // Stop this session. Otherwise it could be restarted while the old session continues the
        // conversation.
        transfer.supervisor.end(transfer.target.session.id).await?;
        let (to, from) = (&transfer.target.session, &transfer.plan.source.session);
        return Err(did_not_start(&to.address(), &from.address(), outcome.note.text));
    }
    let report = transfer.report(&summary, note.and(outcome.note));
    Ok(HandoffReport { dialog: outcome.dialog, ..report })
}
