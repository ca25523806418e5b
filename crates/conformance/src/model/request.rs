//! The common form of the requests of all APIs.

use std::sync::Arc;

use serde_json::{Value, json};

use super::log::{AnswerStage, Api, Exchange, ExchangePart};
use super::script::{self, ScriptStep};
use super::tool::ShellTool;

/// A parsed request.
#[derive(Debug)]
pub(crate) struct ParsedRequest {
    pub(crate) api: Api,
    pub(crate) session: Option<String>,
    pub(crate) turns: Vec<ExchangePart>,
    pub(crate) shell: Option<ShellTool>,
    pub(crate) has_tools: bool,
    /// The tools, as the API writes them.
    pub(crate) tools: Value,
    pub(crate) is_background: bool,
    /// The JSON schema of the answer, if the request contains one.
    pub(crate) schema: Option<Value>,
    pub(crate) body: Arc<Value>,
}

impl ParsedRequest {
    /// Returns whether the request asks for a streamed answer.
    pub(crate) fn wants_stream(&self) -> bool {
        self.body["stream"] == true
    }

    /// Decides the answer. Ignores markers in a background request.
    pub(crate) fn plan(&self) -> Vec<ScriptStep> {
        match &self.schema {
            Some(schema) => vec![ScriptStep::Say(example(schema).to_string())],
            None if self.is_background => vec![ScriptStep::Say(script::carried(&self.turns))],
            None => script::plan(&self.turns),
        }
    }

    /// Returns the log entry of the request.
    pub(crate) fn exchange(&self, path: &str, answer: Vec<ScriptStep>) -> Exchange {
        Exchange {
            number: 0,
            api: self.api,
            path: path.to_owned(),
            session: self.session.clone(),
            turns: self.turns.clone(),
            has_tools: self.has_tools,
            is_background: self.is_background,
            answer,
            stage: AnswerStage::Arrived,
            body: Arc::clone(&self.body),
        }
    }
}

/// Returns a value that matches this JSON schema.
pub(crate) fn example(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("object") => properties.map(|(name, inner)| (name.clone(), example(inner))).collect(),
        Some("array") => json!([]),
        Some("boolean") => json!(false),
        Some("number" | "integer") => json!(0),
        _ => json!("Scripted"),
    }
}
