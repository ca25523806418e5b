//! Types a user's answers to the questions that an agent asks on its screen.

use std::time::Duration;

use segue_core::api::AnswerReport;
use segue_core::flows::messages;
use segue_core::model::{
    Dialog, DialogText, EventPayload, LaunchId, RequestKey, RequestStep, Screen, Showing, Status,
};
use segue_core::ports::{self, Commit};
use segue_core::rules::{dialog, redaction};
use segue_core::{Error, Result, failpoint};
use tokio::time::Instant;

use super::delivery::DISTURBANCE_TIMEOUT;
use super::dialogs::REMOVAL_TIMEOUT;
use super::{Actor, Reply, SessionTimeout, send_reply};
use crate::requests::step;

/// An answer is tried at most this many times if the screen changes while its keys are sent.
const MAX_ANSWER_ATTEMPTS: usize = 5;

/// An answer whose question may not be on the screen yet.
#[derive(Debug)]
pub(super) struct HeldAnswer {
    pub(super) answer: ports::Answer,
    /// The id of the question to answer. `None` accepts any question.
    pub(super) question: Option<String>,
    /// The answer is retried until this time.
    pub(super) deadline: Instant,
    pub(super) request: Option<RequestKey>,
    /// Why Segue answers. `None` if a person does.
    pub(super) reason: Option<&'static str>,
    /// Whether the store has a record that the keys are about to be pressed.
    pub(super) is_begun: bool,
    pub(super) reply: Reply<AnswerReport>,
}

/// The screen that showed an answered question, and when it was answered.
#[derive(Debug)]
pub(super) struct AnsweredQuestion {
    rows: Vec<String>,
    at: Instant,
}

/// The result of an attempt to answer.
enum Attempted {
    Given(Box<AnswerReport>),
    /// The question is on the screen, but ignores keys for this long.
    Early(Duration),
    /// No question is on the screen, or the question there was answered already.
    NothingAsked,
}

impl Actor {
    /// Answers the agent's question. If the question is not on the screen yet, the answer is
    /// retried until its deadline.
    pub(super) async fn answer_dialog(&mut self, mut held: HeldAnswer) {
        let given = self.give_answer(&mut held).await;
        let is_waiting = matches!(self.state.session.status, Status::Waiting(_));
        let has_time = Instant::now() < held.deadline;
        match given {
            Ok(Attempted::Given(report)) => send_reply(held.reply, Ok(*report)),
            Ok(Attempted::Early(after)) if has_time => self.answer_later(held, after),
            Ok(Attempted::NothingAsked) if is_waiting && has_time => {
                self.answer_later(held, DISTURBANCE_TIMEOUT);
            }
            Ok(Attempted::Early(_) | Attempted::NothingAsked) => {
                send_reply(held.reply, Err(self.nothing_asked()));
            }
            Err(error) => send_reply(held.reply, Err(error)),
        }
    }

    fn answer_later(&mut self, held: HeldAnswer, after: Duration) {
        self.send_later(after, SessionTimeout::RetryTyping);
        self.delivery.answers.push(held);
    }

    pub(super) async fn answer_dialogs(&mut self) {
        for held in std::mem::take(&mut self.delivery.answers) {
            if !held.reply.is_closed() {
                self.answer_dialog(held).await;
            }
        }
    }

    /// Presses the keys that answer the question on the screen. Fails if the session does not run,
    /// if the screen shows another question than the request names, or if the question has no such
    /// choice.
    async fn give_answer(&mut self, held: &mut HeldAnswer) -> Result<Attempted> {
        let name = self.state.session.address();
        let Some(launch) = self.state.open().map(|launch| launch.id) else {
            return Err(Error::conflict(format!("`{name}` is not running"))
                .hint(format!("run `segue resume {name}`")));
        };
        if self.state.session.headless {
            return self.give_reply(launch, held).await;
        }
        let vendor = self.ports.vendors.of(&self.state.session)?;
        let interaction = vendor.interaction();
        for _ in 0..MAX_ANSWER_ATTEMPTS {
            let Some(screen) = messages::screen(&self.ports, &self.state).await? else { break };
            let Some(Showing::Dialog(kind)) = interaction.read_screen(&screen) else { break };
            if self.is_answered(&screen) {
                break;
            }
            let remaining = self.time_to_take_keys(interaction, &screen, kind);
            self.refuse_another_question(held)?;
            if !remaining.is_zero() {
                return Ok(Attempted::Early(remaining));
            }
            let Some(keys) = interaction.answer(&screen, &held.answer) else {
                let text = interaction.dialog_text(&screen).unwrap_or_default();
                return Err(no_such_choice(&name, &held.answer, &text));
            };
            self.begin_answer(held).await?;
            if self.ports.holders.press(launch, &keys, screen.revision).await? {
                self.delivery.answered_question =
                    Some(AnsweredQuestion { rows: screen.rows, at: Instant::now() });
                failpoint::hit("answer.press.after");
                let report = AnswerReport { answered: true, dialog: self.dialog().cloned() };
                self.dialog_answered();
                return self
                    .record_answer(held, report)
                    .await
                    .map(|it| Attempted::Given(Box::new(it)));
            }
        }
        Ok(Attempted::NothingAsked)
    }

    /// Replies to the oldest question of a headless agent. Fails like [`Self::give_answer`].
    async fn give_reply(&mut self, launch: LaunchId, held: &mut HeldAnswer) -> Result<Attempted> {
        let Some(question) = self.questions.first().map(|question| question.id.clone()) else {
            return Ok(Attempted::NothingAsked);
        };
        let dialog = self.asked_dialog();
        self.set_dialog(dialog.clone());
        self.refuse_another_question(held)?;
        let Some(reply) = self.reply_for(&held.answer)? else {
            let Dialog { question, choices, .. } = dialog.ok_or_else(|| self.nothing_asked())?;
            let text = DialogText { question, is_whole: true, choices };
            return Err(no_such_choice(&self.state.session.address(), &held.answer, &text));
        };
        self.begin_answer(held).await?;
        if !self.ports.holders.reply(launch, &question, Some(&reply)).await? {
            return Ok(Attempted::NothingAsked);
        }
        failpoint::hit("answer.reply.after");
        let report = AnswerReport { answered: true, dialog };
        self.dialog_answered();
        self.record_answer(held, report).await.map(|it| Attempted::Given(Box::new(it)))
    }

    /// Returns whether the question on the screen was answered already and is only still drawn. If
    /// the agent became idle after the answer, any question on the screen counts as answered for a
    /// short time.
    fn is_answered(&self, screen: &Screen) -> bool {
        let is_idle = self.state.session.status == Status::Idle;
        self.delivery.answered_question.as_ref().is_some_and(|answered| {
            let is_fresh = answered.at.elapsed() < DISTURBANCE_TIMEOUT;
            let is_same = answered.rows == screen.rows && answered.at.elapsed() < REMOVAL_TIMEOUT;
            is_same || (is_idle && is_fresh)
        })
    }

    /// Forgets the question that was answered in an earlier launch. The new launch may show the
    /// same question again.
    pub(super) fn forget_answer(&mut self) {
        self.delivery.answered_question = None;
    }

    /// Fails if the request names another question than the question on the screen.
    fn refuse_another_question(&self, held: &HeldAnswer) -> Result<()> {
        let (Some(meant), Some(dialog)) = (&held.question, self.dialog()) else { return Ok(()) };
        if *meant == dialog.id {
            return Ok(());
        }
        let name = self.state.session.address();
        Err(Error::conflict(format!("`{name}` asks something else than question `{meant}`"))
            .caused_by(dialog::describe(dialog.kind, Some(dialog)))
            .hint(dialog::hint(dialog)))
    }

    fn nothing_asked(&self) -> Error {
        let name = self.state.session.address();
        Error::conflict(format!("`{name}` asks nothing that could be answered"))
            .hint(format!("run `segue attach {name}` to look"))
    }

    /// Records that keys are about to be pressed. If the daemon dies after that, a repeated request
    /// is refused: it is unknown whether the keys were pressed, and pressing them again could
    /// answer the next question.
    async fn begin_answer(&mut self, held: &mut HeldAnswer) -> Result<()> {
        let Some(request) = held.request.filter(|_| !held.is_begun) else { return Ok(()) };
        if self.ports.store.request(request).await?.contains(&RequestStep::Begun) {
            let name = self.state.session.address();
            return Err(Error::conflict(format!("`{name}` may have got this answer already"))
                .caused_by("the daemon ended while it was given")
                .hint(format!("run `segue attach {name}` to look")));
        }
        let changes = step(&self.ports, Some(request), RequestStep::Begun);
        failpoint::hit("answer.begin.before");
        self.state.commit(&self.ports, Commit { changes, events: Vec::new() }).await?;
        failpoint::hit("answer.begin.after");
        held.is_begun = true;
        Ok(())
    }

    async fn record_answer(
        &mut self,
        held: &HeldAnswer,
        report: AnswerReport,
    ) -> Result<AnswerReport> {
        let given = match &held.answer {
            ports::Answer::Choice(choice) => format!("choice {choice}"),
            other => word(other).to_owned(),
        };
        let given = held.reason.map_or(given.clone(), |reason| format!("{given} ({reason})"));
        let question = report.dialog.as_ref().map(recorded_question).filter(|it| !it.is_empty());
        let payload = EventPayload::Answered { given, question };
        let events = vec![self.state.event(&self.ports, payload)];
        let answer = serde_json::to_string(&report)
            .map_err(|error| Error::internal("an answer cannot be written").caused_by(error))?;
        let changes = step(&self.ports, held.request, RequestStep::Done { answer });
        self.state.commit(&self.ports, Commit { changes, events }).await?;
        Ok(report)
    }
}

/// Returns the text of a question for the log, without its secrets.
pub(super) fn recorded_question(asked: &Dialog) -> String {
    redaction::redact(&dialog::summary(&asked.question, &asked.choices)).into_owned()
}

fn word(answer: &ports::Answer) -> &str {
    match answer {
        ports::Answer::Yes => "yes",
        ports::Answer::No => "no",
        ports::Answer::Choice(choice) => choice,
    }
}

fn no_such_choice(name: &str, given: &ports::Answer, text: &DialogText) -> Error {
    let given = word(given);
    let error = Error::usage(format!("the question of `{name}` has no such answer: `{given}`"));
    let DialogText { question, choices, .. } = text;
    if choices.is_empty() {
        return error.hint(format!("run `segue attach {name}` to see the choices"));
    }
    error
        .caused_by(dialog::summary(question, choices))
        .hint(format!("run `segue answer {name} N` with N from 1 to {}", choices.len()))
}
