//! The supervisor: one owner (an [`actor`]) per session that is touched, and what they share.
//!
//! An actor handles one message at a time, so a session needs no lock; different sessions do not
//! wait for each other, except at a [`gate`].

mod accounts;
mod actor;
mod adopt;
mod archive;
mod bulk;
mod calling;
mod gate;
mod handoff;
mod lift;
mod list;
mod live;
mod run;
mod scribe;
mod select;
mod shown;
mod stops;
mod stream;
mod watch;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use segue_core::api::{Finding, SessionView};
use segue_core::flows::{SessionState, bringing_back, open_elsewhere, view};
use segue_core::model::{Environment, How, SessionId, Status, WaitingFor};
use segue_core::ports::{Fault, MessageQuery, Ports, SessionSummary};
use segue_core::{Error, Result};
use segue_host::programs;
use tokio::sync::{Semaphore, mpsc, oneshot};

pub(crate) use accounts::{Account, Wish};
pub(crate) use actor::{Arrival, Errand, Message, Outgoing, Renewal, Start, Waiter};
pub(crate) use adopt::adopt;
pub(crate) use bulk::{count, plan, resume, scale, stop, up};
pub(crate) use calling::environment as calling_environment;
pub(crate) use handoff::handoff;
pub(crate) use list::list;
pub(crate) use run::run;
pub(crate) use select::{Chosen, find, find_asking, find_whole, select, without_resting};

use crate::project;
use accounts::Accounts;
use actor::Actor;
use gate::Gates;
use handoff::OnTheWay;
use live::LiveLaunches;
use scribe::Scribe;
use shown::Shown;
use stops::Stops;
use watch::Watch;

/// The way to an actor.
pub(crate) type Inbox = mpsc::UnboundedSender<Message>;

/// What all actors share.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) ports: Ports,
    actors: Mutex<HashMap<SessionId, Inbox>>,
    gates: Gates,
    accounts: Accounts,
    scribe: Scribe,
    pub(crate) watch: Watch,
    pub(crate) live: LiveLaunches,
    config_file: PathBuf,
    /// One at a time makes room in the archive.
    room: Arc<Semaphore>,
    on_the_way: OnTheWay,
    shown: Shown,
    stops: Stops,
}

impl Supervisor {
    pub(crate) fn new(ports: Ports, config_file: PathBuf) -> Arc<Self> {
        let scribe = Scribe::start(ports.clone());
        let (watch, router) = Watch::new();
        let (actors, gates, live) = (Mutex::default(), Gates::default(), LiveLaunches::default());
        let (accounts, room) = (Accounts::default(), Arc::new(Semaphore::new(1)));
        let on_the_way = OnTheWay::default();
        let supervisor = Arc::new(Self {
            ports,
            actors,
            gates,
            accounts,
            scribe,
            watch,
            live,
            config_file,
            room,
            on_the_way,
            shown: Shown::default(),
            stops: Stops::default(),
        });
        router.start(Arc::downgrade(&supervisor));
        supervisor
    }

    /// Finds out what became of every launch that the store thinks alive; returns when all are
    /// known, so that readers never see what is long untrue.
    pub(crate) async fn reconcile(self: &Arc<Self>) -> Result<()> {
        let sessions = self.ports.store.sessions().await?;
        let open = self.ports.store.messages(&MessageQuery { session: None, open: true }).await?;
        let has_message = |it: &SessionSummary| open.iter().any(|m| m.session == it.session.id);
        let mut answers = Vec::new();
        let unseen = |it: &&SessionSummary| !self.actors().contains_key(&it.session.id);
        let concerned = |it: &&SessionSummary| needs_a_look(it) || has_message(it);
        for summary in sessions.iter().filter(concerned).filter(unseen) {
            let (reply, answer) = oneshot::channel();
            let inbox = self.actor(summary.session.id).await?;
            if inbox.send(Message::Reconcile { reply }).is_ok() {
                answers.push(answer);
            }
        }
        for answer in answers {
            // An actor that failed has logged why; the others must not wait for it.
            let _failed = answer.await;
        }
        self.archive_what_nobody_saw(sessions);
        Ok(())
    }

    /// Ends a session's process, also one that waits to be started; tells whether there was one.
    pub(crate) async fn end(self: &Arc<Self>, session: SessionId) -> Result<bool> {
        self.stops.request(session);
        self.ask(session, |reply| Message::Stop { reply }).await
    }

    /// Asks the session's actor and waits for its answer.
    pub(crate) async fn ask<T>(
        self: &Arc<Self>,
        session: SessionId,
        message: impl FnOnce(oneshot::Sender<Result<T>>) -> Message,
    ) -> Result<T> {
        let inbox = self.actor(session).await?;
        ask(&inbox, message).await
    }

    /// Tells a session's actor something, if it has one.
    pub(crate) fn tell(&self, session: SessionId, message: Message) {
        if let Some(inbox) = self.actors().get(&session) {
            // An actor that has just ended does not need to know.
            let _ended = inbox.send(message);
        }
    }

    /// Has every session look again at what it may have missed.
    pub(crate) fn catch_up(&self) {
        for inbox in self.actors().values() {
            // An actor that has just ended has missed nothing.
            let _ended = inbox.send(Message::CatchUp);
        }
    }

    /// Makes an actor for a session that the store does not have yet.
    pub(crate) fn adopt_new(self: &Arc<Self>, state: SessionState) -> Inbox {
        let id = state.session.id;
        let inbox = Actor::start(self, state);
        self.actors().insert(id, inbox.clone());
        inbox
    }

    async fn actor(self: &Arc<Self>, id: SessionId) -> Result<Inbox> {
        if let Some(inbox) = self.actors().get(&id).filter(|inbox| !inbox.is_closed()) {
            return Ok(inbox.clone());
        }
        let state = SessionState::load(&self.ports, id).await?;
        let mut actors = self.actors();
        // Somebody else may have loaded it meanwhile: the first one is the owner.
        if let Some(inbox) = actors.get(&id).filter(|inbox| !inbox.is_closed()) {
            return Ok(inbox.clone());
        }
        let inbox = Actor::start(self, state);
        actors.insert(id, inbox.clone());
        drop(actors);
        Ok(inbox)
    }

    /// Returns a session as it is shown, with what its agent asks and what keeps its processes from
    /// working.
    pub(crate) fn view(&self, summary: &SessionSummary) -> SessionView {
        let mut view = self.shown.complete(view::session(summary));
        let fault = summary.open.as_ref().and_then(|open| self.ports.holders.fault(open));
        let fault = fault.map(|fault| fault.to_string());
        let shortage = self.watch.shortage_of(summary.session.id);
        let details = view.status_detail.take().into_iter();
        let details: Vec<String> = details.chain(fault).chain(shortage).collect();
        view.status_detail = (!details.is_empty()).then(|| details.join("; "));
        view
    }

    /// Returns sessions as they are shown. One without a process here, whose conversation somebody has
    /// open in a terminal of their own, is shown as that.
    pub(crate) async fn views(&self, sessions: Vec<SessionSummary>) -> Result<Vec<SessionView>> {
        let mut views: Vec<SessionView> = sessions.iter().map(|it| self.view(it)).collect();
        let successors = bringing_back::successors(&self.ports, &sessions).await?;
        for view in &mut views {
            if let Some(next) = successors.get(&view.id) {
                view::goes_on_as(view, next);
            }
        }
        let ports = self.ports.clone();
        let claimed =
            tokio::task::spawn_blocking(move || open_elsewhere::claimed(&ports, &sessions));
        let claimed = claimed.await.map_err(|error| {
            Error::internal("the processes of vendors could not be looked at").caused_by(error)
        })?;
        let open = open_elsewhere::describe(&self.ports, claimed).await?;
        for view in &mut views {
            if let Some(detail) = open.get(&view.id) {
                view.status_detail = Some(detail.clone());
            }
        }
        Ok(views)
    }

    /// Returns the fault of a session whose holder is stopped: nothing that could be waited for
    /// happens before a person acts.
    pub(crate) fn stopped_holder(&self, summary: &SessionSummary) -> Option<Fault> {
        let fault = self.ports.holders.fault(summary.open.as_ref()?)?;
        matches!(fault, Fault::HolderStopped { .. }).then_some(fault)
    }

    /// Returns how long a headless turn may show nothing.
    fn longest_silence(&self) -> Duration {
        project::longest_silence(&self.config_file)
    }

    /// Reports settings that cannot be read, which have their defaults until they can, and settings
    /// that name what is not there.
    pub(crate) fn examine_settings(&self, environment: &Environment) -> Vec<Finding> {
        if let Err(error) = project::check_settings(&self.config_file) {
            let what = format!("{error}; until it can be read, every setting has its default");
            return vec![Finding { what, ..Finding::problem(&error) }];
        }
        let is_program = |name: &str| programs::is_there(name, environment);
        let vendors = self.ports.vendors.as_ref();
        let missing = project::check_names(&self.config_file, vendors, is_program);
        missing.iter().map(Finding::problem).collect()
    }

    /// Returns where the user's own settings are.
    fn config_file(&self) -> &Path {
        &self.config_file
    }

    fn forget(&self, id: SessionId) {
        self.actors().remove(&id);
        self.shown.forget(id);
        self.stops.forget(id);
    }

    fn actors(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Inbox>> {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether something may have happened to a session that no daemon saw: its launch was open,
/// or it ended in a way after which a holder may still keep its environment.
fn needs_a_look(summary: &SessionSummary) -> bool {
    let ended = matches!(
        summary.session.status,
        Status::Ended(How::Crashed(_) | How::NeverStarted)
            | Status::Lost
            | Status::Waiting(WaitingFor::Choice)
    );
    summary.open.is_some() || ended
}

/// Sends a message with a way to answer, and waits.
pub(crate) async fn ask<T>(
    inbox: &Inbox,
    message: impl FnOnce(oneshot::Sender<Result<T>>) -> Message,
) -> Result<T> {
    let (reply, answer) = oneshot::channel();
    let ended = || Error::unavailable("the daemon is ending").hint("run the command again");
    inbox.send(message(reply)).map_err(|_| ended())?;
    answer.await.map_err(|_| ended())?
}
