//! A daemon in memory, and a client that sends lines of JSON.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use segue_core::Result;
use segue_core::api::Caller;
use segue_core::model::Environment;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf};
use tokio::io::{WriteHalf, duplex, split};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::port::{ApiCall, ApiCalls};
use crate::stdio::serve;

/// What the fake daemon answers. `None` never answers.
type Answering = Box<dyn Fn(&ApiCall) -> Option<Result<Value>> + Send + Sync>;

/// A daemon in memory. It records all requests.
pub(crate) struct FakeApi {
    answer: Answering,
    has_folder: bool,
    calls: Mutex<Vec<ApiCall>>,
    dropped: AtomicUsize,
    changed: Notify,
}

impl fmt::Debug for FakeApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeApi").finish_non_exhaustive()
    }
}

impl FakeApi {
    pub(crate) fn new(
        answer: impl Fn(&ApiCall) -> Option<Result<Value>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::build(Box::new(answer), true)
    }

    /// Like `new`, for a caller that has no folder.
    pub(crate) fn without_folder(
        answer: impl Fn(&ApiCall) -> Option<Result<Value>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::build(Box::new(answer), false)
    }

    fn build(answer: Answering, has_folder: bool) -> Arc<Self> {
        Arc::new(Self {
            answer,
            has_folder,
            calls: Mutex::default(),
            dropped: AtomicUsize::new(0),
            changed: Notify::new(),
        })
    }

    pub(crate) fn calls(&self) -> Vec<ApiCall> {
        self.calls.lock().unwrap().clone()
    }

    /// Waits until this many requests have arrived.
    pub(crate) async fn wait_calls(&self, count: usize) {
        self.wait(|| self.calls.lock().unwrap().len() >= count).await;
    }

    pub(crate) fn dropped_count(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// Waits until this many requests were given up by the server.
    pub(crate) async fn wait_dropped(&self, count: usize) {
        self.wait(|| self.dropped.load(Ordering::SeqCst) >= count).await;
    }

    async fn wait(&self, is_there: impl Fn() -> bool) {
        loop {
            let changed = self.changed.notified();
            if is_there() {
                return;
            }
            changed.await;
        }
    }
}

/// Counts a request that is dropped before its answer.
struct OpenCall<'a>(&'a FakeApi);

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
}

#[async_trait]
impl ApiCalls for FakeApi {
    fn caller(&self) -> Caller {
        Caller { cwd: "/src/shop".into(), environment: Environment::default() }
    }

    fn has_folder(&self) -> bool {
        self.has_folder
    }

    async fn send(&self, call: ApiCall) -> Result<Value> {
        let answer = (self.answer)(&call);
        self.calls.lock().unwrap().push(call);
        self.changed.notify_waiters();
        match answer {
            Some(answer) => answer,
            None => {
                let _open = OpenCall(self);
                std::future::pending().await
            }
        }
    }
}

/// A client of the server, which sends and reads lines of JSON.
pub(crate) struct LineClient {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) server: JoinHandle<Result<()>>,
}

impl LineClient {
    /// Starts a server for this daemon.
    pub(crate) fn connect(api: Arc<FakeApi>) -> Self {
        let (own, other) = duplex(1 << 20);
        let (input, output) = split(other);
        let server = tokio::spawn(serve(api, input, output));
        let (output, input) = split(own);
        Self { input, output: BufReader::new(output), server }
    }

    /// Starts a server, and does the handshake of 2025-11-25.
    pub(crate) async fn initialized(api: Arc<FakeApi>) -> Self {
        let mut client = Self::connect(api);
        let parameters = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        client.request(0, "initialize", parameters).await;
        client.notify("notifications/initialized", json!({})).await;
        client
    }

    pub(crate) async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    pub(crate) async fn ask(&mut self, id: u64, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    /// Reads the next message of the server.
    pub(crate) async fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request and returns its response.
    pub(crate) async fn request(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.ask(id, method, params).await;
        let response = self.next().await;
        assert_eq!(response["id"], id, "{response}");
        response
    }

    /// Calls a tool. Returns whether it failed, and its text.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> (bool, String) {
        let params = json!({"name": tool, "arguments": arguments});
        let response = self.request(7, "tools/call", params).await;
        let result = &response["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}"));
        (result["isError"] == json!(true), text.to_owned())
    }

    /// Closes the client's end, and waits for the end of the server.
    pub(crate) async fn close(mut self) -> Result<()> {
        self.input.shutdown().await.unwrap();
        self.server.await.unwrap()
    }
}
