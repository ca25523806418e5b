//! The port of the ACP agent to the daemon, for `segue acp`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::Method;
use segue_acp::{AcpSettings, EditorPort, FeedStart, SessionEventFeed, TurnFeed};
use segue_core::api::{
    AddressQuery, AnswerReport, AnswerRequest, Caller, CancelRequest, ConversationRequest,
    InterruptReport, InterruptRequest, MessageView, MessageWaitRequest, RestoreReport,
    ResumeAnswer, ResumeRequest, RunRequest, SendReport, SendRequest, SessionList, SessionOptions,
    SessionView, SettingsReport, SettingsRequest, StartedSession,
};
use segue_core::model::{MessageId, RequestId, SessionId};
use segue_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::editor_feeds::{ConversationFeed, SessionEvents};
use super::pool::ClientPool;
use crate::conversation::readings;
use crate::routes::query;
use crate::wiring::{self, Local};

/// A request to a daemon that stops is sent to the next daemon. After this many failures, one directly
/// after the other, there is another reason.
const ATTEMPTS: usize = 3;

/// A failure after a longer time is not directly after the one before.
const QUICK_FAILURE: Duration = Duration::from_secs(1);

/// How many sessions a page of the list has.
const PAGE_SIZE: u32 = 100;

/// Serves the ACP protocol on standard input and output until the input ends.
pub async fn serve_acp(local: &Local, settings: AcpSettings) -> Result<()> {
    let settings = AcpSettings { run_id: wiring::new_request_id().to_string(), ..settings };
    let calls = EditorCalls(ClientPool::new(local));
    segue_acp::serve(Arc::new(calls), settings, std::io::stdin(), std::io::stdout()).await
}

/// Sends the requests of an editor to the daemon.
#[derive(Debug)]
struct EditorCalls(ClientPool);

/// The query parameters of a page of sessions.
#[derive(Debug, Serialize)]
struct SessionPageParameters<'a> {
    limit: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
}

impl EditorCalls {
    /// Sends a request, and sends it again while daemons stop. A change has an id, so that it is
    /// carried out once.
    async fn request<A: DeserializeOwned>(
        &self,
        (method, path, id): (Method, &str, Option<RequestId>),
        body: &(impl Serialize + Sync),
    ) -> Result<A> {
        let mut attempt = 1;
        loop {
            let client = self.0.client().await?;
            let began = Instant::now();
            let answer = match id {
                Some(id) => client.line.change_as(id, path, body).await,
                None => client.line.ask(method.clone(), path, body).await,
            };
            if self.0.keep(client, &answer) {
                return answer;
            }
            let is_quick = began.elapsed() < QUICK_FAILURE;
            if is_quick && attempt == ATTEMPTS {
                return answer;
            }
            attempt = if is_quick { attempt + 1 } else { 1 };
        }
    }

    async fn change<A: DeserializeOwned>(
        &self,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<A> {
        let id = Some(wiring::new_request_id());
        self.request((Method::POST, path, id), body).await
    }

    async fn ask<A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<A> {
        self.request((method, path, None), body).await
    }
}

#[async_trait]
impl EditorPort for EditorCalls {
    fn caller(&self) -> Caller {
        self.0.caller()
    }

    fn uses_mcp_servers(&self, view: &SessionView) -> bool {
        // Vendors of a project file are not among these, and use none.
        wiring::vendors().get(&view.vendor).is_ok_and(|vendor| vendor.mcp().is_some())
    }

    async fn run(&self, request: &RunRequest) -> Result<StartedSession> {
        self.change("/v1/run", request).await
    }

    async fn resume(&self, request: &ResumeRequest) -> Result<RestoreReport> {
        match self.change("/v1/resume", request).await? {
            ResumeAnswer::Restored(report) => Ok(report),
            ResumeAnswer::Planned(_) => Err(Error::internal("a resume was only planned")),
        }
    }

    async fn session(&self, address: &str) -> Result<SessionView> {
        let address = AddressQuery::new(address, self.0.local().cwd(), false);
        self.ask(Method::GET, &query("/v1/session", &address)?, &()).await
    }

    async fn sessions(&self, cursor: Option<&str>) -> Result<SessionList> {
        let parameters = SessionPageParameters { limit: PAGE_SIZE, cursor };
        self.ask(Method::GET, &query("/v1/sessions", &parameters)?, &()).await
    }

    async fn options(&self, session: SessionId) -> Result<SessionOptions> {
        let address = AddressQuery::new(&session.to_string(), Path::new("/"), false);
        self.ask(Method::GET, &query("/v1/session/options", &address)?, &()).await
    }

    async fn change_settings(&self, request: &SettingsRequest) -> Result<SettingsReport> {
        self.change("/v1/settings", request).await
    }

    async fn send(&self, request: &SendRequest) -> Result<SendReport> {
        self.change("/v1/send", request).await
    }

    async fn wait(&self, request: &MessageWaitRequest) -> Result<SendReport> {
        self.ask(Method::POST, "/v1/messages/wait", request).await
    }

    async fn cancel(&self, message: MessageId) -> Result<()> {
        let request = CancelRequest { message: message.to_string() };
        self.change::<MessageView>("/v1/cancel", &request).await.map(drop)
    }

    async fn interrupt(&self, session: SessionId) -> Result<()> {
        let request = InterruptRequest { cwd: "/".into(), session: session.to_string() };
        self.change::<InterruptReport>("/v1/interrupt", &request).await.map(drop)
    }

    async fn answer(&self, request: &AnswerRequest) -> Result<()> {
        self.change::<AnswerReport>("/v1/answer", request).await.map(drop)
    }

    async fn events(&self, session: SessionId) -> Result<Box<dyn SessionEventFeed>> {
        Ok(Box::new(SessionEvents::open(self.0.local(), session).await?))
    }

    async fn conversation(
        &self,
        session: SessionId,
        start: FeedStart,
    ) -> Result<Box<dyn TurnFeed>> {
        let story = start == FeedStart::Story;
        let caller = Caller { cwd: Path::new("/").to_owned(), ..self.caller() };
        let request = ConversationRequest { caller, address: session.to_string(), story };
        let report = self.ask(Method::POST, "/v1/conversation", &request).await?;
        Ok(Box::new(ConversationFeed::open(readings(&report)?, start)?))
    }
}
