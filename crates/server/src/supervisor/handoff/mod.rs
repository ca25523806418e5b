//! Carries a conversation over to another vendor: the old agent is stopped, the new one continues.

mod again;
mod carriage;
mod changed_vendor;
mod on_the_way;
mod origin;
mod seat;
mod target;
mod way_back;

use std::sync::Arc;

use segue_core::api::{DryRun, HandoffReport, HandoffRequest, WaitTarget};
use segue_core::model::{Principal, RequestKey, SessionId};
use segue_core::ports::SessionQuery;
use segue_core::rules::digest::LEAST_BUDGET;
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};

use self::carriage::Carriage;
use self::on_the_way::Claim;
use self::origin::Origin;
use self::target::Target;
use super::{SessionRequest, Supervisor, Waiter};

pub(super) use self::changed_vendor::{Carried, carry_to};
pub(super) use self::on_the_way::OnTheWay;

/// Carries a conversation over. A dry run only reports what would be carried.
pub(crate) async fn handoff(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: HandoffRequest,
) -> Result<HandoffReport> {
    principal.allow(RestrictedAction::Everything)?;
    if let Some(report) = again::carried_before(supervisor, key, &request).await? {
        return Ok(report);
    }
    check_budget(request.budget)?;
    let target = Target::named(supervisor, &request).await?;
    let origin = origin::find(supervisor, principal, &request).await?;
    if request.dry_run != DryRun::No {
        return Carriage::new(supervisor, origin, target, &request).await?.preview().await;
    }
    // Reject an impossible handoff before the old agent is stopped.
    let intended = Carriage::new(supervisor, origin.clone(), target.clone(), &request).await?;
    intended.check().await?;
    let claim = supervisor.on_the_way.claim(intended.sessions())?;
    let origin = origin.taken_in(supervisor).await?;
    let back =
        format!("run `segue resume {} --stopped` to go on as before", origin.session.address());
    carry(supervisor, (origin, claim, key), target, &request)
        .await
        .map_err(|error| if error.hints.contains(&back) { error } else { error.hint(back) })
}

async fn carry(
    supervisor: &Arc<Supervisor>,
    (origin, claim, key): (Origin, Claim, Option<RequestKey>),
    target: Target,
    request: &HandoffRequest,
) -> Result<HandoffReport> {
    quiet(supervisor, origin.session.id, request.interrupt).await?;
    // Read the conversation again: the last turn of the old agent belongs to it.
    let origin = origin.looked_at_again(supervisor).await?;
    let carriage = Carriage::new(supervisor, origin, target, request).await?.asked_by(key);
    // Runs as its own task, so that the handoff is completed even if the client goes away.
    let carried = tokio::spawn(async move {
        let _until_it_is_done = claim;
        carriage.carry().await
    });
    carried.await.map_err(|error| Error::internal("a handoff was cut short").caused_by(error))?
}

fn check_budget(budget: Option<usize>) -> Result<()> {
    if budget.is_none_or(|budget| budget >= LEAST_BUDGET) {
        return Ok(());
    }
    Err(Error::usage("with so few characters nothing can be told")
        .hint(format!("use `--budget {LEAST_BUDGET}` or more")))
}

/// Stops an agent, after its current turn or at once. It does not wait for the turn of an agent
/// that asks a person.
pub(super) async fn quiet(
    supervisor: &Arc<Supervisor>,
    id: SessionId,
    at_once: bool,
) -> Result<()> {
    let sessions = supervisor.ports.store.sessions(&SessionQuery::id(id)).await?;
    let runs = sessions.iter().any(|it| it.open.is_some());
    if runs && !at_once {
        let target = WaitTarget::Rest;
        supervisor.ask(id, |reply| SessionRequest::Wait(Waiter::Status { target, reply })).await?;
    }
    supervisor.end(id).await?;
    Ok(())
}
