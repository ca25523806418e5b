//! What all APIs' requests have in common.

use std::sync::Arc;

use serde_json::{Value, json};

use super::log::{Api, Exchange, Said, Stage};
use super::script::{self, Step};
use super::tool::Shell;

/// A request that was read.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) api: Api,
    pub(crate) session: Option<String>,
    pub(crate) turns: Vec<Said>,
    pub(crate) shell: Option<Shell>,
    pub(crate) tools: bool,
    pub(crate) background: bool,
    /// The shape of the answer, where the request asks for one.
    pub(crate) schema: Option<Value>,
    pub(crate) body: Arc<Value>,
}

impl Asked {
    /// Tells whether the answer is to come in pieces.
    pub(crate) fn streams(&self) -> bool {
        self.body["stream"] == true
    }

    /// Decides the answer. No marker counts in what a vendor asks for itself.
    pub(crate) fn plan(&self) -> Vec<Step> {
        match &self.schema {
            Some(schema) => vec![Step::Say(filled(schema).to_string())],
            None if self.background => vec![Step::Say(script::carried(&self.turns))],
            None => script::plan(&self.turns),
        }
    }

    /// Returns the entry of the log.
    pub(crate) fn exchange(&self, path: &str, answer: Vec<Step>) -> Exchange {
        Exchange {
            number: 0,
            api: self.api,
            path: path.to_owned(),
            session: self.session.clone(),
            turns: self.turns.clone(),
            tools: self.tools,
            background: self.background,
            answer,
            stage: Stage::Arrived,
            body: Arc::clone(&self.body),
        }
    }
}

/// Returns something of this shape.
pub(crate) fn filled(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("object") => properties.map(|(name, inner)| (name.clone(), filled(inner))).collect(),
        Some("array") => json!([]),
        Some("boolean") => json!(false),
        Some("number" | "integer") => json!(0),
        _ => json!("Scripted"),
    }
}
