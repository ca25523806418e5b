//! Starts the session's agent: prepares a requested start, waits for permission outside the message
//! loop, launches, and answers the request. See [`super::start_queue`] for the states of a start.

use std::sync::Arc;

use segue_core::api::{Outcome, PlannedDecision, PlannedOutcome, SessionRef};
use segue_core::flows::launch::{self, LaunchRequest};
use segue_core::flows::look::{self, ObservedSession, SelectionMode};
use segue_core::flows::restore::{self, Done};
use segue_core::model::{Environment, EventPayload, LaunchId, LaunchMode, RequestStep};
use segue_core::ports::Commit;
use segue_core::rules::accounts::StartRequester;
use segue_core::rules::recovery::{self, Decision};
use segue_core::{Error, Result, failpoint};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::super::accounts::StartTrigger;
use super::super::admission::{AdmissionRequest, StartPermits, admit};
use super::archiving::COPY_TIMEOUT;
use super::start_queue::{PermitWait, StartRequest, StartStep};
use super::{Actor, ConversationRenewal, LeftBehind, first_launch};
use crate::blocking::failed;
use crate::requests::step;

/// The result of preparing a start.
enum Preparation {
    /// A process is to be started. `vendor_chooses_id` if the id of its conversation cannot be
    /// preset.
    NeedsPermits { vendor_chooses_id: bool },
    /// The decision can be carried out without a process.
    NeedsNoProcess(Box<ObservedSession>, Decision),
    /// The reason for the start is gone.
    Outdated,
}

impl Actor {
    pub(super) async fn proceed_with_start(&mut self, step: StartStep) -> Result<()> {
        match step {
            StartStep::Begin(request) => self.begin_start(request).await,
            StartStep::Admitted { request, permits: Ok(permits) } => {
                self.launch_admitted(request, permits).await
            }
            StartStep::Admitted { request, permits: Err(error) } => {
                self.report_start(request, Err(error)).await
            }
        }
    }

    async fn begin_start(&mut self, mut request: StartRequest) -> Result<()> {
        let done = match self.prepare_start(&mut request).await {
            Ok(Preparation::NeedsPermits { vendor_chooses_id }) => {
                match self.admission(&request, vendor_chooses_id) {
                    Ok(admission) => {
                        self.starts.wait_at_gates(request, admission);
                        return Ok(());
                    }
                    Err(error) => Err(error),
                }
            }
            Ok(Preparation::NeedsNoProcess(observed, decision)) => {
                let environment = request.environment().clone();
                let done = self.bring_back(&observed, decision, environment).await;
                done.map_err(|error| self.with_recording_retry(error))
            }
            Ok(Preparation::Outdated) => return Ok(()),
            Err(error) => Err(error),
        };
        self.report_start(request, done).await
    }

    /// Does the steps of a start that come before the wait for permits.
    async fn prepare_start(&mut self, request: &mut StartRequest) -> Result<Preparation> {
        match request {
            StartRequest::First { start, .. } => {
                self.account_reporting.trigger = start.trigger;
                Ok(Preparation::NeedsPermits { vendor_chooses_id: self.vendor_chooses_id()? })
            }
            StartRequest::Resume {
                environment, selection, fresh, trigger, left_behind, ..
            } => {
                self.account_reporting.trigger = *trigger;
                *left_behind = if self.state.session.has_content {
                    LeftBehind::Conversation
                } else {
                    LeftBehind::Nothing
                };
                self.request_turn(environment.clone());
                if self.has_renewed(*fresh).await? {
                    (*fresh, *selection) = (None, SelectionMode::ByName);
                }
                match fresh {
                    Some(_) => self.prepare_new_conversation().await,
                    None => self.prepare_to_bring_back(*selection).await,
                }
            }
            StartRequest::Handoff { launch, trigger, .. } => {
                self.account_reporting.trigger = *trigger;
                self.prepare_handoff(launch).await
            }
            StartRequest::Restart { after, .. } => {
                if self.restart_after != Some(*after) || self.state.open().is_some() {
                    return Ok(Preparation::Outdated);
                }
                self.prepare_restart().await
            }
            StartRequest::NextTurn { .. } => {
                if !self.has_queued_message() || self.state.open().is_some() {
                    return Ok(Preparation::Outdated);
                }
                self.prepare_to_bring_back(SelectionMode::ByName).await
            }
            StartRequest::Reconfigured { .. } => {
                // A person may have typed, or taken the message back, since the start was requested.
                if !self.has_old_settings() || !self.can_type().await? {
                    return Ok(Preparation::Outdated);
                }
                self.stop().await?;
                self.prepare_to_bring_back(SelectionMode::ByName).await
            }
        }
    }

    async fn prepare_to_bring_back(&mut self, selection: SelectionMode) -> Result<Preparation> {
        self.close_if_dead().await?;
        let (observed, decision) = self.decide(selection).await?;
        if !starts_process(&decision) && self.state.outbox.is_empty() {
            return Ok(Preparation::NeedsNoProcess(Box::new(observed), decision));
        }
        self.end_leftovers().await?;
        // The new process may delete files of the conversation, so its start waits for the copy.
        self.archive();
        let is_new = matches!(decision, Decision::StartAgain | Decision::Fresh);
        Ok(Preparation::NeedsPermits { vendor_chooses_id: is_new && self.vendor_chooses_id()? })
    }

    async fn prepare_restart(&mut self) -> Result<Preparation> {
        self.account_reporting.trigger = StartTrigger::now(StartRequester::ByItself);
        self.prepare_to_bring_back(SelectionMode::InBulk).await
    }

    async fn prepare_new_conversation(&mut self) -> Result<Preparation> {
        if self.state.open().is_some() {
            self.stop().await?;
        }
        self.end_leftovers().await?;
        Ok(Preparation::NeedsPermits { vendor_chooses_id: self.vendor_chooses_id()? })
    }

    async fn prepare_handoff(&mut self, launch: &LaunchRequest) -> Result<Preparation> {
        self.close_if_dead().await?;
        if self.state.open().is_some() {
            self.stop().await?;
        }
        self.end_leftovers().await?;
        let vendor_chooses_id = launch.mode == LaunchMode::Fresh && launch.id.is_none();
        Ok(Preparation::NeedsPermits { vendor_chooses_id })
    }

    /// Returns the wait for the permits to start. Starts are limited per account. If the vendor
    /// chooses the id of a conversation, only one session at a time may start in the same place.
    fn admission(&mut self, start: &StartRequest, vendor_chooses_id: bool) -> Result<PermitWait> {
        failpoint::hit("start.gate.before");
        let vendor = self.ports.vendors.of(&self.state.session)?;
        // An earlier launch of this session may have been the scout. That launch has ended: a session
        // with an open launch does not come here. Drop the role, because otherwise the session would
        // wait for its own result.
        self.account_reporting.scout = None;
        let capabilities = vendor.capabilities();
        // If the vendor never shows an id, there is nothing to wait for.
        let is_shown = vendor.signals().is_some();
        let request = AdmissionRequest {
            account: self.account(),
            trigger: self.account_reporting.trigger,
            first_turn: capabilities.first_turn,
            pace: capabilities.pace,
            finding: (vendor_chooses_id && is_shown).then(|| self.state.place()),
        };
        let supervisor = Arc::clone(&self.supervisor);
        let mut worktree = self.worktree_preparation(start);
        let copied = self.copies_made();
        Ok(Box::pin(async move {
            let _copied_later = timeout(COPY_TIMEOUT, copied).await;
            let prepared = worktree.join_next().await.transpose().map_err(failed)?;
            let worktree_was_gone = prepared.transpose()?.unwrap_or(false);
            let permits = admit(&supervisor.gates, &supervisor.accounts, request).await?;
            Ok(StartPermits { worktree_was_gone, ..permits })
        }))
    }

    /// Starts to prepare the session's worktree, in a task of its own: its setup commands may take
    /// minutes. Dropping the set ends them. The set is empty if there is nothing to prepare.
    fn worktree_preparation(&self, start: &StartRequest) -> JoinSet<Result<bool>> {
        let mut preparation = JoinSet::new();
        let may_have_worktree = match start {
            // The request that creates a session has prepared its worktree.
            StartRequest::First { .. } => false,
            // A handoff can bring its worktree to the session.
            StartRequest::Handoff { .. } => true,
            _ => self.state.worktree.is_some(),
        };
        if may_have_worktree {
            let (supervisor, session) = (Arc::clone(&self.supervisor), self.state.session.clone());
            let environment = start.environment().clone();
            preparation
                .spawn(async move { supervisor.prepare_worktree(&session, &environment).await });
        }
        preparation
    }

    async fn launch_admitted(
        &mut self,
        request: StartRequest,
        permits: StartPermits,
    ) -> Result<()> {
        self.permits = permits.gates;
        self.account_reporting.scout = permits.scout;
        let done = self.launch(&request).await;
        let done = match permits.worktree_was_gone {
            true => done.map(restore::with_worktree_note),
            false => done,
        };
        if matches!(done, Ok(Done::Launched { .. })) {
            self.follow_launch_or_retry().await;
        }
        let done = done.map_err(|error| self.with_recording_retry(error));
        self.report_start(request, done).await
    }

    /// Starts the process. Other sessions were starting while this one waited, so the decision how
    /// to start is made here.
    async fn launch(&mut self, request: &StartRequest) -> Result<Done> {
        match request {
            StartRequest::First { start, .. } => {
                let request = first_launch(self, start)?;
                launch::start(&self.ports, &mut self.state, request).await?;
                Ok(Done::Launched { outcome: Outcome::Started, note: None })
            }
            StartRequest::Resume { environment, fresh: Some(renewal), .. } => {
                self.launch_new_conversation(environment.clone(), *renewal).await
            }
            StartRequest::Resume { environment, selection, fresh: None, .. } => {
                let (observed, decision) = self.decide(*selection).await?;
                self.bring_back(&observed, decision, environment.clone()).await
            }
            StartRequest::Handoff { launch, .. } => {
                failpoint::hit("handoff.launch.before");
                launch::start(&self.ports, &mut self.state, (**launch).clone()).await?;
                failpoint::hit("handoff.launch.after");
                Ok(Done::Launched { outcome: Outcome::HandedOver, note: None })
            }
            StartRequest::Restart { environment, .. } => {
                let (observed, decision) = self.decide(SelectionMode::InBulk).await?;
                self.bring_back(&observed, decision, environment.clone()).await
            }
            StartRequest::Reconfigured { environment } => {
                let (observed, decision) = self.decide(SelectionMode::ByName).await?;
                self.bring_back(&observed, decision, environment.clone()).await
            }
            StartRequest::NextTurn { environment } => {
                let (observed, decision) = self.decide(SelectionMode::ByName).await?;
                let environment = environment.clone();
                restore::next_turn(&self.ports, &mut self.state, &observed, decision, environment)
                    .await
            }
        }
    }

    async fn bring_back(
        &mut self,
        observed: &ObservedSession,
        decision: Decision,
        environment: Environment,
    ) -> Result<Done> {
        let done =
            restore::carry_out(&self.ports, &mut self.state, observed, decision, environment).await;
        // Whatever the result is, no automatic restart follows.
        self.cancel_restart().await;
        done
    }

    async fn launch_new_conversation(
        &mut self,
        environment: Environment,
        ConversationRenewal(request): ConversationRenewal,
    ) -> Result<Done> {
        let same_commit = step(&self.ports, request, RequestStep::Renewed { session: self.id() });
        restore::start_new_conversation(&self.ports, &mut self.state, environment, same_commit)
            .await?;
        let note = "a new conversation, as asked; the old one stays in the log".to_owned();
        Ok(Done::Launched { outcome: Outcome::Fresh, note: Some(note) })
    }

    /// Ends the processes that closed launches of this session left running.
    pub(super) async fn end_leftovers(&mut self) -> Result<()> {
        let dead: Vec<LaunchId> =
            self.state.launches.iter().filter(|it| !it.is_open()).map(|it| it.id).collect();
        let ended = self.ports.machine.end_marked(&dead).await?;
        if ended.is_empty() {
            return Ok(());
        }
        let processes = ended.into_iter().map(Into::into).collect();
        let payload = EventPayload::LeftoversEnded { of: None, processes };
        let events = vec![self.state.event(&self.ports, payload)];
        self.state.commit(&self.ports, Commit { changes: Vec::new(), events }).await
    }

    pub(super) async fn plan(&mut self, selection: SelectionMode) -> Result<PlannedOutcome> {
        let (_, decision) = self.decide(selection).await?;
        restore::record_look(&self.ports, &mut self.state, &decision).await?;
        let question = self.question().filter(|_| decision == Decision::Attach);
        let (decision, note) = match question {
            Some(question) => (PlannedDecision::Waiting, question.note("runs: ")),
            None => {
                let name = self.state.session.address();
                restore::plan(&decision, &name, self.has_queued_message())
            }
        };
        Ok(PlannedOutcome {
            of: SessionRef::of(&self.state.session),
            vendor: self.state.session.vendor.clone(),
            decision,
            vendor_session_id: self.state.vendor_session().cloned(),
            note,
        })
    }

    /// Answers and removes all starts, because a user stops the session.
    pub(super) async fn cancel_starts(&mut self) -> Result<()> {
        let cancelled = self.starts.take_all();
        if !cancelled.is_empty() {
            self.withdraw_turn_request();
        }
        for request in cancelled {
            // No caller waits for a restart. The session is recorded as stopped.
            if !matches!(request, StartRequest::Restart { .. }) {
                self.report_start(request, Err(self.stopped_before_start())).await?;
            }
        }
        Ok(())
    }

    fn stopped_before_start(&self) -> Error {
        let name = self.state.session.address();
        Error::conflict(format!("`{name}` was stopped before it started"))
            .hint(format!("run `segue resume {name}` to start it"))
    }

    /// Schedules a retry if a start failed and its end could not be recorded. Without the retry the
    /// launch would stay open. Returns the error unchanged.
    fn with_recording_retry(&mut self, error: Error) -> Error {
        if self.state.open().is_some() {
            self.retry_recording_later(&error);
        }
        error
    }

    pub(super) async fn decide(
        &self,
        selection: SelectionMode,
    ) -> Result<(ObservedSession, Decision)> {
        let observed = look::look(&self.ports, &self.state, selection).await?;
        let decision = recovery::decide(&observed.facts);
        Ok((observed, decision))
    }

    /// Returns whether the vendor chooses the id of a new conversation, so that it cannot be
    /// preset.
    fn vendor_chooses_id(&self) -> Result<bool> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let random = self.ports.clock.new_id();
        Ok(vendor.launching().preset_id(&self.state.session, random).is_none())
    }

    /// Returns whether an earlier attempt of the same request has started the new conversation. In
    /// that case the session is brought back.
    async fn has_renewed(&self, fresh: Option<ConversationRenewal>) -> Result<bool> {
        let Some(ConversationRenewal(Some(request))) = fresh else { return Ok(false) };
        let renewed = RequestStep::Renewed { session: self.id() };
        Ok(self.ports.store.request(request).await?.contains(&renewed))
    }

    pub(super) fn has_queued_message(&self) -> bool {
        self.state.next_message().is_some()
    }
}

impl StartRequest {
    /// Returns the environment of the command that requested the start, or of the launch that is
    /// restarted.
    fn environment(&self) -> &Environment {
        match self {
            Self::First { start, .. } => &start.environment,
            Self::Handoff { launch, .. } => &launch.environment,
            Self::Resume { environment, .. }
            | Self::Restart { environment, .. }
            | Self::NextTurn { environment }
            | Self::Reconfigured { environment } => environment,
        }
    }
}

fn starts_process(decision: &Decision) -> bool {
    !matches!(decision, Decision::Attach | Decision::Rest { .. } | Decision::Refuse(_))
}
