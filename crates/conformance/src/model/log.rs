//! The log of all requests to the model and of their answers. It proves which earlier messages a
//! request carried.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;

use super::script::ScriptStep;
use crate::expectation::quoted;
use crate::world::DEADLINE;

/// The log keeps at most this many request bodies. They are large, and a long test sends thousands.
const MAX_BODIES: usize = 50;

/// The wire format of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

/// The author of a part of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeakerRole {
    User,
    Assistant,
    /// A tool call of the assistant, with its arguments as JSON.
    ToolCall,
    ToolResult,
    /// The summary with which a compaction replaced earlier messages.
    Summary,
}

/// One part of a conversation, without the text that the vendor added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangePart {
    pub role: SpeakerRole,
    pub text: String,
}

impl ExchangePart {
    pub(crate) fn new(role: SpeakerRole, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }
}

/// How far an answer has been sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerStage {
    /// The request was parsed. Possibly nothing of the answer was sent yet.
    Arrived,
    /// Everything before the hold of this name was sent. The answer waits to be released.
    Holding(String),
    /// Everything before a hang was sent. Nothing more will be sent.
    Hanging,
    /// Everything was passed to the connection: text, tool call or failure.
    Whole,
    /// The connection was closed in the middle of the answer, as the script demands.
    Cut,
    /// The client disconnected before the end.
    Left,
}

/// A request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The number of the request, from 1.
    pub number: usize,
    pub api: Api,
    pub path: String,
    /// The vendor's own id of the conversation, from the request's headers.
    pub session: Option<String>,
    /// The conversation, the oldest part first.
    pub turns: Vec<ExchangePart>,
    /// Whether the request offers tools.
    pub has_tools: bool,
    /// Whether the request is not part of a conversation with a person, such as a request for a
    /// title, a token count, a suggestion or a compaction.
    pub is_background: bool,
    /// The steps of the answer.
    pub answer: Vec<ScriptStep>,
    pub stage: AnswerStage,
    /// The body of the request. Null in all but the newest requests.
    pub body: Arc<Value>,
}

impl Exchange {
    /// Returns all messages of the user, the oldest first.
    pub fn user_texts(&self) -> Vec<&str> {
        self.texts(SpeakerRole::User)
    }

    /// Returns all messages of the assistant, the oldest first.
    pub fn assistant_texts(&self) -> Vec<&str> {
        self.texts(SpeakerRole::Assistant)
    }

    pub fn texts(&self, role: SpeakerRole) -> Vec<&str> {
        let parts = self.turns.iter().filter(|part| part.role == role);
        parts.map(|part| part.text.as_str()).collect()
    }

    /// Returns the newest message of the user. Empty if there is none.
    pub fn newest(&self) -> &str {
        self.user_texts().pop().unwrap_or_default()
    }

    /// Returns whether any part of the conversation contains this text.
    pub fn mentions(&self, word: &str) -> bool {
        self.turns.iter().any(|part| part.text.contains(word))
    }
}

/// All exchanges, and a condition variable for threads that wait for an exchange.
#[derive(Debug, Default)]
pub(crate) struct ExchangeLog {
    exchanges: Mutex<Vec<Exchange>>,
    changed: Condvar,
}

impl ExchangeLog {
    /// Records a request. Returns its number.
    pub(crate) fn add(&self, mut exchange: Exchange) -> usize {
        let mut exchanges = self.lock();
        let number = exchanges.len() + 1;
        exchange.number = number;
        exchanges.push(exchange);
        if let Some(old) = number.checked_sub(MAX_BODIES + 1) {
            exchanges[old].body = Arc::default();
        }
        drop(exchanges);
        self.changed.notify_all();
        number
    }

    pub(crate) fn advance(&self, number: usize, stage: AnswerStage) {
        if let Some(exchange) = self.lock().get_mut(number - 1) {
            exchange.stage = stage;
        }
        self.changed.notify_all();
    }

    pub(crate) fn all(&self) -> Vec<Exchange> {
        self.lock().clone()
    }

    /// Waits until `is_wanted` returns true for an exchange. Returns the oldest such exchange.
    /// After the deadline, returns a list of all exchanges as the error.
    pub(crate) fn wait_for(
        &self,
        is_wanted: impl Fn(&Exchange) -> bool,
    ) -> Result<Exchange, String> {
        let deadline = Instant::now() + DEADLINE;
        let mut exchanges = self.lock();
        loop {
            if let Some(found) = exchanges.iter().find(|it| is_wanted(it)) {
                return Ok(found.clone());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let known: Vec<String> = exchanges.iter().map(summary).collect();
                drop(exchanges);
                return Err(format!("only these requests:\n{}", known.join("\n")));
            }
            let waited = self.changed.wait_timeout(exchanges, left);
            exchanges = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn summary(exchange: &Exchange) -> String {
    let Exchange { number, path, is_background, stage, .. } = exchange;
    let kind = if *is_background { "background" } else { "conversation" };
    let texts = quoted(&exchange.user_texts());
    format!("#{number} {path}, {kind}, answer {stage:?}, carried {texts}")
}
