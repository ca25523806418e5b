//! Lists sessions.

use segue_core::Result;
use segue_core::api::{ListRequest, SessionList};
use segue_core::flows::list::{self, Listed};
use segue_core::flows::open_elsewhere;
use segue_core::model::Principal;

use super::Supervisor;

/// Returns the sessions that the caller may reach and that match the request, oldest first.
pub(crate) async fn list(
    supervisor: &Supervisor,
    principal: &Principal,
    request: &ListRequest,
) -> Result<SessionList> {
    let places = open_elsewhere::places(&supervisor.ports).await?;
    let open_elsewhere = supervisor.open_elsewhere(places).await?;
    let Listed { sessions, count, next } =
        list::list(&supervisor.ports, principal, request, &open_elsewhere).await?;
    let sessions = supervisor.views(&sessions, &open_elsewhere).await?;
    let hidden = count.saturating_sub(sessions.len());
    Ok(SessionList { sessions, hidden, next: next.map(|it| it.to_string()) })
}
