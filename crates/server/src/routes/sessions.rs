//! The routes for sessions, such as run, up, resume, stop, list, show, attach and remove.

use axum::Json;
use axum::extract::State;
use segue_core::api::{
    AddressQuery, AdoptReport, AdoptRequest, AttachPoint, DryRun, HandoffReport, HandoffRequest,
    InterruptReport, InterruptRequest, ListRequest, RenameReport, RenameRequest, RestoreReport,
    ResumeAnswer, ResumeCount, ResumeRequest, RunRequest, ScaleReport, ScaleRequest, SelectReport,
    SelectRequest, SessionList, SessionOptions, SessionRef, SessionView, SettingsReport,
    SettingsRequest, StartedSession, StopReport, StopRequest, TurnReport, UnknownConversation,
    UpRequest,
};
use segue_core::flows::{
    SessionState, bringing_back, last_output, machines, open_elsewhere, options, select,
    unknown_conversations,
};
use segue_core::model::{RequestStep, SessionId, WaitingFor};
use segue_core::ports::{OpenLaunch, SessionSummary};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result, api};

use super::inputs::{PathValue, QueryValues};
use super::{Admitted, App, RequestIdHeader, RouteResult, Sent};
use crate::requests::{AnswerStorage, step};
use crate::supervisor::{self, SessionRequest, Supervisor};

pub(crate) async fn run(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<RunRequest>,
) -> RouteResult<StartedSession> {
    let once = request_id.once(&app, &supervisor, &principal, &("run", &request));
    let key = once.key();
    let run = async move { supervisor::run(&supervisor, &principal, key, request).await };
    Ok(Json(once.carry_out(AnswerStorage::NotStored, run).await?))
}

pub(crate) async fn up(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<UpRequest>,
) -> RouteResult<RestoreReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("up", &request));
    let key = once.key();
    let up = async move { supervisor::up(&supervisor, &principal, key, request).await };
    Ok(Json(once.carry_out(AnswerStorage::AfterWork, up).await?))
}

pub(crate) async fn scale(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<ScaleRequest>,
) -> RouteResult<ScaleReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("scale", &request));
    let scale = async move { supervisor::scale(&supervisor, &principal, request).await };
    Ok(Json(once.carry_out(AnswerStorage::AfterWork, scale).await?))
}

pub(crate) async fn resume(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<ResumeRequest>,
) -> RouteResult<ResumeAnswer> {
    if request.plan {
        let plan = supervisor::plan(&supervisor, &principal, request).await?;
        return Ok(Json(ResumeAnswer::Planned(plan)));
    }
    let once = request_id.once(&app, &supervisor, &principal, &("resume", &request));
    let key = once.key();
    let resume = async move { supervisor::resume(&supervisor, &principal, key, request).await };
    Ok(Json(ResumeAnswer::Restored(once.carry_out(AnswerStorage::AfterWork, resume).await?)))
}

/// Returns how many sessions a resume would bring back.
pub(crate) async fn count(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<ResumeRequest>,
) -> RouteResult<ResumeCount> {
    Ok(Json(supervisor::count(&supervisor, &principal, request).await?))
}

pub(crate) async fn stop(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<StopRequest>,
) -> RouteResult<StopReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("stop", &request));
    let key = once.key();
    let stop = async move { supervisor::stop(&supervisor, &principal, key, request).await };
    Ok(Json(once.carry_out(AnswerStorage::AfterWork, stop).await?))
}

pub(crate) async fn interrupt(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<InterruptRequest>,
) -> RouteResult<InterruptReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("interrupt", &request));
    let key = once.key();
    let interrupt =
        async move { supervisor::interrupt(&supervisor, &principal, key, request).await };
    Ok(Json(once.carry_out(AnswerStorage::WithChanges, interrupt).await?))
}

pub(crate) async fn rename(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<RenameRequest>,
) -> RouteResult<RenameReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("rename", &request));
    let key = once.key();
    let rename = async move { supervisor::rename(&supervisor, &principal, key, request).await };
    Ok(Json(once.carry_out(AnswerStorage::NotStored, rename).await?))
}

pub(crate) async fn change_settings(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<SettingsRequest>,
) -> RouteResult<SettingsReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("settings", &request));
    let change = async move { supervisor::change_settings(&supervisor, &principal, request).await };
    Ok(Json(once.carry_out(AnswerStorage::NotStored, change).await?))
}

pub(crate) async fn handoff(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<HandoffRequest>,
) -> RouteResult<HandoffReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("handoff", &request));
    let is_dry_run = request.dry_run != DryRun::No;
    let (key, storage) =
        (once.key(), if is_dry_run { AnswerStorage::NotStored } else { AnswerStorage::AfterWork });
    let handoff = async move { supervisor::handoff(&supervisor, &principal, key, request).await };
    Ok(Json(once.carry_out(storage, handoff).await?))
}

pub(crate) async fn filtered(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<ListRequest>,
) -> RouteResult<SessionList> {
    Ok(Json(supervisor::list(&supervisor, &principal, &request).await?))
}

pub(crate) async fn unknown_conversations(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<api::Caller>,
) -> RouteResult<Vec<UnknownConversation>> {
    principal.allow(RestrictedAction::Everything)?;
    let ports = &supervisor.ports;
    let folder = ports.machine.folder(&request.cwd)?.real_path;
    Ok(Json(unknown_conversations::in_folder(ports, &folder, &request.environment).await?))
}

pub(crate) async fn adopt(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<AdoptRequest>,
) -> RouteResult<AdoptReport> {
    principal.allow(RestrictedAction::Adopt)?;
    let once = request_id.once(&app, &supervisor, &principal, &("adopt", &request));
    let key = once.key();
    let adopt = async move { supervisor::adopt(&supervisor, key, request).await };
    Ok(Json(once.carry_out(AnswerStorage::NotStored, adopt).await?))
}

pub(crate) async fn show(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<AddressQuery>,
) -> RouteResult<SessionView> {
    let AddressQuery { address, cwd, asking, .. } = &query;
    let summary = match asking {
        true => {
            let question = |session| supervisor.question(session);
            select::find_asking(&supervisor.ports, &principal, (address, cwd), question).await?
        }
        false => select::find(&supervisor.ports, &principal, address, cwd).await?,
    };
    if *asking {
        // Whether the question itself may be answered is decided when the answer is given.
        let session = (summary.session.id, summary.session.parent);
        principal.allow_answer(session, Some(WaitingFor::Question))?;
    }
    let places = open_elsewhere::place_of(&summary).into_iter().collect();
    let open_elsewhere = supervisor.open_elsewhere(places).await?;
    let view = supervisor.views(&[summary], &open_elsewhere).await?.pop();
    Ok(Json(view.ok_or_else(|| Error::internal("a session cannot be shown"))?))
}

/// Lists the permissions, models and commands that a session accepts.
pub(crate) async fn options(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<AddressQuery>,
) -> RouteResult<SessionOptions> {
    let AddressQuery { address, cwd, .. } = &query;
    let found = select::find(&supervisor.ports, &principal, address, cwd).await?;
    Ok(Json(options::of_session(&supervisor.ports, &found.session).await?))
}

pub(crate) async fn select(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<SelectRequest>,
) -> RouteResult<SelectReport> {
    let chosen = select::select(&supervisor.ports, &principal, &request).await?;
    let (chosen, left_out) = match request.finished {
        true => (chosen, Vec::new()),
        false => select::without_resting(&supervisor.ports, chosen).await?,
    };
    let sessions = chosen.sessions.iter().map(|it| supervisor.view(&it.summary)).collect();
    Ok(Json(SelectReport { sessions, left_out, failed: chosen.failed }))
}

pub(crate) async fn remove(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    QueryValues(query): QueryValues<AddressQuery>,
) -> RouteResult<()> {
    principal.allow(RestrictedAction::Remove)?;
    let once = request_id.once(&app, &supervisor, &principal, &("rm", &query));
    let key = once.key();
    let remove = async move {
        let summary =
            select::find_whole(&supervisor.ports, &principal, &query.address, &query.cwd).await?;
        let (id, purge) = (summary.session.id, query.purge);
        let done = RequestStep::Done { answer: "null".to_owned() };
        let same_commit = step(&supervisor.ports, key, done);
        supervisor.ask(id, |reply| SessionRequest::remove(purge, same_commit, reply)).await
    };
    Ok(Json(once.carry_out(AnswerStorage::WithChanges, remove).await?))
}

pub(crate) async fn attach(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<AddressQuery>,
) -> RouteResult<AttachPoint> {
    let summary = select::find(&supervisor.ports, &principal, &query.address, &query.cwd).await?;
    principal.allow(RestrictedAction::Attach)?;
    let open = running_launch(&supervisor, &summary, "attach").await?;
    let socket = segue_host::hold::socket_path(&app.paths.launch(open.id));
    Ok(Json(AttachPoint { of: SessionRef::of(&summary.session), launch: open.id, socket }))
}

/// Returns the launch whose terminal a client wants. Fails if the session has none now. `verb` is
/// what the client wants to do.
pub(super) async fn running_launch(
    supervisor: &Supervisor,
    summary: &SessionSummary,
    verb: &str,
) -> Result<OpenLaunch> {
    let name = summary.session.address();
    if summary.session.headless {
        return Err(Error::conflict(format!("`{name}` is headless: it has no terminal"))
            .hint(format!("run `segue log {name}` to see what it does")));
    }
    bringing_back::refuse_handed_over(&supervisor.ports, summary, verb).await?;
    let Some(open) = summary.open.clone() else {
        let state = SessionState::load(&supervisor.ports, summary.session.id).await?;
        let why = last_output::why_not_running(&supervisor.ports, &state);
        let error = Error::conflict(format!("`{name}` is not running"));
        let error = why.into_iter().fold(error, Error::caused_by);
        return Err(error.hint(format!("run `segue resume {name}`, then {verb}")));
    };
    machines::refuse_other(&supervisor.ports, &summary.session, open.machine)?;
    Ok(open)
}

pub(crate) async fn turn(
    Admitted { supervisor, principal }: Admitted,
    PathValue(id): PathValue<SessionId>,
) -> RouteResult<TurnReport> {
    select::find(&supervisor.ports, &principal, &id.to_string(), std::path::Path::new("/")).await?;
    Ok(Json(supervisor.ask(id, |reply| SessionRequest::WaitTurn { reply }).await?))
}
