//! Compares deliveries with the rules, and does what they say.

use segue_core::flows::dispatch::{self, DispatchContext, DispatchDecision, PlannedTask};
use segue_core::model::{
    ActionOutcome, Delivery, DeliveryAction, DeliveryReading, DeliveryRequest, DeliveryStateKind,
    DeliverySummary, ForgeEvent, ForgeSource, Principal,
};
use segue_core::ports::{Change, Commit, DeliveryQuery};
use segue_core::{Kind, Result, failpoint};

use super::super::tasks;
use super::worker::SourceWorker;

/// What became of this many deliveries is recorded in one commit.
const MAX_BATCH: u32 = 50;

impl SourceWorker {
    /// Processes the stored deliveries of the source in the order in which they came. Fails if the
    /// forge cannot be asked; the delivery then stays, and the next pass processes it.
    pub(super) async fn process_deliveries(&mut self) -> Result<()> {
        let states = Some(vec![DeliveryStateKind::Received]);
        let source = Some(self.name.clone());
        let oldest = Some(MAX_BATCH);
        let query = DeliveryQuery { states, source, oldest, ..DeliveryQuery::default() };
        loop {
            let next = self.supervisor.ports.store.deliveries(&query).await?;
            if next.is_empty() {
                return Ok(());
            }
            let mut batch = Commit::default();
            let processed = self.process_batch(&next, &mut batch).await;
            failpoint::hit("delivery.process.before");
            self.supervisor.ports.store.commit(batch).await?;
            failpoint::hit("delivery.process.after");
            processed?;
        }
    }

    /// Processes deliveries, and collects the records of what became of them: one commit for several
    /// deliveries. What was done for a delivery without a record is done again, which changes nothing.
    async fn process_batch(&mut self, next: &[DeliverySummary], batch: &mut Commit) -> Result<()> {
        for summary in next {
            let found = self.supervisor.ports.store.delivery(summary.id).await?;
            let Some(delivery) = found else { continue };
            let Commit { changes, events } = self.process(&delivery).await?;
            batch.changes.extend(changes);
            batch.events.extend(events);
        }
        Ok(())
    }

    /// Processes a delivery. Returns the commit that records what became of it.
    async fn process(&mut self, delivery: &Delivery) -> Result<Commit> {
        let ports = self.supervisor.ports.clone();
        let summary = &delivery.summary;
        let Some(source) = self.source()? else {
            let reason = format!("config.toml has no source `{}` any more", self.name);
            return Ok(dispatch::failed(&ports, summary, reason));
        };
        let events = match read(&ports, &source, delivery) {
            Ok(DeliveryReading::Events(events)) => events,
            Ok(DeliveryReading::Ignored(reason)) => {
                return Ok(dispatch::ignored(&ports, summary, reason));
            }
            Ok(DeliveryReading::Ping) => {
                let reason = "the forge tested the webhook".to_owned();
                return Ok(dispatch::ignored(&ports, summary, reason));
            }
            Err(error) => return Ok(dispatch::failed(&ports, summary, error.in_one_line())),
        };
        let mut actions = Vec::new();
        for event in &events {
            match self.start(&source, event).await {
                Ok(done) => actions.extend(done),
                Err(error) if error.kind == Kind::Unavailable => return Err(error),
                Err(error) => return Ok(dispatch::failed(&ports, summary, error.in_one_line())),
            }
        }
        Ok(dispatch::processed(&ports, summary, actions))
    }

    /// Does what the rules say about an event.
    pub(super) async fn start(
        &mut self,
        source: &ForgeSource,
        event: &ForgeEvent,
    ) -> Result<Vec<DeliveryAction>> {
        let context: DispatchContext = self.context(source).await?;
        let decisions = dispatch::decide(&self.supervisor.ports, &context, event).await?;
        let mut actions = Vec::new();
        for decision in decisions {
            let (agent, outcome) = self.carry_out(decision).await?;
            actions.push(DeliveryAction { trigger: event.trigger, agent, outcome });
        }
        if actions.is_empty() {
            let outcome = ActionOutcome::NoRule;
            actions.push(DeliveryAction { trigger: event.trigger, agent: None, outcome });
        }
        Ok(actions)
    }

    async fn carry_out(
        &self,
        decision: DispatchDecision,
    ) -> Result<(Option<segue_core::model::AgentName>, ActionOutcome)> {
        let ports = &self.supervisor.ports;
        let issue = |tracked: &segue_core::model::TrackedIssue| tracked.issue.as_str().to_owned();
        Ok(match decision {
            DispatchDecision::AddTask { agent, task } => (Some(agent), self.add(*task).await?),
            DispatchDecision::Refuse { agent, reason } => {
                (Some(agent), ActionOutcome::Refused { reason })
            }
            DispatchDecision::Close(tracked) => {
                self.put(dispatch::closed(ports, &tracked)).await?;
                (None, ActionOutcome::Closed { issue: issue(&tracked) })
            }
            DispatchDecision::Link(tracked) => {
                let pull = tracked.pulls.last().copied().unwrap_or_default();
                let outcome = ActionOutcome::Linked { issue: issue(&tracked), pull };
                self.put(Change::PutTrackedIssue(tracked)).await?;
                (None, outcome)
            }
            DispatchDecision::Reopen(tracked) => {
                self.put(dispatch::reopened(&tracked)).await?;
                (None, ActionOutcome::Reopened { issue: issue(&tracked) })
            }
        })
    }

    pub(super) async fn put(&self, change: Change) -> Result<()> {
        failpoint::hit("issue.record.before");
        let commit = Commit { changes: vec![change], events: Vec::new() };
        self.supervisor.ports.store.commit(commit).await?;
        failpoint::hit("issue.record.after");
        Ok(())
    }

    /// Adds a task. The record of its issue is part of the same commit. A task that was added before,
    /// by an earlier delivery or before a crash, is not added again.
    async fn add(&self, PlannedTask { request, tracked }: PlannedTask) -> Result<ActionOutcome> {
        let key = request.key.clone();
        let tracked = vec![Change::PutTrackedIssue(Box::new(tracked))];
        match tasks::add_from_forge(&self.supervisor, &Principal::User, request, tracked).await {
            Ok((task, true)) => Ok(ActionOutcome::TaskAdded { task }),
            Ok((task, false)) => Ok(ActionOutcome::TaskKnown { task }),
            Err(error) if error.kind == Kind::Unavailable => Err(error),
            Err(error) => {
                tracing::warn!(?key, %error, "a task of a forge cannot be added");
                Ok(ActionOutcome::Refused { reason: error.in_one_line() })
            }
        }
    }
}

/// Reads the events of a delivery.
pub(super) fn read(
    ports: &segue_core::ports::Ports,
    source: &ForgeSource,
    delivery: &Delivery,
) -> Result<DeliveryReading> {
    let forge = ports.sources.forge(source)?;
    forge.webhooks().read(&DeliveryRequest {
        headers: &delivery.headers,
        body: &delivery.body,
        received_at: delivery.summary.received_at,
    })
}
