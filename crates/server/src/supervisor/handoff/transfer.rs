//! Transfers the conversation after the old agent has ended.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{HandoffReport, OutcomeNote};
use segue_core::flows::handoff::HandoffPlan;
use segue_core::rules::handoff::HandoffMethod;

use super::super::Supervisor;
use super::claims::HandoffClaim;
use super::native::{NativeResult, transfer_natively};
use super::start_target::Transfer;
use super::{end_agent, fall_back};
use crate::blocking::failed;

/// Transfers the conversation and starts the target. Runs as its own task with the claim, so that
/// the handoff is completed even if the client disconnects.
pub(super) async fn transfer(
    supervisor: &Arc<Supervisor>,
    plan: HandoffPlan,
    claim: HandoffClaim,
) -> Result<HandoffReport> {
    let supervisor = Arc::clone(supervisor);
    let task = tokio::spawn(async move {
        let _claim = claim;
        run(&supervisor, plan).await
    });
    task.await.map_err(failed)?
}

async fn run(supervisor: &Arc<Supervisor>, mut plan: HandoffPlan) -> Result<HandoffReport> {
    let ports = &supervisor.ports;
    if let Some(earlier) = &mut plan.earlier {
        // The process of that session would write to the transcript at the same time.
        end_agent(supervisor, earlier.session.id, false).await?;
        earlier.read_again(ports)?;
    }
    let target = plan.target_session(ports).await?;
    // No other request may start the new session until the conversation has arrived.
    let _target_claim = match target.is_new {
        true => Some(supervisor.handoff_claims.claim(std::iter::once(&target.session))?),
        false => None,
    };
    let method = plan.method(ports, &target)?;
    let transfer = Transfer { supervisor: Arc::clone(supervisor), plan: Arc::new(plan), target };
    run_method(transfer, method).await
}

async fn run_method(mut transfer: Transfer, method: HandoffMethod) -> Result<HandoffReport> {
    let else_digest = match method {
        HandoffMethod::Plain => return fall_back::start_without_message(transfer).await,
        HandoffMethod::Digest => {
            return fall_back::send_digest(transfer, OutcomeNote::default()).await;
        }
        HandoffMethod::Native { else_digest } => else_digest,
    };
    match transfer_natively(&mut transfer).await? {
        NativeResult::Confirmed(report) => Ok(*report),
        NativeResult::NothingToWrite => fall_back::start_without_message(transfer).await,
        NativeResult::Failed(why) if else_digest => {
            fall_back::send_digest(transfer, OutcomeNote::of_error(&why)).await
        }
        NativeResult::Failed(why) => {
            transfer.remove_new_session().await;
            Err(why)
        }
    }
}
