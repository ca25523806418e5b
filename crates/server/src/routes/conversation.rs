//! Returns the places from which a client can read a conversation.

use std::sync::Arc;

use axum::Json;
use segue_core::api::{ConversationPart, ConversationReport, ConversationRequest};
use segue_core::flows::{conversation, handoff_chain, select};
use segue_core::model::{Principal, VendorId, VendorSessionId};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Kind, Result};

use super::{Admitted, RouteResult, Sent};
use crate::supervisor::Supervisor;

pub(crate) async fn find(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<ConversationRequest>,
) -> RouteResult<ConversationReport> {
    Ok(Json(ConversationReport { parts: parts(&supervisor, &principal, &request).await? }))
}

async fn parts(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &ConversationRequest,
) -> Result<Vec<ConversationPart>> {
    let ConversationRequest { caller, address, story } = request;
    let ports = &supervisor.ports;
    let found = select::find(ports, principal, address, &caller.cwd).await;
    match (found, address.split_once(':')) {
        (Ok(summary), _) if *story => handoff_chain::parts(ports, principal, &summary).await,
        (Ok(summary), _) => Ok(vec![conversation::of_session(ports, &summary).await?]),
        (Err(error), Some((vendor, id))) if error.kind == Kind::NotFound => {
            // A vendor that a project file describes is not among the built-in vendors.
            let vendor = ports.vendors.named(vendor).map_or(VendorId::new(vendor), |it| it.id());
            of_vendor(supervisor, principal, request, (&vendor, &VendorSessionId::new(id))).await
        }
        (Err(error), _) => Err(error),
    }
}

/// Finds a conversation by the vendor's id for it.
async fn of_vendor(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &ConversationRequest,
    (vendor, id): (&VendorId, &VendorSessionId),
) -> Result<Vec<ConversationPart>> {
    let ports = &supervisor.ports;
    let Some(owner) = conversation::owner(ports, vendor, id).await? else {
        principal.allow(RestrictedAction::Everything)?;
        let environment = &request.caller.environment;
        return Ok(vec![conversation::without_session(ports, environment, (vendor, id)).await?]);
    };
    principal.allow_session(owner.session.id, owner.session.parent)?;
    let is_current = owner.binding.as_ref().is_some_and(|binding| binding.vendor_session == *id);
    if request.story && is_current {
        return handoff_chain::parts(ports, principal, &owner).await;
    }
    Ok(vec![conversation::part(ports, &owner, Some(id)).await?])
}
