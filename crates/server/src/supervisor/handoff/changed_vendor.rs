//! Hands an agent's conversation over after its vendor was changed in the project file.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{AgentOutcome, HandoffReport, Outcome, OutcomeNote};
use segue_core::flows::handoff::{HandoffPlan, HandoffTarget};
use segue_core::flows::naming;
use segue_core::model::{Environment, Session, SessionId};

use super::super::Supervisor;
use super::{end_agent, source, transfer};

/// The result of handing an agent's conversation over to its new vendor.
pub(in super::super) enum ChangedVendor {
    HandedOver(Box<AgentOutcome>),
    /// All earlier conversations of the agent are empty.
    NothingToHandOver,
    /// Another request created the agent's session meanwhile.
    SessionExists,
}

/// Hands the first of these conversations that is not empty over to a session that does not exist
/// yet.
pub(in super::super) async fn hand_over_to_changed_vendor(
    supervisor: &Arc<Supervisor>,
    draft: &Session,
    candidates: &[SessionId],
    environment: &Environment,
) -> Result<ChangedVendor> {
    let ports = &supervisor.ports;
    let target = HandoffTarget::of_draft(ports, draft.clone(), environment.clone())?;
    for id in candidates {
        let Some(session) = ports.store.session(*id).await? else { continue };
        let source = source::read(supervisor, session).await?;
        if !source.has_messages(ports)? {
            continue;
        }
        let claim = supervisor.handoff_claims.claim_after_others(&source.session).await;
        if naming::is_taken(ports, &draft.fleet, &draft.name).await? {
            return Ok(ChangedVendor::SessionExists);
        }
        end_agent(supervisor, *id, false).await?;
        let source = source::read_again(supervisor, source).await?;
        let plan = HandoffPlan::to_new_session(source, target);
        let report = transfer::transfer(supervisor, plan, claim).await?;
        return Ok(ChangedVendor::HandedOver(Box::new(outcome(&report))));
    }
    Ok(ChangedVendor::NothingToHandOver)
}

fn outcome(report: &HandoffReport) -> AgentOutcome {
    let HandoffReport { from, mode, turns_carried, .. } = report;
    let carried = format!("from {from} ({mode}, {turns_carried} turns)");
    AgentOutcome {
        of: report.of.clone(),
        vendor: report.vendor.clone(),
        outcome: if report.dialog.is_some() { Outcome::Waiting } else { Outcome::HandedOver },
        vendor_session_id: None,
        note: OutcomeNote::new(carried).and(report.note.clone()),
        dialog: report.dialog.clone(),
        lost: false,
    }
}
