//! Brings up one agent of a project: resumes its session, adopts a conversation, or starts a new
//! one.

use std::sync::Arc;

use segue_core::api::{AgentOutcome, LeftAlone, RestoreReport};
use segue_core::flows::SessionState;
use segue_core::flows::agent::{self, AgentPlan, AgentSessions, CurrentSession};
use segue_core::flows::run::is_name_taken;
use segue_core::flows::settings::NewSettings;
use segue_core::model::{RequestKey, Session, SessionId};
use segue_core::ports::{Commit, Ports, SessionQuery, SessionSummary};
use segue_core::{Kind, Result};

use super::concurrent::all;
use super::handoff::{self, ChangedVendor};
use super::resume::{bring_back, trigger};
use super::{
    Account, ConversationRenewal, SessionRenamer, SessionRequest, Start, StartTrigger, Supervisor,
    ask,
};

/// One agent of a project that is being brought up.
struct AgentStart {
    supervisor: Arc<Supervisor>,
    plan: AgentPlan,
    /// `Some` starts a new conversation.
    fresh: Option<ConversationRenewal>,
    trigger: StartTrigger,
}

/// The result of bringing up an agent.
enum BroughtUp {
    Outcome(AgentOutcome),
    LeftAlone(LeftAlone),
    /// The agent runs on another machine. Nothing was changed.
    OnOtherMachine(LeftAlone),
}

/// Brings agents up, concurrently.
pub(super) async fn bring_up(
    supervisor: &Arc<Supervisor>,
    agents: Vec<AgentPlan>,
    key: Option<RequestKey>,
) -> Result<RestoreReport> {
    let trigger = trigger(agents.len());
    let starts = agents.into_iter().map(|plan| AgentStart {
        supervisor: Arc::clone(supervisor),
        fresh: plan.requested.is_fresh.then_some(ConversationRenewal(key)),
        plan,
        trigger,
    });
    let (mut agents, mut left_alone) = (Vec::new(), Vec::new());
    for brought_up in all(starts.map(AgentStart::run)).await? {
        match brought_up {
            BroughtUp::Outcome(outcome) => agents.push(outcome),
            BroughtUp::LeftAlone(session) | BroughtUp::OnOtherMachine(session) => {
                left_alone.push(session);
            }
        }
    }
    Ok(RestoreReport::new(agents, left_alone, Vec::new()))
}

impl AgentStart {
    /// Brings the agent up, and records its settings and timers.
    async fn run(self) -> Result<BroughtUp> {
        let brought_up = self.resume_or_start().await?;
        let id = match &brought_up {
            BroughtUp::Outcome(outcome) => outcome.of.session,
            BroughtUp::LeftAlone(session) => Some(session.session),
            BroughtUp::OnOtherMachine(_) => None,
        };
        if let Some(id) = id {
            self.configure(id).await?;
            let timers = self.plan.timers.clone();
            self.supervisor.ask(id, |reply| SessionRequest::SetTimers { timers, reply }).await?;
        }
        Ok(brought_up)
    }

    /// Continues the agent's conversation if it has one, and starts a new conversation otherwise.
    async fn resume_or_start(&self) -> Result<BroughtUp> {
        loop {
            let sessions = self.plan.sessions(self.ports()).await?;
            if let Some(current) = &sessions.current {
                let is_down = current.open.is_none();
                if is_down && self.supervisor.handoff_claims.wait_for(&[current.session.id]).await {
                    continue;
                }
                return self.resume_current(current).await;
            }
            if let Some(outcome) = self.start_without_current(sessions).await? {
                return Ok(BroughtUp::Outcome(outcome));
            }
        }
    }

    /// Brings the agent's current session back, unless it was ended on purpose.
    async fn resume_current(&self, current: &SessionSummary) -> Result<BroughtUp> {
        match self.plan.current(self.ports(), current).await? {
            CurrentSession::BroughtBack => {
                self.bring_back(current.session.id).await.map(BroughtUp::Outcome)
            }
            CurrentSession::Refused(outcome) => Ok(BroughtUp::Outcome(outcome)),
            CurrentSession::LeftAlone(session) => Ok(BroughtUp::LeftAlone(session)),
            CurrentSession::OnOtherMachine(session) => Ok(BroughtUp::OnOtherMachine(session)),
        }
    }

    /// Brings up an agent that has no session with its name and vendor. Returns `None` if another
    /// request created that session meanwhile.
    async fn start_without_current(&self, sessions: AgentSessions) -> Result<Option<AgentOutcome>> {
        if let Some(other) = &sessions.of_other_vendor {
            self.free_name(other).await?;
        }
        if let Some(id) = sessions.renamed {
            return self.resume_renamed(id, sessions.of_other_vendor.as_ref()).await.map(Some);
        }
        if self.fresh.is_none() {
            match self.hand_over(&sessions.to_continue).await? {
                ChangedVendor::HandedOver(outcome) => return Ok(Some(*outcome)),
                ChangedVendor::SessionExists => return Ok(None),
                ChangedVendor::NothingToHandOver => {}
            }
        }
        let found = self.plan.conversations(self.ports()).await?;
        if let [only] = found.as_slice()
            && let Some(id) = self.plan.adopt(self.ports(), only).await?
        {
            return Ok(Some(agent::adopted(self.bring_back(id).await?, only)));
        }
        Ok(Some(self.plan.with_ignored(self.start_or_join().await?, &found)))
    }

    /// Gives a session of the agent its name back, and brings it back.
    async fn resume_renamed(&self, id: SessionId, other: Option<&Session>) -> Result<AgentOutcome> {
        if let Some(other) = other {
            // An agent runs with one vendor at a time, so its session with the other vendor is
            // stopped.
            handoff::end_agent(&self.supervisor, other.id, false).await?;
        }
        let (name, by) = (self.plan.draft.name.clone(), SessionRenamer::Up);
        self.supervisor.ask(id, |reply| SessionRequest::Rename { name, by, reply }).await?;
        self.bring_back(id).await
    }

    /// Renames the agent's session with its previous vendor, so that the new session can have its
    /// name.
    async fn free_name(&self, other: &Session) -> Result<()> {
        match self.plan.name_to_free(self.ports(), other).await? {
            Some(name) => {
                let by = SessionRenamer::Up;
                self.supervisor
                    .ask(other.id, |reply| SessionRequest::Rename { name, by, reply })
                    .await
            }
            None => Ok(()),
        }
    }

    /// Continues the conversation that the agent had with another vendor.
    async fn hand_over(&self, others: &[SessionId]) -> Result<ChangedVendor> {
        let AgentPlan { draft, environment, .. } = &self.plan;
        handoff::hand_over_to_changed_vendor(&self.supervisor, draft, others, environment).await
    }

    /// Starts a new session. If another request created the session at the same time, waits for
    /// that session.
    async fn start_or_join(&self) -> Result<AgentOutcome> {
        match self.start().await {
            Err(error) if is_name_taken(&error) => {
                match self.plan.created_meanwhile(self.ports()).await? {
                    Some(id) => self.bring_back(id).await,
                    None => Err(error.hint(format!(
                        "run `segue rename {} NAME` if the session of that name is not the agent's",
                        self.plan.draft.address()
                    ))),
                }
            }
            Err(error) if error.kind == Kind::Vendor && self.is_account_refused() => {
                Ok(self.plan.refused_account(&error))
            }
            result => result,
        }
    }

    fn is_account_refused(&self) -> bool {
        let Session { vendor, config_dir, .. } = self.plan.draft.clone();
        self.supervisor.accounts.is_refused(&Account { vendor, config_dir })
    }

    /// Brings a session back with the settings that the project file has now.
    async fn bring_back(&self, id: SessionId) -> Result<AgentOutcome> {
        let was_open = self.is_open(id).await?;
        let changed = self.configure(id).await?;
        let how = (self.plan.environment.clone(), self.fresh);
        let start = (self.plan.requested.selection, self.trigger);
        let outcome = bring_back(&self.supervisor, id, start, how).await?;
        Ok(self.plan.with_changed_settings(outcome, (&changed, was_open)))
    }

    /// Records the settings of the project file. Returns the keys that change the next launch.
    async fn configure(&self, id: SessionId) -> Result<Vec<&'static str>> {
        let settings = NewSettings::OfProject(Box::new(self.plan.draft.settings()));
        self.supervisor.ask(id, |reply| SessionRequest::Configure { settings, reply }).await
    }

    async fn is_open(&self, id: SessionId) -> Result<bool> {
        let sessions = self.ports().store.sessions(&SessionQuery::id(id)).await?;
        Ok(sessions.iter().any(|it| it.open.is_some()))
    }

    async fn start(&self) -> Result<AgentOutcome> {
        let AgentPlan { mut draft, prompt, environment, .. } = self.plan.clone();
        let planned = self.plan.worktree(self.ports()).await?;
        let made = self.supervisor.make_worktree(planned.as_ref(), &environment).await?;
        if let Some(plan) = planned {
            draft.cwd = plan.worktree.path;
        }
        let inbox = self.supervisor.start_actor(SessionState::new(draft));
        let start = Start {
            message: prompt,
            environment,
            trigger: self.trigger,
            request: None,
            same_commit: Commit::default(),
            worktree: made.as_ref().map(|made| made.event.clone()),
        };
        ask(&inbox, |reply| SessionRequest::StartVerified { start: Box::new(start), reply }).await
    }

    fn ports(&self) -> &Ports {
        &self.supervisor.ports
    }
}
