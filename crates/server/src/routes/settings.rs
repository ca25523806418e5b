//! What the page shows about the machine and its settings: findings of `segue doctor`, sources
//! without secrets, and the vendors' programs.

use axum::Json;
use axum::extract::State;
use segue_core::api::{
    AgentKindList, AgentKindsRequest, DoctorReport, SourceList, SourceView, VendorList,
};
use segue_core::flows::projects;
use segue_core::rules::scope::RestrictedAction;

use super::{Admitted, App, RouteResult, Sent};
use crate::blocking::blocking;
use crate::vendors;

/// Compares records, processes and files, and changes nothing.
pub(crate) async fn findings(
    State(app): State<App>,
    Admitted { principal, .. }: Admitted,
) -> RouteResult<DoctorReport> {
    principal.allow(RestrictedAction::Repair)?;
    Ok(Json(app.examine(false).await?))
}

pub(crate) async fn sources(
    Admitted { supervisor, principal }: Admitted,
) -> RouteResult<SourceList> {
    principal.allow(RestrictedAction::ReadAll)?;
    let configured = &supervisor.ports.sources;
    let sources = configured.sources()?.into_iter().map(SourceView::from).collect();
    let problems = configured.check().iter().map(ToString::to_string).collect();
    Ok(Json(SourceList { sources, problems }))
}

/// Lists the agents of a project file, for forms that ask for one.
pub(crate) async fn agents(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<AgentKindsRequest>,
) -> RouteResult<AgentKindList> {
    Ok(Json(projects::agent_kinds(&supervisor.ports, &principal, &request)?))
}

/// Looks for the vendors' programs in the environment that agents get.
pub(crate) async fn vendors(
    Admitted { supervisor, principal }: Admitted,
) -> RouteResult<VendorList> {
    principal.allow(RestrictedAction::ReadAll)?;
    let environment = supervisor.login_shell().await?;
    Ok(Json(blocking(move || Ok(vendors::list_in(&environment))).await?))
}
