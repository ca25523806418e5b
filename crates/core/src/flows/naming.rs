//! Finds names that no other session of a fleet has.

use crate::error::{Error, Result};
use crate::model::{FleetName, SessionName};
use crate::ports::{Ports, SessionQuery};

/// Returns whether a session of the fleet has this name.
pub async fn is_taken(ports: &Ports, fleet: &FleetName, name: &SessionName) -> Result<bool> {
    Ok(ports.store.count_sessions(&SessionQuery::address(fleet, name)).await? > 0)
}

/// Returns the first of these names that no session of the fleet has. Another request can still
/// commit the same name first.
pub async fn first_free(
    ports: &Ports,
    fleet: &FleetName,
    names: impl IntoIterator<Item = String>,
) -> Result<SessionName> {
    for name in names {
        let name = SessionName::parse(&name)?;
        if !is_taken(ports, fleet, &name).await? {
            return Ok(name);
        }
    }
    Err(Error::conflict(format!("no free name was found in fleet `{fleet}`"))
        .hint("give the session a name with `--name`"))
}
