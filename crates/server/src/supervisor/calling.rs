//! What a launch gets from whoever asks for it.

use segue_core::model::{Environment, Session};
use segue_core::ports::Ports;
use segue_core::rules::scope::Scope;
use segue_core::{Error, Result};

/// Returns the environment of a launch that a caller asks for: a person's own, or the one that the
/// calling agent itself was started with, from its holder's memory. What an agent's process sends
/// along is of its own choosing, and decides which program is found and what is loaded into it.
pub(crate) async fn environment(
    ports: &Ports,
    scope: &Scope,
    sent: Environment,
) -> Result<Environment> {
    let Scope::Agent(own) = scope else { return Ok(sent) };
    let launches = ports.store.launches(own.id).await?;
    let open = launches.iter().rev().find(|launch| launch.end.is_none());
    let launch = open.ok_or_else(|| unknown(own).caused_by("it does not run any more"))?.id;
    match ports.holders.environment(launch).await {
        Ok(Some(environment)) => Ok(environment),
        Ok(None) => Err(unknown(own).caused_by("its holder is gone")),
        Err(error) => Err(unknown(own).caused_by(error.message)),
    }
}

fn unknown(own: &Session) -> Error {
    let address = own.address();
    Error::unavailable(format!("the environment of `{address}` cannot be read"))
        .caused_by("what an agent starts gets the environment that the agent was started with")
        .hint(format!("run `segue log {address}` to see what happened to it"))
}
