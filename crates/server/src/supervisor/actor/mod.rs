//! The owner of one session: handles one message at a time.

mod account;
mod answers;
mod archiving;
mod arrival;
mod attention;
mod behind;
mod clockwork;
mod dialogs;
mod ending;
mod evidence;
mod messages;
mod observe;
mod reconcile;
mod reports;
mod screen;
mod verbs;
mod waiting;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use segue_core::api::{AgentOutcome, Outcome, PlannedOutcome, SessionRef, SessionView, TurnReport};
use segue_core::flows::look::Asked;
use segue_core::flows::{SessionState, launch, view};
use segue_core::model::{
    Dialog, Environment, LaunchId, RequestKey, RequestStep, SessionId, SessionName, Timer,
};
use segue_core::ports::{Change, Commit, HolderEvent, Ports};
use segue_core::rules::accounts::Wanted;
use segue_core::rules::attention::{Reason, reason};
use segue_core::{Error, Result};
use tokio::sync::{mpsc, oneshot, watch};

use self::account::Standing;
use self::archiving::Archiving;
pub(crate) use self::arrival::Arrival;
use self::behind::Behind;
use self::clockwork::Clockwork;
use self::dialogs::Asking;
use self::evidence::Pending;
use self::messages::Post;
pub(crate) use self::messages::{Errand, Outgoing};
pub(crate) use self::waiting::Waiter;
use super::accounts::Wish;
use super::gate::Pass;
use super::stream::StreamReader;
use super::{Inbox, Supervisor};
use crate::requests::step;

/// The way back to whoever asked.
pub(crate) type Reply<T> = oneshot::Sender<Result<T>>;

/// What can be asked of a session, and what can happen to it.
#[derive(Debug)]
pub(crate) enum Message {
    /// Starts a session that is new.
    Start {
        start: Box<Start>,
        reply: Reply<SessionView>,
    },
    /// Starts a session that is new, and answers when it has shown its conversation.
    StartVerified {
        start: Box<Start>,
        reply: Reply<AgentOutcome>,
    },
    Resume {
        environment: Environment,
        asked: Asked,
        /// Begins a new conversation.
        fresh: Option<Renewal>,
        wish: Wish,
        reply: Reply<AgentOutcome>,
    },
    /// Goes on with a conversation that was carried to it.
    Arrive {
        arrival: Box<Arrival>,
        wish: Wish,
        reply: Reply<AgentOutcome>,
    },
    Rename {
        name: SessionName,
        reply: Reply<()>,
    },
    Plan {
        asked: Asked,
        reply: Reply<PlannedOutcome>,
    },
    Stop {
        reply: Reply<bool>,
    },
    Remove {
        purge: bool,
        /// Recorded in the same commit.
        along: Vec<Change>,
        reply: Reply<()>,
    },
    WaitTurn {
        reply: Reply<TurnReport>,
    },
    /// Finds out what became of the launch that was open when the daemon started.
    Reconcile {
        reply: oneshot::Sender<()>,
    },
    Holder {
        launch: LaunchId,
        event: HolderEvent,
    },
    /// The holder reports from now on what happens.
    Subscribed {
        launch: LaunchId,
    },
    HolderGone {
        launch: LaunchId,
    },
    FileChanged {
        path: PathBuf,
    },
    /// Changes were missed: look at everything.
    LookAgain,
    /// Something that happened could not be recorded a while ago.
    CatchUp,
    RestartDue {
        after: LaunchId,
    },
    /// Something about messages to the agent.
    Errand(Errand),
    /// A launch has been silent for long.
    Silent {
        launch: LaunchId,
        heard: u64,
    },
    Deadline {
        launch: LaunchId,
    },
    /// A launch has had time to show which conversation it is in.
    NoSign {
        launch: LaunchId,
    },
    /// A launch has held up others for long enough.
    HoldsUp {
        launch: LaunchId,
    },
    SetTimers {
        timers: Vec<Timer>,
        reply: Reply<()>,
    },
    SetArchive {
        archive: bool,
        reply: Reply<()>,
    },
    TimerDue {
        launch: LaunchId,
        round: u64,
    },
    /// A launch that went ahead of others has said nothing for a while.
    HeardNothing {
        launch: LaunchId,
    },
    /// Something was said that nobody saw: have it copied.
    Archive,
    /// What was to be copied is.
    Archived {
        round: u64,
    },
}

/// The first launch of a session.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) message: Option<String>,
    pub(crate) environment: Environment,
    pub(crate) wish: Wish,
    /// The request that creates the session.
    pub(crate) request: Option<RequestKey>,
}

/// The wish for a new conversation, and the request that it came with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Renewal(pub(crate) Option<RequestKey>);

/// What came of bringing a session back, once its process has shown that it is true.
#[derive(Debug)]
struct Came {
    outcome: Outcome,
    note: Option<String>,
    left: Left,
    /// What it asks a person first.
    dialog: Option<Dialog>,
}

impl Came {
    fn new(outcome: Outcome, note: Option<String>) -> Self {
        Self { outcome, note, left: Left::Nothing, dialog: None }
    }
}

/// What a session that begins anew leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Nothing,
    Conversation,
}

/// The owner of one session.
pub(crate) struct Actor {
    supervisor: Arc<Supervisor>,
    ports: Ports,
    state: SessionState,
    own: mpsc::WeakUnboundedSender<Message>,
    pending: Vec<Pending>,
    asking: Asking,
    /// Requests to stop, which also reach an actor that waits at a gate.
    stops: watch::Receiver<u64>,
    /// The right to be starting; given back as soon as the launch is confirmed or over.
    passes: Vec<Pass>,
    stream: Option<StreamReader>,
    /// What the vendor told our hook.
    hooks: Option<StreamReader>,
    post: Post,
    waiters: Vec<Waiter>,
    /// Grows with everything that a headless launch shows.
    heard: u64,
    waiting_for_turn: Vec<Reply<TurnReport>>,
    /// The crashed launch whose holder keeps the environment for a restart that is due.
    keeper: Option<LaunchId>,
    behind: Behind,
    standing: Standing,
    clockwork: Clockwork,
    archiving: Archiving,
    /// Why a person was called last, while that lasts.
    needed: Option<Reason>,
    /// The id of the question that a person was called for.
    told_question: Option<String>,
    removed: bool,
}

impl Actor {
    pub(crate) fn start(supervisor: &Arc<Supervisor>, state: SessionState) -> Inbox {
        let (inbox, messages) = mpsc::unbounded_channel();
        // What was so when somebody looked last was told then.
        let needed = reason(state.session.status, None);
        let stops = supervisor.stops.follow(state.session.id);
        let actor = Self {
            supervisor: Arc::clone(supervisor),
            ports: supervisor.ports.clone(),
            state,
            own: inbox.downgrade(),
            pending: Vec::new(),
            asking: Asking::default(),
            stops,
            passes: Vec::new(),
            stream: None,
            hooks: None,
            post: Post::default(),
            waiters: Vec::new(),
            heard: 0,
            waiting_for_turn: Vec::new(),
            keeper: None,
            behind: Behind::default(),
            standing: Standing::new(Wish::now(Wanted::ByItself)),
            clockwork: Clockwork::default(),
            archiving: Archiving::default(),
            needed,
            told_question: None,
            removed: false,
        };
        tokio::spawn(actor.run(messages));
        inbox
    }

    async fn run(mut self, mut messages: mpsc::UnboundedReceiver<Message>) {
        while let Some(message) = messages.recv().await {
            if let Err(error) = self.handle(message).await {
                self.fall_behind(&error);
            }
            self.note_dialog().await;
            self.let_others_start();
            self.note_account();
            self.call_for_attention();
            self.answer_pending();
            self.archive_if_due();
            self.deliver().await;
            self.answer_waiters().await;
            if self.removed {
                self.supervisor.forget(self.state.session.id);
                return;
            }
        }
    }

    async fn handle(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Start { start, reply } => {
                let result = self.begin(*start).await;
                answer(reply, result.map(|()| self.view()));
                self.drop_if_unrecorded();
                Ok(())
            }
            Message::StartVerified { start, reply } => {
                self.begin_verified(*start, reply).await;
                self.drop_if_unrecorded();
                Ok(())
            }
            Message::Resume { environment, asked, fresh, wish, reply } => {
                self.standing.wish = wish;
                self.resume(environment, asked, fresh, reply).await;
                Ok(())
            }
            Message::Plan { asked, reply } => {
                answer(reply, self.plan(asked).await);
                Ok(())
            }
            Message::Stop { reply } => {
                self.stops.mark_unchanged();
                let stopped = self.stop().await;
                let failed = stopped.as_ref().map(drop).map_err(Clone::clone);
                answer(reply, stopped);
                failed
            }
            Message::Remove { purge, along, reply } => {
                let result = self.remove(purge, along).await;
                self.removed = result.is_ok();
                answer(reply, result);
                Ok(())
            }
            Message::WaitTurn { reply } => {
                self.wait_turn(reply);
                Ok(())
            }
            Message::Reconcile { reply } => {
                let result = self.reconcile().await;
                self.take_up_attention();
                // The daemon may have stopped waiting.
                let _gone = reply.send(());
                result
            }
            Message::Errand(errand) => self.run_errand(errand).await,
            Message::SetArchive { archive, reply } => {
                answer(reply, self.set_archive(archive).await);
                Ok(())
            }
            Message::SetTimers { timers, reply } => {
                answer(reply, self.set_timers(timers).await);
                Ok(())
            }
            other => self.handle_handoff(other).await,
        }
    }

    /// Handles what a handoff asks for; anything else happened by itself.
    async fn handle_handoff(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Arrive { arrival, wish, reply } => {
                self.standing.wish = wish;
                self.arrive(*arrival, reply).await;
                self.removed = self.state.launches.is_empty() && self.state.bindings.is_empty();
                Ok(())
            }
            Message::Rename { name, reply } => {
                answer(reply, self.rename(name).await);
                Ok(())
            }
            other => self.happen(other).await,
        }
    }

    /// Handles what nobody asked for: its time has come, or something was seen.
    async fn happen(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Silent { launch, heard } => self.silent(launch, heard).await,
            Message::CatchUp => self.catch_up().await,
            Message::RestartDue { after } => self.restart(after).await,
            Message::TimerDue { launch, round } => self.timer_due(launch, round).await,
            Message::Deadline { launch } => {
                self.give_up_waiting(launch);
                Ok(())
            }
            Message::NoSign { launch } => self.no_sign(launch).await,
            Message::HoldsUp { launch } => {
                self.holds_up(launch);
                Ok(())
            }
            Message::HeardNothing { launch } => {
                self.heard_nothing(launch);
                Ok(())
            }
            Message::Archive => {
                self.archive();
                Ok(())
            }
            Message::Archived { round } => {
                self.archived(round).await;
                Ok(())
            }
            observation => self.observe(observation).await,
        }
    }

    /// A session whose first commit failed does not exist, and its actor neither.
    fn drop_if_unrecorded(&mut self) {
        self.removed = self.state.launches.is_empty();
    }

    fn id(&self) -> SessionId {
        self.state.session.id
    }

    fn view(&self) -> SessionView {
        self.supervisor.view(&view::summary(&self.state))
    }

    /// Sends a message to this actor after a while, without holding anything up meanwhile.
    fn tell_later(&self, after: Duration, message: Message) {
        let own = self.own.clone();
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            if let Some(inbox) = own.upgrade() {
                // The session may be gone by then.
                let _gone = inbox.send(message);
            }
        });
    }

    /// Says what came of bringing the session back.
    fn outcome(&self, Came { outcome, note, left, dialog }: Came) -> AgentOutcome {
        AgentOutcome {
            of: SessionRef::of(&self.state.session),
            vendor: self.state.session.vendor.clone(),
            outcome,
            vendor_session_id: self.state.vendor_session().cloned(),
            note,
            dialog,
            lost: match outcome {
                Outcome::Refused => true,
                Outcome::Fresh | Outcome::Waiting => left == Left::Conversation,
                _ => false,
            },
        }
    }

    fn refused(&self, error: &Error) -> AgentOutcome {
        let note = Some(error.in_one_line());
        self.outcome(Came::new(Outcome::Refused, note))
    }
}

/// Answers; whoever asked may be gone, and what was done stays done.
fn answer<T>(reply: Reply<T>, result: Result<T>) {
    let _gone = reply.send(result);
}

/// The launch that a new session begins with.
fn first_wish(actor: &Actor, start: Start) -> Result<launch::Wish> {
    let session = &actor.state.session;
    let vendor = actor.ports.vendors.of(session)?;
    let created = RequestStep::Created { session: session.id };
    Ok(launch::Wish {
        mode: segue_core::model::LaunchMode::Fresh,
        id: vendor.preset_id(session, actor.ports.clock.new_id()),
        message: start.message,
        import: None,
        environment: start.environment,
        first: true,
        carries: None,
        along: Commit { changes: step(&actor.ports, start.request, created), events: Vec::new() },
    })
}
