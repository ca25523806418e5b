//! A scripted model server in the test's own process. It answers the requests of the vendors'
//! programs.

mod answer;
mod anthropic;
mod chat;
mod gemini;
mod log;
mod request;
mod responses;
mod script;
mod tool;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

use crate::expectation::unmet;

use answer::{AnswerFormat, FailureFormat, ScriptedAnswer};
use anthropic::AnthropicAnswer;
use chat::Completion;
use gemini::GeminiAnswer;
use log::ExchangeLog;
use request::ParsedRequest;
use responses::Responses;

pub use log::{AnswerStage, Api, Exchange, ExchangePart, SpeakerRole};
pub use script::ScriptStep;

/// A model server on the loopback address. It runs until this value is dropped.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    state: ModelServerState,
    released: watch::Sender<BTreeSet<String>>,
    serving: Mutex<Option<Serving>>,
}

/// The state that all requests share: the log, and the released holds.
#[derive(Clone, Debug)]
struct ModelServerState {
    log: Arc<ExchangeLog>,
    released: watch::Receiver<BTreeSet<String>>,
}

/// The thread that serves all connections. They close when it ends.
#[derive(Debug)]
struct Serving {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Model {
    /// Starts a server on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (released, receiver) = watch::channel(BTreeSet::new());
        let state = ModelServerState { log: Arc::default(), released: receiver };
        let serving = Mutex::new(Some(Serving::start(listener, state.clone())));
        Self { address, state, released, serving }
    }

    /// Returns the server's address without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns every request so far, the oldest first.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.state.log.all()
    }

    /// Returns every request so far that belongs to a conversation with a person, the oldest first.
    pub fn conversations(&self) -> Vec<Exchange> {
        self.exchanges().into_iter().filter(|it| !it.is_background).collect()
    }

    /// Returns the newest such request that contains this text.
    pub fn conversation_of(&self, word: &str) -> Option<Exchange> {
        self.conversations().into_iter().rfind(|it| it.mentions(word))
    }

    /// Waits until `is_wanted` returns true for a request, which may have arrived already. Returns
    /// the oldest such request.
    pub fn wait_for(&self, is_wanted: impl Fn(&Exchange) -> bool) -> Exchange {
        let found = self.state.log.wait_for(is_wanted);
        found.unwrap_or_else(|seen| unmet("the awaited request", &seen))
    }

    /// Waits for a request whose newest message of the user contains this text.
    pub fn wait_asked(&self, word: &str) -> Exchange {
        self.wait_for(|it| !it.is_background && it.newest().contains(word))
    }

    /// Waits until a request whose newest message of the user contains this text was answered
    /// completely.
    pub fn wait_answered(&self, word: &str) -> Exchange {
        let found = self.answered(word);
        found.unwrap_or_else(|seen| unmet(format!("\"{word}\" reaches the model"), &seen))
    }

    /// Waits until a request whose newest message of the user contains this text was answered
    /// completely. After the deadline, returns a list of all requests as the error.
    pub(crate) fn answered(&self, word: &str) -> Result<Exchange, String> {
        let asks = |it: &Exchange| !it.is_background && it.newest().contains(word);
        self.state.log.wait_for(|it| asks(it) && it.stage == AnswerStage::Whole)
    }

    /// Waits until an answer reaches the hold of this name. Everything before the hold was sent.
    pub fn wait_held(&self, name: &str) -> Exchange {
        self.wait_for(|it| it.stage == AnswerStage::Holding(name.to_owned()))
    }

    /// Lets every answer pass the hold of this name, now and later.
    pub fn release(&self, name: &str) {
        self.released.send_modify(|names| {
            names.insert(name.to_owned());
        });
    }

    /// Closes all connections and the port, so that new connections are refused.
    pub fn refuse(&self) {
        let serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(serving) = serving {
            serving.stop();
        }
    }

    /// Opens the same port again.
    pub fn accept(&self) {
        let mut serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner);
        if serving.is_none() {
            let listener = TcpListener::bind(self.address).expect("the same port");
            *serving = Some(Serving::start(listener, self.state.clone()));
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.refuse();
    }
}

impl Serving {
    fn start(listener: TcpListener, state: ModelServerState) -> Self {
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || serve(listener, state, stopped));
        Self { stop, thread }
    }

    fn stop(self) {
        // The receiver is gone only if the thread has panicked, which `join` reports.
        let _gone = self.stop.send(());
        self.thread.join().expect("the model server ends without a panic");
    }
}

fn serve(listener: TcpListener, state: ModelServerState, stopped: oneshot::Receiver<()>) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("a listener");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        tokio::select! {
            served = async { axum::serve(listener, router(state)).await } => served.expect("served"),
            _ = stopped => {}
        }
    });
}

fn router(state: ModelServerState) -> Router {
    Router::new()
        .route("/", get(async || ""))
        .route("/v1/messages", answers(anthropic::read, AnthropicAnswer::new))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/responses", answers(responses::read, Responses::new))
        .route("/v1/chat/completions", answers(chat::read, Completion::new))
        .route("/v1beta/models/{task}", post(contents))
        .route("/v1/models", get(async || Json(json!({"object": "list", "data": []}))))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(state)
}

/// Answers requests of an API: `read` parses a request, `format` returns the writer of its answer.
fn answers<V: AnswerFormat + FailureFormat>(
    read: fn(&HeaderMap, Value) -> ParsedRequest,
    format: fn(&ParsedRequest) -> V,
) -> MethodRouter<ModelServerState> {
    post(
        async move |State(state): State<ModelServerState>,
                    uri: Uri,
                    headers: HeaderMap,
                    Json(body): Json<Value>| {
            let request = read(&headers, body);
            let format = format(&request);
            state.answer(&uri, request, format)
        },
    )
}

/// Answers a request to a path of Gemini, which ends in `NAME:TASK`.
async fn contents(
    State(state): State<ModelServerState>,
    Path(task): Path<String>,
    uri: Uri,
    Json(body): Json<Value>,
) -> Response {
    let (model, task) = task.split_once(':').unwrap_or((&task, ""));
    let request = gemini::read(body);
    if task == "countTokens" {
        return state.count(&uri, request, json!({"totalTokens": 10}));
    }
    let format = GeminiAnswer::new(model, task.starts_with("stream"));
    state.answer(&uri, request, format)
}

async fn count_tokens(
    State(state): State<ModelServerState>,
    uri: Uri,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let request = anthropic::read(&headers, body);
    state.count(&uri, request, json!({"input_tokens": 10}))
}

impl ModelServerState {
    /// Answers a request for a token count, which is not part of a conversation.
    fn count(self, uri: &Uri, mut request: ParsedRequest, tokens: Value) -> Response {
        request.is_background = true;
        let number = self.log.add(request.exchange(uri.path(), Vec::new()));
        self.log.advance(number, AnswerStage::Whole);
        Json(tokens).into_response()
    }

    fn answer(
        self,
        uri: &Uri,
        request: ParsedRequest,
        format: impl AnswerFormat + FailureFormat,
    ) -> Response {
        let steps = request.plan();
        let number = self.log.add(request.exchange(uri.path(), steps.clone()));
        let Self { log, released } = self;
        let (shell, tools) = (request.shell, request.tools);
        ScriptedAnswer { number, steps, shell, tools, format, log, released }.respond()
    }
}
