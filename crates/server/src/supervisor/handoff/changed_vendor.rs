//! Carries an agent's conversation over after its vendor was changed in the project file.

use std::sync::Arc;

use segue_core::api::{AgentOutcome, HandoffReport, Outcome};
use segue_core::flows::{handoff, naming};
use segue_core::model::{Environment, Session, SessionId};
use segue_core::{Error, Result};

use super::super::Supervisor;
use super::carriage::Carriage;
use super::origin::Origin;
use super::quiet;
use super::target::Target;

/// The result of carrying an agent's conversation to its new vendor.
pub(in super::super) enum Carried {
    Done(Box<AgentOutcome>),
    /// All earlier conversations of the agent are empty.
    NothingToCarry,
    /// Another request created the agent's session meanwhile.
    SessionExists,
}

/// Carries the first of these conversations that is not empty to a session that does not exist yet.
pub(in super::super) async fn carry_to(
    supervisor: &Arc<Supervisor>,
    draft: &Session,
    candidates: &[SessionId],
    environment: &Environment,
) -> Result<Carried> {
    let target = Target::drafted(supervisor, draft.clone(), environment.clone())?;
    for id in candidates {
        let Some(session) = supervisor.ports.store.session(*id).await? else { continue };
        let origin = Origin::of(supervisor, session).await?;
        if !has_words(supervisor, &origin)? {
            continue;
        }
        let claim = supervisor.on_the_way.claim_after_others(&origin.session).await;
        if exists(supervisor, draft).await? {
            return Ok(Carried::SessionExists);
        }
        quiet(supervisor, *id, false).await?;
        let origin = origin.looked_at_again(supervisor).await?;
        let carriage = Carriage::to_draft(supervisor, origin, target);
        // Runs as its own task, so that the handoff is completed even if the client goes away.
        let carried = tokio::spawn(async move {
            let _until_it_is_done = claim;
            carriage.carry().await
        });
        let cut_short = |error| Error::internal("a handoff was cut short").caused_by(error);
        let report = carried.await.map_err(cut_short)??;
        return Ok(Carried::Done(Box::new(outcome(&report))));
    }
    Ok(Carried::NothingToCarry)
}

async fn exists(supervisor: &Arc<Supervisor>, draft: &Session) -> Result<bool> {
    naming::is_taken(&supervisor.ports, &draft.fleet, &draft.name).await
}

fn has_words(supervisor: &Arc<Supervisor>, origin: &Origin) -> Result<bool> {
    match &origin.source {
        Some(source) => handoff::has_words(&supervisor.ports, source),
        None => Ok(false),
    }
}

fn outcome(report: &HandoffReport) -> AgentOutcome {
    let HandoffReport { from, mode, turns_carried, .. } = report;
    let carried = format!("from {from} ({mode}, {turns_carried} turns)");
    let note = report.note.iter().fold(carried, |carried, note| format!("{carried}; {note}"));
    AgentOutcome {
        of: report.of.clone(),
        vendor: report.vendor.clone(),
        outcome: if report.dialog.is_some() { Outcome::Waiting } else { Outcome::HandedOver },
        vendor_session_id: None,
        note: Some(note),
        dialog: report.dialog.clone(),
        lost: false,
    }
}
