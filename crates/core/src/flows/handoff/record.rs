//! Records a handoff: the next session, its binding, the step between the sessions and the request
//! are stored in one commit.

use super::{HandoffPlan, TargetSession, TransferSummary};
use crate::error::Result;
use crate::failpoint;
use crate::flows::{SessionState, requests};
use crate::model::{
    Binding, EventPayload, Evidence, Handoff, HandoffForm, RequestStep, Session, Status,
};
use crate::ports::{Change, Commit, Ports};

impl HandoffPlan {
    /// Stores the next session, its conversation and the handoff in one commit.
    pub async fn record(
        &self,
        ports: &Ports,
        target: &mut TargetSession,
        summary: &TransferSummary,
    ) -> Result<()> {
        let mut commit = Commit::default();
        if !target.is_recorded {
            create_session(ports, target, &mut commit);
        }
        if target.is_new && summary.form == HandoffForm::Native {
            bind(ports, target, &mut commit);
        }
        let Commit { changes, events } = self.step(ports, target, summary);
        commit.changes.extend(changes);
        commit.events.extend(events);
        failpoint::hit("handoff.commit.before");
        ports.store.commit(commit).await?;
        failpoint::hit("handoff.commit.after");
        target.is_recorded = true;
        Ok(())
    }

    /// Returns the changes and events that record the step from one session to the next. Both
    /// sessions get an event in their logs. The caller commits them together with the launch or the
    /// message that continues the conversation.
    pub fn step(
        &self,
        ports: &Ports,
        target: &mut TargetSession,
        summary: &TransferSummary,
    ) -> Commit {
        let (from, to) = (&self.source.session, &target.session);
        let payload =
            EventPayload::HandedOver { from: from.address(), to: to.address(), form: summary.form };
        let event =
            |session: &Session| SessionState::new(session.clone()).event(ports, payload.clone());
        let events = vec![event(from), event(to)];
        let mut changes = vec![Change::AddHandoff(Box::new(self.handoff(ports, target, summary)))];
        let carried = RequestStep::Carried { session: to.id, characters: summary.characters };
        changes.extend(requests::step(ports, target.request.take(), carried));
        changes.extend(self.worktree_changes(to));
        Commit { changes, events }
    }

    /// Returns the changes that move the reservation of the worktree to the next session.
    fn worktree_changes(&self, to: &Session) -> Vec<Change> {
        let is_kept = to.cwd == self.source.session.cwd;
        let Some(worktree) = self.source.worktree.as_ref().filter(|_| is_kept) else {
            return Vec::new();
        };
        let (worktree, session) = (worktree.id, to.id);
        vec![Change::ReleaseWorktree { worktree }, Change::LeaseWorktree { worktree, session }]
    }

    fn handoff(&self, ports: &Ports, target: &TargetSession, summary: &TransferSummary) -> Handoff {
        let is_known = summary.form == HandoffForm::Native || self.earlier.is_some();
        Handoff {
            from: self.source.session.id,
            to: target.session.id,
            from_conversation: self.source.conversation.as_ref().map(|it| it.id.clone()),
            to_conversation: is_known.then(|| target.conversation.clone()),
            form: summary.form,
            turns_carried: summary.turns,
            turns_left_out: summary.left_out,
            at: ports.clock.now(),
        }
    }
}

fn create_session(ports: &Ports, target: &TargetSession, commit: &mut Commit) {
    let mut session = target.session.clone();
    let state = SessionState::new(session.clone());
    if session.headless {
        session.status = Status::Idle;
    }
    let address = session.address();
    commit.changes.push(Change::CreateSession(Box::new(session)));
    commit.events.push(state.event(ports, EventPayload::SessionCreated { address }));
}

/// Binds a new session to the conversation that was written for it.
fn bind(ports: &Ports, target: &TargetSession, commit: &mut Commit) {
    let session = target.session.id;
    let binding = Binding {
        session,
        launch: None,
        vendor_session: target.conversation.clone(),
        evidence: Evidence::Import,
        at: ports.clock.now(),
    };
    let (vendor_session, evidence) = (target.conversation.clone(), binding.evidence);
    commit.changes.push(Change::AddBinding(binding));
    commit.changes.push(Change::MarkHasContent { session });
    let state = SessionState::new(target.session.clone());
    commit.events.push(state.event(ports, EventPayload::Bound { vendor_session, evidence }));
}
