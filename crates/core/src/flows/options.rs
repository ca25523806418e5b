//! The permissions, models and commands that a session accepts.

use crate::api::SessionOptions;
use crate::error::Result;
use crate::flows::commands;
use crate::model::{Permission, PermissionEffect, Session};
use crate::ports::Ports;

/// At most this many models of earlier sessions are listed.
const MAX_EARLIER_MODELS: u32 = 20;

/// Returns the permissions, the models and the commands of a session. The models are those that the
/// vendor's program names, those of the project's agents, and those of earlier sessions.
pub async fn of_session(ports: &Ports, session: &Session) -> Result<SessionOptions> {
    let vendor = ports.vendors.of(session)?;
    let has_own = vendor.launching().has_own_permission(session);
    let permissions = match vendor.capabilities().permission {
        PermissionEffect::Limits if !has_own => Permission::ALL.to_vec(),
        PermissionEffect::Limits | PermissionEffect::Nothing => Vec::new(),
    };
    let named = vendor.launching().models().iter().map(|model| (*model).to_owned());
    // A project file that cannot be read is reported where it is used.
    let project = ports.projects.around(&session.cwd).ok().flatten();
    let agents = project.into_iter().flat_map(|project| project.agents);
    let agents = agents.filter(|agent| agent.vendor == session.vendor);
    let earlier = ports.store.models(&session.vendor, MAX_EARLIER_MODELS).await?;
    let mut models: Vec<String> = Vec::new();
    for model in named.chain(agents.filter_map(|agent| agent.model)).chain(earlier) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let commands = commands::list(ports, session)?.into_iter().map(Into::into).collect();
    Ok(SessionOptions { permissions, models, commands })
}
