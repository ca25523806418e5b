//! What agents show that the store does not have: in memory only, and read again by a new daemon.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::api::SessionView;
use segue_core::model::{Dialog, SessionId, Status};
use segue_core::ports::DialogText;

/// What is shown about sessions beyond their records.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    extras: Mutex<HashMap<SessionId, Extra>>,
    /// Makes ids of questions that no agent can foresee.
    ids: RandomState,
}

#[derive(Debug, Default)]
struct Extra {
    dialog: Option<Dialog>,
    /// What a session that starts has yet to show.
    missing: Option<String>,
}

impl Shown {
    /// Returns what tells the question of a session apart from every other one.
    pub(crate) fn question_id(&self, session: SessionId, text: &DialogText) -> String {
        let DialogText { question, choices, .. } = text;
        let hash = self.ids.hash_one((session, question, choices));
        format!("{:08x}", hash >> 32)
    }

    /// Notes the question that a session asks; `None` when it asks nothing.
    pub(crate) fn set_dialog(&self, session: SessionId, dialog: Option<Dialog>) {
        self.all().entry(session).or_default().dialog = dialog;
    }

    /// Notes what a session that starts has yet to show.
    pub(crate) fn set_missing(&self, session: SessionId, missing: Option<String>) {
        self.all().entry(session).or_default().missing = missing;
    }

    pub(crate) fn forget(&self, session: SessionId) {
        self.all().remove(&session);
    }

    /// Adds what is known about a session to its view.
    pub(crate) fn complete(&self, mut view: SessionView) -> SessionView {
        if let Some(extra) = self.all().get(&view.id) {
            let waits = view.status == WAITING && extra.dialog.is_some();
            view.dialog = extra.dialog.clone().filter(|_| waits);
            let starts = view.status == Status::Starting.word();
            let missing = extra.missing.clone().filter(|_| starts);
            view.status_detail = view.status_detail.or(missing);
        }
        view
    }

    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Extra>> {
        self.extras.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The word of every waiting status.
const WAITING: &str = "waiting";
