//! Carrying a conversation over to another vendor: the old agent rests, the new one goes on.

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
use segue_core::model::{RequestKey, SessionId};
use segue_core::rules::digest::LEAST_BUDGET;
use segue_core::rules::scope::{Deed, Scope};
use segue_core::{Error, Result};

use self::carriage::Carriage;
use self::on_the_way::Claim;
use self::origin::Origin;
use self::target::Target;
use super::{Errand, Message, Supervisor, Waiter};

pub(super) use self::changed_vendor::{Carried, carry_to};
pub(super) use self::on_the_way::OnTheWay;

/// Carries a conversation over, or says what would be carried.
pub(crate) async fn handoff(
    supervisor: &Arc<Supervisor>,
    scope: &Scope,
    key: Option<RequestKey>,
    request: HandoffRequest,
) -> Result<HandoffReport> {
    scope.allow(Deed::Everything)?;
    if let Some(report) = again::carried_before(supervisor, key, &request).await? {
        return Ok(report);
    }
    check_budget(request.budget)?;
    let target = Target::named(supervisor, &request).await?;
    let origin = origin::find(supervisor, scope, &request).await?;
    if request.dry_run != DryRun::No {
        return Carriage::new(supervisor, origin, target, &request).await?.preview().await;
    }
    // What cannot be is refused while the old agent still works.
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
    // What was said in its last turn is part of it.
    let origin = origin.looked_at_again(supervisor).await?;
    let carriage = Carriage::new(supervisor, origin, target, request).await?.asked_by(key);
    // Whoever asked may go away: what was begun is ended all the same.
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

/// Ends an agent at the end of its turn, or at once.
pub(super) async fn quiet(
    supervisor: &Arc<Supervisor>,
    id: SessionId,
    at_once: bool,
) -> Result<()> {
    let summary = supervisor.ports.store.sessions().await?;
    let runs = summary.iter().any(|it| it.session.id == id && it.open.is_some());
    if runs && !at_once {
        let target = WaitTarget::Rest;
        supervisor
            .ask(id, |reply| Message::Errand(Errand::Wait(Waiter::Status { target, reply })))
            .await?;
    }
    supervisor.end(id).await?;
    Ok(())
}
