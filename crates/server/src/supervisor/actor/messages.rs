//! Messages to the agent: taken in, typed when it is ready, and followed until they are settled.

use std::time::Duration;

use segue_core::api::{AnswerReport, SendReport};
use segue_core::flows::look::Asked;
use segue_core::flows::messages::{self, Attempt};
use segue_core::flows::restore::{self, Done};
use segue_core::model::{Environment, MessageId, MessageState, RequestKey, Status};
use segue_core::ports::{self, Change, Commit};
use segue_core::rules::accounts::Wanted;
use segue_core::rules::delivery::Patience;
use segue_core::{Error, Result};
use tokio::time::Instant;

use super::super::accounts::Wish;
use super::answers::{Answered, HeldAnswer};
use super::{Actor, Message, Reply, Waiter, answer};

/// How long an agent may take to show that it has taken a message.
const TAKES_AT_MOST: Duration = Duration::from_secs(30);

/// How long an agent takes to show that it has taken a message, unless something went wrong.
const TAKES_USUALLY: Duration = Duration::from_secs(3);

/// How long a disturbance can last without the holder saying that the screen has settled.
pub(super) const DISTURBED_AT_MOST: Duration = Duration::from_secs(2);

/// How long an answer waits for its question to be on the screen and to take keys.
const QUESTION_DRAWN_WITHIN: Duration = Duration::from_secs(5);

/// What can be asked about messages to the agent.
#[derive(Debug)]
pub(crate) enum Errand {
    /// Takes in something for the agent.
    Send {
        outgoing: Outgoing,
        reply: Reply<MessageId>,
    },
    Cancel {
        message: MessageId,
        /// Recorded in the same commit.
        along: Vec<Change>,
        reply: Reply<()>,
    },
    /// Says what became of a message so far.
    Report {
        message: MessageId,
        reply: Reply<SendReport>,
    },
    Answer {
        answer: ports::Answer,
        /// The id of the question that is meant.
        question: Option<String>,
        request: Option<RequestKey>,
        reply: Reply<AnswerReport>,
    },
    Wait(Waiter),
    /// Whatever disturbed the typing is over by now.
    TryAgain,
    /// The question on the screen may have changed.
    ReadDialog,
    /// A message was typed a moment ago.
    Follow {
        message: MessageId,
    },
    /// A message was typed a while ago.
    Overdue {
        message: MessageId,
    },
}

/// Something for the agent, and how it is sent.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) text: String,
    pub(crate) environment: Environment,
    /// Breaks off what the agent does.
    pub(crate) interrupt: bool,
    pub(crate) request: Option<RequestKey>,
    /// Recorded in the same commit.
    pub(crate) along: Commit,
}

/// What the delivery of messages needs to know beyond the session itself.
#[derive(Debug, Default)]
pub(super) struct Post {
    /// The environment of the last command that sent something; only in memory.
    pub(super) sender: Option<Environment>,
    /// Somebody wants the next headless turn: it is not begun by itself after a failure.
    pub(super) turn_wanted: bool,
    /// The screen was changing: nothing is typed until it has settled.
    disturbed: bool,
    /// The message that was typed last, and when, by a clock that nobody sets.
    typed: Option<(MessageId, Instant)>,
    /// Why nothing could be delivered.
    pub(super) hindrance: Option<String>,
    /// Answers to a question that the agent says it asks, and is still drawing.
    pub(super) answers: Vec<HeldAnswer>,
    /// The question that was answered last.
    pub(super) answered: Option<Answered>,
}

impl Actor {
    pub(super) async fn run_errand(&mut self, errand: Errand) -> Result<()> {
        match errand {
            Errand::Send { outgoing, reply } => answer(reply, self.send(outgoing).await),
            Errand::Cancel { message, along, reply } => {
                answer(reply, self.cancel(message, along).await);
            }
            Errand::Report { message, reply } => answer(reply, self.report(message).await),
            Errand::Answer { answer, question, request, reply } => {
                let until = Instant::now() + QUESTION_DRAWN_WITHIN;
                let held = HeldAnswer { answer, question, until, request, is_begun: false, reply };
                self.answer_dialog(held).await;
            }
            Errand::Wait(waiter) => self.waiters.push(waiter),
            Errand::Follow { message } => return self.follow_message(message).await,
            Errand::Overdue { message } => return self.overdue(message).await,
            Errand::TryAgain => self.undisturbed(),
            Errand::ReadDialog => self.asking.is_stale = true,
        }
        Ok(())
    }

    async fn send(&mut self, outgoing: Outgoing) -> Result<MessageId> {
        let Outgoing { text, environment, interrupt, request, along } = outgoing;
        let id = messages::add(&self.ports, &mut self.state, text, (request, along)).await?;
        let queued =
            |it: &segue_core::model::Message| it.id == id && it.state == MessageState::Queued;
        // A repeated request must not break off the turn that its own message began.
        if !self.state.outbox.iter().any(queued) {
            return Ok(id);
        }
        self.want_turn(environment);
        self.standing.wish = Wish::now(Wanted::One);
        if interrupt
            && self.state.session.status == Status::Working
            && let Err(error) = self.interrupt().await
        {
            // The message is recorded all the same, and would be sent twice if this failed.
            tracing::warn!(%error, "a turn could not be broken off");
        }
        Ok(id)
    }

    /// The screen has settled: what was disturbed can be tried again.
    pub(super) fn undisturbed(&mut self) {
        self.post.disturbed = false;
    }

    /// Lets the queue of a headless session go on, with this environment.
    pub(super) fn want_turn(&mut self, environment: Environment) {
        self.post.sender = Some(environment);
        self.post.turn_wanted = true;
    }

    pub(super) async fn interrupt(&mut self) -> Result<()> {
        if self.state.session.headless {
            return self.stop().await.map(drop);
        }
        let Some(launch) = self.state.open().map(|launch| launch.id) else { return Ok(()) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        self.ports.holders.inject(launch, &vendor.interrupt()).await
    }

    async fn cancel(&mut self, message: MessageId, along: Vec<Change>) -> Result<()> {
        messages::cancel(&self.ports, &mut self.state, message, along).await
    }

    /// Settles what is on its way and sends what is next, as far as the agent is ready for it.
    pub(super) async fn deliver(&mut self) {
        self.answer_dialogs().await;
        if self.state.outbox.is_empty() {
            return;
        }
        self.post.hindrance = match self.try_to_deliver().await {
            Ok(()) => None,
            Err(error) => {
                let session = self.state.session.address();
                tracing::warn!(%session, %error, "a message cannot be delivered now");
                Some(error.to_string())
            }
        };
    }

    async fn try_to_deliver(&mut self) -> Result<()> {
        messages::settle(&self.ports, &mut self.state, Patience::Left).await?;
        // Whoever waits for the end of a turn is told before the next one begins.
        self.answer_waiters().await;
        if self.state.session.headless {
            return self.begin_next_turn().await;
        }
        if self.state.session.status != Status::Idle || self.post.disturbed {
            return Ok(());
        }
        match messages::type_next(&self.ports, &mut self.state).await? {
            Attempt::Typed(message) => {
                self.tell_later(TAKES_USUALLY, Message::Errand(Errand::Follow { message }));
                self.expect_until_overdue(message);
            }
            // What comes after an unconfirmed message waits until that is drawn.
            Attempt::Disturbed | Attempt::Unconfirmed => {
                self.post.disturbed = true;
                self.tell_later(DISTURBED_AT_MOST, Message::Errand(Errand::TryAgain));
            }
            Attempt::Unanswered(message, error) => {
                self.expect_until_overdue(message);
                return Err(error);
            }
            Attempt::Nothing => {}
        }
        Ok(())
    }

    /// Looks after a message that should have arrived by now.
    async fn follow_message(&mut self, message: MessageId) -> Result<()> {
        messages::settle(&self.ports, &mut self.state, Patience::Left).await?;
        let is_typing = |it: &segue_core::model::Message| {
            it.id == message && matches!(it.state, MessageState::Typing(_))
        };
        let runs = self.state.open().is_some() && !self.state.session.headless;
        if runs && self.state.outbox.iter().any(is_typing) {
            messages::press_enter_again(&self.ports, &self.state, message).await?;
            self.tell_later(TAKES_USUALLY, Message::Errand(Errand::Follow { message }));
        }
        Ok(())
    }

    /// Notes when a message was typed, and looks after it when it should long have arrived.
    fn expect_until_overdue(&mut self, message: MessageId) {
        self.post.typed = Some((message, Instant::now()));
        self.tell_later(TAKES_AT_MOST, Message::Errand(Errand::Overdue { message }));
    }

    /// Says that a message has been on its way for long enough.
    async fn overdue(&mut self, message: MessageId) -> Result<()> {
        let is_typing = |it: &segue_core::model::Message| {
            it.id == message && matches!(it.state, MessageState::Typing(_))
        };
        // It may have been typed again after the look that was planned first.
        let is_overdue =
            |(typed, at): (MessageId, Instant)| typed == message && at.elapsed() >= TAKES_AT_MOST;
        let waits =
            self.state.outbox.iter().any(is_typing) && self.post.typed.is_some_and(is_overdue);
        if waits && self.state.open().is_some() && !self.state.session.headless {
            // A holder that never typed it says so.
            messages::take_up(&self.ports, &mut self.state).await?;
            messages::settle(&self.ports, &mut self.state, Patience::Over).await?;
        }
        Ok(())
    }

    /// Takes up a message that was on its way when no daemon watched.
    pub(super) async fn take_up_messages(&mut self) -> Result<()> {
        messages::take_up(&self.ports, &mut self.state).await?;
        let typing = |it: &&segue_core::model::Message| matches!(it.state, MessageState::Typing(_));
        if let Some(message) = self.state.outbox.iter().find(typing).map(|it| it.id) {
            self.expect_until_overdue(message);
        }
        Ok(())
    }

    async fn begin_next_turn(&mut self) -> Result<()> {
        let queued = self.state.outbox.first().is_some_and(|it| it.state == MessageState::Queued);
        let wanted = self.post.turn_wanted || self.state.session.status == Status::Idle;
        if !queued || !wanted || self.state.open().is_some() {
            return Ok(());
        }
        let Some(environment) = self.post.sender.clone() else {
            return Err(Error::conflict("its next turn needs the environment of a command")
                .hint(format!("run `segue resume {}`", self.state.session.address())));
        };
        self.post.turn_wanted = false;
        let begun = self.next_turn(environment).await;
        self.give_passes_back_unless_launched(&begun);
        match begun? {
            Done::Refused { error } => Err(error),
            Done::Launched { .. } | Done::Settled { .. } => Ok(()),
        }
    }

    async fn next_turn(&mut self, environment: Environment) -> Result<Done> {
        let (sight, decision) = self.prepare_to_start(Asked::ByName).await?;
        let done =
            restore::next_turn(&self.ports, &mut self.state, &sight, decision, environment).await;
        match done {
            Ok(Done::Launched { .. }) => {
                self.follow().await;
                done
            }
            done => done.map_err(|error| self.unsettled(error)),
        }
    }
}
