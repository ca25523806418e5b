//! The supervisor: one owner (an [`actor`]) per session in use, and the state that all actors
//! share.
//!
//! An actor handles one message at a time, so a session needs no lock. Different sessions do not
//! wait for each other, except at a [`gate`].

mod accounts;
mod actor;
mod admission;
mod adopt;
mod agent_start;
mod agent_starts;
mod archive;
mod concurrent;
pub(crate) mod dispatch;
mod fleet_files;
mod gate;
mod handoff;
mod housekeeping;
mod interrupt;
mod list;
mod live_launches;
mod rename;
mod resume;
mod run;
mod scale;
mod settings;
mod stop;
mod stream;
pub(crate) mod tasks;
mod up;
mod view_extras;
mod watch;
mod worktrees;

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use segue_core::api::{Finding, SessionView};
use segue_core::flows::open_elsewhere::{self, OpenElsewhere};
use segue_core::flows::{SessionState, bringing_back, machines, view};
use segue_core::model::{Dialog, Environment, Failure, How, SessionId, Status, WaitingFor};
use segue_core::ports::{Fault, Ports, SessionActivity, SessionQuery, SessionSummary, VendorPlace};
use segue_core::rules::machines::ON_ANOTHER_MACHINE;
use segue_core::{Error, Kind, Result};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

pub(crate) use accounts::{Account, StartTrigger};
pub(crate) use actor::{
    ActorMessage, ConversationRenewal, MessageAuthor, Outgoing, SessionObservation, SessionRenamer,
    SessionRequest, SessionTimeout, Start, Waiter,
};
pub(crate) use adopt::adopt;
pub(crate) use handoff::handoff;
pub(crate) use housekeeping::{disk, reset, start_sweeper, sweep};
pub(crate) use interrupt::interrupt;
pub(crate) use list::list;
pub(crate) use rename::rename;
pub(crate) use resume::{count, plan, resume};
pub(crate) use run::run;
pub(crate) use scale::scale;
pub(crate) use settings::change_settings;
pub(crate) use stop::stop;
pub(crate) use up::up;
pub(crate) use worktrees::{
    collect_garbage, diff_worktree, list_worktrees, remove_worktree, restore_worktree,
    salvage_worktree,
};

use crate::blocking::blocking;
use crate::project;
use accounts::Accounts;
use actor::Actor;
use agent_starts::AgentStarts;
use dispatch::ForgeDispatch;
use fleet_files::FleetFiles;
use gate::Gates;
use handoff::HandoffClaims;
use housekeeping::Housekeeping;
use live_launches::LiveLaunches;
use tasks::TaskDispatcher;
use view_extras::ViewExtras;
use watch::Watch;
use worktrees::WorktreeClaims;

/// Sends messages to an actor.
pub(crate) type Inbox = mpsc::UnboundedSender<ActorMessage>;

/// The state that all actors share.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) ports: Ports,
    actors: Mutex<HashMap<SessionId, Inbox>>,
    gates: Gates,
    accounts: Accounts,
    fleet_files: FleetFiles,
    pub(crate) watch: Watch,
    pub(crate) live: LiveLaunches,
    config_file: PathBuf,
    /// Has one permit, so that at most one task at a time makes room in the archive.
    room: Arc<Semaphore>,
    handoff_claims: HandoffClaims,
    worktree_claims: WorktreeClaims,
    housekeeping: Housekeeping,
    tasks: TaskDispatcher,
    agent_starts: AgentStarts,
    pub(crate) dispatch: ForgeDispatch,
    view_extras: ViewExtras,
    /// Sessions whose actors have no work left. The session that has been idle longest comes first.
    resting: Mutex<VecDeque<SessionId>>,
}

/// At most this many idle sessions stay in memory. The result of a session's last turn is only in
/// memory, so it can be requested only for these sessions.
const MAX_RESTING: usize = 64;

impl Supervisor {
    pub(crate) fn new(ports: Ports, config_file: PathBuf) -> Arc<Self> {
        let fleet_files = FleetFiles::start(ports.clone());
        let (watch, router) = Watch::new(Arc::clone(&ports.watchers));
        let (actors, gates, live) = (Mutex::default(), Gates::default(), LiveLaunches::default());
        let (accounts, room) = (Accounts::default(), Arc::new(Semaphore::new(1)));
        let handoff_claims = HandoffClaims::default();
        let supervisor = Arc::new(Self {
            ports,
            actors,
            gates,
            accounts,
            fleet_files,
            watch,
            live,
            config_file,
            room,
            handoff_claims,
            worktree_claims: WorktreeClaims::default(),
            housekeeping: Housekeeping::default(),
            tasks: TaskDispatcher::default(),
            agent_starts: AgentStarts::default(),
            dispatch: ForgeDispatch::default(),
            view_extras: ViewExtras::default(),
            resting: Mutex::default(),
        });
        router.start(Arc::downgrade(&supervisor));
        supervisor
    }

    /// Finds out what happened to every launch that is open in the store. Returns after all actors
    /// have answered, so that clients never read an outdated state.
    pub(crate) async fn reconcile(self: &Arc<Self>) -> Result<()> {
        let query = SessionQuery::activity(SessionActivity::Unsettled);
        let sessions = self.ports.store.sessions(&query).await?;
        let mut answers = Vec::new();
        let has_no_actor = |it: &&SessionSummary| !self.actors().contains_key(&it.session.id);
        let is_here =
            |it: &&SessionSummary| machines::other_machine(&self.ports, it.open.as_ref()).is_none();
        let sessions = sessions.iter().filter(|it| may_have_changed(it)).filter(is_here);
        for summary in sessions.filter(has_no_actor) {
            let (reply, answer) = oneshot::channel();
            let inbox = self.actor(summary.session.id).await?;
            if inbox.send(SessionRequest::Reconcile { reply }.into()).is_ok() {
                answers.push(answer);
            }
        }
        for answer in answers {
            // An actor that failed has logged why. Do not wait for it.
            let _failed = answer.await;
        }
        self.archive_missed_changes();
        Ok(())
    }

    /// Ends a session's process, even if the session still waits to be started. Returns whether
    /// there was a process.
    pub(crate) async fn end(self: &Arc<Self>, session: SessionId) -> Result<bool> {
        self.ask(session, |reply| SessionRequest::Stop { reply }).await
    }

    /// Counts what a session has used until now. If that fails, the usage is counted later.
    pub(crate) async fn count_usage(self: &Arc<Self>, session: Option<SessionId>) {
        let Some(session) = session else { return };
        let counted = self.ask(session, |reply| SessionRequest::CountUsage { reply }).await;
        if let Err(error) = counted {
            tracing::warn!(%session, %error, "the usage could not be counted");
        }
    }

    /// Counts what the sessions in memory have used until now, and waits at most some seconds for
    /// it. A client that asks after the end of a turn gets the usage of that turn. A count reads what
    /// was added to the transcripts since the last one.
    pub(crate) async fn count_all_usage(&self) {
        const MAX_WAIT: Duration = Duration::from_secs(5);
        let inboxes: Vec<Inbox> = self.actors().values().cloned().collect();
        let count = |inbox| ask(inbox, |reply| SessionRequest::CountUsage { reply });
        // A session that ends or fails meanwhile has nothing to wait for.
        let _counted = timeout(MAX_WAIT, join_all(inboxes.iter().map(count))).await;
    }

    /// Sends a request to the session's actor and waits for its reply.
    pub(crate) async fn ask<T>(
        self: &Arc<Self>,
        session: SessionId,
        request: impl FnOnce(oneshot::Sender<Result<T>>) -> SessionRequest,
    ) -> Result<T> {
        let inbox = self.actor(session).await?;
        ask(&inbox, request).await
    }

    /// Sends a message to a session's actor, if it is in memory.
    pub(crate) fn send_to_actor(&self, session: SessionId, message: impl Into<ActorMessage>) {
        if let Some(inbox) = self.actors().get(&session) {
            // An actor that has just ended does not need the message.
            let _ended = inbox.send(message.into());
        }
    }

    /// Makes every actor retry to record the events that it could not store.
    pub(crate) fn retry_recording(&self) {
        for inbox in self.actors().values() {
            // An actor that has just ended has nothing to record.
            let _ended = inbox.send(SessionTimeout::RetryRecording.into());
        }
    }

    /// Starts an actor for a session that is not in the store yet.
    pub(crate) fn start_actor(self: &Arc<Self>, state: SessionState) -> Inbox {
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
        let machine = state.open().and_then(|launch| launch.machine);
        machines::refuse_other(&self.ports, &state.session, machine)?;
        let mut actors = self.actors();
        // Another request may have loaded the session meanwhile. The first actor is the owner.
        if let Some(inbox) = actors.get(&id).filter(|inbox| !inbox.is_closed()) {
            return Ok(inbox.clone());
        }
        let inbox = Actor::start(self, state);
        actors.insert(id, inbox.clone());
        drop(actors);
        Ok(inbox)
    }

    /// Returns the question that a session shows now.
    pub(crate) fn question(&self, session: SessionId) -> Option<Dialog> {
        self.view_extras.dialog(session)
    }

    /// Returns why the last turn of a session failed, as its process reported it.
    pub(crate) fn failure(&self, session: SessionId) -> Option<Failure> {
        self.view_extras.failure(session)
    }

    /// Returns the view of a session for clients. It includes the agent's question and faults of
    /// its processes.
    pub(crate) fn view(&self, summary: &SessionSummary) -> SessionView {
        let mut view = self.view_extras.complete(view::session(summary));
        let failure = self.failure(summary.session.id);
        view::add_failure(&mut view, summary.session.status, failure.as_ref());
        let open = summary.open.as_ref();
        let fault = if machines::other_machine(&self.ports, open).is_some() {
            (view.pid, view.holder_pid) = (None, None);
            Some(ON_ANOTHER_MACHINE.to_owned())
        } else {
            open.and_then(|open| self.ports.holders.fault(open)).map(|fault| fault.to_string())
        };
        let shortage = self.watch.shortage_of(summary.session.id);
        let details = view.status_detail.take().into_iter();
        let details: Vec<String> = details.chain(fault).chain(shortage).collect();
        view.status_detail = (!details.is_empty()).then(|| details.join("; "));
        view
    }

    /// Returns the views of sessions for clients. The status detail shows if the conversation is
    /// open in another process.
    pub(crate) async fn views(
        &self,
        sessions: &[SessionSummary],
        open_elsewhere: &[OpenElsewhere],
    ) -> Result<Vec<SessionView>> {
        let mut views: Vec<SessionView> = sessions.iter().map(|it| self.view(it)).collect();
        let successors = bringing_back::successors(&self.ports, sessions).await?;
        for view in &mut views {
            if let Some(next) = successors.get(&view.id) {
                view::add_successor(view, next);
            }
        }
        for view in &mut views {
            let open = open_elsewhere.iter().find(|it| it.summary.session.id == view.id);
            view.open_in = open.map(|it| it.pid);
            view.status_detail = open.map(|it| it.detail.clone()).or(view.status_detail.take());
        }
        Ok(views)
    }

    /// Returns the sessions that have no process here, but whose conversations are open in
    /// processes that Segue did not start.
    pub(crate) async fn open_elsewhere(
        &self,
        places: Vec<VendorPlace>,
    ) -> Result<Vec<OpenElsewhere>> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let ports = self.ports.clone();
        let open = blocking(move || Ok(open_elsewhere::open_conversations(&ports, places))).await?;
        open_elsewhere::sessions(&self.ports, open).await
    }

    /// Returns the fault of a session whose holder process is stopped. Such a session does not
    /// change until a person acts, so waiting for it is useless.
    pub(crate) fn stopped_holder(&self, summary: &SessionSummary) -> Option<Fault> {
        let fault = self.ports.holders.fault(summary.open.as_ref()?)?;
        matches!(fault, Fault::HolderStopped { .. }).then_some(fault)
    }

    /// Returns how long a headless turn may print nothing.
    fn silence_limit(&self) -> Duration {
        project::silence_limit(&self.config_file)
    }

    /// Reports settings that cannot be read, and settings that name a missing vendor, a missing
    /// program, or an unusable file of variables or with a token.
    pub(crate) fn examine_settings(&self, environment: &Environment) -> Vec<Finding> {
        if let Err(error) = project::check_settings(&self.config_file) {
            let what = format!("{error}; until it can be read, all settings have default values");
            return vec![Finding { what, ..Finding::problem(&error) }];
        }
        let is_program = |name: &str| self.ports.machine.is_program(name, environment);
        let vendors = self.ports.vendors.as_ref();
        let missing = project::check_names(&self.config_file, vendors, is_program);
        let settings = project::environment(&self.config_file);
        let unusable = self.ports.environments.check_files(&settings);
        let credentials = self.ports.credentials.check();
        let sources = self.ports.sources.check();
        let all = missing.iter().chain(&unusable).chain(&credentials).chain(&sources);
        all.map(Finding::problem).collect()
    }

    /// Reads the environment of the user's login shell and of the configured files.
    pub(crate) async fn login_shell(&self) -> Result<Environment> {
        let settings = project::environment(&self.config_file);
        self.ports.environments.login_shell(&settings).await
    }

    /// Returns the path of the user's settings.
    fn config_file(&self) -> &Path {
        &self.config_file
    }

    fn forget(&self, id: SessionId) {
        self.actors().remove(&id);
        self.forget_extras(id);
    }

    fn forget_extras(&self, id: SessionId) {
        self.view_extras.forget(id);
    }

    /// Notes that a session has no work left. If too many sessions are idle, the session that has
    /// been idle longest is removed from memory.
    fn note_resting(&self, id: SessionId) {
        let oldest = {
            let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
            resting.retain(|it| *it != id);
            resting.push_back(id);
            if resting.len() > MAX_RESTING { resting.pop_front() } else { None }
        };
        if let Some(oldest) = oldest {
            self.send_to_actor(oldest, SessionRequest::Retire);
        }
    }

    /// Removes an actor from memory if its inbox is empty and no other task can send to it. Returns
    /// whether it was removed. The next request loads the session again.
    fn retire(&self, id: SessionId, is_unneeded: impl FnOnce() -> bool) -> bool {
        let mut actors = self.actors();
        // Inboxes are cloned while this lock is held, so no message is lost.
        let is_alone = actors.get(&id).is_some_and(|inbox| inbox.strong_count() == 1);
        if !is_alone || !is_unneeded() {
            return false;
        }
        // Do this while the lock is held, so that it does not delete the extras of the session's
        // next actor.
        self.forget_extras(id);
        actors.remove(&id);
        true
    }

    fn actors(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Inbox>> {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a session may have changed while no daemon ran: its launch is open, messages are
/// queued, or its holder may still keep its environment.
fn may_have_changed(summary: &SessionSummary) -> bool {
    let ended = matches!(
        summary.session.status,
        Status::Ended(How::Crashed(_) | How::NeverStarted)
            | Status::Interrupted
            | Status::Lost
            | Status::Waiting(WaitingFor::Choice | WaitingFor::Environment)
    );
    summary.open.is_some() || summary.queued_messages > 0 || ended
}

/// The message of the error for a request whose actor ended before it replied.
const ENDING: &str = "the daemon is ending";

/// Returns whether a request failed because the daemon is ending.
fn is_ending(error: &Error) -> bool {
    error.kind == Kind::Unavailable && error.message == ENDING
}

/// Sends a request and waits for its reply. Fails if the actor ends before it replies.
pub(crate) async fn ask<T>(
    inbox: &Inbox,
    request: impl FnOnce(oneshot::Sender<Result<T>>) -> SessionRequest,
) -> Result<T> {
    let (reply, answer) = oneshot::channel();
    let ended = || Error::unavailable(ENDING).hint("run the command again");
    inbox.send(request(reply).into()).map_err(|_| ended())?;
    answer.await.map_err(|_| ended())?
}
