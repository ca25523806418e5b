//! Interrupts the turn of an agent.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{InterruptReport, InterruptRequest};
use segue_core::flows::{bringing_back, select};
use segue_core::model::{Principal, RequestKey};

use super::{SessionRequest, Supervisor};

/// Interrupts the turn of the session that a request names.
pub(crate) async fn interrupt(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: Option<RequestKey>,
    InterruptRequest { cwd, session }: InterruptRequest,
) -> Result<InterruptReport> {
    let found = select::find(&supervisor.ports, principal, &session, &cwd).await?;
    principal.allow_interrupt(found.session.id, found.session.parent)?;
    bringing_back::refuse_handed_over(&supervisor.ports, &found, "interrupt").await?;
    let interrupt = |reply| SessionRequest::Interrupt { request, reply };
    supervisor.ask(found.session.id, interrupt).await
}
