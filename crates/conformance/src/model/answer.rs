//! Sends an answer over a connection, piece by piece, for every API.

use std::collections::BTreeSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_core::Stream;
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::log::{AnswerStage, ExchangeLog};
use super::script::ScriptStep;
use super::tool::{ScriptedToolCall, ShellTool, exact_call, mcp_call};

/// The number of pieces of a slow text. Each piece is a paragraph, because programs draw a
/// paragraph only when it is complete.
const SLOW_PIECES: u32 = 10;

/// Writes an answer in the format of an API. `begin`, `text`, `call` and `end` return the text that
/// is sent next. Without streaming, only `end` returns text.
pub(crate) trait AnswerFormat: Send + 'static {
    fn begin(&mut self) -> String;
    fn text(&mut self, piece: &str) -> String;
    fn call(&mut self, call: &ScriptedToolCall) -> String;
    fn end(&mut self) -> String;
    fn is_streamed(&self) -> bool;
}

/// A failure as an API reports it.
#[derive(Debug)]
pub(crate) struct ApiFailure {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

/// Writes failures in the format of an API.
pub(crate) trait FailureFormat {
    fn failure(status: u16) -> ApiFailure;
    fn limit(until: Timestamp) -> ApiFailure;
}

/// An answer that a script describes, and the format in which it is sent.
pub(crate) struct ScriptedAnswer<V> {
    pub(crate) number: usize,
    pub(crate) steps: Vec<ScriptStep>,
    pub(crate) shell: Option<ShellTool>,
    /// The request's tools, as its API writes them.
    pub(crate) tools: Value,
    pub(crate) format: V,
    pub(crate) log: Arc<ExchangeLog>,
    pub(crate) released: watch::Receiver<BTreeSet<String>>,
}

/// The answer ended early, in this stage.
struct Stopped(AnswerStage);

impl<V: AnswerFormat + FailureFormat> ScriptedAnswer<V> {
    /// Returns the response. Its body is sent while the client reads it.
    pub(crate) fn respond(self) -> Response {
        let failure = match self.steps.first() {
            Some(ScriptStep::Status(status)) => V::failure(*status),
            Some(ScriptStep::Limit(until)) => V::limit(*until),
            _ => return self.stream(),
        };
        self.log.advance(self.number, AnswerStage::Whole);
        failure.into_response()
    }

    fn stream(self) -> Response {
        let is_streamed = self.format.is_streamed();
        let content_type = if is_streamed { "text/event-stream" } else { "application/json" };
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(self.run(sender));
        ([(header::CONTENT_TYPE, content_type)], Body::from_stream(Pieces(receiver)))
            .into_response()
    }

    async fn run(mut self, sender: mpsc::Sender<io::Result<String>>) {
        let stage = match self.play(&sender).await {
            Ok(()) => AnswerStage::Whole,
            Err(Stopped(stage)) => stage,
        };
        if stage == AnswerStage::Cut {
            let cut = io::Error::new(io::ErrorKind::ConnectionAborted, "cut by the script");
            // Sending fails only if the client has disconnected, which is the wanted state.
            let _gone = sender.send(Err(cut)).await;
        }
        self.log.advance(self.number, stage);
    }

    async fn play(&mut self, sender: &mpsc::Sender<io::Result<String>>) -> Result<(), Stopped> {
        let begin = self.format.begin();
        send(sender, begin).await?;
        for step in std::mem::take(&mut self.steps) {
            self.step(&step, sender).await?;
        }
        let end = self.format.end();
        send(sender, end).await
    }

    async fn step(
        &mut self,
        step: &ScriptStep,
        sender: &mpsc::Sender<io::Result<String>>,
    ) -> Result<(), Stopped> {
        match step {
            ScriptStep::Say(text) => self.say(text, sender).await,
            ScriptStep::Slow(duration) => self.say_slowly(*duration, sender).await,
            ScriptStep::Hold(name) => self.hold(name, sender).await,
            ScriptStep::Hang => {
                self.say("hanging\n\n", sender).await?;
                self.log.advance(self.number, AnswerStage::Hanging);
                sender.closed().await;
                Err(Stopped(AnswerStage::Left))
            }
            ScriptStep::Cut => {
                self.say("cut\n\n", sender).await?;
                Err(Stopped(AnswerStage::Cut))
            }
            ScriptStep::Tool(command) => {
                let call = self.shell.as_ref().and_then(|shell| shell.run(command));
                self.call(call, sender).await
            }
            ScriptStep::Ask(command) => {
                let call = self.shell.as_ref().and_then(|shell| shell.ask(command));
                self.call(call, sender).await
            }
            ScriptStep::Mcp(call) => {
                let call = mcp_call(&self.tools, call);
                self.call(call, sender).await
            }
            ScriptStep::Call(call) => {
                let call = exact_call(&self.tools, call);
                self.call(call, sender).await
            }
            ScriptStep::AwaitTool(number) => {
                self.call(Some(ShellTool::wait(*number)), sender).await
            }
            // These are always the first step, and are answered before anything is sent.
            ScriptStep::Status(_) | ScriptStep::Limit(_) => Ok(()),
        }
    }

    async fn say(
        &mut self,
        text: &str,
        sender: &mpsc::Sender<io::Result<String>>,
    ) -> Result<(), Stopped> {
        let piece = self.format.text(text);
        send(sender, piece).await
    }

    async fn say_slowly(
        &mut self,
        duration: Duration,
        sender: &mpsc::Sender<io::Result<String>>,
    ) -> Result<(), Stopped> {
        for piece in 1..=SLOW_PIECES {
            self.say(&format!("piece {piece} of {SLOW_PIECES}\n\n"), sender).await?;
            tokio::time::sleep(duration / SLOW_PIECES).await;
        }
        Ok(())
    }

    async fn hold(
        &mut self,
        name: &str,
        sender: &mpsc::Sender<io::Result<String>>,
    ) -> Result<(), Stopped> {
        self.say(&format!("holding {name}\n\n"), sender).await?;
        self.log.advance(self.number, AnswerStage::Holding(name.to_owned()));
        tokio::select! {
            _ = self.released.wait_for(|names| names.contains(name)) => {}
            () = sender.closed() => return Err(Stopped(AnswerStage::Left)),
        }
        self.say(&format!("released {name}\n\n"), sender).await
    }

    async fn call(
        &mut self,
        call: Option<ScriptedToolCall>,
        sender: &mpsc::Sender<io::Result<String>>,
    ) -> Result<(), Stopped> {
        match call {
            Some(call) => {
                let piece = self.format.call(&call);
                send(sender, piece).await
            }
            None => self.say("no such tool was offered", sender).await,
        }
    }
}

async fn send(sender: &mpsc::Sender<io::Result<String>>, piece: String) -> Result<(), Stopped> {
    if piece.is_empty() {
        return Ok(());
    }
    sender.send(Ok(piece)).await.map_err(|_| Stopped(AnswerStage::Left))
}

impl axum::response::IntoResponse for ApiFailure {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers {
            headers.insert(name, value.parse().expect("a header"));
        }
        let status = StatusCode::from_u16(self.status).expect("a status");
        (status, headers, axum::Json(self.body)).into_response()
    }
}

/// The pieces of an answer, as the body of a response.
struct Pieces(mpsc::Receiver<io::Result<String>>);

impl Stream for Pieces {
    type Item = io::Result<String>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// Returns the number of seconds until a time, or 0 if it has passed.
pub(crate) fn seconds_until(time: Timestamp) -> i64 {
    time.as_second().saturating_sub(Timestamp::now().as_second()).max(0)
}

/// Writes one server-sent event.
pub(crate) fn event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or("message");
    format!("event: {name}\ndata: {data}\n\n")
}

/// Writes one server-sent event without a name.
pub(crate) fn data(data: &Value) -> String {
    format!("data: {data}\n\n")
}
