//! The environment of a launch that a user or an agent requests.

use crate::error::{Error, Result};
use crate::model::{Environment, Principal, Session};
use crate::ports::Ports;
use crate::rules::editor_servers;

/// Returns the environment for a requested launch. A user's request uses the environment that was
/// sent. A request of an agent uses the environment that the agent itself was started with, from
/// its holder's memory: the agent could send any environment, and the environment decides which
/// program is found and which code is loaded into it. The MCP servers of an editor stay with the
/// session that the editor has opened.
pub async fn environment(
    ports: &Ports,
    principal: &Principal,
    sent: Environment,
) -> Result<Environment> {
    let Principal::Agent(own) = principal else { return Ok(sent) };
    let launches = ports.store.launches(own.id).await?;
    let open = launches.iter().rev().find(|launch| launch.end.is_none());
    let launch = open.ok_or_else(|| unknown(own).caused_by("it does not run any more"))?.id;
    match ports.holders.environment(launch).await {
        Ok(Some(mut environment)) => {
            environment.retain(|name| name != editor_servers::VARIABLE);
            Ok(environment)
        }
        Ok(None) => Err(unknown(own).caused_by("its holder is gone")),
        Err(error) => Err(unknown(own).caused_by(error.message)),
    }
}

fn unknown(own: &Session) -> Error {
    let address = own.address();
    Error::unavailable(format!("the environment of `{address}` cannot be read"))
        .caused_by("an agent's own sessions get the environment that the agent was started with")
        .hint(format!("run `segue log {address}` to see what happened to it"))
}
