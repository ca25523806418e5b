//! Sessions: run, up, resume, plan, stop, list, show, attach, remove.

use axum::Json;
use axum::extract::{Path, Query, State};
use segue_core::api::{
    AdoptReport, AdoptRequest, AttachPoint, DryRun, HandoffReport, HandoffRequest, ListRequest,
    RestoreReport, ResumeAnswer, ResumeCount, ResumeRequest, RunRequest, ScaleReport, ScaleRequest,
    SelectReport, SelectRequest, SessionList, SessionRef, SessionView, StopReport, StopRequest,
    Stranger, TurnReport, UpRequest,
};
use segue_core::flows::{SessionState, bringing_back, last_words, strangers};
use segue_core::model::{RequestStep, SessionId};
use segue_core::rules::scope::Deed;
use segue_core::{Error, api};

use super::{AddressQuery, Answer, App, Asked, Caller};
use crate::requests::{Keep, step};
use crate::supervisor::{self, Message};

pub(crate) async fn run(
    State(app): State<App>,
    caller: Caller,
    asked: Asked,
    Json(request): Json<RunRequest>,
) -> Answer<SessionView> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let config_file = app.paths.config_file();
    let once = asked.once(&app, &supervisor, &scope, &("run", &request));
    let key = once.key();
    let run =
        async move { supervisor::run(&supervisor, &scope, (&config_file, key), request).await };
    Ok(Json(once.carry_out(Keep::Nothing, run).await?))
}

pub(crate) async fn up(
    State(app): State<App>,
    caller: Caller,
    asked: Asked,
    Json(request): Json<UpRequest>,
) -> Answer<RestoreReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let once = asked.once(&app, &supervisor, &scope, &("up", &request));
    let key = once.key();
    let up = async move { supervisor::up(&supervisor, &scope, key, request).await };
    Ok(Json(once.carry_out(Keep::Answer, up).await?))
}

pub(crate) async fn scale(
    State(app): State<App>,
    caller: Caller,
    asked: Asked,
    Json(request): Json<ScaleRequest>,
) -> Answer<ScaleReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let once = asked.once(&app, &supervisor, &scope, &("scale", &request));
    let scale = async move { supervisor::scale(&supervisor, &scope, request).await };
    Ok(Json(once.carry_out(Keep::Answer, scale).await?))
}

pub(crate) async fn resume(
    State(app): State<App>,
    caller: Caller,
    asked: Asked,
    Json(request): Json<ResumeRequest>,
) -> Answer<ResumeAnswer> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    if request.plan {
        let plan = supervisor::plan(&supervisor, &scope, request).await?;
        return Ok(Json(ResumeAnswer::Planned(plan)));
    }
    let once = asked.once(&app, &supervisor, &scope, &("resume", &request));
    let key = once.key();
    let resume = async move { supervisor::resume(&supervisor, &scope, key, request).await };
    Ok(Json(ResumeAnswer::Restored(once.carry_out(Keep::Answer, resume).await?)))
}

/// Answers how many sessions a resume would bring back.
pub(crate) async fn count(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<ResumeRequest>,
) -> Answer<ResumeCount> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    Ok(Json(supervisor::count(&supervisor, &scope, request).await?))
}

pub(crate) async fn stop(
    State(app): State<App>,
    caller: Caller,
    asked: Asked,
    Json(request): Json<StopRequest>,
) -> Answer<StopReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let once = asked.once(&app, &supervisor, &scope, &("stop", &request));
    let key = once.key();
    let stop = async move { supervisor::stop(&supervisor, &scope, key, request).await };
    Ok(Json(once.carry_out(Keep::Answer, stop).await?))
}

pub(crate) async fn handoff(
    State(app): State<App>,
    caller: Caller,
    asked: Asked,
    Json(request): Json<HandoffRequest>,
) -> Answer<HandoffReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let once = asked.once(&app, &supervisor, &scope, &("handoff", &request));
    let is_done = request.dry_run == DryRun::No;
    let (key, keep) = (once.key(), if is_done { Keep::Answer } else { Keep::Nothing });
    let handoff = async move { supervisor::handoff(&supervisor, &scope, key, request).await };
    Ok(Json(once.carry_out(keep, handoff).await?))
}

pub(crate) async fn list(State(app): State<App>, caller: Caller) -> Answer<SessionList> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let mut sessions = supervisor.ports.store.sessions().await?;
    sessions.retain(|it| scope.allow_session(it.session.id, it.session.parent).is_ok());
    let sessions = supervisor.views(sessions).await?;
    Ok(Json(SessionList { sessions, hidden: 0 }))
}

pub(crate) async fn filtered(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<ListRequest>,
) -> Answer<SessionList> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    Ok(Json(supervisor::list(&supervisor, &scope, &request).await?))
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
    asked: Asked,
    Json(request): Json<AdoptRequest>,
) -> Answer<AdoptReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    scope.allow(Deed::Adopt)?;
    let once = asked.once(&app, &supervisor, &scope, &("adopt", &request));
    let key = once.key();
    let adopt = async move { supervisor::adopt(&supervisor, key, request).await };
    Ok(Json(once.carry_out(Keep::Nothing, adopt).await?))
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<AddressQuery>,
) -> Answer<SessionView> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let AddressQuery { address, cwd, asking, .. } = &query;
    if *asking {
        scope.allow(Deed::Answer)?;
    }
    let summary = match asking {
        true => supervisor::find_asking(&supervisor, &scope, address, cwd).await?,
        false => supervisor::find(&supervisor, &scope, address, cwd).await?,
    };
    let view = supervisor.views(vec![summary]).await?.pop();
    Ok(Json(view.ok_or_else(|| Error::internal("a session cannot be shown"))?))
}

pub(crate) async fn select(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<SelectRequest>,
) -> Answer<SelectReport> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    let chosen = supervisor::select(&supervisor, &scope, &request).await?;
    let (chosen, left_out) = match request.finished {
        true => (chosen, Vec::new()),
        false => supervisor::without_resting(&supervisor, chosen).await?,
    };
    let sessions = chosen.sessions.iter().map(|it| supervisor.view(&it.summary)).collect();
    Ok(Json(SelectReport { sessions, left_out, failed: chosen.failed }))
}

pub(crate) async fn remove(
    State(app): State<App>,
    caller: Caller,
    asked: Asked,
    Query(query): Query<AddressQuery>,
) -> Answer<()> {
    let supervisor = app.ready().await?;
    let scope = caller.scope(&supervisor).await?;
    scope.allow(Deed::Remove)?;
    let once = asked.once(&app, &supervisor, &scope, &("rm", &query));
    let key = once.key();
    let remove = async move {
        let summary =
            supervisor::find_whole(&supervisor, &scope, &query.address, &query.cwd).await?;
        let (id, purge) = (summary.session.id, query.purge);
        let done = RequestStep::Done { answer: "null".to_owned() };
        let along = step(&supervisor.ports, key, done);
        supervisor.ask(id, |reply| Message::Remove { purge, along, reply }).await
    };
    Ok(Json(once.carry_out(Keep::Recorded, remove).await?))
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
    bringing_back::refuse_handed_over(&supervisor.ports, &summary, "attach").await?;
    let Some(open) = summary.open else {
        let state = SessionState::load(&supervisor.ports, summary.session.id).await?;
        let why = last_words::why_not_running(&supervisor.ports, &state);
        let error = Error::conflict(format!("`{name}` is not running"));
        let error = why.into_iter().fold(error, Error::caused_by);
        return Err(error.hint(format!("run `segue resume {name}`, then attach")).into());
    };
    let socket = segue_host::hold::socket_path(&app.paths.launch(open.id));
    Ok(Json(AttachPoint { of: SessionRef::of(&summary.session), launch: open.id, socket }))
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
