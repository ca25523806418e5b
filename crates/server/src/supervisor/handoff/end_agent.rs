//! Ends an agent before its conversation is handed over.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::WaitTarget;
use segue_core::model::SessionId;
use segue_core::ports::SessionQuery;

use super::super::{SessionRequest, Supervisor, Waiter};

/// Stops an agent, after its current turn or at once. Does not wait for a turn in which the agent
/// asks a person.
pub(in super::super) async fn end_agent(
    supervisor: &Arc<Supervisor>,
    id: SessionId,
    at_once: bool,
) -> Result<()> {
    let sessions = supervisor.ports.store.sessions(&SessionQuery::id(id)).await?;
    let is_running = sessions.iter().any(|it| it.open.is_some());
    if is_running && !at_once {
        let target = WaitTarget::Rest;
        supervisor.ask(id, |reply| SessionRequest::Wait(Waiter::Status { target, reply })).await?;
    }
    supervisor.end(id).await?;
    Ok(())
}
