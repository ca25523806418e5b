//! Where a conversation can be read.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use segue_core::api::{ConversationPart, ConversationReport, ConversationRequest};
use segue_core::flows::{conversation, story};
use segue_core::model::{VendorId, VendorSessionId};
use segue_core::rules::scope::{Deed, Scope};
use segue_core::{Kind, Result};

use super::{Answer, App, Caller};
use crate::supervisor::{self, Supervisor};

pub(crate) async fn find(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<ConversationRequest>,
) -> Answer<ConversationReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    Ok(Json(ConversationReport { parts: parts(&supervisor, &scope, &request).await? }))
}

async fn parts(
    supervisor: &Arc<Supervisor>,
    scope: &Scope,
    request: &ConversationRequest,
) -> Result<Vec<ConversationPart>> {
    let ConversationRequest { caller, address, story } = request;
    let ports = &supervisor.ports;
    let found = supervisor::find(supervisor, scope, address, &caller.cwd).await;
    match (found, address.split_once(':')) {
        (Ok(summary), _) if *story => story::parts(ports, scope, &summary).await,
        (Ok(summary), _) => Ok(vec![conversation::of_session(ports, &summary).await?]),
        (Err(error), Some((vendor, id))) if error.kind == Kind::NotFound => {
            // A vendor that a project file describes is none of the known ones.
            let vendor = ports.vendors.named(vendor).map_or(VendorId::new(vendor), |it| it.id());
            of_vendor(supervisor, scope, request, (&vendor, &VendorSessionId::new(id))).await
        }
        (Err(error), _) => Err(error),
    }
}

/// Finds a conversation by the vendor's own name for it.
async fn of_vendor(
    supervisor: &Arc<Supervisor>,
    scope: &Scope,
    request: &ConversationRequest,
    (vendor, id): (&VendorId, &VendorSessionId),
) -> Result<Vec<ConversationPart>> {
    let ports = &supervisor.ports;
    let Some(owner) = conversation::owner(ports, vendor, id).await? else {
        scope.allow(Deed::Everything)?;
        let environment = &request.caller.environment;
        return Ok(vec![conversation::of_nobody(ports, environment, (vendor, id)).await?]);
    };
    scope.allow_session(owner.session.id, owner.session.parent)?;
    let is_in_it = owner.binding.as_ref().is_some_and(|binding| binding.vendor_session == *id);
    if request.story && is_in_it {
        return story::parts(ports, scope, &owner).await;
    }
    Ok(vec![conversation::part(ports, &owner, Some(id)).await?])
}
