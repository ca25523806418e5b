//! Sessions: run, up, resume, plan, stop, list, show, attach, remove.

use axum::Json;
use axum::extract::{Path, Query, State};
use segue_core::api::{
    AdoptReport, AdoptRequest, AttachPoint, HandoffReport, HandoffRequest, PlanReport,
    RestoreReport, ResumeRequest, RunRequest, ScaleReport, ScaleRequest, SessionList, SessionView,
    StopReport, StopRequest, Stranger, TurnReport, UpRequest,
};
use segue_core::flows::strangers;
use segue_core::model::SessionId;
use segue_core::rules::scope::Deed;
use segue_core::{Error, api};

use super::{AddressQuery, Answer, App, Caller};
use crate::supervisor::{self, Message};

pub(crate) async fn run(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<RunRequest>,
) -> Answer<SessionView> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let config_file = app.paths.config_file();
    Ok(Json(supervisor::run(&supervisor, &scope, &config_file, request).await?))
}

pub(crate) async fn up(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<UpRequest>,
) -> Answer<RestoreReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    Ok(Json(supervisor::up(&supervisor, &scope, request).await?))
}

pub(crate) async fn scale(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<ScaleRequest>,
) -> Answer<ScaleReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    Ok(Json(supervisor::scale(&supervisor, &scope, request).await?))
}

pub(crate) async fn resume(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<ResumeRequest>,
) -> Answer<RestoreReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    Ok(Json(supervisor::resume(&supervisor, &scope, request).await?))
}

pub(crate) async fn plan(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<ResumeRequest>,
) -> Answer<PlanReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    Ok(Json(supervisor::plan(&supervisor, &scope, request).await?))
}

pub(crate) async fn stop(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<StopRequest>,
) -> Answer<StopReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    Ok(Json(supervisor::stop(&supervisor, &scope, request).await?))
}

pub(crate) async fn handoff(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<HandoffRequest>,
) -> Answer<HandoffReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    Ok(Json(supervisor::handoff(&supervisor, &scope, request).await?))
}

pub(crate) async fn list(State(app): State<App>, caller: Caller) -> Answer<SessionList> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let mut sessions = supervisor.ports.store.sessions().await?;
    sessions.retain(|it| scope.allow_session(it.session.id, it.session.parent).is_ok());
    Ok(Json(SessionList { sessions: sessions.iter().map(|it| supervisor.view(it)).collect() }))
}

pub(crate) async fn strangers(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<api::Caller>,
) -> Answer<Vec<Stranger>> {
    let supervisor = app.ready().await?;
    caller.scope(&supervisor).await?.allow(Deed::Everything)?;
    let ports = &supervisor.ports;
    let folder = ports.machine.folder(&request.cwd)?.real_path;
    Ok(Json(strangers::strangers(ports, &folder, &request.environment).await?))
}

pub(crate) async fn adopt(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<AdoptRequest>,
) -> Answer<AdoptReport> {
    let supervisor = app.ready().await?;
    caller.scope(&supervisor).await?.allow(Deed::Adopt)?;
    Ok(Json(supervisor::adopt(&supervisor, request).await?))
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<AddressQuery>,
) -> Answer<SessionView> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let summary = supervisor::find(&supervisor, &scope, &query.address, &query.cwd).await?;
    Ok(Json(supervisor.view(&summary)))
}

pub(crate) async fn remove(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<AddressQuery>,
) -> Answer<()> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    scope.allow(Deed::Remove)?;
    let summary = supervisor::find(&supervisor, &scope, &query.address, &query.cwd).await?;
    let purge = query.purge;
    let removed = supervisor.ask(summary.session.id, |reply| Message::Remove { purge, reply });
    Ok(Json(removed.await?))
}

pub(crate) async fn attach(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<AddressQuery>,
) -> Answer<AttachPoint> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let summary = supervisor::find(&supervisor, &scope, &query.address, &query.cwd).await?;
    scope.allow(Deed::Attach)?;
    let name = summary.session.address();
    if summary.session.headless {
        return Err(Error::conflict(format!("`{name}` is headless: it has no terminal"))
            .hint(format!("run `segue log {name}` to see what it does"))
            .into());
    }
    let open = summary.open.ok_or_else(|| {
        Error::conflict(format!("`{name}` is not running"))
            .hint(format!("run `segue resume {name}`, then attach"))
    })?;
    let socket = segue_host::hold::socket_path(&app.paths.launch(open.id));
    Ok(Json(AttachPoint { session: summary.session.id, name, launch: open.id, socket }))
}

pub(crate) async fn turn(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<SessionId>,
) -> Answer<TurnReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    supervisor::find(&supervisor, &scope, &id.to_string(), std::path::Path::new("/")).await?;
    Ok(Json(supervisor.ask(id, |reply| Message::WaitTurn { reply }).await?))
}
