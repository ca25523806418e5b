//! The agent of the protocol: answers the editor's requests.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use segue_core::api::{Caller, RunRequest, SessionView};
use segue_core::model::{Permission, SessionId};
use segue_core::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::editor::EditorLink;
use crate::following::OpenSession;
use crate::options::{self, EditorOptions};
use crate::port::{EditorPort, FeedStart};
use crate::prompting::{EditorPrompt, PromptSignal, bring_back};
use crate::protocol::{
    CancelParams, ConfigOptionParams, EditorMessage, ErrorCode, ListParams, ModeParams, NewParams,
    PromptParams, PromptStopReason, SessionParams, SessionUpdate, initialize_result,
};
use crate::servers::{ServerRegistry, SessionServers};
use crate::{content, session_uri};

/// A conversation is handed over at most this many times.
const MAX_HANDOFFS: usize = 64;

/// How `segue acp` was started.
#[derive(Clone, Debug, Default)]
pub struct AcpSettings {
    /// New sessions have this agent of the project file.
    pub agent: Option<String>,
    /// New sessions have this vendor.
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub permission: Option<Permission>,
    /// The address of the only session that the editor gets.
    pub session: Option<String>,
    /// Is different in each process.
    pub run_id: String,
}

/// The agent.
#[derive(Debug)]
pub(crate) struct AcpAgent {
    port: Arc<dyn EditorPort>,
    editor: EditorLink,
    settings: AcpSettings,
    open: Mutex<HashMap<SessionId, OpenSession>>,
    prompts: Mutex<HashMap<SessionId, OpenPrompt>>,
    servers: ServerRegistry,
}

/// The answer to a request that opened a session.
#[derive(Debug)]
struct OpenedSession {
    answer: Value,
    /// The id that the editor knows.
    uri: String,
    /// Sent after the answer.
    commands: Option<SessionUpdate>,
}

/// A prompt without an answer.
#[derive(Debug)]
struct OpenPrompt {
    /// The id of the editor's request.
    request: Value,
    signal: watch::Sender<PromptSignal>,
}

impl AcpAgent {
    pub(crate) fn new(
        port: Arc<dyn EditorPort>,
        editor: EditorLink,
        settings: AcpSettings,
    ) -> Self {
        let (open, prompts) = (Mutex::default(), Mutex::default());
        Self { port, editor, settings, open, prompts, servers: ServerRegistry::default() }
    }

    /// Handles a line of the editor. A request that takes long becomes a task.
    pub(crate) async fn receive(self: &Arc<Self>, line: &str, tasks: &mut JoinSet<()>) {
        let message = match serde_json::from_str::<EditorMessage>(line) {
            Ok(message) => message,
            Err(error) => {
                let error = Error::usage("a line is not a message of JSON-RPC").caused_by(error);
                return self.editor.fail(&Value::Null, ErrorCode::Parse, &error).await;
            }
        };
        match (message.method.clone(), message.id.clone()) {
            (None, None) => {
                let error = Error::usage("a message has neither an id nor a method");
                self.editor.fail(&Value::Null, ErrorCode::InvalidRequest, &error).await;
            }
            (None, Some(_)) => self.editor.answered(message),
            (Some(method), None) => self.notified(&method, message.params),
            (Some(method), Some(id)) => self.request(method, id, message.params, tasks).await,
        }
    }

    fn notified(&self, method: &str, params: Value) {
        match method {
            "session/cancel" => {
                let session = serde_json::from_value::<SessionParams>(params).ok();
                let session = session.and_then(|it| session_uri::parse(&it.session_id).ok());
                if let Some(session) = session {
                    self.cancel(session);
                }
            }
            "$/cancel_request" => {
                if let Ok(CancelParams { request_id }) = serde_json::from_value(params) {
                    self.cancel_request(&request_id);
                }
            }
            _ => {}
        }
    }

    fn cancel(&self, session: SessionId) {
        if let Some(prompt) = lock(&self.prompts).get(&session) {
            prompt.signal.send_replace(PromptSignal::Cancelled);
        }
    }

    fn cancel_request(&self, id: &Value) {
        for prompt in lock(&self.prompts).values().filter(|prompt| prompt.request == *id) {
            prompt.signal.send_replace(PromptSignal::Cancelled);
        }
    }

    /// Ends what waits for an agent, because the editor is gone.
    pub(crate) fn end_waits(&self) {
        for prompt in lock(&self.prompts).values() {
            prompt.signal.send_replace(PromptSignal::Gone);
        }
    }

    async fn request(
        self: &Arc<Self>,
        method: String,
        id: Value,
        params: Value,
        tasks: &mut JoinSet<()>,
    ) {
        let agent = Arc::clone(self);
        match method.as_str() {
            "initialize" => self.editor.answer(&id, &initialize_result()).await,
            // Before the next message is read, which may cancel the prompt.
            "session/prompt" => match self.begin(&id, params) {
                Ok(begun) => drop(tasks.spawn(async move { agent.prompt(id, begun).await })),
                Err(error) => self.editor.complete(&id, Err(error)).await,
            },
            "session/new" | "session/load" | "session/resume" => drop(tasks.spawn(async move {
                let opened = agent.open_session(&method, params).await;
                let (result, commands) = match opened {
                    Ok(OpenedSession { answer, uri, commands }) => {
                        (Ok(answer), commands.zip(Some(uri)))
                    }
                    Err(error) => (Err(error), None),
                };
                let is_new = method == "session/new" && result.is_ok();
                agent.editor.complete(&id, result).await;
                // The editor knows the session only after the answer.
                if let Some((commands, uri)) = commands {
                    agent.editor.update(&uri, &commands).await;
                }
                if is_new {
                    agent.show_only_session().await;
                }
            })),
            "session/list" | "session/close" | "session/set_mode" | "session/set_config_option" => {
                drop(tasks.spawn(async move {
                    let result = agent.handle(&method, params).await;
                    agent.editor.complete(&id, result).await;
                }));
            }
            _ => {
                let method: String = method.chars().take(60).collect();
                let error = Error::usage(format!(
                    "Segue does not have the method `{}`",
                    method.escape_debug()
                ));
                self.editor.fail(&id, ErrorCode::UnknownMethod, &error).await;
            }
        }
    }

    async fn handle(&self, method: &str, params: Value) -> Result<Value> {
        match method {
            "session/list" => self.list(parse_or_default(params)?).await,
            "session/set_mode" => self.set_mode(parse(params)?).await,
            "session/set_config_option" => self.set_config_option(parse(params)?).await,
            _ => self.close(parse(params)?).await,
        }
    }

    async fn open_session(&self, method: &str, params: Value) -> Result<OpenedSession> {
        match method {
            "session/new" => self.new_session(parse(params)?).await,
            "session/load" => self.load(parse(params)?).await,
            _ => self.resume(parse(params)?).await,
        }
    }

    /// Returns the answer that opens a session, with what the editor can choose.
    async fn opened(
        &self,
        session: SessionId,
        view: &SessionView,
        mut answer: Value,
    ) -> Result<OpenedSession> {
        let options = self.options(view).await?;
        options.add_to(&mut answer);
        let commands = options.has_commands().then(|| options.commands_update());
        let uri = session_uri::session_uri(session);
        Ok(OpenedSession { answer, uri, commands })
    }

    async fn options(&self, view: &SessionView) -> Result<EditorOptions> {
        Ok(EditorOptions::new(view, self.port.options(view.session).await?))
    }

    /// Sends the choices of the session in which a conversation continues after a handoff.
    async fn send_options(&self, uri: &str, view: &SessionView) -> Result<()> {
        let options = self.options(view).await?;
        for update in options.updates().into_iter().chain([options.commands_update()]) {
            self.editor.update(uri, &update).await;
        }
        Ok(())
    }

    async fn set_mode(&self, ModeParams { session_id, mode_id }: ModeParams) -> Result<Value> {
        let (_, view) = self.find(&session_id).await?;
        self.port.change_settings(&options::mode_change(&view, &mode_id)?).await?;
        Ok(json!({}))
    }

    async fn set_config_option(&self, params: ConfigOptionParams) -> Result<Value> {
        let ConfigOptionParams { session_id, config_id, value } = params;
        let value = value.as_str().ok_or_else(|| Error::usage("`value` must be a text"))?;
        let (_, view) = self.find(&session_id).await?;
        let changed = options::change(&view, &config_id, value)?;
        let changed = self.port.change_settings(&changed).await?.session;
        let options = self.options(&changed).await?;
        Ok(json!({"configOptions": options.config_options()}))
    }

    async fn new_session(
        &self,
        NewParams { cwd, mcp_servers }: NewParams,
    ) -> Result<OpenedSession> {
        check_folder(&cwd)?;
        let servers = SessionServers::parse(&mcp_servers)?;
        if let Some(address) = &self.settings.session {
            let view = self.port.session(address).await?;
            self.servers.set(view.session, servers);
            let answer = json!({"sessionId": session_uri::session_uri(view.session)});
            return self.opened(view.session, &view, answer).await;
        }
        let AcpSettings { agent, vendor, model, permission, .. } = self.settings.clone();
        let caller = servers.given_to(Caller { cwd, ..self.port.caller() });
        let request =
            RunRequest { caller, agent, vendor, model, permission, ..RunRequest::default() };
        let started = self.port.run(&request).await?.session;
        let uri = session_uri::session_uri(started.session);
        self.servers.set(started.session, servers);
        self.follow(started.session, &started, FeedStart::Beginning).await?;
        self.opened(started.session, &started, json!({"sessionId": uri})).await
    }

    /// With `--session`, an editor that asks for a new session gets that one, with its history.
    async fn show_only_session(&self) {
        let Some(address) = &self.settings.session else { return };
        let Ok(view) = self.port.session(address).await else { return };
        let Ok(latest) = self.latest(view.clone()).await else { return };
        // Without it, the next prompt follows the session from its end.
        let _unread = self.follow(view.session, &latest, FeedStart::Story).await;
    }

    async fn load(&self, params: SessionParams) -> Result<OpenedSession> {
        let servers = SessionServers::parse(&params.mcp_servers)?;
        let (session, view) = self.find(&params.session_id).await?;
        self.servers.set(session, servers);
        let open = self.follow(session, &view, FeedStart::Story).await?;
        // The editor gets the history before the answer.
        open.catch_up().await;
        self.opened(session, &view, json!({})).await
    }

    async fn resume(&self, params: SessionParams) -> Result<OpenedSession> {
        let servers = SessionServers::parse(&params.mcp_servers)?;
        let (session, view) = self.find(&params.session_id).await?;
        bring_back(self.port.as_ref(), &view, &servers).await?;
        self.servers.set(session, servers);
        self.follow(session, &view, FeedStart::End).await?;
        self.opened(session, &view, json!({})).await
    }

    async fn list(&self, ListParams { cwd, cursor }: ListParams) -> Result<Value> {
        let page = match &self.settings.session {
            Some(address) => (vec![self.port.session(address).await?], None),
            None => {
                let list = self.port.sessions(cursor.as_deref()).await?;
                (list.sessions, list.next)
            }
        };
        let is_meant = |view: &&SessionView| cwd.as_ref().is_none_or(|cwd| view.cwd == *cwd);
        let sessions: Vec<Value> = page.0.iter().filter(is_meant).map(listed).collect();
        Ok(match page.1 {
            Some(next) => json!({"sessions": sessions, "nextCursor": next}),
            None => json!({"sessions": sessions}),
        })
    }

    /// Cancels the prompt of the editor, and stops to follow the session. Its agent goes on.
    async fn close(&self, SessionParams { session_id, .. }: SessionParams) -> Result<Value> {
        let session = session_uri::parse(&session_id)?;
        self.cancel(session);
        self.servers.forget(session);
        let open = lock(&self.open).remove(&session);
        if let Some(open) = open {
            open.close().await;
        }
        Ok(json!({}))
    }

    /// Finds a session, and the session in which its conversation continues.
    async fn find(&self, id: &str) -> Result<(SessionId, SessionView)> {
        let session = session_uri::parse(id)?;
        if let Some(only) = &self.settings.session
            && self.port.session(only).await?.session != session
        {
            return Err(Error::not_found(format!("the session `{id}` is not open here"))
                .caused_by(format!("`segue acp` was started for `{only}` alone")));
        }
        let view = self.port.session(&session.to_string()).await?;
        Ok((session, self.latest(view).await?))
    }

    /// Returns the session in which a conversation continues after handoffs.
    async fn latest(&self, mut view: SessionView) -> Result<SessionView> {
        for _ in 0..MAX_HANDOFFS {
            let Some(next) = view.goes_on_as.clone() else { return Ok(view) };
            view = self.port.session(&next).await?;
        }
        Ok(view)
    }

    /// Follows a session from now on. An earlier follower of it ends.
    async fn follow(
        &self,
        session: SessionId,
        view: &SessionView,
        start: FeedStart,
    ) -> Result<OpenSession> {
        let earlier = lock(&self.open).remove(&session);
        if let Some(earlier) = earlier {
            earlier.close().await;
        }
        let ends = (Arc::clone(&self.port), self.editor.clone());
        let uri = session_uri::session_uri(session);
        let run = self.settings.run_id.clone();
        let open = OpenSession::open(ends, (view, uri), (start, run)).await?;
        lock(&self.open).insert(session, open.clone());
        Ok(open)
    }

    /// Records a prompt, so that it can be cancelled. An editor has one prompt at a time in a session.
    fn begin(&self, id: &Value, params: Value) -> Result<BegunPrompt> {
        let PromptParams { session_id, prompt } = parse(params)?;
        let session = session_uri::parse(&session_id)?;
        let text = content::text(prompt)?;
        let (sender, signal) = watch::channel(PromptSignal::Waits);
        let mut prompts = lock(&self.prompts);
        if prompts.contains_key(&session) {
            return Err(Error::usage(format!("`{session_id}` still works on a prompt"))
                .hint("wait for its end, or send `session/cancel`"));
        }
        prompts.insert(session, OpenPrompt { request: id.clone(), signal: sender });
        drop(prompts);
        Ok(BegunPrompt { session, text, signal })
    }

    async fn prompt(&self, id: Value, begun: BegunPrompt) {
        let session = begun.session;
        let ended = self.carry_out(begun).await;
        lock(&self.prompts).remove(&session);
        let result = ended.map(|reason| json!({"stopReason": reason}));
        self.editor.complete(&id, result).await;
    }

    async fn carry_out(&self, begun: BegunPrompt) -> Result<PromptStopReason> {
        let BegunPrompt { session, text, signal } = begun;
        let (_, view) = self.find(&session.to_string()).await?;
        let open = lock(&self.open).get(&session).cloned();
        let continues_elsewhere = open.is_some();
        let open = match open.filter(|open| open.session == view.session) {
            Some(open) => open,
            // The conversation continues elsewhere now, or the editor has not opened it.
            None => {
                let open = self.follow(session, &view, FeedStart::End).await?;
                if continues_elsewhere {
                    self.send_options(&open.uri, &view).await?;
                }
                open
            }
        };
        let (port, editor) = (Arc::clone(&self.port), self.editor.clone());
        if !port.uses_mcp_servers(&view) && self.servers.needs_note(session) {
            let vendor = &view.vendor;
            open.note(&format!("`{vendor}` cannot use the MCP servers of the editor.")).await;
        }
        let servers = self.servers.of(session);
        EditorPrompt { port, editor, open, signal, servers }.carry_out(&view, text).await
    }
}

/// A prompt that is recorded here, and not sent yet.
#[derive(Debug)]
struct BegunPrompt {
    session: SessionId,
    text: String,
    signal: watch::Receiver<PromptSignal>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parse<P: DeserializeOwned>(params: Value) -> Result<P> {
    serde_json::from_value(params)
        .map_err(|error| Error::usage("the parameters of the request are wrong").caused_by(error))
}

/// Parses parameters that may be missing.
fn parse_or_default<P: DeserializeOwned + Default>(params: Value) -> Result<P> {
    if params.is_null() { Ok(P::default()) } else { parse(params) }
}

fn check_folder(cwd: &Path) -> Result<()> {
    if cwd.is_absolute() {
        return Ok(());
    }
    let shown = cwd.display();
    Err(Error::usage(format!("`cwd` must be an absolute path, got `{shown}`")))
}

fn listed(view: &SessionView) -> Value {
    json!({
        "sessionId": session_uri::session_uri(view.session),
        "cwd": view.cwd,
        "title": view.address,
        "updatedAt": view.updated_at.to_string(),
    })
}
