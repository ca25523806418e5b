//! Transfers the conversation in the target's own format.

use std::sync::Arc;

use segue_core::api::{HandoffReport, Outcome, OutcomeNote};
use segue_core::flows::handoff::{self, TransferSummary, WrittenConversation};
use segue_core::flows::launch::LaunchRequest;
use segue_core::{Error, Result};

use super::start_target::Transfer;
use crate::blocking::blocking;

/// The result of a transfer in the target's own format.
pub(super) enum NativeResult {
    /// The target has the history.
    Confirmed(Box<HandoffReport>),
    NothingToWrite,
    /// The attempt was undone. Only the session remains, if it was recorded.
    Failed(Error),
}

/// Gathers the turns, writes them, records the handoff, starts the target, and confirms that it has
/// the history. If it has not, its process is ended and the write is undone.
pub(super) async fn transfer_natively(transfer: &mut Transfer) -> Result<NativeResult> {
    let (written, summary) = match write(transfer).await? {
        Ok(written) => written,
        Err(result) => return Ok(result),
    };
    if let Err(error) = transfer.record(&summary).await {
        undo(transfer, written).await?;
        return Err(error);
    }
    if transfer.target.session.headless {
        let note = OutcomeNote::new("its next message begins its next turn");
        return Ok(NativeResult::Confirmed(Box::new(transfer.report(&summary, note))));
    }
    let request = LaunchRequest {
        import: written.is_import.then(|| written.path.clone()),
        message: transfer.plan.first_message(),
        ..LaunchRequest::resume(transfer.target.conversation.clone(), transfer.environment())
    };
    let outcome = transfer.launch(request).await?;
    if outcome.outcome != Outcome::Refused && transfer.has_history()? {
        let dialog = outcome.dialog;
        let report = transfer.report(&summary, outcome.note);
        return Ok(NativeResult::Confirmed(Box::new(HandoffReport { dialog, ..report })));
    }
    transfer.supervisor.end(transfer.target.session.id).await?;
    undo(transfer, written).await?;
    let vendor = transfer.plan.target.vendor.id();
    let why = Error::vendor(format!("`{vendor}` did not continue the conversation"));
    Ok(NativeResult::Failed(why.caused_by(outcome.note.text.unwrap_or_default())))
}

/// Gathers the turns, and writes them in the target's own format.
async fn write(
    transfer: &Transfer,
) -> Result<std::result::Result<(WrittenConversation, TransferSummary), NativeResult>> {
    let (ports, plan) = (transfer.supervisor.ports.clone(), Arc::clone(&transfer.plan));
    let content = blocking(move || plan.native_content(&ports)).await?;
    let Some(content) = content else { return Ok(Err(NativeResult::NothingToWrite)) };
    let (ports, plan) = (transfer.supervisor.ports.clone(), Arc::clone(&transfer.plan));
    let target = transfer.target.clone();
    Ok(match blocking(move || plan.write(&ports, &target, &content)).await {
        Ok(Some(written)) => Ok(written),
        Ok(None) => Err(NativeResult::NothingToWrite),
        Err(error) => Err(NativeResult::Failed(error)),
    })
}

async fn undo(transfer: &Transfer, written: WrittenConversation) -> Result<()> {
    let ports = transfer.supervisor.ports.clone();
    blocking(move || handoff::undo(&ports, &written)).await
}
