//! A daemon in memory. The test decides what waits return.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::api::{
    AnswerRequest, Caller, MessageWaitRequest, RestoreReport, ResumeRequest, RunRequest,
    SendReport, SendRequest, SessionList, SessionOptions, SessionView, SettingsReport,
    SettingsRequest, StartedSession,
};
use segue_core::model::{
    Environment, Event, EventPayload, MessageId, NewEvent, SessionId, Status, Turn, VendorSessionId,
};
use segue_core::rules::editor_servers;
use segue_core::{Error, Result};
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, Notify, mpsc};

use crate::port::{EditorPort, FeedStart, SessionEventFeed, TurnFeed};

pub(crate) const SESSION: &str = "0190b5a0-0000-7000-8000-000000000001";
pub(crate) const URI: &str = "segue://session/0190b5a0-0000-7000-8000-000000000001";
pub(crate) const MESSAGE: &str = "0190b5a0-0000-7000-8000-00000000000a";

/// A session as the daemon shows it, with these fields changed.
pub(crate) fn view(changes: &Value) -> SessionView {
    let mut view = json!({
        "session": SESSION, "id": SESSION, "name": "fox", "fleet": "default",
        "address": "default/fox", "agent": null, "vendor": "fake", "vendor_session_id": "v1",
        "evidence": null, "status": "idle", "status_detail": null, "cwd": "/code",
        "worktree": null, "branch": null, "headless": false, "pid": 1, "holder_pid": 2,
        "launches": 1, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    });
    for (name, value) in changes.as_object().into_iter().flatten() {
        view[name] = value.clone();
    }
    serde_json::from_value(view).unwrap()
}

/// A report about the message of the prompt.
pub(crate) fn report(view: &SessionView, state: &str, turn_ended: bool) -> SendReport {
    let message = json!({
        "id": MESSAGE, "session": SESSION, "name": "fox", "fleet": "default",
        "address": "default/fox", "state": state, "text": "x",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    });
    SendReport {
        session: view.clone(),
        message: serde_json::from_value(message).unwrap(),
        turn_ended,
        answer: None,
        failure: None,
        note: Some("it is busy".to_owned()),
    }
}

/// The daemon.
#[derive(Debug)]
pub(crate) struct FakeEditorPort {
    pub(crate) view: Mutex<SessionView>,
    /// The changes that were asked for.
    pub(crate) calls: Mutex<Vec<String>>,
    pub(crate) options: Mutex<SessionOptions>,
    pub(crate) waits: mpsc::Sender<SendReport>,
    /// Is notified when the end of a prompt is waited for.
    pub(crate) is_awaited: Notify,
    waiting: AsyncMutex<mpsc::Receiver<SendReport>>,
    pub(crate) events: mpsc::Sender<EventPayload>,
    event_receiver: Mutex<Option<mpsc::Receiver<EventPayload>>>,
    pub(crate) turns: Arc<Mutex<Vec<Turn>>>,
    /// Whether a queued message can be taken back.
    pub(crate) cancels: Mutex<bool>,
    /// Whether the program of the session can use MCP servers.
    pub(crate) uses_servers: Mutex<bool>,
}

impl FakeEditorPort {
    pub(crate) fn new() -> Arc<Self> {
        let (waits, waiting) = mpsc::channel(16);
        let (events, event_receiver) = mpsc::channel(16);
        Arc::new(Self {
            view: Mutex::new(view(&json!({}))),
            calls: Mutex::default(),
            options: Mutex::default(),
            waits,
            is_awaited: Notify::new(),
            waiting: AsyncMutex::new(waiting),
            events,
            event_receiver: Mutex::new(Some(event_receiver)),
            turns: Arc::default(),
            cancels: Mutex::new(true),
            uses_servers: Mutex::new(true),
        })
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    fn called(&self, call: String) {
        self.calls.lock().unwrap().push(call);
    }

    fn now(&self) -> SessionView {
        self.view.lock().unwrap().clone()
    }
}

#[async_trait]
impl EditorPort for FakeEditorPort {
    fn caller(&self) -> Caller {
        Caller { cwd: "/".into(), environment: Environment::default() }
    }

    fn uses_mcp_servers(&self, _: &SessionView) -> bool {
        *self.uses_servers.lock().unwrap()
    }

    async fn run(&self, request: &RunRequest) -> Result<StartedSession> {
        let cwd = request.caller.cwd.display();
        self.called(format!("run in {cwd}{}", server_names(&request.caller)));
        Ok(StartedSession { session: self.now(), notices: Vec::new() })
    }

    async fn resume(&self, request: &ResumeRequest) -> Result<RestoreReport> {
        self.called(format!("resume{}", server_names(&request.caller)));
        Ok(RestoreReport::new(Vec::new(), Vec::new(), Vec::new()))
    }

    async fn session(&self, address: &str) -> Result<SessionView> {
        if address == SESSION || address == "default/fox" {
            return Ok(self.now());
        }
        Err(Error::not_found(format!("there is no session `{address}`")))
    }

    async fn sessions(&self, _: Option<&str>) -> Result<SessionList> {
        Ok(SessionList { sessions: vec![self.now()], hidden: 0, next: Some("2".to_owned()) })
    }

    async fn options(&self, _: SessionId) -> Result<SessionOptions> {
        Ok(self.options.lock().unwrap().clone())
    }

    async fn change_settings(&self, request: &SettingsRequest) -> Result<SettingsReport> {
        let SettingsRequest { model, permission, .. } = request;
        self.called(format!("set {model:?} {permission:?}"));
        let mut session = self.view.lock().unwrap();
        if let Some(model) = model {
            session.model = (!model.is_empty()).then(|| model.clone());
        }
        session.permission = permission.map(Into::into).or(session.permission.clone());
        session.settings_outdated = true;
        Ok(SettingsReport { session: session.clone(), changed: Vec::new() })
    }

    async fn send(&self, request: &SendRequest) -> Result<SendReport> {
        let verb = if request.command { "run" } else { "send" };
        self.called(format!("{verb} {}{}", request.text, server_names(&request.caller)));
        Ok(report(&self.now(), "queued", false))
    }

    async fn wait(&self, request: &MessageWaitRequest) -> Result<SendReport> {
        self.called(format!("wait {:?}", request.known_question));
        self.is_awaited.notify_one();
        let report = self.waiting.lock().await.recv().await;
        Ok(report.unwrap())
    }

    async fn cancel(&self, _: MessageId) -> Result<()> {
        self.called("cancel".to_owned());
        if *self.cancels.lock().unwrap() {
            return Ok(());
        }
        Err(Error::conflict("it was typed"))
    }

    async fn interrupt(&self, _: SessionId) -> Result<()> {
        self.called("interrupt".to_owned());
        Ok(())
    }

    async fn answer(&self, request: &AnswerRequest) -> Result<()> {
        let question = request.question.as_deref().unwrap_or_default();
        self.called(format!("answer {question} {}", request.answer));
        Ok(())
    }

    async fn events(&self, _: SessionId) -> Result<Box<dyn SessionEventFeed>> {
        let receiver = self.event_receiver.lock().unwrap().take();
        Ok(Box::new(FakeEvents { receiver, seq: 0 }))
    }

    async fn conversation(&self, _: SessionId, start: FeedStart) -> Result<Box<dyn TurnFeed>> {
        self.called(format!("conversation {start:?}"));
        Ok(Box::new(FakeTurns { turns: Arc::clone(&self.turns) }))
    }
}

/// Returns the names of the editor's servers in the environment of a request.
fn server_names(caller: &Caller) -> String {
    let servers = editor_servers::servers(&caller.environment);
    servers.iter().map(|server| format!(" with {}", server.name)).collect()
}

struct FakeEvents {
    receiver: Option<mpsc::Receiver<EventPayload>>,
    seq: i64,
}

#[async_trait]
impl SessionEventFeed for FakeEvents {
    async fn next(&mut self) -> Result<Event> {
        let Some(receiver) = &mut self.receiver else { return std::future::pending().await };
        let payload = receiver.recv().await.unwrap();
        self.seq += 1;
        let fact = NewEvent { at: Timestamp::UNIX_EPOCH, session: None, launch: None, payload };
        Ok(Event { seq: self.seq, fact })
    }
}

/// Returns the turns that a test has added, when they are asked for.
struct FakeTurns {
    turns: Arc<Mutex<Vec<Turn>>>,
}

#[async_trait]
impl TurnFeed for FakeTurns {
    fn conversation(&self) -> Option<VendorSessionId> {
        Some(VendorSessionId::new("v1"))
    }

    async fn changed(&mut self) -> Result<()> {
        std::future::pending().await
    }

    async fn news(&mut self) -> Result<Vec<Turn>> {
        Ok(std::mem::take(&mut *self.turns.lock().unwrap()))
    }
}

/// An event after which a question may be gone.
pub(crate) fn works() -> EventPayload {
    EventPayload::StatusChanged { status: Status::Working, source: None, note: None }
}
