//! Tracks the question that the agent asks on its screen, or through its holder if it is headless.
//!
//! Four functions return it, at different stages of a question:
//!
//! | function | the agent waits | the question is drawn | it was answered, and is still drawn |
//! |---|---|---|---|
//! | `waits_for` | the kind of question | the kind of question | the kind of question |
//! | `dialog` | `None` | the question | the question |
//! | `question` | without a text | the question | `None` |
//! | `drawn_question` | `None` until [`DRAW_TIMEOUT`] | the question | `None` |
//!
//! A question that is still drawn [`REMOVAL_TIMEOUT`] after its answer counts as asked again.

use std::time::Duration;

use segue_core::api::OutcomeNote;
use segue_core::failpoint;
use segue_core::flows::{messages, worktrees};
use segue_core::model::{Dialog, EventPayload, Screen, Showing, Status, WaitingFor};
use segue_core::ports::{Answer, Commit, Interaction};
use segue_core::rules::dialog::{self, Takes};
use tokio::time::Instant;

use super::answers::recorded_question;
use super::{Actor, SessionTimeout};

/// How long an agent may take to draw a question after it began to wait.
const DRAW_TIMEOUT: Duration = Duration::from_secs(2);

/// How long an agent may take to remove an answered question from its screen. Some agents restart
/// first. After this time the question counts as asked again.
pub(super) const REMOVAL_TIMEOUT: Duration = Duration::from_secs(30);

/// At most this many questions are recorded until the agent goes on, so that an agent that draws a
/// new question again and again does not fill the log.
const MAX_RECORDED_QUESTIONS: u8 = 20;

/// Why Segue answers the question whether a worktree is trusted.
const TRUSTED: &str = "by Segue: a worktree of a trusted project";

/// The state of the agent's question.
#[derive(Debug, Default)]
pub(super) struct Asking {
    /// When the agent began to wait. `None` if it does not wait.
    since: Option<Instant>,
    /// The question as the screen shows it.
    dialog: Option<Dialog>,
    /// When that question was first seen on the screen.
    drawn: Option<Instant>,
    /// The question that was answered last, and when.
    answered: Option<(Option<Dialog>, Instant)>,
    /// The id of the question that was recorded last.
    recorded: Option<String>,
    /// How many questions were recorded since the agent began to wait.
    recorded_count: u8,
    /// The id of the question that Segue has answered itself.
    answered_by_segue: Option<String>,
    /// Whether the agent has drawn since the screen was read.
    pub(super) is_stale: bool,
}

/// A question without an answer.
#[derive(Clone, Debug)]
pub(super) struct UnansweredQuestion {
    pub(super) kind: WaitingFor,
    pub(super) dialog: Option<Dialog>,
}

impl UnansweredQuestion {
    /// Describes the question, with a hint how to answer it. The note begins with `prefix`.
    pub(super) fn note(&self, prefix: &str) -> OutcomeNote {
        let described = dialog::describe(self.kind, self.dialog.as_ref());
        let note = OutcomeNote::new(format!("{prefix}{described}"));
        match &self.dialog {
            Some(dialog) => note.hint(dialog::hint(dialog)),
            None => note,
        }
    }
}

impl Actor {
    /// Returns the kind of question that the agent waits for a person to answer.
    pub(super) fn waits_for(&self) -> Option<WaitingFor> {
        match self.state.session.status {
            status @ Status::Waiting(kind) if status.expects_process() => {
                self.state.open().map(|_| kind)
            }
            _ => None,
        }
    }

    /// Reads the question from the screen when the agent begins to wait, and again after it has
    /// drawn.
    pub(super) async fn note_dialog(&mut self) {
        let Some(kind) = self.waits_for() else {
            if self.asking.since.is_some() {
                self.asking = Asking::default();
                self.supervisor.view_extras.set_dialog(self.id(), None);
            }
            return;
        };
        if self.asking.since.is_none() {
            self.asking.since = Some(Instant::now());
            self.read_dialog_later(DRAW_TIMEOUT);
        }
        let is_known = self.asking.dialog.as_ref().is_some_and(|it| it.kind == kind);
        if !is_known || self.asking.is_stale {
            self.asking.is_stale = false;
            let dialog = self.read_dialog(kind).await;
            self.set_dialog(dialog);
            if kind == WaitingFor::Trust {
                self.trust_own_worktree().await;
            }
        }
    }

    /// Records the question on the screen, once for each question. A client that follows events
    /// learns from it that the question can be answered now: an agent draws it after its status has
    /// changed.
    pub(super) async fn record_question(&mut self) {
        let Some(dialog) = self.asking.dialog.as_ref() else { return };
        let is_recorded = self.asking.recorded.as_ref() == Some(&dialog.id);
        if is_recorded || self.asking.recorded_count == MAX_RECORDED_QUESTIONS {
            return;
        }
        let question = Some(recorded_question(dialog)).filter(|question| !question.is_empty());
        let payload = EventPayload::Asked { kind: dialog.kind, question };
        self.asking.recorded = Some(dialog.id.clone());
        self.asking.recorded_count += 1;
        let events = vec![self.state.event(&self.ports, payload)];
        failpoint::hit("asked.commit.before");
        let recorded = self.state.commit(&self.ports, Commit { changes: Vec::new(), events }).await;
        failpoint::hit("asked.commit.after");
        if let Err(error) = recorded {
            // The question can be answered anyway.
            tracing::warn!(%error, "a question cannot be recorded");
        }
    }

    /// Answers the question whether the folder is trusted, if the folder is a worktree of a project
    /// that the user has trusted: every worktree is a new folder for the vendor.
    async fn trust_own_worktree(&mut self) {
        let Some(id) = self.asking.dialog.as_ref().map(|dialog| dialog.id.clone()) else { return };
        if self.asking.answered_by_segue.as_ref() == Some(&id) {
            return;
        }
        match worktrees::is_trusted(&self.ports, &self.state).await {
            Ok(true) => {
                self.asking.answered_by_segue = Some(id.clone());
                self.answer_without_person(id, TRUSTED).await;
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "a trust question is left to the user"),
        }
    }

    pub(super) fn set_dialog(&mut self, dialog: Option<Dialog>) {
        if dialog != self.asking.dialog {
            self.asking.drawn = dialog.as_ref().map(|_| Instant::now());
            self.asking.dialog = dialog.clone();
            self.supervisor.view_extras.set_dialog(self.id(), dialog);
        }
    }

    /// Returns how long the question on this screen will still ignore keys.
    pub(super) fn time_to_take_keys(
        &mut self,
        interaction: &dyn Interaction,
        screen: &Screen,
        kind: WaitingFor,
    ) -> Duration {
        let kind = self.waits_for().unwrap_or(kind);
        let dialog = self.dialog_on(interaction, screen, kind);
        self.set_dialog(Some(dialog));
        let version = self.state.open().and_then(|launch| launch.vendor_version.as_deref());
        let drawn_for = self.asking.drawn.map_or(Duration::ZERO, |drawn| drawn.elapsed());
        interaction.question_ignores_keys_for(version).saturating_sub(drawn_for)
    }

    async fn read_dialog(&self, kind: WaitingFor) -> Option<Dialog> {
        if self.state.session.headless {
            return self.asked_dialog();
        }
        let vendor = self.ports.vendors.of(&self.state.session).ok()?;
        // If the holder does not answer, no question is known. The screen is read again after the
        // next change.
        let screen = messages::screen(&self.ports, &self.state).await.ok()??;
        match self.showing(vendor.interaction(), &screen) {
            Some(Showing::Dialog(_)) => {
                let dialog = self.dialog_on(vendor.interaction(), &screen, kind);
                // A dialog without any text is still being drawn.
                let has_text = !dialog.question.is_empty() || !dialog.choices.is_empty();
                (has_text || self.is_overdue()).then_some(dialog)
            }
            _ => None,
        }
    }

    fn dialog_on(
        &self,
        interaction: &dyn Interaction,
        screen: &Screen,
        kind: WaitingFor,
    ) -> Dialog {
        let text = interaction.dialog_text(screen).unwrap_or_default();
        let takes = |answer: &Answer| interaction.answer(screen, answer).is_some();
        let takes = Takes {
            yes: takes(&Answer::Yes),
            choice: !text.choices.is_empty() && takes(&Answer::Choice("1".to_owned())),
        };
        let id = self.supervisor.view_extras.question_id(self.id(), &text);
        dialog::dialog(&self.state.session.address(), id, kind, text, takes)
    }

    /// Returns whether the time to draw the question has passed.
    fn is_overdue(&self) -> bool {
        self.asking.since.is_some_and(|since| since.elapsed() >= DRAW_TIMEOUT)
    }

    /// Schedules another reading of the screen.
    fn read_dialog_later(&self, after: Duration) {
        self.send_later(after, SessionTimeout::ReadDialog);
    }

    /// Records that the question on the screen was answered.
    pub(super) fn dialog_answered(&mut self) {
        self.asking.answered = Some((self.asking.dialog.clone(), Instant::now()));
        self.read_dialog_later(REMOVAL_TIMEOUT);
    }

    /// Returns whether the question with this id was answered last.
    pub(super) fn was_answered(&self, id: Option<&str>) -> bool {
        let answered = self.asking.answered.as_ref().and_then(|(dialog, _)| dialog.as_ref());
        answered.is_some_and(|dialog| Some(dialog.id.as_str()) == id)
    }

    /// Returns the question on the screen, answered or not.
    pub(super) fn dialog(&self) -> Option<&Dialog> {
        self.asking.dialog.as_ref()
    }

    /// Returns the unanswered question of the agent, even if it is not drawn yet.
    pub(super) fn question(&self) -> Option<UnansweredQuestion> {
        let kind = self.waits_for()?;
        let Asking { dialog, answered, .. } = &self.asking;
        let is_answered = match (dialog, answered) {
            (Some(_), Some((same, at))) => same == dialog && at.elapsed() < REMOVAL_TIMEOUT,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        (!is_answered).then(|| UnansweredQuestion { kind, dialog: dialog.clone() })
    }

    /// Returns the unanswered question of the agent after it was drawn, or after the time to draw
    /// it has passed.
    pub(super) fn drawn_question(&self) -> Option<UnansweredQuestion> {
        self.question().filter(|question| question.dialog.is_some() || self.is_overdue())
    }
}
