//! Notifies the user if the session needs a person, once for each new reason.

use segue_core::model::{Failure, FailureClass, Repetition};
use segue_core::ports::Notification;
use segue_core::rules::attention::{self, Reason};
use segue_core::rules::{dialog, redaction};

use super::Actor;
use crate::project;

impl Actor {
    /// Notifies the user if the session needs a person for another reason than before.
    pub(super) fn notify_if_needed(&mut self) {
        // The notification contains the text of the question. So wait until the question is on the
        // screen, or until the time to draw it has passed.
        if self.waits_for().is_some() && self.drawn_question().is_none() {
            return;
        }
        let reason = self.attention_reason();
        let is_new = std::mem::replace(&mut self.notified_reason, reason) != reason;
        let asks_next = self.asks_next_question();
        self.notified_question = self.dialog().map(|dialog| dialog.id.clone());
        if !is_new && !asks_next {
            return;
        }
        if let Some(reason) = reason {
            self.notify(reason);
        }
    }

    /// Returns whether the question of the last notification was answered and the agent asks the
    /// next question. An agent can ask again before its status changes.
    fn asks_next_question(&self) -> bool {
        let is_other =
            self.dialog().is_some_and(|it| Some(&it.id) != self.notified_question.as_ref());
        self.notified_question.is_some()
            && is_other
            && self.was_answered(self.notified_question.as_deref())
    }

    /// Suppresses notifications about failures from before this daemon started.
    pub(super) fn suppress_known_failure(&mut self) {
        if let Some(reason @ Reason::Failed(_)) = self.attention_reason() {
            self.notified_reason = Some(reason);
        }
    }

    /// Returns why the session needs a person now. `None` if it needs none.
    pub(super) fn attention_reason(&self) -> Option<Reason> {
        let repetition = self.state.session.repetition.as_ref().and_then(Repetition::needs_person);
        attention::reason(self.state.session.status, self.failure_class(), repetition)
    }

    /// Makes the views of the session show why its last turn failed.
    pub(super) fn note_failure(&mut self) {
        let failure = self.state.turn.as_ref().and_then(|turn| turn.failure.clone());
        self.show_failure(failure);
    }

    /// Makes the views of the session show this failure. Call it before the failure is recorded: a
    /// client that gets the event reads the views.
    pub(super) fn show_failure(&mut self, failure: Option<Failure>) {
        if failure != self.shown_failure {
            self.supervisor.view_extras.set_failure(self.id(), failure.clone());
            self.shown_failure = failure;
        }
    }

    fn failure_class(&self) -> Option<FailureClass> {
        let failure = self.state.turn.as_ref().and_then(|turn| turn.failure.as_ref());
        failure.map(|failure| failure.class)
    }

    fn notify(&self, reason: Reason) {
        let settings = project::attention(self.supervisor.config_file());
        let session = &self.state.session;
        let turn = self.state.turn.as_ref().and_then(|turn| turn.failure.as_ref());
        let dialog = self.dialog().filter(|_| matches!(reason, Reason::Waiting(_)));
        let detail = match dialog {
            Some(dialog) => dialog::summary(&dialog.question, &dialog.choices),
            None if matches!(reason, Reason::Repeats(_)) => {
                session.repetition.as_ref().map(Repetition::summary).unwrap_or_default()
            }
            None => turn.map(|failure| failure.message.clone()).unwrap_or_default(),
        };
        let (question, choices, answer) = dialog
            .cloned()
            .map_or_else(Default::default, |it| (it.question, it.choices.join("\n"), it.answer));
        let agent = session.agent.as_ref().map(ToString::to_string).unwrap_or_default();
        let notification = Notification {
            title: format!("{} {reason}", session.address()),
            // The text becomes a command line argument, which every user of the machine can read.
            text: redaction::redact(&detail).into_owned(),
            variables: vec![
                ("SEGUE_SESSION", session.id.to_string()),
                ("SEGUE_NAME", session.address()),
                ("SEGUE_AGENT", agent),
                ("SEGUE_FLEET", session.fleet.to_string()),
                ("SEGUE_VENDOR", session.vendor.to_string()),
                ("SEGUE_REASON", reason.word().to_owned()),
                ("SEGUE_DETAIL", detail),
                ("SEGUE_QUESTION", question),
                ("SEGUE_CHOICES", choices),
                ("SEGUE_ANSWER", answer),
                ("SEGUE_CWD", session.cwd.display().to_string()),
            ],
        };
        if settings.desktop {
            self.ports.notifier.show(notification.clone());
        }
        if !settings.command.is_empty() {
            self.ports.notifier.run(settings.command, notification);
        }
    }
}
