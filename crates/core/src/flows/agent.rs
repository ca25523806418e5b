//! An agent of a project that `segue up` starts: its sessions, and the conversation that it continues.

use std::path::PathBuf;

use crate::api::{AdoptCandidate, AgentOutcome, LeftAlone, Outcome, OutcomeNote, SessionRef};
use crate::error::{Error, Result};
use crate::flows::bringing_back::BringBackDecider;
use crate::flows::create::SessionBeginning;
use crate::flows::resume::{RequestedStart, refused_outcome};
use crate::flows::worktrees::{self, WorktreePlan};
use crate::flows::{adopt, naming, projects};
use crate::model::{
    AgentName, Environment, Project, ProjectAgent, Session, SessionId, SessionName, Timer,
    WorktreeOrder, WorktreeSettings,
};
use crate::ports::{Ports, SessionQuery, SessionSummary};
use crate::rules;
use crate::rules::bringing_back::LeftAloneReason;
use crate::rules::handoff::{ContinuedConversation, HandoffCandidate, continued_conversation};

/// An agent of a project that `segue up` starts.
#[derive(Clone, Debug)]
pub struct AgentPlan {
    /// The session to create if the agent has none yet.
    pub draft: Session,
    pub prompt: Option<String>,
    pub timers: Vec<Timer>,
    pub environment: Environment,
    pub requested: RequestedStart,
    /// Whether no other agent of the project has the same vendor.
    pub is_only_of_vendor: bool,
    worktree: Option<AgentWorktreeOrder>,
}

/// The worktree that a new session of an agent works in.
#[derive(Clone, Debug)]
struct AgentWorktreeOrder {
    order: WorktreeOrder,
    agent: AgentName,
    folder: PathBuf,
    settings: WorktreeSettings,
}

/// The sessions of one agent.
#[derive(Clone, Debug, Default)]
pub struct AgentSessions {
    /// The session that has the agent's vendor and the agent's name, or had that name before a
    /// person renamed it.
    pub current: Option<SessionSummary>,
    /// A session that has the agent's vendor and another name.
    pub renamed: Option<SessionId>,
    /// A session that has another vendor and the agent's name.
    pub of_other_vendor: Option<Session>,
    /// Sessions with other vendors whose conversations the agent can continue, newest first.
    pub to_continue: Vec<SessionId>,
}

/// What happens to the session that an agent has already.
#[derive(Clone, Debug)]
pub enum CurrentSession {
    BroughtBack,
    /// The session is not started although the request names it.
    Refused(AgentOutcome),
    LeftAlone(LeftAlone),
    /// The session runs on another machine. Nothing is changed.
    OnOtherMachine(LeftAlone),
}

impl AgentPlan {
    pub fn new(
        ports: &Ports,
        (project, agent): (&Project, &ProjectAgent),
        environment: &Environment,
        requested: RequestedStart,
    ) -> Result<Self> {
        Ok(Self {
            draft: projects::agent_session(ports, project, agent, environment)?,
            prompt: agent.prompt.clone(),
            timers: agent.timers.clone(),
            environment: environment.clone(),
            requested,
            is_only_of_vendor: project.is_only_agent_of_vendor(agent),
            worktree: agent.worktree.clone().map(|order| AgentWorktreeOrder {
                order,
                agent: agent.name.clone(),
                folder: project.folder.clone(),
                settings: project.worktrees.clone(),
            }),
        })
    }

    /// Plans the worktree for a new session. `None` if the agent works in the project's folder.
    pub async fn worktree(&self, ports: &Ports) -> Result<Option<WorktreePlan>> {
        let Some(wanted) = &self.worktree else { return Ok(None) };
        let AgentWorktreeOrder { order, agent, folder, settings } = wanted;
        worktrees::plan(ports, order, agent, (folder, settings)).await.map(Some)
    }

    /// Returns the agent's sessions. It has more than one if its vendor was changed in the project
    /// file.
    pub async fn sessions(&self, ports: &Ports) -> Result<AgentSessions> {
        let Session { fleet, name, .. } = &self.draft;
        let agents = SessionQuery { has_agent: true, ..SessionQuery::fleet(fleet) };
        let mut sessions = ports.store.sessions(&agents).await?;
        sessions.retain(|it| it.session.name != *name);
        sessions.extend(ports.store.sessions(&SessionQuery::address(fleet, name)).await?);
        Ok(agent_sessions(&self.draft, sessions))
    }

    /// Decides whether the agent's session is brought back. A session that was ended on purpose is
    /// not brought back.
    pub async fn current(&self, ports: &Ports, summary: &SessionSummary) -> Result<CurrentSession> {
        let selection = self.requested.user_selection();
        let exclusion = BringBackDecider::new(ports).await?.exclusion(summary, selection).await?;
        if let Some(exclusion) =
            exclusion.as_ref().filter(|it| it.why == LeftAloneReason::OtherMachine)
        {
            return Ok(CurrentSession::OnOtherMachine(exclusion.report(&summary.session)));
        }
        Ok(match exclusion.filter(|it| it.why.is_deliberate()) {
            Some(exclusion) if selection.by_name => {
                CurrentSession::Refused(refused_outcome(summary, &exclusion))
            }
            Some(exclusion) => CurrentSession::LeftAlone(exclusion.report(&summary.session)),
            None => CurrentSession::BroughtBack,
        })
    }

    /// Returns the new name for the agent's session with its previous vendor, so that the new
    /// session can have the agent's name. `None` if another request has renamed it already.
    pub async fn name_to_free(
        &self,
        ports: &Ports,
        other: &Session,
    ) -> Result<Option<SessionName>> {
        let known = ports.store.session(other.id).await?;
        let up_name = other.name_for_up();
        if known.is_none_or(|known| known.name_for_up() != up_name) {
            return Ok(None);
        }
        let (own, vendor) = (up_name.as_str(), other.vendor.as_str());
        let names = rules::naming::names_with_vendor(own, vendor);
        naming::first_free(ports, &other.fleet, names).await.map(Some)
    }

    /// Lists the conversations that were started without Segue in this folder. Returns an empty
    /// list if several agents of the project have this vendor, because a conversation could belong
    /// to any of them.
    pub async fn conversations(&self, ports: &Ports) -> Result<Vec<AdoptCandidate>> {
        let is_described = self.draft.description.is_some();
        let has_own_folder = self.worktree.is_some();
        if self.requested.is_fresh || !self.is_only_of_vendor || is_described || has_own_folder {
            return Ok(Vec::new());
        }
        let (vendor, cwd) = (Some(self.draft.vendor.clone()), Some(self.draft.cwd.clone()));
        let query = SessionQuery { vendor: vendor.clone(), cwd: cwd.clone(), ..Default::default() };
        if ports.store.count_sessions(&query).await? > 0 {
            return Ok(Vec::new());
        }
        let filter = adopt::AdoptFilter { vendor, cwd, ..adopt::AdoptFilter::default() };
        adopt::candidates(ports, &self.environment, &filter).await
    }

    /// Adopts the only conversation in the folder. Returns `None` if the conversation is open in
    /// another process, belongs to another config directory, or was adopted by another request.
    pub async fn adopt(&self, ports: &Ports, only: &AdoptCandidate) -> Result<Option<SessionId>> {
        if only.open_in.is_some() || self.draft.config_dir != only.config_dir {
            return Ok(None);
        }
        let session = SessionBeginning::Adoption.begin(self.draft.clone());
        let id = session.id;
        match adopt::create_bound_session(ports, session, &only.vendor_session_id, Vec::new()).await
        {
            Ok(_) => Ok(Some(id)),
            // Another request took the agent's name or the conversation meanwhile.
            Err(error) if error.conflict.is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the session with the agent's name that another request has created meanwhile.
    pub async fn created_meanwhile(&self, ports: &Ports) -> Result<Option<SessionId>> {
        let query = SessionQuery::address(&self.draft.fleet, &self.draft.name);
        let sessions = ports.store.sessions(&query).await?;
        let is_own = |it: &Session| it.parent.is_none() && *it.name_for_up() == self.draft.name;
        Ok(sessions.iter().find(|it| is_own(&it.session)).map(|it| it.session.id))
    }

    /// Returns the outcome of an agent that was not started because its account is refused. No
    /// session was created.
    pub fn refused_account(&self, error: &Error) -> AgentOutcome {
        AgentOutcome {
            of: SessionRef::of_draft(&self.draft),
            vendor: self.draft.vendor.clone(),
            outcome: Outcome::Refused,
            vendor_session_id: None,
            note: OutcomeNote::of_error(error),
            dialog: None,
            lost: true,
        }
    }

    /// Adds a note about the settings that have changed in the project file to the outcome of a
    /// session. A process that was running already does not have the new values.
    pub fn with_changed_settings(
        &self,
        outcome: AgentOutcome,
        (changed, was_open): (&[&str], bool),
    ) -> AgentOutcome {
        if changed.is_empty() || outcome.outcome == Outcome::Refused {
            return outcome;
        }
        let (keys, address) = (changed.join(", "), &outcome.of.address);
        let note = match was_open && !self.requested.is_fresh {
            true => {
                let commands = format!("`segue stop {address}` and `segue up --stopped`");
                OutcomeNote::new(format!("the project file has other values: {keys}"))
                    .hint(format!("{commands} start it with them"))
            }
            false => OutcomeNote::new(format!("now as in the project file: {keys}")),
        };
        with_note(outcome, note)
    }

    /// Adds a note about the conversations in the folder that were not continued to the outcome of a
    /// new conversation.
    pub fn with_ignored(&self, outcome: AgentOutcome, found: &[AdoptCandidate]) -> AgentOutcome {
        let begins = matches!(outcome.outcome, Outcome::Started | Outcome::Waiting);
        if !begins || found.is_empty() {
            return outcome;
        }
        with_note(outcome, ignored(&self.draft, found))
    }
}

/// Sorts the sessions that can belong to an agent.
fn agent_sessions(draft: &Session, mut sessions: Vec<SessionSummary>) -> AgentSessions {
    let has_name = |it: &Session| *it.name_for_up() == draft.name;
    // A session that was started by another agent belongs to that agent, whatever its name is.
    sessions.retain(|SessionSummary { session, .. }| {
        let is_former = session.agent == draft.agent && has_former_name(draft, session);
        session.parent.is_none() && (has_name(session) || is_former)
    });
    sessions.sort_by_key(|it| (it.session.created_at, it.session.id));
    let is_own = |it: &Session| it.vendor == draft.vendor;
    let candidates: Vec<HandoffCandidate> = sessions
        .iter()
        .map(|it| HandoffCandidate {
            session: it.session.id,
            id: it.binding.as_ref().map(|binding| binding.vendor_session.clone()),
            is_own: is_own(&it.session),
            at: it.session.updated_at,
        })
        .collect();
    let (renamed, to_continue) = match continued_conversation(&candidates) {
        ContinuedConversation::Own(own) => (Some(own.session), Vec::new()),
        ContinuedConversation::FirstOf(others) => {
            (None, others.iter().map(|it| it.session).collect())
        }
    };
    // A session that a person has renamed is still the agent's own. Another session may have the
    // agent's name meanwhile.
    let named = sessions.into_iter().filter(|it| has_name(&it.session));
    let (current, of_other_vendor) = match named.min_by_key(|it| it.session.up_name.is_none()) {
        Some(own) if is_own(&own.session) => (Some(own), None),
        other => (None, other.map(|it| it.session)),
    };
    AgentSessions { current, renamed, of_other_vendor, to_continue }
}

/// Returns whether a session has the name that Segue gives to an agent's session when the agent
/// continues with another vendor. Excludes sessions that were started with `segue run`.
fn has_former_name(draft: &Session, session: &Session) -> bool {
    let (own, vendor) = (draft.name.as_str(), session.vendor.as_str());
    rules::naming::is_name_with_vendor(session.name_for_up().as_str(), own, vendor)
}

/// Sets the outcome of a session that has adopted the only conversation of its folder.
pub fn adopted(outcome: AgentOutcome, only: &AdoptCandidate) -> AgentOutcome {
    let began = only.began_at;
    let begins = only.begins.as_deref().unwrap_or_default();
    let note = OutcomeNote::new(format!(
        "the only conversation in this folder, begun without Segue at {began:.0}: {begins}"
    ));
    match outcome.outcome {
        Outcome::Resumed => AgentOutcome { outcome: Outcome::Adopted, note, ..outcome },
        Outcome::Waiting => with_note(outcome, note),
        _ => outcome,
    }
}

fn with_note(outcome: AgentOutcome, more: OutcomeNote) -> AgentOutcome {
    AgentOutcome { note: outcome.note.and(more), ..outcome }
}

fn ignored(draft: &Session, found: &[AdoptCandidate]) -> OutcomeNote {
    let (vendor, name) = (&draft.vendor, &draft.name);
    let note = OutcomeNote::new("began a new conversation");
    match found {
        [only] => {
            let id = &only.vendor_session_id;
            let why = match only.open_in {
                Some(pid) => format!("is open in process {pid}"),
                None => format!("is in `{}`", only.config_dir.display()),
            };
            note.and(OutcomeNote::new(format!("{vendor}:{id} of this folder {why}")))
        }
        several => note.hint(format!(
            "{} others are in this folder: `segue adopt {vendor}` lists them; run `segue rm \
             {name}` before you adopt one under this name",
            several.len()
        )),
    }
}

#[cfg(test)]
mod tests;
