//! What the agent asks a person, as long as it does.

use std::time::Duration;

use segue_core::flows::messages;
use segue_core::model::{Dialog, Status, WaitingFor};
use segue_core::ports::{Answer, Screen, Showing, Vendor};
use segue_core::rules::dialog::{self, Takes};
use tokio::time::Instant;

use super::messages::Errand;
use super::{Actor, Message};

/// How long an agent may take to draw the question that it asks.
const DRAWS_WITHIN: Duration = Duration::from_secs(2);

/// How long an agent may take to remove an answered question from its screen: some start again
/// first. After that the question counts as asked again.
pub(super) const REMOVES_WITHIN: Duration = Duration::from_secs(30);

/// What is known about the question that the agent asks.
#[derive(Debug, Default)]
pub(super) struct Asking {
    /// Since when the agent waits; `None` while it does not.
    since: Option<Instant>,
    /// The question as the screen shows it, and since when it was seen there.
    dialog: Option<Dialog>,
    drawn: Option<Instant>,
    /// The question that was answered, and when.
    answered: Option<(Option<Dialog>, Instant)>,
    /// Something was drawn since the screen was read.
    pub(super) is_stale: bool,
}

/// A question that nobody has answered yet.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) kind: WaitingFor,
    pub(super) dialog: Option<Dialog>,
}

impl Question {
    /// Describes the question and the command that answers it in one line.
    pub(super) fn note(&self) -> String {
        let described = dialog::describe(self.kind, self.dialog.as_ref());
        match &self.dialog {
            Some(dialog) => format!("{described}; {}", dialog::hint(dialog)),
            None => described,
        }
    }
}

impl Actor {
    /// Returns what the agent waits for, if only a person can give it.
    pub(super) fn waits_for(&self) -> Option<WaitingFor> {
        match self.state.session.status {
            status @ Status::Waiting(kind) if status.expects_process() => {
                self.state.open().map(|_| kind)
            }
            _ => None,
        }
    }

    /// Reads the question from the screen when the agent begins to ask, and again when it draws.
    pub(super) async fn note_dialog(&mut self) {
        let Some(kind) = self.waits_for() else {
            if self.asking.since.is_some() {
                self.asking = Asking::default();
                self.supervisor.shown.set_dialog(self.id(), None);
            }
            return;
        };
        if self.asking.since.is_none() {
            self.asking.since = Some(Instant::now());
            self.look_later(DRAWS_WITHIN);
        }
        let is_known = self.asking.dialog.as_ref().is_some_and(|it| it.kind == kind);
        if is_known && !self.asking.is_stale {
            return;
        }
        self.asking.is_stale = false;
        let dialog = self.read_dialog(kind).await;
        self.set_dialog(dialog);
    }

    fn set_dialog(&mut self, dialog: Option<Dialog>) {
        if dialog != self.asking.dialog {
            self.asking.drawn = dialog.as_ref().map(|_| Instant::now());
            self.asking.dialog = dialog.clone();
            self.supervisor.shown.set_dialog(self.id(), dialog);
        }
    }

    /// Returns how long the question on this screen has yet to be there before it takes keys.
    pub(super) fn time_to_take_keys(
        &mut self,
        vendor: &dyn Vendor,
        screen: &Screen,
        kind: WaitingFor,
    ) -> Duration {
        let kind = self.waits_for().unwrap_or(kind);
        let dialog = self.dialog_on(vendor, screen, kind);
        self.set_dialog(Some(dialog));
        let version = self.state.open().and_then(|launch| launch.vendor_version.as_deref());
        let drawn_for = self.asking.drawn.map_or(Duration::ZERO, |drawn| drawn.elapsed());
        vendor.question_ignores_keys_for(version).saturating_sub(drawn_for)
    }

    async fn read_dialog(&self, kind: WaitingFor) -> Option<Dialog> {
        let vendor = self.ports.vendors.of(&self.state.session).ok()?;
        // A holder that does not answer shows no question; it is asked again when it does.
        let screen = messages::screen(&self.ports, &self.state).await.ok()??;
        match self.showing(vendor.as_ref(), &screen) {
            Some(Showing::Dialog(_)) => Some(self.dialog_on(vendor.as_ref(), &screen, kind)),
            _ => None,
        }
    }

    fn dialog_on(&self, vendor: &dyn Vendor, screen: &Screen, kind: WaitingFor) -> Dialog {
        let text = vendor.dialog_text(screen).unwrap_or_default();
        let takes = |answer: &Answer| vendor.answer(screen, answer).is_some();
        let takes = Takes {
            yes: takes(&Answer::Yes),
            choice: !text.choices.is_empty() && takes(&Answer::Choice("1".to_owned())),
        };
        let id = self.supervisor.shown.question_id(self.id(), &text);
        dialog::dialog(&self.state.session.address(), id, kind, text, takes)
    }

    /// Has the screen read once more after a while.
    fn look_later(&self, after: Duration) {
        self.tell_later(after, Message::Errand(Errand::ReadDialog));
    }

    /// Notes that the question on the screen was answered.
    pub(super) fn dialog_answered(&mut self) {
        self.asking.answered = Some((self.asking.dialog.clone(), Instant::now()));
        self.look_later(REMOVES_WITHIN);
    }

    /// Tells whether the question with this id is the one that was answered last.
    pub(super) fn was_answered(&self, id: Option<&str>) -> bool {
        let answered = self.asking.answered.as_ref().and_then(|(dialog, _)| dialog.as_ref());
        answered.is_some_and(|dialog| Some(dialog.id.as_str()) == id)
    }

    /// Returns the question on the screen, answered or not.
    pub(super) fn dialog(&self) -> Option<&Dialog> {
        self.asking.dialog.as_ref()
    }

    /// Returns the question that the agent asks, also while it is being drawn.
    pub(super) fn question(&self) -> Option<Question> {
        let kind = self.waits_for()?;
        let Asking { dialog, answered, .. } = &self.asking;
        let is_answered = match (dialog, answered) {
            (Some(_), Some((same, at))) => same == dialog && at.elapsed() < REMOVES_WITHIN,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        (!is_answered).then(|| Question { kind, dialog: dialog.clone() })
    }

    /// Returns the question that the agent asks, once it is on the screen or should be.
    pub(super) fn drawn_question(&self) -> Option<Question> {
        let is_late = self.asking.since.is_some_and(|since| since.elapsed() >= DRAWS_WITHIN);
        self.question().filter(|question| question.dialog.is_some() || is_late)
    }
}
