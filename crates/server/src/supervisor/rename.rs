//! Renames a session for a person.

use std::sync::Arc;

use segue_core::api::{RenameReport, RenameRequest};
use segue_core::flows::rename::{self, RenamePlan};
use segue_core::flows::run::is_name_taken;
use segue_core::model::{Principal, RequestKey};
use segue_core::ports::SessionQuery;
use segue_core::{Error, Result};

use super::{SessionRenamer, SessionRequest, Supervisor};

/// Gives a session another name. Its agent continues to run.
pub(crate) async fn rename(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: RenameRequest,
) -> Result<RenameReport> {
    let RenameRequest { cwd, session, name } = &request;
    let ports = &supervisor.ports;
    let plan = rename::plan(ports, principal, key, (session, name, cwd)).await?;
    let RenamePlan { session, name, from } = plan;
    let by = SessionRenamer::Person(key);
    let renamed = supervisor.ask(session, |reply| SessionRequest::Rename { name, by, reply });
    renamed.await.map_err(|error| match is_name_taken(&error) {
        true => Error { hints: vec!["choose another name".to_owned()], ..error },
        false => error,
    })?;
    let sessions = ports.store.sessions(&SessionQuery::id(session)).await?;
    let removed = || Error::not_found(format!("there is no session `{session}` any more"));
    let summary = sessions.first().ok_or_else(removed)?;
    Ok(RenameReport { session: supervisor.view(summary), renamed_from: from })
}
