//! Information about sessions that is only in memory. A new daemon reads it again from the agents.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::api::{MaybeKnown, SessionView};
use segue_core::flows::view;
use segue_core::model::{Dialog, DialogText, Failure, SessionId, StatusKind, WaitingFor};

/// The additions to the views of sessions that are not in the store.
#[derive(Debug, Default)]
pub(crate) struct ViewExtras {
    extras: Mutex<HashMap<SessionId, Extra>>,
    /// Makes the ids of questions unpredictable for agents.
    ids: RandomState,
}

#[derive(Debug, Default)]
struct Extra {
    dialog: Option<Dialog>,
    /// Why the last turn failed.
    failure: Option<Failure>,
    /// A text about the evidence that a starting session has not shown yet.
    missing: Option<String>,
    /// The variables that a restart lacks.
    missing_variables: Vec<String>,
}

impl ViewExtras {
    /// Returns the id of a session's question.
    pub(crate) fn question_id(&self, session: SessionId, text: &DialogText) -> String {
        let DialogText { question, choices, .. } = text;
        let hash = self.ids.hash_one((session, question, choices));
        format!("{:08x}", hash >> 32)
    }

    /// Sets the question that a session asks. `None` if it asks nothing.
    pub(crate) fn set_dialog(&self, session: SessionId, dialog: Option<Dialog>) {
        self.all().entry(session).or_default().dialog = dialog;
    }

    /// Returns the question that a session asks.
    pub(crate) fn dialog(&self, session: SessionId) -> Option<Dialog> {
        self.all().get(&session)?.dialog.clone()
    }

    /// Sets why the last turn of a session failed. `None` if it did not fail.
    pub(crate) fn set_failure(&self, session: SessionId, failure: Option<Failure>) {
        self.all().entry(session).or_default().failure = failure;
    }

    /// Returns why the last turn of a session failed.
    pub(crate) fn failure(&self, session: SessionId) -> Option<Failure> {
        self.all().get(&session)?.failure.clone()
    }

    /// Sets the text about the evidence that a starting session has not shown yet.
    pub(crate) fn set_missing(&self, session: SessionId, missing: Option<String>) {
        self.all().entry(session).or_default().missing = missing;
    }

    /// Sets the names of the variables that a restart lacks.
    pub(crate) fn set_missing_variables(&self, session: SessionId, names: Vec<String>) {
        self.all().entry(session).or_default().missing_variables = names;
    }

    pub(crate) fn forget(&self, session: SessionId) {
        self.all().remove(&session);
    }

    /// Adds this information to the view of a session.
    pub(crate) fn complete(&self, mut view: SessionView) -> SessionView {
        if let Some(extra) = self.all().get(&view.id) {
            let status = view.status.known();
            let waits = status == Some(StatusKind::Waiting);
            view.dialog = extra.dialog.clone().filter(|_| waits);
            let starts = status == Some(StatusKind::Starting);
            let missing = extra.missing.clone().filter(|_| starts);
            view.status_detail = view.status_detail.or(missing);
            let lacks = view.waiting_for.as_ref().and_then(MaybeKnown::known)
                == Some(WaitingFor::Environment);
            if lacks {
                view::add_missing_variables(&mut view, &extra.missing_variables);
            }
        }
        view
    }

    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Extra>> {
        self.extras.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
