//! Finds the session or the conversation that a handoff starts from.

use std::sync::Arc;

use segue_core::api::{AdoptCandidate, HandoffRequest};
use segue_core::flows::adopt;
use segue_core::flows::handoff::{HandoffSource, UnadoptedConversation};
use segue_core::flows::select::find as find_session;
use segue_core::model::{Principal, Session, VendorSessionId};
use segue_core::{Error, Kind, Result};

use super::super::Supervisor;

/// Finds the session or the conversation that the request names.
pub(super) async fn find(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &HandoffRequest,
) -> Result<HandoffSource> {
    let unknown = match find_session(
        &supervisor.ports,
        principal,
        &request.from,
        &request.caller.cwd,
    )
    .await
    {
        Ok(summary) => return read(supervisor, summary.session).await,
        Err(error) if error.kind == Kind::NotFound => error,
        Err(error) => return Err(error),
    };
    let Some((vendor, id)) = request.from.split_once(':') else { return Err(unknown) };
    let vendor = supervisor.ports.vendors.named(vendor)?;
    // If a session has this conversation, use that session.
    if let Ok(summary) = find_session(&supervisor.ports, principal, id, &request.caller.cwd).await
        && summary.session.vendor == vendor.id()
    {
        return read(supervisor, summary.session).await;
    }
    let filter = adopt::AdoptFilter {
        vendor: Some(vendor.id()),
        id: Some(VendorSessionId::new(id)),
        ..adopt::AdoptFilter::default()
    };
    let found = adopt::candidates(&supervisor.ports, &request.caller.environment, &filter).await?;
    match found.into_iter().next() {
        Some(candidate) => read_unadopted(supervisor, &candidate).await,
        None => Err(Error::not_found(format!("there is no conversation `{}`", request.from))
            .hint("run `segue adopt` to see the conversations that were begun by hand")),
    }
}

/// Finds the conversation of a session.
pub(super) async fn read(supervisor: &Arc<Supervisor>, session: Session) -> Result<HandoffSource> {
    let source = HandoffSource::of_session(&supervisor.ports, session).await?;
    Ok(with_file_secrets(supervisor, source).await)
}

/// Finds the conversation of a session again, after its agent has ended.
pub(super) async fn read_again(
    supervisor: &Arc<Supervisor>,
    source: HandoffSource,
) -> Result<HandoffSource> {
    let mut again = read(supervisor, source.session).await?;
    // The holder may be gone by now. Only the holder had the environment, which contains secrets.
    again.known_secrets.merge(source.known_secrets);
    Ok(again)
}

async fn read_unadopted(
    supervisor: &Arc<Supervisor>,
    candidate: &AdoptCandidate,
) -> Result<HandoffSource> {
    let ports = &supervisor.ports;
    let found = UnadoptedConversation::read(ports, candidate)?;
    let session = adopt::draft(ports, candidate, None).await?;
    let source = HandoffSource::of_unadopted(ports, found, session).await;
    Ok(with_file_secrets(supervisor, source).await)
}

/// Adds the secret values in the `.env` files of the source's folder. They are kept in memory only.
async fn with_file_secrets(
    supervisor: &Arc<Supervisor>,
    mut source: HandoffSource,
) -> HandoffSource {
    let (machine, folder) = (Arc::clone(&supervisor.ports.machine), source.session.cwd.clone());
    let read = tokio::task::spawn_blocking(move || machine.variable_files(&folder)).await;
    for text in read.unwrap_or_default() {
        source.known_secrets.add_variables(&text);
    }
    source
}
