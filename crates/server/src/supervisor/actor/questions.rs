//! The questions that a headless agent asks through its holder.
//!
//! The agent's program asks several questions at the same time if it calls several tools. The oldest
//! question is the session's question until it has a reply.

use segue_core::Result;
use segue_core::model::{Activity, Dialog, LaunchId, Signal, Source};
use segue_core::ports::{Answer, HeadlessQuestion, HeadlessQuestions, OpenQuestion, Vendor};
use segue_core::rules::dialog::{self, Takes};

use super::Actor;

impl Actor {
    /// Follows a change of the questions that a headless agent asks.
    pub(super) async fn questions_changed(
        &mut self,
        launch: LaunchId,
        questions: Vec<OpenQuestion>,
    ) -> Result<()> {
        if !self.is_open(launch) {
            return Ok(());
        }
        let before = self.questions.first().map(|question| question.id.clone());
        self.questions = self.refuse_unreadable(launch, questions).await?;
        // The agent was not silent: it waited for a person.
        self.output_lines += 1;
        let asked = self.asked_question()?;
        let now = self.questions.first().map(|question| question.id.clone());
        let works = Signal::Activity { activity: Activity::Working, source: Source::Question };
        let waits = asked.as_ref().map(|asked| Signal::Activity {
            activity: Activity::Waiting(asked.kind),
            source: Source::Question,
        });
        self.show_question(asked);
        let is_other = self.waits_for().is_some() && before.is_some() && before != now;
        let signals = match waits {
            // Both are recorded, so that a request that waits for an answer sees the next question.
            Some(waits) if is_other => vec![works, waits],
            Some(waits) => vec![waits],
            None if self.waits_for().is_some() => vec![works],
            None => Vec::new(),
        };
        self.signals(launch, signals).await
    }

    /// Refuses the questions that the vendor's code does not understand. Returns the others.
    async fn refuse_unreadable(
        &self,
        launch: LaunchId,
        questions: Vec<OpenQuestion>,
    ) -> Result<Vec<OpenQuestion>> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let facet = self.headless_questions(vendor.as_ref());
        let is_readable = |question: &OpenQuestion| {
            facet.is_some_and(|facet| facet.question(&question.request).is_some())
        };
        let (readable, unreadable): (Vec<_>, Vec<_>) = questions.into_iter().partition(is_readable);
        for question in unreadable {
            tracing::warn!(%launch, "a question of an agent is not understood, and is refused");
            self.ports.holders.reply(launch, &question.id, None).await?;
        }
        Ok(readable)
    }

    /// Returns how the open launch asks a person. `None` if its program cannot.
    fn headless_questions<'a>(&self, vendor: &'a dyn Vendor) -> Option<&'a dyn HeadlessQuestions> {
        let version = self.state.open().and_then(|launch| launch.vendor_version.as_deref());
        vendor.launching().headless()?.questions(version)
    }

    /// Returns the oldest open question of a headless agent.
    fn asked_question(&self) -> Result<Option<HeadlessQuestion>> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let facet = self.headless_questions(vendor.as_ref());
        let question = self.questions.first().zip(facet);
        Ok(question.and_then(|(question, facet)| facet.question(&question.request)))
    }

    /// Returns the oldest open question of a headless agent as a dialog.
    pub(super) fn asked_dialog(&self) -> Option<Dialog> {
        self.dialog_of(self.asked_question().ok()??)
    }

    fn dialog_of(&self, HeadlessQuestion { kind, text }: HeadlessQuestion) -> Option<Dialog> {
        let id = self.questions.first()?.id.clone();
        let takes = Takes {
            yes: self.takes(&Answer::Yes),
            choice: self.takes(&Answer::Choice("1".into())),
        };
        Some(dialog::dialog(&self.state.session.address(), id, kind, text, takes))
    }

    fn takes(&self, answer: &Answer) -> bool {
        matches!(self.reply_for(answer), Ok(Some(_)))
    }

    /// Returns the reply that gives this answer to the oldest open question. `None` if the question
    /// has no such answer, or if there is no question.
    pub(super) fn reply_for(&self, answer: &Answer) -> Result<Option<String>> {
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let facet = self.headless_questions(vendor.as_ref());
        let question = self.questions.first().zip(facet);
        Ok(question.and_then(|(question, facet)| facet.reply(&question.request, answer)))
    }

    /// Shows a question before the change of the status is recorded, so that a request that sees the
    /// status also finds the question.
    fn show_question(&mut self, asked: Option<HeadlessQuestion>) {
        if let Some(dialog) = asked.and_then(|asked| self.dialog_of(asked)) {
            self.set_dialog(Some(dialog));
        }
    }
}
