//! What the model was asked and what became of it: the proof that a history was carried.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;

use super::script::Step;
use crate::expectation::quoted;
use crate::world::DEADLINE;

/// How many requests are kept as they came. They are large, and a long test makes thousands.
const KEPT: usize = 50;

/// The wire format of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

/// Who said something in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
    /// A tool that the assistant called, with its arguments as JSON.
    ToolCall,
    ToolResult,
    /// What a compaction left of what was said before.
    Summary,
}

/// One thing that was said, without what the vendor put around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub role: Role,
    pub text: String,
}

impl Said {
    pub(crate) fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }
}

/// How far an answer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The request was read; nothing of the answer need have been sent.
    Arrived,
    /// What comes before the hold of this name was sent; it waits to be released.
    Holding(String),
    /// What comes before a hang was sent; nothing more will be.
    Hanging,
    /// Everything was handed to the connection: text, tool call or failure.
    Whole,
    /// The connection was closed in the middle, as the script has it.
    Cut,
    /// The client went away before the end.
    Left,
}

/// A request, and what it was answered.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its place among all requests, from one.
    pub number: usize,
    pub api: Api,
    pub path: String,
    /// The vendor's own id of the conversation, as its headers tell it.
    pub session: Option<String>,
    /// The conversation as a person would tell it, the oldest first.
    pub turns: Vec<Said>,
    /// Whether the request offers tools.
    pub tools: bool,
    /// Whether the vendor asks for itself: titles, counted tokens, suggestions, compactions.
    pub background: bool,
    /// The steps of the answer.
    pub answer: Vec<Step>,
    pub stage: Stage,
    /// The request as it came; nothing in all but the newest ones.
    pub body: Arc<Value>,
}

impl Exchange {
    /// Returns all that the user said, the oldest first.
    pub fn user_texts(&self) -> Vec<&str> {
        self.texts(Role::User)
    }

    /// Returns all that the assistant said, the oldest first.
    pub fn assistant_texts(&self) -> Vec<&str> {
        self.texts(Role::Assistant)
    }

    pub fn texts(&self, role: Role) -> Vec<&str> {
        let own = self.turns.iter().filter(|said| said.role == role);
        own.map(|said| said.text.as_str()).collect()
    }

    /// Returns the newest thing that the user said.
    pub fn newest(&self) -> &str {
        self.user_texts().pop().unwrap_or_default()
    }

    /// Tells whether anybody said this word in the conversation.
    pub fn mentions(&self, word: &str) -> bool {
        self.turns.iter().any(|said| said.text.contains(word))
    }
}

/// All exchanges, and waiting for them.
#[derive(Debug, Default)]
pub(crate) struct Log {
    exchanges: Mutex<Vec<Exchange>>,
    changed: Condvar,
}

impl Log {
    /// Notes a request; returns its number.
    pub(crate) fn add(&self, mut exchange: Exchange) -> usize {
        let mut exchanges = self.lock();
        let number = exchanges.len() + 1;
        exchange.number = number;
        exchanges.push(exchange);
        if let Some(old) = number.checked_sub(KEPT + 1) {
            exchanges[old].body = Arc::default();
        }
        drop(exchanges);
        self.changed.notify_all();
        number
    }

    pub(crate) fn advance(&self, number: usize, stage: Stage) {
        if let Some(exchange) = self.lock().get_mut(number - 1) {
            exchange.stage = stage;
        }
        self.changed.notify_all();
    }

    pub(crate) fn all(&self) -> Vec<Exchange> {
        self.lock().clone()
    }

    /// Waits until one is so, which it may be already; returns the oldest one that is. After the
    /// deadline it returns what there was instead.
    pub(crate) fn wait_for(&self, wanted: impl Fn(&Exchange) -> bool) -> Result<Exchange, String> {
        let end = Instant::now() + DEADLINE;
        let mut exchanges = self.lock();
        loop {
            if let Some(found) = exchanges.iter().find(|it| wanted(it)) {
                return Ok(found.clone());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let known: Vec<String> = exchanges.iter().map(summary).collect();
                drop(exchanges);
                return Err(format!("these requests:\n{}", known.join("\n")));
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
    let Exchange { number, path, background, stage, .. } = exchange;
    let kind = if *background { "of the program itself" } else { "of the conversation" };
    let said = quoted(&exchange.user_texts());
    format!("#{number} {path}, {kind}, answer {stage:?}, carried {said}")
}
