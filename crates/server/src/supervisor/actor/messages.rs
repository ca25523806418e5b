//! Messages to the agent: taken in, typed when it is ready, and followed until they are settled.

use std::time::Duration;

use segue_core::api::{SendReport, Until};
use segue_core::flows::look::Asked;
use segue_core::flows::messages::{self, Attempt};
use segue_core::flows::restore::{self, Done};
use segue_core::flows::view;
use segue_core::model::{
    Environment, EventKind, Failure, FailureClass, How, MessageId, MessageState, Status, WaitingFor,
};
use segue_core::ports::{self, Commit, MessageQuery, Showing};
use segue_core::rules::delivery::Patience;
use segue_core::{Error, Result};
use tokio::time::Instant;

use super::{Actor, Message, Reply, Waiter, answer};

/// How long an agent may take to show that it has taken a message.
const TAKES_AT_MOST: Duration = Duration::from_secs(30);

/// How long a disturbance can last without the holder saying that the screen has settled.
const DISTURBED_AT_MOST: Duration = Duration::from_secs(2);

/// A screen may change while an answer is on its way; so often it is looked at again.
const TRIES_TO_ANSWER: usize = 5;

/// What can be asked about messages to the agent.
#[derive(Debug)]
pub(crate) enum Errand {
    /// Takes in something for the agent.
    Send {
        text: String,
        environment: Environment,
        interrupt: bool,
        reply: Reply<MessageId>,
    },
    Cancel {
        message: MessageId,
        reply: Reply<()>,
    },
    /// Says what became of a message so far.
    Report {
        message: MessageId,
        reply: Reply<SendReport>,
    },
    Answer {
        answer: ports::Answer,
        reply: Reply<()>,
    },
    Wait(Waiter),
    /// Whatever disturbed the typing is over by now.
    TryAgain,
    /// A message was typed a while ago.
    Overdue {
        message: MessageId,
    },
}

/// What the delivery of messages needs to know beyond the session itself.
#[derive(Debug, Default)]
pub(super) struct Post {
    /// The environment of the last command that sent something; only in memory.
    sender: Option<Environment>,
    /// Somebody wants the next headless turn: it is not begun by itself after a failure.
    turn_wanted: bool,
    /// The screen was changing: nothing is typed until it has settled.
    disturbed: bool,
    /// Why nothing could be delivered.
    hindrance: Option<String>,
    /// Answers to a question that the agent says it asks, and is still drawing.
    answers: Vec<HeldAnswer>,
}

/// A person's answer, and how long its question may take to be on the screen.
#[derive(Debug)]
struct HeldAnswer {
    answer: ports::Answer,
    until: Instant,
    reply: Reply<()>,
}

impl Actor {
    pub(super) async fn run_errand(&mut self, errand: Errand) -> Result<()> {
        match errand {
            Errand::Send { text, environment, interrupt, reply } => {
                answer(reply, self.send(text, environment, interrupt).await);
            }
            Errand::Cancel { message, reply } => answer(reply, self.cancel(message).await),
            Errand::Report { message, reply } => answer(reply, self.report(message).await),
            Errand::Answer { answer: given, reply } => {
                let until = Instant::now() + DISTURBED_AT_MOST;
                self.answer_dialog(HeldAnswer { answer: given, until, reply }).await;
            }
            Errand::Wait(waiter) => self.waiters.push(waiter),
            Errand::Overdue { message } => return self.overdue(message).await,
            Errand::TryAgain => self.undisturbed(),
        }
        Ok(())
    }

    async fn send(
        &mut self,
        text: String,
        environment: Environment,
        interrupt: bool,
    ) -> Result<MessageId> {
        let id = messages::add(&self.ports, &mut self.state, text).await?;
        self.want_turn(environment);
        if interrupt && self.state.session.status == Status::Working {
            self.interrupt().await?;
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

    async fn interrupt(&mut self) -> Result<()> {
        if self.state.session.headless {
            return self.stop().await.map(drop);
        }
        let Some(launch) = self.state.open().map(|launch| launch.id) else { return Ok(()) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        self.ports.holders.inject(launch, &vendor.interrupt()).await
    }

    async fn cancel(&mut self, message: MessageId) -> Result<()> {
        messages::cancel(&self.ports, &mut self.state, message).await
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
                self.tell_later(TAKES_AT_MOST, Message::Errand(Errand::Overdue { message }));
            }
            Attempt::Disturbed => {
                self.post.disturbed = true;
                self.tell_later(DISTURBED_AT_MOST, Message::Errand(Errand::TryAgain));
            }
            Attempt::Unanswered(message, error) => {
                self.tell_later(TAKES_AT_MOST, Message::Errand(Errand::Overdue { message }));
                return Err(error);
            }
            Attempt::Nothing => {}
        }
        Ok(())
    }

    /// Says that a message has been on its way for long enough.
    async fn overdue(&mut self, message: MessageId) -> Result<()> {
        let waits = self.state.outbox.iter().any(|it| {
            it.id == message
                && matches!(it.state, MessageState::Typing(_))
                && it.updated_at.duration_until(self.ports.clock.now()).unsigned_abs()
                    >= TAKES_AT_MOST
        });
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
            self.tell_later(TAKES_AT_MOST, Message::Errand(Errand::Overdue { message }));
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

    /// Answers the agent's question, if need be as soon as it is on the screen.
    async fn answer_dialog(&mut self, held: HeldAnswer) {
        let given = self.give_answer(&held.answer).await;
        let asks = matches!(self.state.session.status, Status::Waiting(_));
        match given {
            Ok(true) => answer(held.reply, Ok(())),
            Ok(false) if asks && Instant::now() < held.until => {
                self.tell_later(DISTURBED_AT_MOST, Message::Errand(Errand::TryAgain));
                self.post.answers.push(held);
            }
            Ok(false) => answer(held.reply, Err(self.nothing_asked())),
            Err(error) => answer(held.reply, Err(error)),
        }
    }

    async fn answer_dialogs(&mut self) {
        for held in std::mem::take(&mut self.post.answers) {
            if !held.reply.is_closed() {
                self.answer_dialog(held).await;
            }
        }
    }

    /// Gives a person's answer to the dialog that the agent shows; tells whether it shows one.
    async fn give_answer(&mut self, answer: &ports::Answer) -> Result<bool> {
        let name = self.state.session.address();
        let Some(launch) = self.state.open().map(|launch| launch.id) else {
            return Err(Error::conflict(format!("`{name}` is not running"))
                .hint(format!("run `segue resume {name}`")));
        };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        for _ in 0..TRIES_TO_ANSWER {
            let Some(screen) = messages::screen(&self.ports, &self.state).await? else { break };
            if !matches!(vendor.read_screen(&screen), Some(Showing::Dialog(_))) {
                break;
            }
            let Some(keys) = vendor.answer(&screen, answer) else {
                return Err(no_such_choice(&name));
            };
            if self.ports.holders.press(launch, &keys, screen.revision).await? {
                return self.record_answer(answer).await.map(|()| true);
            }
        }
        Ok(false)
    }

    fn nothing_asked(&self) -> Error {
        let name = self.state.session.address();
        Error::conflict(format!("`{name}` asks nothing that could be answered"))
            .hint(format!("run `segue attach {name}` to look"))
    }

    async fn record_answer(&mut self, answer: &ports::Answer) -> Result<()> {
        let text = match answer {
            ports::Answer::Yes => "yes".to_owned(),
            ports::Answer::No => "no".to_owned(),
            ports::Answer::Choice(choice) => format!("choice {choice}"),
        };
        let events = vec![self.state.event(&self.ports, EventKind::Answered, text)];
        self.state.commit(&self.ports, Commit { changes: Vec::new(), events }).await
    }

    /// Says what became of a message so far; none if it is not a message of this session.
    async fn report(&self, message: MessageId) -> Result<SendReport> {
        let query = MessageQuery { session: Some(self.id()), open: false };
        let all = self.ports.store.messages(&query).await?;
        let found = all
            .iter()
            .find(|it| it.id == message)
            .ok_or_else(|| Error::not_found(format!("no message has the id `{message}`")))?;
        let note = match found.state {
            MessageState::Queued => self.hindrance(),
            MessageState::Typing(_) => Some("nothing shows yet that it arrived".to_owned()),
            MessageState::Delivered | MessageState::Uncertain | MessageState::Cancelled => None,
        };
        Ok(SendReport {
            message: view::message(&self.state.session, found),
            session: self.view(),
            turn_ended: false,
            answer: None,
            failure: None,
            note,
        })
    }

    /// Says why the next message has to wait.
    fn hindrance(&self) -> Option<String> {
        if let Some(hindrance) = &self.post.hindrance {
            return Some(hindrance.clone());
        }
        match self.state.session.status {
            Status::Working | Status::Starting => Some("it is busy".to_owned()),
            Status::Waiting(WaitingFor::Environment | WaitingFor::Choice)
            | Status::Ended(_)
            | Status::Lost => Some("it is not running".to_owned()),
            Status::Waiting(reason) => Some(format!("it waits for an answer ({reason})")),
            Status::Idle if self.is_typing() => Some("an earlier one is on its way".to_owned()),
            Status::Idle => Some("its input is not free".to_owned()),
        }
    }

    fn is_typing(&self) -> bool {
        self.state.outbox.iter().any(|it| matches!(it.state, MessageState::Typing(_)))
    }

    /// Tells whether the turn that a message began is over.
    fn is_turn_over(&self) -> Result<bool> {
        match self.state.session.status {
            Status::Starting | Status::Working => Ok(false),
            Status::Idle => {
                let conversation = self.conversation()?;
                Ok(conversation.is_none_or(|conversation| !conversation.turn_open))
            }
            Status::Waiting(_) | Status::Ended(_) | Status::Lost => Ok(true),
        }
    }

    pub(super) fn conversation(&self) -> Result<Option<ports::Conversation>> {
        let Some(id) = self.state.vendor_session() else { return Ok(None) };
        let vendor = self.ports.vendors.of(&self.state.session)?;
        vendor.conversation(self.ports.files.as_ref(), &self.state.place(), id)
    }

    /// Says how the turn ended that a delivered message began.
    async fn turn_end_report(&self, message: MessageId) -> Result<SendReport> {
        let report = self.report(message).await?;
        if let Status::Waiting(reason) = self.state.session.status
            && self.state.open().is_some()
        {
            let note = Some(format!("it waits for an answer ({reason})"));
            return Ok(SendReport { note, ..report });
        }
        let turn = self.state.turn.as_ref();
        let failure = turn.and_then(|turn| turn.failure.clone());
        let failure = failure.map_or_else(|| self.cut_turn(), |failure| Ok(Some(failure)))?;
        let said = turn.map(|turn| turn.text.clone()).filter(|_| self.state.session.headless);
        let answer = match said {
            Some(said) => Some(said),
            None => self.conversation()?.and_then(|conversation| conversation.last_answer),
        };
        Ok(SendReport { turn_ended: true, answer, failure, ..report })
    }

    /// Says why a turn has no end that went well, where the vendor did not.
    fn cut_turn(&self) -> Result<Option<Failure>> {
        let status = self.state.session.status;
        let is_whole = |it: ports::Conversation| !it.turn_open;
        let is_over = status == Status::Idle
            || !self.state.session.headless && self.conversation()?.is_none_or(is_whole);
        let message = match (&self.state.turn, status.detail()) {
            (Some(turn), _) if !turn.text.is_empty() => turn.text.clone(),
            (_, Some(detail)) => detail,
            _ => status.word().to_owned(),
        };
        let failure = Failure { class: FailureClass::Other, message, resets_at: None };
        Ok((!is_over).then_some(failure))
    }

    /// Tells whether a sender has waited for long enough, and what it is told then.
    pub(super) async fn answer_for(
        &self,
        message: MessageId,
        until: Until,
    ) -> Result<Option<SendReport>> {
        let on_its_way = self.state.outbox.iter().find(|it| it.id == message);
        if let Some(open) = on_its_way {
            // Nothing will happen to it by itself.
            let stuck = open.state == MessageState::Queued && !self.will_go_on();
            if !stuck {
                return Ok(None);
            }
            let failure = self.failure();
            return self.report(message).await.map(|report| Some(SendReport { failure, ..report }));
        }
        let report = self.report(message).await?;
        let taken = report.message.state == MessageState::Delivered.word();
        if until == Until::TurnEnded && taken {
            let over = self.is_turn_over()?;
            return if over { self.turn_end_report(message).await.map(Some) } else { Ok(None) };
        }
        Ok(Some(report))
    }

    /// Returns why the last headless turn failed.
    fn failure(&self) -> Option<Failure> {
        let failed = matches!(self.state.session.status, Status::Ended(How::Failed(_)));
        let turn = self.state.turn.as_ref().filter(|_| failed);
        turn.and_then(|turn| turn.failure.clone())
    }

    /// Tells whether something runs, or will by itself, that the message can be given to.
    fn will_go_on(&self) -> bool {
        let begins_turn = self.state.session.headless && self.post.turn_wanted;
        self.state.open().is_some() || self.keeper.is_some() || begins_turn || self.begins_turns()
    }

    /// Tells whether the queue of a headless session goes on by itself.
    fn begins_turns(&self) -> bool {
        self.state.session.headless
            && self.state.session.status == Status::Idle
            && self.post.sender.is_some()
            && self.post.hindrance.is_none()
    }
}

fn no_such_choice(name: &str) -> Error {
    Error::usage(format!("the question of `{name}` has no such answer"))
        .hint(format!("run `segue attach {name}` to see the choices"))
}
