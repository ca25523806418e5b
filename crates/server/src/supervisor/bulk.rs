//! Verbs on many sessions at once: each session's part runs beside the others, the answer is one.

use std::sync::Arc;

use segue_core::api::{
    AdoptCandidate, AgentOutcome, Outcome, PlanReport, RestoreReport, ResumeRequest, StopReport,
    StopRequest, StoppedSession, UpRequest,
};
use segue_core::flows::look::Asked;
use segue_core::flows::{SessionState, adopt};
use segue_core::model::{Environment, FleetName, How, Session, SessionId, Status};
use segue_core::rules::accounts::Wanted;
use segue_core::rules::scope::{Deed, Scope};
use segue_core::{Error, Kind, Result};
use tokio::task::JoinSet;

use super::run::{agent_session, ensure_fleet};
use super::select::{Selected, find, selected};
use super::{Account, Message, Start, Supervisor, Wish, ask};
use crate::project::{Agent, Project};
use crate::routes::trust;

/// Brings the selected sessions back.
pub(crate) async fn resume(
    supervisor: &Arc<Supervisor>,
    scope: &Scope,
    request: ResumeRequest,
) -> Result<RestoreReport> {
    let (chosen, fresh) = chosen(supervisor, scope, &request).await?;
    let wish = wish(chosen.len());
    let tasks = chosen.into_iter().map(|it| {
        let id = it.summary.session.id;
        let environment = request.caller.environment.clone();
        let fresh = fresh.contains(&id);
        let supervisor = Arc::clone(supervisor);
        async move { bring_back(&supervisor, id, (it.asked, wish), (environment, fresh)).await }
    });
    Ok(RestoreReport::new(all(tasks).await?))
}

/// Says what a resume would do, and does nothing.
pub(crate) async fn plan(
    supervisor: &Arc<Supervisor>,
    scope: &Scope,
    request: ResumeRequest,
) -> Result<PlanReport> {
    let (chosen, fresh) = chosen(supervisor, scope, &request).await?;
    let mut plan = Vec::new();
    for it in chosen {
        let id = it.summary.session.id;
        let mut planned =
            supervisor.ask(id, |reply| Message::Plan { asked: it.asked, reply }).await?;
        if fresh.contains(&id) {
            planned.decision = "begin a new conversation, as asked".to_owned();
        }
        plan.push(planned);
    }
    Ok(PlanReport { plan })
}

/// Returns the selected sessions, and which of them are to begin a new conversation.
async fn chosen(
    supervisor: &Arc<Supervisor>,
    scope: &Scope,
    request: &ResumeRequest,
) -> Result<(Vec<Selected>, Vec<SessionId>)> {
    let cwd = &request.caller.cwd;
    let mut chosen = selected(supervisor, scope, &request.selection, cwd).await?;
    let mut fresh = Vec::new();
    for name in &request.fresh {
        let summary = find(supervisor, scope, name, cwd).await?;
        let id = summary.session.id;
        fresh.push(id);
        if chosen.iter().all(|it| it.summary.session.id != id) {
            chosen.push(Selected { summary, asked: Asked::ByName });
        }
    }
    Ok((chosen, fresh))
}

/// Says who wants to start so many sessions.
fn wish(sessions: usize) -> Wish {
    Wish::now(if sessions > 1 { Wanted::Many } else { Wanted::One })
}

async fn bring_back(
    supervisor: &Arc<Supervisor>,
    id: SessionId,
    (asked, wish): (Asked, Wish),
    (environment, fresh): (Environment, bool),
) -> Result<AgentOutcome> {
    supervisor.ask(id, |reply| Message::Resume { environment, asked, fresh, wish, reply }).await
}

/// Resumes or starts the agents of the project.
pub(crate) async fn up(
    supervisor: &Arc<Supervisor>,
    scope: &Scope,
    request: UpRequest,
) -> Result<RestoreReport> {
    scope.allow(Deed::Everything)?;
    let cwd = supervisor.ports.machine.folder(&request.caller.cwd)?.real_path;
    let mut project =
        Project::around(&cwd, supervisor.ports.vendors.as_ref())?.ok_or_else(|| {
            Error::config("no `segue.toml` is in this folder or above it")
                .hint("run `segue init` to write one")
        })?;
    if let Some(name) = &request.fleet {
        project.fleet = FleetName::parse(name)?;
    }
    let agents = wanted_agents(&project, &request)?;
    trust::require(&supervisor.ports, &project).await?;
    let fleet = ensure_fleet(&supervisor.ports, Some(&project)).await?;
    let environment = &request.caller.environment;
    let wish = wish(agents.len());
    let mut lifts = Vec::new();
    // Drafted one after the other, so that new sessions are listed in the order of the file.
    for agent in agents {
        lifts.push(Lift {
            supervisor: Arc::clone(supervisor),
            draft: agent_session(&supervisor.ports, &project, &fleet, &agent, environment)?,
            asked: asked_by(&request, &agent),
            fresh: request.fresh.iter().any(|name| name == agent.name.as_str()),
            environment: environment.clone(),
            wish,
            works_alone: project.agents.iter().filter(|it| it.vendor == agent.vendor).count() == 1,
            prompt: agent.prompt,
        });
    }
    let tasks = lifts.into_iter().map(Lift::up);
    Ok(RestoreReport::new(all(tasks).await?))
}

fn wanted_agents(project: &Project, request: &UpRequest) -> Result<Vec<Agent>> {
    for name in &request.fresh {
        project.agent(name)?;
    }
    if project.agents.is_empty() {
        return Err(project.no_agents());
    }
    if request.agents.is_empty() {
        return Ok(project.agents.clone());
    }
    request.agents.iter().map(|name| project.agent(name).cloned()).collect()
}

fn asked_by(request: &UpRequest, agent: &Agent) -> Asked {
    let named = request.agents.iter().any(|name| name == agent.name.as_str());
    if named { Asked::ByName } else { Asked::InBulk }
}

/// One agent of the project on its way up.
struct Lift {
    supervisor: Arc<Supervisor>,
    /// What its session will be, if it has none yet.
    draft: Session,
    prompt: Option<String>,
    asked: Asked,
    fresh: bool,
    environment: Environment,
    wish: Wish,
    /// No other agent of the project is of its vendor.
    works_alone: bool,
}

impl Lift {
    async fn up(self) -> Result<AgentOutcome> {
        if let Some(id) = self.existing().await? {
            return self.bring_back(id).await;
        }
        let found = self.conversations().await?;
        if let [only] = found.as_slice()
            && let Some(adopted) = self.adopt(only).await?
        {
            return Ok(adopted);
        }
        let mut outcome = self.start_or_join().await?;
        if outcome.outcome == Outcome::Started && !found.is_empty() {
            outcome.note = Some(left_alone(&self.draft, &found));
        }
        Ok(outcome)
    }

    async fn start_or_join(&self) -> Result<AgentOutcome> {
        match self.start().await {
            // Somebody else started this agent at the same moment: it is theirs and ours.
            Err(error) if error.kind == Kind::Conflict => match self.existing().await? {
                Some(id) => self.bring_back(id).await,
                None => Err(error),
            },
            Err(error) if error.kind == Kind::Vendor && self.is_held() => Ok(self.held(&error)),
            result => result,
        }
    }

    /// Lists the conversations that somebody began in this folder, if only this agent of its vendor
    /// works here: another one's would be as good a guess.
    async fn conversations(&self) -> Result<Vec<AdoptCandidate>> {
        if self.fresh || !self.works_alone || self.draft.description.is_some() {
            return Ok(Vec::new());
        }
        let ports = &self.supervisor.ports;
        let sessions = ports.store.sessions().await?;
        let own = |it: &Session| it.vendor == self.draft.vendor && it.cwd == self.draft.cwd;
        if sessions.iter().any(|it| own(&it.session)) {
            return Ok(Vec::new());
        }
        let (vendor, cwd) = (Some(self.draft.vendor.clone()), Some(self.draft.cwd.clone()));
        let wanted = adopt::Wanted { vendor, cwd, ..adopt::Wanted::default() };
        adopt::candidates(ports, &self.environment, &wanted).await
    }

    /// Takes in the only conversation there is, and goes on with it; not one that is open.
    async fn adopt(&self, only: &AdoptCandidate) -> Result<Option<AgentOutcome>> {
        if only.open_in.is_some() || self.draft.config_dir != only.config_dir {
            return Ok(None);
        }
        let ports = &self.supervisor.ports;
        let status = Status::Ended(How::Quit);
        let session = Session { status, spoke: true, ..self.draft.clone() };
        let id = session.id;
        match adopt::take_in(ports, session, &only.vendor_session_id).await {
            Ok(_) => {}
            // Somebody else was quicker, with the agent or with the conversation.
            Err(error) if error.kind == Kind::Conflict => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut outcome = self.bring_back(id).await?;
        if outcome.outcome == Outcome::Resumed {
            outcome.outcome = Outcome::Adopted;
            outcome.note = Some(adopted(only));
        }
        Ok(Some(outcome))
    }

    fn is_held(&self) -> bool {
        let Session { vendor, config_dir, .. } = self.draft.clone();
        self.supervisor.accounts.is_held(&Account { vendor, config_dir })
    }

    /// Says that nothing was begun, not even a session.
    fn held(&self, error: &Error) -> AgentOutcome {
        AgentOutcome {
            session: None,
            name: self.draft.address(),
            vendor: self.draft.vendor.clone(),
            outcome: Outcome::Refused,
            vendor_session_id: None,
            note: Some(error.in_one_line()),
            lost: true,
        }
    }

    async fn existing(&self) -> Result<Option<SessionId>> {
        let sessions = self.supervisor.ports.store.sessions().await?;
        let own = |it: &&segue_core::ports::SessionSummary| {
            it.session.fleet == self.draft.fleet && it.session.name == self.draft.name
        };
        Ok(sessions.iter().find(own).map(|it| it.session.id))
    }

    async fn bring_back(&self, id: SessionId) -> Result<AgentOutcome> {
        let how = (self.environment.clone(), self.fresh);
        bring_back(&self.supervisor, id, (self.asked, self.wish), how).await
    }

    async fn start(&self) -> Result<AgentOutcome> {
        let inbox = self.supervisor.adopt_new(SessionState::new(self.draft.clone()));
        let (message, environment) = (self.prompt.clone(), self.environment.clone());
        let start = Box::new(Start { message, environment, wish: self.wish });
        ask(&inbox, |reply| Message::StartVerified { start, reply }).await
    }
}

fn adopted(candidate: &AdoptCandidate) -> String {
    let began = candidate.began_at;
    let begins = candidate.begins.as_deref().unwrap_or_default();
    format!("the only conversation in this folder, begun by hand at {began:.0}: {begins}")
}

fn left_alone(draft: &Session, found: &[AdoptCandidate]) -> String {
    let (vendor, name) = (&draft.vendor, &draft.name);
    match found {
        [only] => {
            let id = &only.vendor_session_id;
            let why = match only.open_in {
                Some(pid) => format!("is open in process {pid}"),
                None => format!("is in `{}`", only.config_dir.display()),
            };
            format!("began a new conversation; {vendor}:{id} of this folder {why}")
        }
        several => format!(
            "began a new conversation; {} others are in this folder: `segue adopt {vendor}` lists \
             them, and `segue rm {name}` first makes room for one",
            several.len()
        ),
    }
}

/// Ends the processes of the selected sessions.
pub(crate) async fn stop(
    supervisor: &Arc<Supervisor>,
    scope: &Scope,
    request: StopRequest,
) -> Result<StopReport> {
    let chosen = selected(supervisor, scope, &request.selection, &request.cwd).await?;
    let tasks = chosen.into_iter().map(|it| {
        let session = it.summary.session;
        let supervisor = Arc::clone(supervisor);
        async move {
            let was_running = supervisor.ask(session.id, |reply| Message::Stop { reply }).await?;
            Ok(StoppedSession { session: session.id, name: session.address(), was_running })
        }
    });
    Ok(StopReport { stopped: all(tasks).await? })
}

/// Runs all tasks beside each other; returns their answers in order, or the first failure.
async fn all<T, F>(tasks: impl Iterator<Item = F>) -> Result<Vec<T>>
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
    answers.into_iter().map(|(_, answer)| answer).collect()
}
