//! Renaming sessions. The id of a session stays the same.

use std::path::Path;

use crate::error::Result;
use crate::failpoint;
use crate::flows::requests::step;
use crate::flows::{SessionState, select};
use crate::model::{
    EventPayload, Principal, RequestKey, RequestStep, SessionId, SessionName, SessionNames,
};
use crate::ports::{Change, Commit, Ports};
use crate::rules::scope::RestrictedAction;

/// A session that gets another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamePlan {
    pub session: SessionId,
    pub name: SessionName,
    /// The address before.
    pub from: String,
}

/// Finds the session that a request renames. A repeated request finds it although its name has
/// changed.
pub async fn plan(
    ports: &Ports,
    principal: &Principal,
    key: Option<RequestKey>,
    (session, name, cwd): (&str, &str, &Path),
) -> Result<RenamePlan> {
    principal.allow(RestrictedAction::Rename)?;
    let name = SessionName::parse(name)?;
    if let Some((session, from)) = earlier(ports, key).await? {
        return Ok(RenamePlan { session, name, from });
    }
    let found = select::find(ports, principal, session, cwd).await?.session;
    Ok(RenamePlan { session: found.id, name, from: found.address() })
}

/// Returns the session that an earlier attempt of the same request has renamed, and its address
/// before.
async fn earlier(ports: &Ports, key: Option<RequestKey>) -> Result<Option<(SessionId, String)>> {
    let Some(key) = key else { return Ok(None) };
    let renamed = |step| match step {
        RequestStep::Renamed { session, from } => Some((session, from)),
        _ => None,
    };
    Ok(ports.store.request(key).await?.into_iter().find_map(renamed))
}

/// Records the names of a session. A name that another session of the fleet has is a conflict. A
/// request that has done so before only writes the copies again.
pub async fn record(
    ports: &Ports,
    state: &mut SessionState,
    names: SessionNames,
    key: Option<RequestKey>,
) -> Result<()> {
    if earlier(ports, key).await?.is_none() {
        commit(ports, state, names, key).await?;
    }
    if state.launches.is_empty() {
        return Ok(());
    }
    // A lost store is rebuilt from this file, so it needs the new name.
    state.write_record(ports)?;
    failpoint::hit("rename.record.after");
    Ok(())
}

async fn commit(
    ports: &Ports,
    state: &mut SessionState,
    names: SessionNames,
    key: Option<RequestKey>,
) -> Result<()> {
    let (session, from) = (state.session.id, state.session.address());
    let to = format!("{}/{}", state.session.fleet, names.name);
    let mut events = Vec::new();
    if from != to {
        let payload = EventPayload::Renamed { from: from.clone(), to: names.name.to_string() };
        events.push(state.event(ports, payload));
    }
    let mut changes = vec![Change::RenameSession { session, names }];
    changes.extend(step(ports, key, RequestStep::Renamed { session, from }));
    failpoint::hit("rename.commit.before");
    state.commit(ports, Commit { changes, events }).await?;
    failpoint::hit("rename.commit.after");
    Ok(())
}
