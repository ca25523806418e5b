//! The session that continues a conversation, and the record of the handoff to it.

use std::sync::PoisonError;

use segue_core::flows::SessionState;
use segue_core::flows::handoff::ConversationExcerpt;
use segue_core::model::{
    Binding, EventKind, Evidence, Handoff, HandoffForm, RequestStep, Session, Status,
    VendorSessionId,
};
use segue_core::ports::{Change, Commit};
use segue_core::rules::redaction::Removed;
use segue_core::{Result, failpoint};

use super::carriage::Carriage;
use crate::requests::step;

/// The session that continues the conversation.
pub(super) struct Seat {
    pub(super) session: Session,
    pub(super) id: VendorSessionId,
    pub(super) is_new: bool,
    /// Whether the session is in the store.
    pub(super) is_recorded: bool,
}

/// How much is carried over, and in which form.
#[derive(Clone)]
pub(super) struct Load {
    pub(super) form: HandoffForm,
    pub(super) turns: u64,
    pub(super) left_out: Option<u64>,
    pub(super) characters: u64,
    /// Secrets that were removed.
    pub(super) removed: Removed,
}

impl Load {
    /// Returns the load of an empty conversation.
    pub(super) fn none(form: HandoffForm) -> Self {
        let removed = Removed::default();
        Self { form, turns: 0, left_out: Some(0), characters: 0, removed }
    }

    pub(super) fn of(excerpt: &ConversationExcerpt, form: HandoffForm) -> Self {
        let (turns, characters) = (excerpt.turns.len() as u64, excerpt.characters());
        let (left_out, removed) = (excerpt.left_out, excerpt.removed.clone());
        Self { form, turns, left_out, characters, removed }
    }
}

impl Carriage {
    /// Stores the next session, its conversation and the handoff in one commit.
    pub(super) async fn record(&self, seat: &mut Seat, load: &Load) -> Result<()> {
        let ports = &self.supervisor.ports;
        let state = SessionState::new(seat.session.clone());
        let mut commit = Commit::default();
        if !seat.is_recorded {
            let mut session = seat.session.clone();
            if session.headless {
                session.status = Status::Idle;
            }
            commit.changes.push(Change::CreateSession(Box::new(session)));
            let created = state.event(ports, EventKind::SessionCreated, seat.session.address());
            commit.events.push(created);
        }
        if seat.is_new && load.form == HandoffForm::Native {
            let binding = self.binding(seat);
            let text = format!("{} ({})", seat.id, binding.evidence);
            commit.changes.push(Change::AddBinding(binding));
            commit.changes.push(Change::MarkSpoke { session: seat.session.id });
            commit.events.push(state.event(ports, EventKind::Bound, text));
        }
        let Commit { changes, events } = self.along(seat, load);
        commit.changes.extend(changes);
        commit.events.extend(events);
        failpoint::hit("handoff.commit.before");
        ports.store.commit(commit).await?;
        failpoint::hit("handoff.commit.after");
        seat.is_recorded = true;
        self.supervisor.scribe.write(&seat.session.fleet).await
    }

    /// Returns the changes and events that record the handoff. Both sessions get an event in their
    /// logs.
    pub(super) fn along(&self, seat: &Seat, load: &Load) -> Commit {
        let ports = &self.supervisor.ports;
        let form = load.form.word();
        let text = format!("{} → {} ({form})", self.from(), seat.session.address());
        let event = |session: &Session| {
            SessionState::new(session.clone()).event(ports, EventKind::HandedOver, text.clone())
        };
        let mut changes = vec![Change::AddHandoff(Box::new(self.step(seat, load)))];
        let (session, characters) = (seat.session.id, load.characters);
        let request = self.request.lock().unwrap_or_else(PoisonError::into_inner).take();
        changes.extend(step(ports, request, RequestStep::Carried { session, characters }));
        let events = vec![event(&self.origin.session), event(&seat.session)];
        Commit { changes, events }
    }

    fn binding(&self, seat: &Seat) -> Binding {
        Binding {
            session: seat.session.id,
            launch: None,
            vendor_session: seat.id.clone(),
            evidence: Evidence::Import,
            at: self.supervisor.ports.clock.now(),
        }
    }

    fn step(&self, seat: &Seat, load: &Load) -> Handoff {
        let is_known = load.form == HandoffForm::Native || self.earlier.is_some();
        Handoff {
            from: self.origin.session.id,
            to: seat.session.id,
            from_conversation: self.origin.source.as_ref().map(|source| source.id.clone()),
            to_conversation: is_known.then(|| seat.id.clone()),
            form: load.form,
            turns_carried: load.turns,
            turns_left_out: load.left_out,
            at: self.supervisor.ports.clock.now(),
        }
    }
}
