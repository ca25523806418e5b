//! Queues messages to the agent, types them when the agent is ready, and follows each message until
//! its result is known.

use std::time::Duration;

use segue_core::api::AnswerReport;
use segue_core::flows::messages::{self, Attempt, NewMessage};
use segue_core::flows::restore::Done;
use segue_core::model::{Environment, MessageId, MessageSender, MessageState, RequestKey, Status};
use segue_core::ports::{self, Change, Commit};
use segue_core::rules::accounts::StartRequester;
use segue_core::rules::delivery::AgentWait;
use segue_core::rules::editor_servers;
use segue_core::{Error, Result};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::super::accounts::StartTrigger;
use super::answers::{AnsweredQuestion, HeldAnswer};
use super::start_queue::StartRequest;
use super::{Actor, Reply, SessionTimeout};

/// How long an agent may take to show that it has accepted a message. After that the message is
/// overdue.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a command may take to show its effect in an agent that does not report to work.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(600);

/// How long an agent usually takes to show that it has accepted a message. After that, Enter is
/// pressed again.
const USUAL_ACCEPT_TIME: Duration = Duration::from_secs(3);

/// The longest pause of typing after the screen changed while a message was about to be typed. The
/// pause ends earlier if the holder reports that the agent has stopped drawing.
pub(super) const DISTURBANCE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long an answer waits until its question is on the screen and accepts keys.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// A message to the agent, and how to send it.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// The id of the message. `None` generates one.
    pub(crate) id: Option<MessageId>,
    pub(crate) text: String,
    /// The text is a command of the vendor's program.
    pub(crate) is_command: bool,
    pub(crate) author: MessageAuthor,
    pub(crate) environment: Environment,
    /// Whether to interrupt the agent's current turn.
    pub(crate) interrupt: bool,
    pub(crate) request: Option<RequestKey>,
    /// Recorded in the same commit.
    pub(crate) same_commit: Commit,
}

/// Who sends a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MessageAuthor {
    Person,
    Agent(MessageSender),
    /// Segue itself, as for a task.
    Segue,
}

impl MessageAuthor {
    fn sender(self) -> Option<MessageSender> {
        match self {
            Self::Agent(sender) => Some(sender),
            Self::Person | Self::Segue => None,
        }
    }
}

/// The state of message delivery that is not part of the session.
#[derive(Debug, Default)]
pub(super) struct DeliveryState {
    /// The environment of the last command that sent a message. It is kept in memory only.
    pub(super) sender_environment: Option<Environment>,
    /// Whether a user requested the next headless turn. After a failed turn, the next turn does not
    /// start without such a request.
    pub(super) is_turn_requested: bool,
    /// Whether the screen was changing at the last attempt. Nothing is typed until the agent has
    /// stopped drawing.
    is_disturbed: bool,
    /// The message that was typed last, and when. An `Instant` is not affected if the system clock
    /// is set.
    typed: Option<(MessageId, Instant)>,
    /// Why the next turn did not begin. The next delivery reports it.
    failed_start: Option<Error>,
    /// Why the last delivery failed.
    pub(super) last_failure: Option<String>,
    /// Answers that wait until the agent has drawn its question.
    pub(super) answers: Vec<HeldAnswer>,
    /// The question that was answered last, as the screen showed it.
    pub(super) answered_question: Option<AnsweredQuestion>,
}

impl Actor {
    /// Answers the agent's question as soon as the question is drawn.
    pub(super) async fn answer_when_drawn(
        &mut self,
        (answer, question): (ports::Answer, Option<String>),
        request: Option<RequestKey>,
        reply: Reply<AnswerReport>,
    ) {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let (reason, is_begun) = (None, false);
        let held = HeldAnswer { answer, question, deadline, request, reason, is_begun, reply };
        self.answer_dialog(held).await;
    }

    /// Answers a question with yes for this reason, without a person.
    pub(super) async fn answer_without_person(&mut self, question: String, reason: &'static str) {
        let (reply, answered) = oneshot::channel();
        // An answer is retried as long as its reply is expected.
        tokio::spawn(async move { drop(answered.await) });
        let (answer, question) = (ports::Answer::Yes, Some(question));
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let (request, reason, is_begun) = (None, Some(reason), false);
        let held = HeldAnswer { answer, question, deadline, request, reason, is_begun, reply };
        self.answer_dialog(held).await;
    }

    pub(super) async fn send(&mut self, outgoing: Outgoing) -> Result<MessageId> {
        let Outgoing { id, text, is_command, author, environment, interrupt, request, same_commit } =
            outgoing;
        let same_commit = self.with_repetition(author, same_commit).await?;
        let id = id.unwrap_or_else(|| MessageId::new(self.ports.clock.new_id()));
        let message = NewMessage { id, text, is_command, sender: author.sender() };
        let (ports, recorded_with) = (&self.ports, (request, same_commit));
        let id = messages::add_message(ports, &mut self.state, message, recorded_with).await?;
        let is_queued =
            |it: &segue_core::model::Message| it.id == id && it.state == MessageState::Queued;
        // The message of a repeated request may have begun a turn already. Do not interrupt that
        // turn.
        if !self.state.outbox.iter().any(is_queued) {
            return Ok(id);
        }
        self.request_turn(environment);
        self.account_reporting.trigger = StartTrigger::now(StartRequester::One);
        if interrupt
            && self.state.session.status == Status::Working
            && let Err(error) = self.interrupt().await
        {
            // The message is recorded. If this returned an error, the sender would send it again.
            tracing::warn!(%error, "a turn could not be interrupted");
        }
        Ok(id)
    }

    /// Queues a message that no user has sent. It starts no process: a session that does not run, and
    /// a headless session, get it with their next launch.
    pub(super) async fn queue(
        &mut self,
        message: NewMessage,
        same_commit: Commit,
    ) -> Result<MessageId> {
        let author = message.sender.map_or(MessageAuthor::Segue, MessageAuthor::Agent);
        let same_commit = self.with_repetition(author, same_commit).await?;
        let is_awaited = self.state.outbox.iter().any(|it| it.state == MessageState::Queued);
        let id = messages::add_message(&self.ports, &mut self.state, message, (None, same_commit));
        let id = id.await?;
        if self.state.session.headless && !is_awaited {
            self.withdraw_turn_request();
        }
        Ok(id)
    }

    /// Allows typing again, because the agent has stopped drawing.
    pub(super) fn allow_typing(&mut self) {
        self.delivery.is_disturbed = false;
    }

    /// Allows the next turn of a headless session, with this environment.
    pub(super) fn request_turn(&mut self, environment: Environment) {
        self.delivery.sender_environment = Some(environment);
        self.delivery.is_turn_requested = true;
    }

    /// Stops the queue of a headless session: its next turn needs a new request of a user.
    pub(super) fn withdraw_turn_request(&mut self) {
        self.delivery.sender_environment = None;
        self.delivery.is_turn_requested = false;
    }

    pub(super) async fn interrupt(&mut self) -> Result<()> {
        if self.state.session.headless {
            return self.stop().await.map(drop);
        }
        let Some(launch) = self.state.open().map(|launch| launch.id) else { return Ok(()) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        self.ports.holders.inject(launch, &vendor.interaction().interrupt()).await
    }

    pub(super) async fn cancel(
        &mut self,
        message: MessageId,
        same_commit: Vec<Change>,
    ) -> Result<()> {
        messages::cancel(&self.ports, &mut self.state, message, same_commit).await
    }

    /// Records the results of typed messages, and sends the next message if the agent is ready.
    pub(super) async fn deliver(&mut self) {
        self.answer_dialogs().await;
        let failed = self.delivery.failed_start.take();
        if self.state.outbox.is_empty() {
            return;
        }
        let attempted = match failed {
            // Without this the turn would be requested again at once, and fail again.
            Some(error) => Err(error),
            None => self.try_to_deliver().await,
        };
        match attempted {
            // Nothing was attempted since a start failed. A request that begins to wait only now
            // has to get the reason, too.
            Ok(()) if self.needs_turn_request() => {}
            Ok(()) => self.delivery.last_failure = None,
            Err(error) => {
                let session = self.state.session.address();
                tracing::warn!(%session, %error, "a message cannot be delivered now");
                self.delivery.last_failure = Some(error.to_string());
            }
        }
    }

    /// Returns whether the next turn of a headless session begins only if a user requests it.
    fn needs_turn_request(&self) -> bool {
        let is_allowed =
            self.delivery.is_turn_requested || self.state.session.status == Status::Idle;
        let is_at_rest = self.state.open().is_none() && self.starts.is_empty();
        self.state.session.headless && is_at_rest && !is_allowed
    }

    async fn try_to_deliver(&mut self) -> Result<()> {
        messages::check_typed(&self.ports, &mut self.state, AgentWait::Continues).await?;
        // Report the end of a turn before the next turn begins.
        self.answer_waiters().await;
        if self.state.session.headless {
            return self.begin_next_turn();
        }
        if self.state.session.status != Status::Idle || self.delivery.is_disturbed {
            return Ok(());
        }
        if self.has_old_settings() {
            return self.begin_with_new_settings().await;
        }
        match messages::type_next(&self.ports, &mut self.state).await? {
            Attempt::Typed(message) => {
                self.send_later(USUAL_ACCEPT_TIME, SessionTimeout::CheckMessage { message });
                self.expect_until_overdue(message);
            }
            // After a message that no signal can confirm, wait until the agent has drawn it before
            // typing the next one.
            Attempt::Disturbed | Attempt::Unconfirmed => {
                self.delivery.is_disturbed = true;
                self.send_later(DISTURBANCE_TIMEOUT, SessionTimeout::RetryTyping);
            }
            Attempt::Unanswered(message, error) => {
                self.expect_until_overdue(message);
                return Err(error);
            }
            Attempt::Nothing => {}
        }
        Ok(())
    }

    /// Checks a message that should have been accepted by now. If it was not, presses Enter again.
    pub(super) async fn check_message(&mut self, message: MessageId) -> Result<()> {
        messages::check_typed(&self.ports, &mut self.state, AgentWait::Continues).await?;
        if self.is_typing_into_terminal(message) {
            messages::press_enter_again(&self.ports, &self.state, message).await?;
            self.send_later(USUAL_ACCEPT_TIME, SessionTimeout::CheckMessage { message });
        }
        Ok(())
    }

    /// Returns whether this message was typed into a terminal that still runs, and its result is
    /// unknown.
    fn is_typing_into_terminal(&self, message: MessageId) -> bool {
        let runs = self.state.open().is_some() && !self.state.session.headless;
        let is_typing = |it: &segue_core::model::Message| {
            it.id == message && matches!(it.state, MessageState::Typing(_))
        };
        runs && self.state.outbox.iter().any(is_typing)
    }

    /// Records when a message was typed, and schedules the check for an overdue message.
    fn expect_until_overdue(&mut self, message: MessageId) {
        self.delivery.typed = Some((message, Instant::now()));
        self.send_later(ACCEPT_TIMEOUT, SessionTimeout::Overdue { message });
    }

    /// Records the result of a message that is overdue.
    pub(super) async fn overdue(&mut self, message: MessageId) -> Result<()> {
        // The message may have been typed again since this check was scheduled.
        let is_overdue =
            |(typed, at): (MessageId, Instant)| typed == message && at.elapsed() >= ACCEPT_TIMEOUT;
        if self.is_typing_into_terminal(message) && self.delivery.typed.is_some_and(is_overdue) {
            if self.may_work_on_command(message).await? {
                self.send_later(ACCEPT_TIMEOUT, SessionTimeout::Overdue { message });
                return Ok(());
            }
            // The holder knows whether it has typed the message.
            messages::resolve_interrupted_typing(&self.ports, &mut self.state).await?;
            messages::check_typed(&self.ports, &mut self.state, AgentWait::Over).await?;
        }
        Ok(())
    }

    /// Returns whether the agent may still carry out a command whose effect the transcript does not
    /// show before its end. Some programs report nothing while they write a summary.
    async fn may_work_on_command(&self, message: MessageId) -> Result<bool> {
        let is_command = |it: &segue_core::model::Message| it.id == message && it.is_command;
        if !self.state.outbox.iter().any(is_command) {
            return Ok(false);
        }
        let is_recent = |(_, at): (MessageId, Instant)| at.elapsed() < COMMAND_TIMEOUT;
        Ok(self.state.session.status == Status::Working
            || self.delivery.typed.is_some_and(is_recent)
                && !messages::has_draft(&self.ports, &self.state).await?)
    }

    /// Continues to follow a message that was being typed while no daemon ran.
    pub(super) async fn track_typed_message(&mut self) -> Result<()> {
        messages::resolve_interrupted_typing(&self.ports, &mut self.state).await?;
        let is_typing =
            |it: &&segue_core::model::Message| matches!(it.state, MessageState::Typing(_));
        if let Some(message) = self.state.outbox.iter().find(is_typing).map(|it| it.id) {
            self.expect_until_overdue(message);
        }
        Ok(())
    }

    /// Returns whether a person has changed settings since the agent was started.
    pub(super) fn has_old_settings(&self) -> bool {
        let launched_at = self.state.open().map(|launch| launch.created_at);
        launched_at.is_some_and(|at| self.state.session.has_new_settings_since(at))
    }

    /// Returns whether the oldest message could be typed now.
    pub(super) async fn can_type(&self) -> Result<bool> {
        messages::can_type(&self.ports, &self.state).await
    }

    /// Starts the agent again before the next message is typed, so that its turn has the settings
    /// that the session has now.
    async fn begin_with_new_settings(&mut self) -> Result<()> {
        if !self.starts.is_empty() || !self.can_type().await? {
            return Ok(());
        }
        let environment = self.environment_of_agent().await?;
        self.starts.push(StartRequest::Reconfigured { environment });
        Ok(())
    }

    /// Returns the environment that the agent was started with, with the MCP servers of the editor that
    /// has sent the last message. A message may come from a client without an environment.
    async fn environment_of_agent(&self) -> Result<Environment> {
        let launch = self.state.open().map(|launch| launch.id);
        let held = match launch {
            Some(launch) => self.ports.holders.environment(launch).await?,
            None => None,
        };
        let mut environment = held.ok_or_else(|| {
            let name = self.state.session.address();
            Error::conflict("its new settings need the environment of a command")
                .hint(format!("run `segue stop {name} && segue resume {name}`"))
        })?;
        let sender = self.delivery.sender_environment.as_ref();
        if let Some(servers) = sender.and_then(|sent| sent.get(editor_servers::VARIABLE)) {
            environment.set(editor_servers::VARIABLE, servers);
        }
        Ok(environment)
    }

    /// Requests the next turn of a headless session if a message is queued.
    fn begin_next_turn(&mut self) -> Result<()> {
        let is_at_rest = self.state.open().is_none() && self.starts.is_empty();
        if !self.has_queued_message() || !is_at_rest || self.needs_turn_request() {
            return Ok(());
        }
        let Some(environment) = self.delivery.sender_environment.clone() else {
            return Err(Error::conflict("its next turn needs the environment of a command")
                .hint(format!("run `segue resume {}`", self.state.session.address())));
        };
        self.delivery.is_turn_requested = false;
        self.starts.push(StartRequest::NextTurn { environment });
        Ok(())
    }

    /// Keeps the reason if the next turn did not begin.
    pub(super) fn report_next_turn(&mut self, done: Result<Done>) {
        self.delivery.failed_start = match done {
            Ok(Done::Refused { error }) | Err(error) => Some(error),
            Ok(Done::Launched { .. } | Done::NothingStarted { .. }) => None,
        };
    }
}
