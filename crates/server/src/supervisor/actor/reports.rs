//! Reports the results of messages to their senders.

use segue_core::api::{SendReport, Until};
use segue_core::flows::{conversation, last_output, messages, view};
use segue_core::model::{
    Dialog, Failure, FailureClass, How, MessageId, MessageState, MessageStateKind, Status,
    WaitingFor,
};
use segue_core::ports;
use segue_core::rules::dialog;
use segue_core::rules::last_output::cause;
use segue_core::{Error, Result};

use super::Actor;

/// Why a message between two agents is not delivered.
const HELD: &str = "messages go back and forth between two agents: a person has to let it through";

impl Actor {
    /// Returns the current state of a message. Fails if the store has no such message.
    pub(super) async fn report(&self, message: MessageId) -> Result<SendReport> {
        let found = self.ports.store.message(message).await?.ok_or_else(|| {
            Error::not_found(format!("no message has the id `{message}`"))
                .hint("run `segue messages` to see all messages")
        })?;
        let note = match found.state {
            MessageState::Queued if self.state.is_held(&found) => Some(HELD.to_owned()),
            MessageState::Queued => self.why_waiting(),
            MessageState::Typing(_) => Some("its arrival is not confirmed yet".to_owned()),
            MessageState::Uncertain => {
                let vendor = self.ports.vendors.of(&self.state.session)?;
                Some(messages::why_uncertain(vendor.as_ref()))
            }
            MessageState::Delivered | MessageState::Cancelled => None,
        };
        Ok(SendReport {
            message: view::message(&self.state.session, &found),
            session: self.view(),
            turn_ended: false,
            answer: None,
            failure: None,
            note,
        })
    }

    /// Returns why the next message has to wait.
    pub(super) fn why_waiting(&self) -> Option<String> {
        if let Some(last_failure) = &self.delivery.last_failure {
            return Some(last_failure.clone());
        }
        match self.state.session.status {
            _ if !self.starts.is_empty() => Some("it waits to be started".to_owned()),
            Status::Working | Status::Starting => Some("it is busy".to_owned()),
            Status::Waiting(WaitingFor::Environment | WaitingFor::Choice)
            | Status::Interrupted
            | Status::Ended(_)
            | Status::Lost => Some("it is not running".to_owned()),
            Status::Waiting(reason) => Some(dialog::describe(reason, self.dialog())),
            Status::Idle if self.is_typing() => Some("an earlier message is on its way".to_owned()),
            Status::Idle => Some("there is unsent text in its input".to_owned()),
        }
    }

    pub(super) fn is_typing(&self) -> bool {
        self.state.outbox.iter().any(|it| matches!(it.state, MessageState::Typing(_)))
    }

    /// Returns whether the turn that a message began has ended, or waits for the answer to a question
    /// that the caller does not know.
    fn is_turn_over(&self, known_question: Option<&str>) -> Result<bool> {
        match self.state.session.status {
            Status::Starting | Status::Working => Ok(false),
            // Whether a headless turn succeeded is known only after its process has ended.
            Status::Idle if self.state.session.headless && self.state.open().is_some() => Ok(false),
            Status::Idle => {
                let conversation = self.conversation()?;
                Ok(conversation.is_none_or(|conversation| !conversation.turn_open))
            }
            status @ Status::Waiting(_) if status.expects_process() => {
                Ok(self.asks_other_than(known_question))
            }
            Status::Waiting(_) | Status::Interrupted | Status::Ended(_) | Status::Lost => Ok(true),
        }
    }

    /// Returns whether the agent asks a question whose id is not this one.
    fn asks_other_than(&self, known_question: Option<&str>) -> bool {
        let id = |dialog: Option<Dialog>| dialog.map(|dialog| dialog.id).unwrap_or_default();
        self.drawn_question().is_some_and(|it| known_question != Some(id(it.dialog).as_str()))
    }

    pub(super) fn conversation(&self) -> Result<Option<ports::Conversation>> {
        let Some(id) = self.state.vendor_session() else { return Ok(None) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        conversation::read(&self.ports, vendor.as_ref(), &self.state.place(), id)
    }

    /// Returns how the turn ended that a delivered message began.
    async fn turn_end_report(&self, message: MessageId) -> Result<SendReport> {
        let report = self.report(message).await?;
        if let Status::Waiting(reason) = self.state.session.status
            && self.state.open().is_some()
        {
            let note = Some(dialog::describe(reason, self.dialog()));
            return Ok(SendReport { note, ..report });
        }
        let turn = self.state.turn.as_ref();
        let failure = turn.and_then(|turn| turn.failure.clone());
        let failure =
            failure.map_or_else(|| self.incomplete_turn(), |failure| Ok(Some(failure)))?;
        let text = turn.map(|turn| turn.text.clone()).filter(|_| self.state.session.headless);
        let answer = match text {
            Some(text) => Some(text),
            None => self.conversation()?.and_then(|conversation| conversation.last_answer),
        };
        Ok(SendReport { turn_ended: true, answer, failure, ..report })
    }

    /// Returns the failure of a turn that is incomplete although the vendor reported no failure.
    /// `None` if the turn is complete.
    fn incomplete_turn(&self) -> Result<Option<Failure>> {
        let status = self.state.session.status;
        let has_ended = |it: ports::Conversation| !it.turn_open;
        let is_complete = status == Status::Idle
            || !self.state.session.headless && self.conversation()?.is_none_or(has_ended);
        let message = match (&self.state.turn, status.detail()) {
            (Some(turn), _) if !turn.text.is_empty() => turn.text.clone(),
            (_, Some(detail)) => match last_output::of_session(&self.ports, &self.state) {
                Some(output) => format!("{detail}; {}", cause(&output)),
                None => detail,
            },
            _ => status.word().to_owned(),
        };
        let failure = Failure { class: FailureClass::Other, message, resets_at: None };
        Ok((!is_complete).then_some(failure))
    }

    /// Returns the report for the sender of a message. `None` if the sender has to wait longer.
    pub(super) async fn report_if_done(
        &self,
        message: MessageId,
        until: Until,
        known_question: Option<&str>,
    ) -> Result<Option<SendReport>> {
        let in_outbox = self.state.outbox.iter().find(|it| it.id == message);
        if let Some(open) = in_outbox {
            // Without a person the message will not be delivered: no process runs, or a person has
            // to answer first.
            let is_stuck = !self.will_continue() || self.asks_other_than(known_question);
            if open.state != MessageState::Queued || !is_stuck {
                return Ok(None);
            }
            let failure = self.failure();
            return self.report(message).await.map(|report| Some(SendReport { failure, ..report }));
        }
        let report = self.report(message).await?;
        let is_delivered = report.message.state.known() == Some(MessageStateKind::Delivered);
        if until == Until::TurnEnded && is_delivered {
            let is_over = self.is_turn_over(known_question)?;
            return if is_over { self.turn_end_report(message).await.map(Some) } else { Ok(None) };
        }
        Ok(Some(report))
    }

    /// Returns why the last headless turn failed.
    fn failure(&self) -> Option<Failure> {
        let failed = matches!(self.state.session.status, Status::Ended(How::Failed(_)));
        let turn = self.state.turn.as_ref().filter(|_| failed);
        turn.and_then(|turn| turn.failure.clone())
    }

    /// Returns whether a process that can receive a message runs, or will start without a request
    /// of a user.
    fn will_continue(&self) -> bool {
        let begins_turn = self.state.session.headless && self.delivery.is_turn_requested;
        let will_run = self.restart_after.is_some() || !self.starts.is_empty();
        self.state.open().is_some() || will_run || begins_turn || self.continues_by_itself()
    }

    /// Returns whether a headless session starts a turn for its next queued message without a
    /// request of a user.
    pub(super) fn continues_by_itself(&self) -> bool {
        self.state.session.headless
            && self.state.session.status == Status::Idle
            && self.delivery.sender_environment.is_some()
            && self.delivery.last_failure.is_none()
    }
}
