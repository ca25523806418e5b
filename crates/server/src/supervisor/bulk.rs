//! Commands on several sessions. The sessions are handled concurrently, and one report covers all.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use segue_core::api::{
    self, AgentOutcome, FailedTarget, LeftAlone, Outcome, PlanReport, PlannedDecision,
    RestoreReport, ResumeCount, ResumeRequest, ScaleReport, ScaleRequest, SessionRef, StopOutcome,
    StopReport, StopRequest, StoppedSession, SurplusSession, UpRequest,
};
use segue_core::flows::bringing_back::{Resting, Sorter};
use segue_core::flows::look::Asked;
use segue_core::model::{
    AgentName, Counts, Environment, FleetName, Principal, RequestKey, RequestStep, Session,
    SessionId,
};
use segue_core::ports::{Change, Commit, SessionActivity, SessionQuery, SessionSummary};
use segue_core::rules::accounts::Wanted;
use segue_core::rules::bringing_back::AskedFor;
use segue_core::rules::scale;
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result, failpoint};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::calling;
use super::lift::{Lift, Lifted};
use super::run::{agent_session, ensure_fleet};
use super::select::{Chosen, Selected, find_whole, selected};
use super::{Renewal, SessionRequest, Supervisor, Wish};
use crate::project::{Agent, MOST_OF_ONE, Project, Scaled, in_range};
use crate::requests::step;
use crate::routes::trust;

/// How long `count` waits for one session.
const COUNT_PATIENCE: Duration = Duration::from_secs(1);

/// Brings the selected sessions back.
pub(crate) async fn resume(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: ResumeRequest,
) -> Result<RestoreReport> {
    let ToBringBack { sessions, left_alone, fresh, failed } =
        settled(supervisor, principal, &request).await?;
    let sent = request.caller.environment;
    let environment = calling::environment(&supervisor.ports, principal, sent).await?;
    let wish = wish(sessions.iter().filter(|it| it.kept.is_none()).count());
    let tasks = sessions.into_iter().map(|Sorted { selected, kept }| {
        let Selected { summary, asked } = selected;
        let id = summary.session.id;
        let environment = environment.clone();
        let fresh = fresh.contains(&id).then_some(Renewal(key));
        let supervisor = Arc::clone(supervisor);
        async move {
            if let Some(kept) = kept {
                return Ok(refused(&summary, &kept));
            }
            bring_back(&supervisor, id, (asked, wish), (environment, fresh)).await
        }
    });
    Ok(RestoreReport::new(all(tasks).await?, left_alone, failed))
}

/// Returns what a resume would do, and changes nothing.
pub(crate) async fn plan(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: ResumeRequest,
) -> Result<PlanReport> {
    let ToBringBack { sessions, left_alone, fresh, failed } =
        to_bring_back(supervisor, principal, &request).await?;
    let mut plan = Vec::new();
    for Sorted { selected, kept } in sessions {
        let id = selected.summary.session.id;
        let asked = selected.asked;
        let mut planned = supervisor.ask(id, |reply| SessionRequest::Plan { asked, reply }).await?;
        if let Some(kept) = kept {
            planned.decision = PlannedDecision::Refuse;
            planned.note = kept.reason();
        }
        if fresh.contains(&id) {
            planned.decision = PlannedDecision::Fresh;
            planned.note = "begin a new conversation, as asked".to_owned();
        }
        plan.push(planned);
    }
    let to_bring_back = plan.iter().filter(|it| it.decision.brings_back()).count();
    Ok(PlanReport { plan, to_bring_back, left_alone, failed })
}

/// Counts the sessions that a resume would bring back. The sessions are planned concurrently; each
/// plan reads at most the end of a transcript. A session that does not answer in time is being
/// started and counts, too.
pub(crate) async fn count(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: ResumeRequest,
) -> Result<ResumeCount> {
    let wanted = to_bring_back(supervisor, principal, &request).await?;
    let is_due = |it: &Sorted| it.kept.is_none() && it.selected.summary.open.is_none();
    let due = wanted.sessions.into_iter().filter(is_due);
    let tasks = due.map(|Sorted { selected: Selected { summary, asked }, .. }| {
        let supervisor = Arc::clone(supervisor);
        async move {
            let plan = |reply| SessionRequest::Plan { asked, reply };
            let planned = timeout(COUNT_PATIENCE, supervisor.ask(summary.session.id, plan)).await;
            planned.map_or(Ok(true), |planned| Ok(planned?.decision.brings_back()))
        }
    });
    // A session that cannot be planned is refused by a resume, too.
    let comes_back = each(tasks).await?.into_iter().map(|it: Result<bool>| it.unwrap_or(false));
    Ok(ResumeCount { to_bring_back: comes_back.filter(|it| *it).count() })
}

/// The result of sorting the sessions of a resume request.
struct ToBringBack {
    sessions: Vec<Sorted>,
    /// Sessions that ended on purpose, and that the request does not name.
    left_alone: Vec<LeftAlone>,
    /// Sessions that start a new conversation.
    fresh: Vec<SessionId>,
    /// Names that match no session.
    failed: Vec<FailedTarget>,
}

struct Sorted {
    selected: Selected,
    /// Why a session is not started although the request names it.
    kept: Option<Resting>,
}

async fn to_bring_back(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &ResumeRequest,
) -> Result<ToBringBack> {
    let cwd = &request.caller.cwd;
    let mut chosen = selected(supervisor, principal, &request.selection, cwd).await?;
    leave_out_too_many(supervisor, &mut chosen.sessions).await?;
    let mut fresh = Vec::new();
    for name in &request.fresh {
        let summary = find_whole(supervisor, principal, name, cwd).await?;
        let id = summary.session.id;
        fresh.push(id);
        if chosen.sessions.iter().all(|it| it.summary.session.id != id) {
            chosen.sessions.push(Selected { summary, asked: Asked::ByName });
        }
    }
    sorted(supervisor, chosen, fresh, request.stopped).await
}

/// Returns the sessions to bring back after all handoffs that concern them have ended. A handoff
/// decides which session continues a conversation.
async fn settled(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &ResumeRequest,
) -> Result<ToBringBack> {
    loop {
        let wanted = to_bring_back(supervisor, principal, request).await?;
        let summaries = wanted.sessions.iter().map(|it| &it.selected.summary);
        let resting = summaries.filter(|it| it.open.is_none()).map(|it| it.session.id);
        let resting: Vec<SessionId> = resting.collect();
        if !supervisor.on_the_way.wait_for(&resting).await {
            return Ok(wanted);
        }
    }
}

/// Splits the selected sessions into those to bring back and those to leave alone.
async fn sorted(
    supervisor: &Arc<Supervisor>,
    chosen: Chosen,
    fresh: Vec<SessionId>,
    with_stopped: bool,
) -> Result<ToBringBack> {
    let sorter = Sorter::new(&supervisor.ports).await?;
    let (mut sessions, mut left_alone) = (Vec::new(), Vec::new());
    for selected in chosen.sessions {
        let by_name = selected.asked == Asked::ByName;
        let is_renewed = fresh.contains(&selected.summary.session.id);
        let asked =
            AskedFor { by_name: by_name || is_renewed, with_stopped: with_stopped || is_renewed };
        match sorter.resting(&selected.summary, asked).await? {
            Some(kept) if by_name => sessions.push(Sorted { selected, kept: Some(kept) }),
            Some(kept) if kept.rest.is_reported() => {
                left_alone.push(kept.report(&selected.summary.session));
            }
            Some(_) => {}
            None => sessions.push(Sorted { selected, kept: None }),
        }
    }
    Ok(ToBringBack { sessions, left_alone, fresh, failed: chosen.failed })
}

/// Reports a session that is not started although the request names it: another session continues
/// its conversation.
pub(super) fn refused(summary: &SessionSummary, kept: &Resting) -> AgentOutcome {
    let session = &summary.session;
    AgentOutcome {
        of: SessionRef::of(session),
        vendor: session.vendor.clone(),
        outcome: Outcome::Refused,
        vendor_session_id: summary.binding.as_ref().map(|it| it.vendor_session.clone()),
        note: Some(kept.refusal(session).in_one_line()),
        dialog: None,
        lost: true,
    }
}

/// Removes the agents that exceed the configured count of their kind, unless the request names
/// them.
async fn leave_out_too_many(
    supervisor: &Arc<Supervisor>,
    chosen: &mut Vec<Selected>,
) -> Result<()> {
    let fleets: BTreeSet<FleetName> =
        chosen.iter().map(|it| it.summary.session.fleet.clone()).collect();
    for fleet in fleets {
        let counts = supervisor.ports.store.counts(&fleet).await?;
        chosen.retain(|it| {
            let Session { fleet: own, agent, .. } = &it.summary.session;
            let too_many = |agent| scale::is_too_many(&counts, agent);
            it.asked == Asked::ByName || *own != fleet || !agent.as_ref().is_some_and(too_many)
        });
    }
    Ok(())
}

/// Returns the start request for this number of sessions.
fn wish(sessions: usize) -> Wish {
    Wish::now(if sessions > 1 { Wanted::Many } else { Wanted::One })
}

pub(super) async fn bring_back(
    supervisor: &Arc<Supervisor>,
    id: SessionId,
    (asked, wish): (Asked, Wish),
    (environment, fresh): (Environment, Option<Renewal>),
) -> Result<AgentOutcome> {
    supervisor
        .ask(id, |reply| SessionRequest::Resume { environment, asked, fresh, wish, reply })
        .await
}

/// Resumes or starts the agents of the project.
pub(crate) async fn up(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: UpRequest,
) -> Result<RestoreReport> {
    principal.allow(RestrictedAction::Everything)?;
    let project = project(supervisor, &request.caller.cwd, request.fleet.as_deref())?;
    let scaled = scaled(supervisor, &project, None).await?;
    // Replace each word by the full names of the agents that it means.
    let mut named = Vec::new();
    for word in &request.agents {
        named.extend(scaled.agents_called(word)?.iter().map(|agent| agent.name.to_string()));
    }
    let request = UpRequest { agents: named, ..request };
    let agents = wanted_agents(&scaled, &request)?;
    trust::require(&supervisor.ports, &project).await?;
    ensure_fleet(&supervisor.ports, Some(&scaled)).await?;
    let agents = agents.into_iter().map(|agent| {
        let asked = asked_by(&request, &agent);
        let fresh = request.fresh.iter().any(|name| name == agent.name.as_str());
        (agent, asked, fresh.then_some(Renewal(key)))
    });
    let lifts = lifts(supervisor, &scaled, agents.collect(), &request.caller.environment)?;
    let with_stopped = request.stopped;
    let report = lift_all(lifts.into_iter().map(|lift| Lift { with_stopped, ..lift })).await?;
    let surplus = match request.agents.is_empty() {
        true => surplus(supervisor, &scaled).await?,
        false => Vec::new(),
    };
    Ok(RestoreReport { surplus, ..report })
}

/// Returns the running sessions of agents that are no longer in the project.
async fn surplus(supervisor: &Arc<Supervisor>, project: &Project) -> Result<Vec<SurplusSession>> {
    let agents: Vec<&AgentName> = project.agents.iter().map(|agent| &agent.name).collect();
    let activity = Some(SessionActivity::Open);
    let query = SessionQuery { activity, ..SessionQuery::fleet(&project.fleet) };
    let mut sessions = supervisor.ports.store.sessions(&query).await?;
    // A session that was started by an agent belongs to that agent.
    sessions.retain(|it| it.session.parent.is_none());
    let surplus = sessions.into_iter().filter_map(|SessionSummary { session, .. }| {
        let agent = scale::surplus(&agents, session.agent.as_ref())?.clone();
        let address = session.address();
        let stop = format!("segue stop {address}");
        let Session { id, name, fleet, vendor, .. } = session;
        Some(SurplusSession { session: id, name, fleet, address, agent, vendor, stop })
    });
    Ok(surplus.collect())
}

/// Brings agents up, concurrently.
async fn lift_all(lifts: impl Iterator<Item = Lift>) -> Result<RestoreReport> {
    let (mut agents, mut left_alone) = (Vec::new(), Vec::new());
    for lifted in all(lifts.map(Lift::up)).await? {
        match lifted {
            Lifted::Came(outcome) => agents.push(outcome),
            Lifted::LeftAlone(session) => left_alone.push(session),
        }
    }
    Ok(RestoreReport::new(agents, left_alone, Vec::new()))
}

/// Reads the project around a folder. `fleet` overrides the project's own fleet name.
fn project(supervisor: &Arc<Supervisor>, cwd: &Path, fleet: Option<&str>) -> Result<Project> {
    let cwd = supervisor.ports.machine.folder(cwd)?.real_path;
    let mut project =
        Project::around(&cwd, supervisor.ports.vendors.as_ref())?.ok_or_else(|| {
            Error::config("no `segue.toml` is in this folder or above it")
                .hint("run `segue init` to write one")
        })?;
    if let Some(name) = fleet {
        project.fleet = FleetName::parse(name)?;
    }
    Ok(project)
}

/// Returns the project with the requested number of agents of each kind. `wanted` overrides the
/// stored number of one kind.
async fn scaled(
    supervisor: &Arc<Supervisor>,
    project: &Project,
    wanted: Option<(AgentName, u32)>,
) -> Result<Project> {
    let store = &supervisor.ports.store;
    let mut counts = store.counts(&project.fleet).await?;
    counts.extend(wanted);
    // Ignore the stored numbers of kinds that are no longer in the file.
    counts.retain(|kind, _| project.kinds.contains(kind));
    let sessions = store.sessions(&SessionQuery::fleet(&project.fleet)).await?;
    let names = sessions.into_iter().map(|it| it.session.name.to_string());
    let sessions = names.filter(|name| !scale::is_of_its_own(&project.kinds, name)).collect();
    project.scaled(supervisor.ports.vendors.as_ref(), &Scaled { counts, sessions })
}

/// Starts or stops agents of one kind so that `count` of them run, and stores that number.
pub(crate) async fn scale(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: ScaleRequest,
) -> Result<ScaleReport> {
    principal.allow(RestrictedAction::Everything)?;
    let ScaleRequest { caller, agent, count, fleet } = request;
    if count != 0 && !in_range(count) {
        return Err(Error::config(format!(
            "the number of agents must be between 0 and {MOST_OF_ONE}, got {count}"
        ))
        .hint(format!("run `segue scale {agent} {MOST_OF_ONE}` to have the most")));
    }
    let project = project(supervisor, &caller.cwd, fleet.as_deref())?;
    let kind = project.kind(&agent)?;
    let scaled = scaled(supervisor, &project, Some((kind.clone(), count))).await?;
    trust::require(&supervisor.ports, &project).await?;
    let fleet = ensure_fleet(&supervisor.ports, Some(&scaled)).await?;
    let change = Change::SetCount { fleet: fleet.clone(), agent: kind.clone(), count };
    let commit = Commit { changes: vec![change], events: Vec::new() };
    supervisor.ports.store.commit(commit).await?;
    let stopped = stop_too_many(supervisor, &fleet, Counts::from([(kind.clone(), count)])).await?;
    let is_own = |it: &Agent| scale::number(kind.as_str(), it.name.as_str()).is_some();
    let agents = scaled.agents.iter().filter(|it| is_own(it)).cloned();
    let agents = agents.map(|agent| (agent, Asked::InBulk, None)).collect();
    let lifts = lifts(supervisor, &scaled, agents, &caller.environment)?;
    // A request for this number of agents includes those that were stopped.
    let lifts = lifts.into_iter().map(|lift| Lift { with_stopped: true, ..lift });
    let RestoreReport { agents, left_alone, complete, .. } = lift_all(lifts).await?;
    supervisor.scribe.write(&fleet).await?;
    Ok(ScaleReport { agents, stopped, left_alone, complete })
}

/// Ends the agents that exceed the requested number. Their conversations are kept.
async fn stop_too_many(
    supervisor: &Arc<Supervisor>,
    fleet: &FleetName,
    counts: Counts,
) -> Result<Vec<StoppedSession>> {
    let query = SessionQuery { is_agents: true, ..SessionQuery::fleet(fleet) };
    let mut sessions = supervisor.ports.store.sessions(&query).await?;
    sessions.retain(|SessionSummary { session, .. }| {
        let too_many = |agent| scale::is_too_many(&counts, agent);
        session.agent.as_ref().is_some_and(too_many)
    });
    let ended = all(sessions.into_iter().map(|it| end(supervisor, it.session))).await?;
    Ok(ended.into_iter().filter(|it| it.outcome == StopOutcome::Stopped).collect())
}

fn lifts(
    supervisor: &Arc<Supervisor>,
    project: &Project,
    agents: Vec<(Agent, Asked, Option<Renewal>)>,
    environment: &Environment,
) -> Result<Vec<Lift>> {
    let wish = wish(agents.len());
    let mut lifts = Vec::new();
    // Create the drafts in order, so that new sessions are listed in the order of the file.
    for (agent, asked, fresh) in agents {
        let of_vendor = project.agents.iter().filter(|it| it.vendor == agent.vendor);
        lifts.push(Lift {
            supervisor: Arc::clone(supervisor),
            draft: agent_session(&supervisor.ports, project, &project.fleet, &agent, environment)?,
            asked,
            fresh,
            environment: environment.clone(),
            wish,
            works_alone: of_vendor.count() == 1,
            with_stopped: false,
            prompt: agent.prompt,
            timers: agent.timers,
        });
    }
    Ok(lifts)
}

fn wanted_agents(project: &Project, request: &UpRequest) -> Result<Vec<Agent>> {
    for name in &request.fresh {
        project.whole_agent(name)?;
    }
    if project.kinds.is_empty() {
        return Err(project.no_agents());
    }
    if request.agents.is_empty() {
        return Ok(project.agents.clone());
    }
    let mut wanted: Vec<Agent> = Vec::new();
    for name in &request.agents {
        let more = project.agents_called(name)?;
        let is_new = |it: &&Agent| wanted.iter().all(|known| known.name != it.name);
        wanted.extend(more.into_iter().filter(is_new).cloned().collect::<Vec<_>>());
    }
    Ok(wanted)
}

fn asked_by(request: &UpRequest, agent: &Agent) -> Asked {
    let is_meant = |name: &String| scale::is_called(agent.name.as_str(), name);
    let named = request.agents.iter().any(is_meant);
    if named { Asked::ByName } else { Asked::InBulk }
}

/// Ends the processes of the selected sessions.
pub(crate) async fn stop(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: StopRequest,
) -> Result<StopReport> {
    let Chosen { mut sessions, mut failed } =
        selected(supervisor, principal, &request.selection, &request.cwd).await?;
    sessions.retain(|it| !it.is_finished());
    let before = stopping_before(supervisor, key, &sessions).await?;
    let addresses: Vec<String> = sessions.iter().map(|it| it.summary.session.address()).collect();
    let tasks = sessions.into_iter().map(|it| end(supervisor, it.summary.session));
    let mut stopped = Vec::new();
    for (target, ended) in addresses.into_iter().zip(each(tasks).await?) {
        match ended {
            Ok(ended) => stopped.push(ended),
            Err(error) => failed.push(FailedTarget { target, error }),
        }
    }
    if stopped.is_empty()
        && let Some(error) = api::none_done(&failed)
    {
        return Err(error);
    }
    for it in &mut stopped {
        if it.of.session.is_some_and(|id| before.contains(&id)) {
            it.outcome = StopOutcome::Stopped;
        }
    }
    Ok(StopReport { stopped, failed })
}

/// Returns the sessions that an earlier attempt of the same request was about to stop when its
/// daemon died. Records which sessions this attempt is about to stop.
async fn stopping_before(
    supervisor: &Supervisor,
    key: Option<RequestKey>,
    chosen: &[Selected],
) -> Result<BTreeSet<SessionId>> {
    let Some(key) = key else { return Ok(BTreeSet::new()) };
    let ports = &supervisor.ports;
    let stopping = |step| match step {
        RequestStep::Stopping { session } => Some(session),
        _ => None,
    };
    let steps = ports.store.request(key).await?;
    let before: BTreeSet<SessionId> = steps.into_iter().filter_map(stopping).collect();
    let running = chosen.iter().filter(|it| it.summary.open.is_some());
    let new = running.map(|it| it.summary.session.id).filter(|id| !before.contains(id));
    let steps = new.map(|session| RequestStep::Stopping { session });
    let changes: Vec<Change> = steps.flat_map(|it| step(ports, Some(key), it)).collect();
    if !changes.is_empty() {
        // If the disk is full, agents must stop anyway. Then a repeated request cannot report which
        // sessions the first attempt stopped.
        match ports.store.commit(Commit { changes, events: Vec::new() }).await {
            Ok(_position) => failpoint::hit("stop.request.after"),
            Err(error) => tracing::warn!(%error, "the steps of a stop could not be recorded"),
        }
    }
    Ok(before)
}

/// Ends the process of a session.
fn end(
    supervisor: &Arc<Supervisor>,
    session: Session,
) -> impl Future<Output = Result<StoppedSession>> + Send + 'static {
    let supervisor = Arc::clone(supervisor);
    async move {
        let was_running = supervisor.end(session.id).await?;
        let outcome = if was_running { StopOutcome::Stopped } else { StopOutcome::NotRunning };
        Ok(StoppedSession { of: SessionRef::of(&session), outcome })
    }
}

/// Runs all tasks concurrently. Returns their results in order, or the first error.
async fn all<T, F>(tasks: impl Iterator<Item = F>) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    each(tasks).await?.into_iter().collect()
}

/// Runs all tasks concurrently. Returns the result of each task, in order.
async fn each<T, F>(tasks: impl Iterator<Item = F>) -> Result<Vec<Result<T>>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let mut running = JoinSet::new();
    for (number, task) in tasks.enumerate() {
        running.spawn(async move { (number, task.await) });
    }
    let mut answers = Vec::new();
    while let Some(joined) = running.join_next().await {
        answers.push(joined.map_err(|error| Error::internal("a task failed").caused_by(error))?);
    }
    answers.sort_by_key(|(number, _)| *number);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}
