//! Asks the actor of the target's session to start or to continue the conversation.

use std::sync::Arc;

use segue_core::api::{AgentOutcome, HandoffReport, OutcomeNote};
use segue_core::flows::SessionState;
use segue_core::flows::handoff::{HandoffPlan, TargetSession, TransferSummary};
use segue_core::flows::launch::LaunchRequest;
use segue_core::flows::look::SelectionMode;
use segue_core::model::Environment;
use segue_core::rules::accounts::StartRequester;
use segue_core::{Error, Result};

use super::super::{MessageAuthor, Outgoing, SessionRequest, StartTrigger, Supervisor};

/// A handoff whose old agent has ended.
pub(super) struct Transfer {
    pub(super) supervisor: Arc<Supervisor>,
    pub(super) plan: Arc<HandoffPlan>,
    pub(super) target: TargetSession,
}

impl Transfer {
    /// Stores the session, its conversation and the handoff in one commit.
    pub(super) async fn record(&mut self, summary: &TransferSummary) -> Result<()> {
        self.plan.record(&self.supervisor.ports, &mut self.target, summary).await?;
        self.supervisor.fleet_files.write(&self.target.session.fleet).await
    }

    /// Starts the session with a conversation. Returns after its process has shown which
    /// conversation it has.
    pub(super) async fn launch(&self, request: LaunchRequest) -> Result<AgentOutcome> {
        let (launch, trigger) = (Box::new(request), StartTrigger::now(StartRequester::One));
        let message = |reply| SessionRequest::StartHandedOver { launch, trigger, reply };
        self.supervisor.ask(self.target.session.id, message).await
    }

    /// Starts a new conversation of the target. The session, its message and the handoff are
    /// recorded in one commit.
    pub(super) async fn start_new(
        &mut self,
        summary: &TransferSummary,
        message: Option<String>,
    ) -> Result<AgentOutcome> {
        let ports = &self.supervisor.ports;
        let unique = ports.clock.new_id();
        let launching = self.plan.target.vendor.launching();
        let id = launching.preset_id(&self.target.session, unique);
        let request = LaunchRequest {
            message,
            creates_session: !self.target.is_recorded,
            same_commit: self.plan.step(ports, &mut self.target, summary),
            ..LaunchRequest::fresh(id, self.environment())
        };
        if !self.target.is_recorded {
            self.supervisor.start_actor(SessionState::new(self.target.session.clone()));
            self.target.is_recorded = true;
        }
        self.launch(request).await
    }

    /// Continues the conversation that the target already has. The digest is queued like any other
    /// message, so it survives a crash.
    pub(super) async fn continue_earlier(
        &mut self,
        summary: &TransferSummary,
        message: Option<String>,
    ) -> Result<AgentOutcome> {
        let (id, environment) = (self.target.session.id, self.environment());
        if let Some(text) = message {
            // The handoff and the message are recorded in one commit.
            let same_commit = self.plan.step(&self.supervisor.ports, &mut self.target, summary);
            let (environment, interrupt, request) = (environment.clone(), false, None);
            let author = MessageAuthor::Segue;
            let outgoing = Outgoing {
                id: None,
                text,
                is_command: false,
                author,
                environment,
                interrupt,
                request,
                same_commit,
            };
            let send = |reply| SessionRequest::Send { outgoing, reply };
            self.supervisor.ask(id, send).await?;
        } else {
            self.record(summary).await?;
        }
        let (selection, fresh, trigger) =
            (SelectionMode::ByName, None, StartTrigger::now(StartRequester::One));
        self.supervisor
            .ask(id, |reply| SessionRequest::Resume {
                environment,
                selection,
                fresh,
                trigger,
                reply,
            })
            .await
    }

    /// Returns whether the target has the transferred history.
    pub(super) fn has_history(&self) -> Result<bool> {
        self.plan.has_history(&self.supervisor.ports, &self.target)
    }

    /// Removes a new session after its handoff failed.
    pub(super) async fn remove_new_session(&self) {
        if self.target.is_new && self.target.is_recorded {
            let remove = |reply| SessionRequest::remove(false, Vec::new(), reply);
            // The caller gets the error of the handoff, not an error of this removal.
            let _stays = self.supervisor.ask(self.target.session.id, remove).await;
        }
    }

    pub(super) fn report(&self, summary: &TransferSummary, note: OutcomeNote) -> HandoffReport {
        self.plan.report(&self.target, summary, note)
    }

    pub(super) fn environment(&self) -> Environment {
        self.plan.target.environment.clone()
    }
}

/// Returns the error for a session that refused to start with the conversation.
pub(super) fn did_not_start(to: &str, from: &str, why: Option<String>) -> Error {
    Error::vendor(format!("`{to}` did not start"))
        .caused_by(why.unwrap_or_default())
        .hint(format!("run `segue log {to}` to see why"))
        .hint(format!("run `segue resume {from} --stopped` to go on as before"))
}
