//! The actor: the owner of one session. It handles one message at a time.

mod account_reporting;
mod answers;
mod archiving;
mod delivery;
mod dialogs;
mod dispatch;
mod ending;
mod environment;
mod evidence;
mod inbox;
mod interrupting;
mod notifications;
mod observe;
mod questions;
mod reconcile;
mod repetition;
mod reports;
mod screen;
mod settings;
mod start_queue;
mod start_reports;
mod starting;
mod timer_schedule;
mod turns;
mod unrecorded_events;
mod usage_counting;
mod waiters;

use std::sync::Arc;
use std::time::Duration;

use segue_core::api::{AgentOutcome, Outcome, OutcomeNote, SessionRef, SessionView, TurnReport};
use segue_core::flows::launch::LaunchRequest;
use segue_core::flows::{SessionState, view};
use segue_core::model::{
    Dialog, Environment, EventPayload, Failure, LaunchId, Repetition, RequestKey, RequestStep,
    SessionId, Status, WaitingFor,
};
use segue_core::ports::{Commit, OpenQuestion, Ports};
use segue_core::rules::accounts::StartRequester;
use segue_core::rules::attention::{Reason, reason};
use segue_core::{Error, Result};
use tokio::sync::{mpsc, oneshot};

use self::account_reporting::AccountReporting;
use self::archiving::Archiving;
use self::delivery::DeliveryState;
pub(crate) use self::delivery::{MessageAuthor, Outgoing};
use self::dialogs::Asking;
use self::ending::SessionRemoval;
use self::evidence::PendingEvidence;
pub(crate) use self::inbox::{
    ActorMessage, SessionObservation, SessionRenamer, SessionRequest, SessionTimeout,
};
use self::repetition::RepetitionWatch;
use self::start_queue::{StartQueue, StartStep};
use self::timer_schedule::TimerSchedule;
use self::unrecorded_events::UnrecordedEvents;
use self::usage_counting::UsageCounting;
pub(crate) use self::waiters::Waiter;
use super::accounts::StartTrigger;
use super::gate::GatePermit;
use super::stream::StreamReader;
use super::{Inbox, Supervisor};
use crate::requests::step;

/// Sends the result of a request back to the caller.
pub(crate) type Reply<T> = oneshot::Sender<Result<T>>;

/// Sends messages to an actor, and does not keep it alive.
type WeakInbox = mpsc::WeakUnboundedSender<ActorMessage>;

/// The first launch of a session.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) message: Option<String>,
    pub(crate) environment: Environment,
    pub(crate) trigger: StartTrigger,
    /// The request that creates the session.
    pub(crate) request: Option<RequestKey>,
    /// The worktree that was made for the session.
    pub(crate) worktree: Option<EventPayload>,
    /// Recorded in the same commit as the launch.
    pub(crate) same_commit: Commit,
}

/// A request to start a new conversation, with its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConversationRenewal(pub(crate) Option<RequestKey>);

/// The result of bringing a session back. It is reported after the process has proven it.
#[derive(Debug)]
struct BroughtBack {
    outcome: Outcome,
    note: OutcomeNote,
    left_behind: LeftBehind,
    /// The question that the agent asks a person first.
    dialog: Option<Dialog>,
}

impl BroughtBack {
    fn new(outcome: Outcome, note: impl Into<OutcomeNote>) -> Self {
        Self { outcome, note: note.into(), left_behind: LeftBehind::Nothing, dialog: None }
    }
}

/// Whether a new conversation leaves an earlier conversation of the session behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftBehind {
    Nothing,
    Conversation,
}

/// The next work of an actor: a message, or a step of a start in its queue.
enum ActorWork {
    Message(ActorMessage),
    Start(StartStep),
}

/// The owner of one session.
pub(crate) struct Actor {
    supervisor: Arc<Supervisor>,
    ports: Ports,
    state: SessionState,
    /// The sender of messages to this actor itself.
    inbox: WeakInbox,
    /// The requests that wait for the evidence of a launch.
    pending: Vec<PendingEvidence>,
    asking: Asking,
    /// The requested starts. One of them may wait at the gates.
    starts: StartQueue,
    /// The permits to start. They are returned when the launch is confirmed or has ended.
    permits: Vec<GatePermit>,
    /// Reads the output of a headless launch.
    stream: Option<StreamReader>,
    /// Reads the reports of the vendor to Segue's hook.
    hooks: Option<StreamReader>,
    /// The questions that a headless agent asks through its holder, oldest first.
    questions: Vec<OpenQuestion>,
    delivery: DeliveryState,
    waiters: Vec<Waiter>,
    /// The number of output lines of headless launches that were read.
    output_lines: u64,
    waiting_for_turn: Vec<Reply<TurnReport>>,
    /// The ended launch after which a restart is scheduled. Its holder, if it still has one, keeps
    /// the environment in memory. `None` if no restart is scheduled.
    restart_after: Option<LaunchId>,
    unrecorded: UnrecordedEvents,
    account_reporting: AccountReporting,
    timer_schedule: TimerSchedule,
    archiving: Archiving,
    usage_counting: UsageCounting,
    repetition_watch: RepetitionWatch,
    /// The reason of the last notification. `None` if that reason no longer applies.
    notified_reason: Option<Reason>,
    /// The id of the question in the last notification.
    notified_question: Option<String>,
    /// The failure that the views of the session show.
    shown_failure: Option<Failure>,
    /// How many requests to remove the session wait until its usage is counted.
    begun_removals: usize,
    removed: bool,
}

impl Actor {
    pub(crate) fn start(supervisor: &Arc<Supervisor>, state: SessionState) -> Inbox {
        let (inbox, messages) = mpsc::unbounded_channel();
        // This reason was reported before the actor started, so it is not reported again.
        let repetition = state.session.repetition.as_ref().and_then(Repetition::needs_person);
        let notified_reason = reason(state.session.status, None, repetition);
        let actor = Self {
            supervisor: Arc::clone(supervisor),
            ports: supervisor.ports.clone(),
            state,
            inbox: inbox.downgrade(),
            pending: Vec::new(),
            asking: Asking::default(),
            starts: StartQueue::default(),
            permits: Vec::new(),
            stream: None,
            hooks: None,
            questions: Vec::new(),
            delivery: DeliveryState::default(),
            waiters: Vec::new(),
            output_lines: 0,
            waiting_for_turn: Vec::new(),
            restart_after: None,
            unrecorded: UnrecordedEvents::default(),
            account_reporting: AccountReporting::new(StartTrigger::now(StartRequester::ByItself)),
            timer_schedule: TimerSchedule::default(),
            archiving: Archiving::default(),
            usage_counting: UsageCounting::default(),
            repetition_watch: RepetitionWatch::default(),
            notified_reason,
            notified_question: None,
            shown_failure: None,
            begun_removals: 0,
            removed: false,
        };
        tokio::spawn(actor.run(messages));
        inbox
    }

    async fn run(mut self, mut messages: mpsc::UnboundedReceiver<ActorMessage>) {
        while let Some(work) = self.next_work(&mut messages).await {
            if matches!(work, ActorWork::Message(ActorMessage::Request(SessionRequest::Retire))) {
                let is_unneeded = || messages.is_empty();
                if self.is_resting() && self.supervisor.retire(self.id(), is_unneeded) {
                    return;
                }
                continue;
            }
            if let Err(error) = self.handle(work).await {
                self.retry_recording_later(&error);
            }
            self.end_repetition_if_over().await;
            self.note_dialog().await;
            self.record_question().await;
            self.note_failure();
            self.return_permits_if_asking();
            self.report_to_account();
            self.notify_if_needed();
            self.answer_pending();
            self.archive_if_due();
            self.deliver().await;
            self.answer_waiters().await;
            self.answer_turn_waiters();
            if self.removed {
                self.supervisor.forget(self.state.session.id);
                return;
            }
            if self.is_resting() {
                self.supervisor.note_resting(self.id());
            }
        }
    }

    /// Waits for the next message, or for the next step of a start. Messages come first, so a
    /// request to stop the session is handled before its start.
    async fn next_work(
        &mut self,
        messages: &mut mpsc::UnboundedReceiver<ActorMessage>,
    ) -> Option<ActorWork> {
        tokio::select! {
            biased;
            message = messages.recv() => message.map(ActorWork::Message),
            step = self.starts.next_step() => Some(ActorWork::Start(step)),
        }
    }

    /// Returns whether the session has no work left. Then the store has everything that this actor
    /// has in memory.
    fn is_resting(&self) -> bool {
        self.state.open().is_none()
            && self.state.outbox.is_empty()
            && self.starts.is_empty()
            && self.pending.is_empty()
            && self.waiters.is_empty()
            && self.waiting_for_turn.is_empty()
            && self.restart_after.is_none()
            && self.permits.is_empty()
            && self.archiving.is_idle()
            && self.usage_counting.is_idle()
            && self.begun_removals == 0
            && self.unrecorded.is_caught_up()
            // The names of the missing variables are only in memory.
            && self.state.session.status != Status::Waiting(WaitingFor::Environment)
    }

    async fn handle(&mut self, work: ActorWork) -> Result<()> {
        match work {
            ActorWork::Message(ActorMessage::Request(request)) => self.carry_out(request).await,
            ActorWork::Message(ActorMessage::Observation(event)) => self.observe(event).await,
            ActorWork::Message(ActorMessage::Timeout(timeout)) => self.time_out(timeout).await,
            ActorWork::Start(step) => self.proceed_with_start(step).await,
        }
    }

    fn id(&self) -> SessionId {
        self.state.session.id
    }

    fn view(&self) -> SessionView {
        self.supervisor.view(&view::summary(&self.state))
    }

    /// Returns whether this launch is the open launch of the session.
    fn is_open(&self, launch: LaunchId) -> bool {
        self.state.open().is_some_and(|open| open.id == launch)
    }

    /// Sends a message to this actor after a delay, without blocking.
    fn send_later(&self, after: Duration, message: impl Into<ActorMessage>) {
        let (inbox, message) = (self.inbox.clone(), message.into());
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            send_if_alive(&inbox, message);
        });
    }

    /// Returns the report about a session that was brought back.
    fn outcome(
        &self,
        BroughtBack { outcome, note, left_behind, dialog }: BroughtBack,
    ) -> AgentOutcome {
        AgentOutcome {
            of: SessionRef::of(&self.state.session),
            vendor: self.state.session.vendor.clone(),
            outcome,
            vendor_session_id: self.state.vendor_session().cloned(),
            note,
            dialog,
            lost: match outcome {
                Outcome::Refused => true,
                Outcome::Fresh | Outcome::Waiting => left_behind == LeftBehind::Conversation,
                _ => false,
            },
        }
    }

    fn refused(&self, error: &Error) -> AgentOutcome {
        self.outcome(BroughtBack::new(Outcome::Refused, OutcomeNote::of_error(error)))
    }
}

/// Sends a message to an actor. Returns whether the actor still exists.
fn send_if_alive(inbox: &WeakInbox, message: impl Into<ActorMessage>) -> bool {
    inbox.upgrade().is_some_and(|inbox| inbox.send(message.into()).is_ok())
}

/// Sends the result of a request. If the caller is gone, the result is dropped.
fn send_reply<T>(reply: Reply<T>, result: Result<T>) {
    let _gone = reply.send(result);
}

/// Returns the launch that a new session begins with.
fn first_launch(actor: &Actor, start: &Start) -> Result<LaunchRequest> {
    let session = &actor.state.session;
    let vendor = actor.ports.vendors.of(session)?;
    let created = RequestStep::Created { session: session.id };
    let id = vendor.launching().preset_id(session, actor.ports.clock.new_id());
    let mut same_commit = start.same_commit.clone();
    same_commit.changes.extend(step(&actor.ports, start.request, created));
    let made = start.worktree.clone().map(|payload| actor.state.event(&actor.ports, payload));
    same_commit.events.extend(made);
    Ok(LaunchRequest {
        message: start.message.clone(),
        creates_session: true,
        same_commit,
        ..LaunchRequest::fresh(id, start.environment.clone())
    })
}
