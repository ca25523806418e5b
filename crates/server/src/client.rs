//! The client for the daemon's API. It starts the daemon if none runs.

mod deliveries;
mod editor_calls;
mod editor_feeds;
mod housekeeping;
mod network;
mod plans;
mod pool;
mod tasks;
mod tool_calls;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::body::Incoming;
use segue_core::api::{
    AddressQuery, AdoptReport, AdoptRequest, AgentKindList, AgentKindsRequest, AnswerReport,
    AnswerRequest, AttachPoint, AttentionList, Caller, CancelRequest, ConversationReport,
    ConversationRequest, DoctorReport, DoctorRequest, EventsQuery, FROM_NOW, GitCredentialAnswer,
    GitCredentialRequest, HandoffReport, HandoffRequest, Health, InterruptReport, InterruptRequest,
    ListRequest, MessageList, MessageView, MessagesRequest, PROTOCOL, RenameReport, RenameRequest,
    RestoreReport, ResumeAnswer, ResumeCount, ResumeRequest, RunRequest, ScaleReport, ScaleRequest,
    SelectReport, SelectRequest, SendReport, SendRequest, SessionList, SessionView, SettingsReport,
    SettingsRequest, StartedSession, StopReport, StopRequest, TrustRequest, TrustView, TurnReport,
    UnknownConversation, UpRequest, UsageList, UsageRequest, WaitReport, WaitRequest,
    WorktreeAction, WorktreeActionReport, WorktreeActionRequest, WorktreeDiffReport,
    WorktreeDiffRequest, WorktreeGcReport, WorktreeGcRequest, WorktreeList, WorktreesRequest,
};
use segue_core::model::{Event, SessionId};
use segue_core::ports::EventQuery;
use segue_core::{Error, Kind, Result};
use segue_host::daemon;
use segue_host::lock::FileLock;
use segue_host::watch::Watcher;
use tokio::time::timeout;

use crate::blocking::blocking;
use crate::connection::Connection;
use crate::line::Line;
use crate::liveness::Resident;
use crate::resident::{self, Presence};
use crate::routes::query;
use crate::wiring::{Local, VERSION};

pub use editor_calls::serve_acp;
pub use segue_acp::AcpSettings;
pub use tool_calls::serve_mcp;

/// How long an old daemon may take to exit when it is replaced.
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long the start of a daemon may take. It may have to migrate a large store.
const START_TIMEOUT: Duration = Duration::from_secs(90);

/// So many sessions of a long list are asked for at once.
const SESSIONS_PER_PAGE: u32 = 500;

/// The path of the stream of events.
const FOLLOW_PATH: &str = "/v1/events/follow";

/// A client with a connection to the daemon.
#[derive(Debug)]
pub struct Client {
    line: Line,
    health: Health,
}

impl Client {
    /// Connects to the daemon. Starts or replaces it if necessary, but never from inside an agent.
    pub async fn connect(local: &Local) -> Result<Self> {
        local.paths().ensure()?;
        let running = Self::connect_running(local).await?;
        // `filter` drops the connection to a daemon that is to be replaced. A daemon that stops
        // waits until its connections are closed.
        match running.filter(|client| client.is_current(local)) {
            Some(client) => Ok(client.reconnecting(local)),
            None => Ok(Self::start(local).await?.reconnecting(local)),
        }
    }

    /// Like [`Self::connect`]. Inside an agent, which may not start a daemon, the client waits at most
    /// for `patience` until another process has started one: now, and if the connection breaks.
    pub async fn connect_patiently(local: &Local, patience: Duration) -> Result<Self> {
        let is_worth_waiting = |error: &Error| {
            error.kind == Kind::Unavailable && local.is_inside_agent() && !patience.is_zero()
        };
        let client = match Self::connect(local).await {
            Err(error) if is_worth_waiting(&error) => {
                let running = timeout(patience, Self::when_running(local)).await;
                running.map_err(|_| error)??.reconnecting(local)
            }
            connected => connected?,
        };
        Ok(Self { line: client.line.patient(patience), ..client })
    }

    /// Makes the client connect again if its connection breaks, and send the request again. It
    /// starts a new daemon if necessary.
    fn reconnecting(self, local: &Local) -> Self {
        Self { line: self.line.reconnecting(local), ..self }
    }

    pub(crate) fn into_connection(self) -> Arc<Connection> {
        self.line.connection()
    }

    /// Connects to the daemon if one runs and accepts requests.
    pub async fn connect_running(local: &Local) -> Result<Option<Self>> {
        match Presence::at_socket(local).await? {
            Presence::Running(client) => Ok(Some(client)),
            Presence::Stopping { .. } | Presence::Absent => Ok(None),
        }
    }

    /// Waits until another process has started a daemon, and connects to it.
    pub async fn when_running(local: &Local) -> Result<Self> {
        let mut watcher = Watcher::new()?;
        watcher.add(local.paths().state())?;
        loop {
            // The process that starts a daemon holds this lock until the daemon accepts requests.
            drop(start_lock(local).await?);
            if let Some(client) = Self::connect_running(local).await? {
                return Ok(client);
            }
            watcher.next().await?;
        }
    }

    pub(crate) fn new(connection: Connection, health: Health) -> Self {
        Self { line: Line::new(connection), health }
    }

    /// Returns whether this client can use the daemon. The daemon must have the same version.
    /// Inside an agent, which may not replace the daemon, the same protocol is enough.
    fn is_current(&self, local: &Local) -> bool {
        let Health { version, protocol, .. } = &self.health;
        version == VERSION || (*protocol == PROTOCOL && local.is_inside_agent())
    }

    /// Starts a daemon and waits until it is ready. Of several processes that do this at the same
    /// time, the first one starts the daemon, and the others find it.
    async fn start(local: &Local) -> Result<Self> {
        if local.is_inside_agent() {
            return Err(Error::unavailable("the daemon does not run")
                .caused_by("an agent may not start it")
                .hint("run `segue ls` in a terminal of your own"));
        }
        if local.starts_apart() {
            let environment = local.environment().clone();
            blocking(move || daemon::spawn_apart(&environment)).await?;
            return Self::connect_running(local).await?.ok_or_else(|| unanswered(local));
        }
        let starting = start_lock(local).await?;
        if let Some(client) = Self::connect_running(local).await? {
            if client.is_current(local) {
                return Ok(client);
            }
            client.shut_down().await?;
        }
        wait_for_daemon_lock(local).await?;
        let (paths, environment) = (local.paths().clone(), local.environment().clone());
        blocking(move || daemon::spawn_daemon(&paths, &environment, &starting)).await?;
        Self::connect_running(local).await?.ok_or_else(|| unanswered(local))
    }

    /// Returns the state that the daemon reported when the client connected.
    pub fn health(&self) -> &Health {
        &self.health
    }

    pub async fn run(&self, request: &RunRequest) -> Result<StartedSession> {
        self.line.change(Method::POST, "/v1/run", request).await
    }

    /// Waits for the end of a headless turn.
    pub async fn wait_turn(&self, session: SessionId) -> Result<TurnReport> {
        self.line.ask(Method::GET, &format!("/v1/sessions/{session}/turn"), &()).await
    }

    pub async fn up(&self, request: &UpRequest) -> Result<RestoreReport> {
        self.line.change(Method::POST, "/v1/up", request).await
    }

    /// Starts or stops agents of one kind.
    pub async fn scale(&self, request: &ScaleRequest) -> Result<ScaleReport> {
        self.line.change(Method::POST, "/v1/scale", request).await
    }

    /// Brings sessions back. With `plan`, only reports what a resume would do.
    pub async fn resume(&self, request: &ResumeRequest) -> Result<ResumeAnswer> {
        self.line.change(Method::POST, "/v1/resume", request).await
    }

    /// Lists conversations that were started without Segue, or adopts them.
    pub async fn adopt(&self, request: &AdoptRequest) -> Result<AdoptReport> {
        self.line.change(Method::POST, "/v1/adopt", request).await
    }

    /// Carries a conversation over to another vendor.
    pub async fn handoff(&self, request: &HandoffRequest) -> Result<HandoffReport> {
        self.line.change(Method::POST, "/v1/handoff", request).await
    }

    /// Sends a message, and waits at most for the timeout of the request. A retry waits for the
    /// rest of that time.
    pub async fn send(&self, request: &SendRequest) -> Result<SendReport> {
        let with_remaining_time = |elapsed: Duration| {
            let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            let timeout_ms = request.timeout_ms.saturating_sub(elapsed_ms);
            SendRequest { timeout_ms, ..request.clone() }
        };
        self.line.change_within(Method::POST, "/v1/send", with_remaining_time).await
    }

    /// Adds up the tokens that sessions have used.
    pub async fn usage(&self, request: &UsageRequest) -> Result<UsageList> {
        self.line.ask(Method::POST, "/v1/usage", request).await
    }

    /// Lists the messages of sessions and fleets, or all messages if none is named.
    pub async fn messages(&self, names: &[String], cwd: &Path) -> Result<MessageList> {
        let request = MessagesRequest { cwd: cwd.to_owned(), names: names.to_vec() };
        self.line.ask(Method::POST, "/v1/messages", &request).await
    }

    pub async fn cancel(&self, request: &CancelRequest) -> Result<MessageView> {
        self.line.change(Method::POST, "/v1/cancel", request).await
    }

    pub async fn answer(&self, request: &AnswerRequest) -> Result<AnswerReport> {
        self.line.change(Method::POST, "/v1/answer", request).await
    }

    pub async fn wait(&self, request: &WaitRequest) -> Result<WaitReport> {
        self.line.ask(Method::POST, "/v1/wait", request).await
    }

    pub async fn sessions(&self) -> Result<SessionList> {
        self.list(&ListRequest { all: true, ..ListRequest::default() }).await
    }

    /// Returns the sessions that match the filters. Asks for a long list in pages, so that the
    /// daemon never has all of it in memory.
    pub async fn list(&self, request: &ListRequest) -> Result<SessionList> {
        let mut request = ListRequest { limit: Some(SESSIONS_PER_PAGE), ..request.clone() };
        let mut list: SessionList = self.line.ask(Method::POST, "/v1/list", &request).await?;
        while let Some(cursor) = list.next.take() {
            request.cursor = Some(cursor);
            let page: SessionList = self.line.ask(Method::POST, "/v1/list", &request).await?;
            list.sessions.extend(page.sessions);
            list.hidden += page.hidden;
            list.next = page.next;
        }
        Ok(list)
    }

    pub async fn session(&self, address: &str, cwd: &Path) -> Result<SessionView> {
        self.ask_about(Method::GET, "/v1/session", address, cwd).await
    }

    /// Returns the session that an answer is for. The address of a fleet means the only session of
    /// the fleet that asks a question.
    pub async fn asking(&self, address: &str, cwd: &Path) -> Result<SessionView> {
        let address = AddressQuery { asking: true, ..AddressQuery::new(address, cwd, false) };
        self.line.ask(Method::GET, &query("/v1/session", &address)?, &()).await
    }

    /// Returns the sessions that the names mean.
    pub async fn select(&self, request: &SelectRequest) -> Result<SelectReport> {
        self.line.ask(Method::POST, "/v1/select", request).await
    }

    /// Returns where a conversation can be read.
    pub async fn conversation(&self, request: &ConversationRequest) -> Result<ConversationReport> {
        self.line.ask(Method::POST, "/v1/conversation", request).await
    }

    /// Counts the sessions that a resume would bring back.
    pub async fn resume_count(&self, request: &ResumeRequest) -> Result<ResumeCount> {
        self.line.ask(Method::POST, "/v1/resume/count", request).await
    }

    /// Returns the conversations in the caller's folder that belong to no session.
    pub async fn unknown_conversations(&self, caller: &Caller) -> Result<Vec<UnknownConversation>> {
        self.line.ask(Method::POST, "/v1/strangers", caller).await
    }

    /// Returns the sessions and the plans that need a person.
    pub async fn attention(&self) -> Result<AttentionList> {
        self.line.ask(Method::GET, "/v1/attention", &()).await
    }

    /// Returns the agents of the project file around a folder.
    pub async fn agent_kinds(&self, request: &AgentKindsRequest) -> Result<AgentKindList> {
        self.line.ask(Method::POST, "/v1/agents", request).await
    }

    pub async fn attach_point(&self, address: &str, cwd: &Path) -> Result<AttachPoint> {
        self.ask_about(Method::GET, "/v1/attach", address, cwd).await
    }

    pub async fn stop(&self, request: &StopRequest) -> Result<StopReport> {
        self.line.change(Method::POST, "/v1/stop", request).await
    }

    pub async fn interrupt(&self, request: &InterruptRequest) -> Result<InterruptReport> {
        self.line.change(Method::POST, "/v1/interrupt", request).await
    }

    pub async fn change_settings(&self, request: &SettingsRequest) -> Result<SettingsReport> {
        self.line.change(Method::POST, "/v1/settings", request).await
    }

    pub async fn rename(&self, request: &RenameRequest) -> Result<RenameReport> {
        self.line.change(Method::POST, "/v1/rename", request).await
    }

    pub async fn remove(&self, address: &str, cwd: &Path, purge: bool) -> Result<()> {
        let path = query("/v1/session", &AddressQuery::new(address, cwd, purge))?;
        self.line.change(Method::DELETE, &path, &()).await
    }

    /// Returns events after a sequence number, oldest first.
    pub async fn events(&self, events: &EventQuery) -> Result<Vec<Event>> {
        let path = query("/v1/events", &EventsQuery::new(events))?;
        self.line.ask(Method::GET, &path, &()).await
    }

    /// Streams events after a sequence number as they happen.
    pub async fn follow(&self, sessions: &[SessionId], after: i64) -> Result<EventStream> {
        let events = EventQuery { after, sessions: sessions.to_vec(), ..EventQuery::default() };
        let path = query(FOLLOW_PATH, &EventsQuery::new(&events))?;
        let connection = self.line.connection();
        let body = connection.follow(&path).await?;
        let resident = connection.resident().clone();
        Ok(EventStream { body, pending: Vec::new(), resident: Some(resident) })
    }

    /// Streams events of all sessions from now on.
    pub async fn follow_from_now(&self) -> Result<EventStream> {
        self.follow(&[], FROM_NOW).await
    }

    pub async fn doctor(&self, fix: bool) -> Result<DoctorReport> {
        self.line.change(Method::POST, "/v1/doctor", &DoctorRequest { fix }).await
    }

    /// Asks for what git wants to know. The request has no id, so that its answer is not kept.
    pub async fn git_credential(
        &self,
        request: &GitCredentialRequest,
    ) -> Result<GitCredentialAnswer> {
        self.line.ask(Method::POST, "/v1/git-credential", request).await
    }

    pub async fn trust(&self, request: &TrustRequest) -> Result<TrustView> {
        self.line.change(Method::POST, "/v1/trust", request).await
    }

    /// Lists the worktrees that names mean, or all worktrees if none is named.
    pub async fn worktrees(&self, request: &WorktreesRequest) -> Result<WorktreeList> {
        self.line.ask(Method::POST, "/v1/worktrees", request).await
    }

    pub async fn worktree_diff(&self, request: &WorktreeDiffRequest) -> Result<WorktreeDiffReport> {
        self.line.ask(Method::POST, "/v1/worktrees/diff", request).await
    }

    /// Sends a request that salvages, removes or restores a worktree.
    pub async fn change_worktree(
        &self,
        action: WorktreeAction,
        request: &WorktreeActionRequest,
    ) -> Result<WorktreeActionReport> {
        let path = match action {
            WorktreeAction::Salvage => "/v1/worktrees/salvage",
            WorktreeAction::Remove => "/v1/worktrees/remove",
            WorktreeAction::Restore => "/v1/worktrees/restore",
        };
        self.line.change(Method::POST, path, request).await
    }

    pub async fn worktree_gc(&self, request: &WorktreeGcRequest) -> Result<WorktreeGcReport> {
        self.line.change(Method::POST, "/v1/worktrees/gc", request).await
    }

    /// Asks the daemon to stop, and waits until its process has ended. Agents continue.
    pub async fn shut_down(&self) -> Result<()> {
        let handle = resident::open(self.health.pid)?;
        let () = self.line.connection().ask(Method::POST, "/v1/shutdown", &()).await?;
        match handle {
            Some(handle) => resident::wait_until_gone(self.health.pid, &handle).await.map(drop),
            None => Ok(()),
        }
    }

    async fn ask_about<A: serde::de::DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        address: &str,
        cwd: &Path,
    ) -> Result<A> {
        let path = query(path, &AddressQuery::new(address, cwd, false))?;
        self.line.ask(method, &path, &()).await
    }
}

fn unanswered(local: &Local) -> Error {
    Error::unavailable("the daemon was started but does not answer")
        .hint(format!("look into `{}`", local.paths().log_file().display()))
}

/// Takes the lock of a process that starts a daemon. Waits while another process holds it: a
/// command that starts a daemon, or a daemon that is not ready yet and whose command has died.
pub(crate) async fn start_lock(local: &Local) -> Result<FileLock> {
    let path = local.paths().start_lock();
    let lock = blocking(move || FileLock::acquire_blocking(&path));
    timeout(START_TIMEOUT, lock).await.unwrap_or_else(|_| {
        Err(Error::unavailable("a daemon was started but does not get ready")
            .hint(format!("look into `{}`", local.paths().log_file().display())))
    })
}

/// Waits until no daemon holds the daemon's lock. A daemon that was just killed still holds it for
/// a short time.
async fn wait_for_daemon_lock(local: &Local) -> Result<()> {
    let lock = local.paths().daemon_lock();
    let free = blocking(move || FileLock::acquire_blocking(&lock).map(drop));
    tokio::time::timeout(EXIT_TIMEOUT, free).await.unwrap_or_else(|_| {
        let lock = local.paths().daemon_lock();
        let pid = segue_host::daemon_process::lock_holder(&lock);
        let process = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
        Err(Error::unavailable(format!("a daemon{process} runs, but does not answer"))
            .caused_by(format!("it has the lock `{}`", lock.display()))
            .hint("run `segue daemon stop --force` to end it: agents go on"))
    })
}

/// A stream of events, one JSON line each.
#[derive(Debug)]
pub struct EventStream {
    body: Incoming,
    /// Received bytes that were not returned as events yet.
    pending: Vec<u8>,
    /// The daemon, which is asked from time to time whether it still answers. `None` if it is not
    /// asked.
    resident: Option<Resident>,
}

impl EventStream {
    /// Makes the stream wait for events alone. While nothing happens, neither this process nor the
    /// daemon wakes up, and a daemon that hangs is not noticed.
    #[must_use]
    pub fn without_checks(self) -> Self {
        Self { resident: None, ..self }
    }

    /// Returns the next event. `None` if the daemon has ended.
    pub async fn next(&mut self) -> Option<Result<Event>> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Some(parse(&line));
            }
            let frame = async { Ok(self.body.frame().await) };
            let frame = match &self.resident {
                Some(resident) => resident.answered(FOLLOW_PATH, frame).await,
                None => frame.await,
            };
            let frame = match frame {
                Ok(frame) => frame?.ok()?,
                Err(error) => return Some(Err(error)),
            };
            self.pending.extend_from_slice(frame.data_ref()?);
        }
    }

    /// Waits for an event, and consumes all events that have arrived by then. `None` if the daemon
    /// has ended.
    pub async fn next_burst(&mut self) -> Option<Result<()>> {
        let mut event = self.next().await?;
        while event.is_ok()
            && let Ok(next) = tokio::time::timeout(Duration::ZERO, self.next()).await
        {
            event = next?;
        }
        Some(event.map(drop))
    }
}

fn parse(line: &[u8]) -> Result<Event> {
    serde_json::from_slice(line)
        .map_err(|error| Error::internal("an event cannot be understood").caused_by(error))
}
