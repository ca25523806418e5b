//! Changes the settings of a session for a person.

use std::sync::Arc;

use segue_core::api::{SettingsReport, SettingsRequest};
use segue_core::flows::settings::{self, NewSettings};
use segue_core::model::Principal;
use segue_core::ports::SessionQuery;
use segue_core::{Error, Result};

use super::{SessionRequest, Supervisor};

/// Changes settings. The agent gets them with its next message.
pub(crate) async fn change_settings(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: SettingsRequest,
) -> Result<SettingsReport> {
    let ports = &supervisor.ports;
    let (session, change) = settings::plan(ports, principal, &request).await?;
    let settings = NewSettings::OfPerson(change);
    let changed =
        supervisor.ask(session, |reply| SessionRequest::Configure { settings, reply }).await?;
    let sessions = ports.store.sessions(&SessionQuery::id(session)).await?;
    let removed = || Error::not_found(format!("there is no session `{session}` any more"));
    let summary = sessions.first().ok_or_else(removed)?;
    let changed = changed.into_iter().map(str::to_owned).collect();
    Ok(SettingsReport { session: supervisor.view(summary), changed })
}
