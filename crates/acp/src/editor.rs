//! The connection to the editor: requests, notifications and answers, each of them a line of JSON.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::{Error, Kind};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::protocol::{EditorMessage, ErrorCode, SessionUpdate};

/// How many lines wait for an editor that does not read. Then everything waits for it.
const WAITING_LINES: usize = 64;

/// Sends messages to the editor. Messages to an editor that is gone are dropped.
#[derive(Clone, Debug)]
pub(crate) struct EditorLink {
    lines: mpsc::Sender<String>,
    questions: Arc<Mutex<HashMap<u64, oneshot::Sender<Option<Value>>>>>,
    last_question: Arc<AtomicU64>,
}

/// A request to the editor.
#[derive(Debug)]
pub(crate) struct EditorQuestion {
    pub(crate) id: u64,
    /// `None` if the editor answers with an error.
    pub(crate) answer: oneshot::Receiver<Option<Value>>,
}

impl EditorLink {
    /// Returns an editor, and the lines that it has to get.
    pub(crate) fn new() -> (Self, mpsc::Receiver<String>) {
        let (lines, waiting) = mpsc::channel(WAITING_LINES);
        (Self { lines, questions: Arc::default(), last_question: Arc::default() }, waiting)
    }

    pub(crate) async fn answer(&self, id: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    }

    pub(crate) async fn fail(&self, id: &Value, code: ErrorCode, error: &Error) {
        let message = std::iter::once(error.to_string())
            .chain(error.hints.iter().map(|hint| format!("hint: {hint}")))
            .collect::<Vec<_>>()
            .join("\n");
        let data = json!({"kind": error.kind.word(), "details": message});
        let error = json!({"code": code as i32, "message": message, "data": data});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error})).await;
    }

    /// Answers a request with a result or an error.
    pub(crate) async fn complete(&self, id: &Value, result: Result<Value, Error>) {
        match result {
            Ok(result) => self.answer(id, &result).await,
            Err(error) => self.fail(id, code(error.kind), &error).await,
        }
    }

    pub(crate) async fn update(&self, session: &str, update: &SessionUpdate) {
        self.notify("session/update", &json!({"sessionId": session, "update": update})).await;
    }

    pub(crate) async fn notify(&self, method: &str, params: &impl Serialize) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Sends a request.
    pub(crate) async fn ask(&self, method: &str, params: &impl Serialize) -> EditorQuestion {
        let id = self.last_question.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        self.questions().insert(id, sender);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        EditorQuestion { id, answer }
    }

    /// Takes a request back. A later answer is ignored.
    pub(crate) async fn take_back(&self, id: u64) {
        self.questions().remove(&id);
        self.notify("$/cancel_request", &json!({"requestId": id})).await;
    }

    /// Passes an answer of the editor on to the request that waits for it.
    pub(crate) fn answered(&self, message: EditorMessage) {
        let id = message.id.as_ref().and_then(Value::as_u64);
        let Some(asker) = id.and_then(|id| self.questions().remove(&id)) else { return };
        // An asker that is gone needs no answer.
        let _unsent = asker.send(message.result.filter(|_| message.error.is_none()));
    }

    fn questions(&self) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Option<Value>>>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, message: &Value) {
        // The process ends when the editor is gone.
        let _gone = self.lines.send(message.to_string()).await;
    }
}

fn code(kind: Kind) -> ErrorCode {
    match kind {
        Kind::NotFound => ErrorCode::NotFound,
        Kind::Usage | Kind::Config => ErrorCode::InvalidParams,
        _ => ErrorCode::Internal,
    }
}
