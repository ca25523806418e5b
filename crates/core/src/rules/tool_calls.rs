//! Describes tool calls for programs that show them: what a call does, which files it changes and how,
//! and the plan that it writes. Decided from the names and the shapes of the arguments, which are
//! similar in all vendors. A call that is not understood is described by its name alone.

mod patch;
mod steps;

use serde_json::{Map, Value};

use crate::word_enum::word_enum;

pub use steps::{AgentSteps, PlanEdit};

/// The longest title of a call, in characters.
const MAX_TITLE_CHARS: usize = 200;

/// The names of the argument that is the path of a file, the most exact first.
const PATHS: [&str; 7] =
    ["file_path", "filePath", "absolute_path", "path", "filename", "file", "notebook_path"];

/// The names of the arguments that are the text before and after an edit.
const REPLACEMENTS: [(&str, &str); 4] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
];

/// The names of the argument that is the whole content of a written file.
const CONTENTS: [&str; 4] = ["content", "file_text", "contents", "text"];

/// The names of the argument that says best what a call does, if it has no path.
const SUBJECTS: [&str; 6] = ["command", "cmd", "pattern", "query", "url", "description"];

word_enum! {
    /// What a tool does, as far as its name and its arguments show it.
    pub enum ToolAction {
        Read = "read",
        Edit = "edit",
        Delete = "delete",
        Search = "search",
        Execute = "execute",
        Fetch = "fetch",
        Other = "other",
    }
}

word_enum! {
    /// How far a step of an agent's plan is.
    pub enum StepState {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
    }
}

/// What a tool call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUse {
    /// One line for people.
    pub title: String,
    pub action: ToolAction,
    /// The file that the call is about, as the agent wrote it.
    pub path: Option<String>,
    pub edits: Vec<TextEdit>,
    /// What the call does to the agent's plan.
    pub plan: Option<PlanEdit>,
}

/// A part of a file before and after a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The path as the agent wrote it.
    pub path: String,
    /// `None` if the file is written as a whole.
    pub old: Option<String>,
    pub new: String,
}

/// A step of an agent's plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    pub text: String,
    pub state: StepState,
}

/// Describes a tool call by the name of the tool and its arguments, which are JSON or text.
pub fn describe(name: &str, arguments: &str) -> ToolUse {
    let parsed = serde_json::from_str::<Value>(arguments).ok();
    let empty = Map::new();
    let fields = parsed.as_ref().and_then(Value::as_object).unwrap_or(&empty);
    let edits = edits(fields, arguments);
    let path = text(fields, &PATHS).map(str::to_owned);
    let path = path.or_else(|| edits.first().map(|edit| edit.path.clone()));
    let plan = steps::edit(name, fields);
    let action = if edits.is_empty() { action(name, fields) } else { ToolAction::Edit };
    ToolUse { title: title(name, path.as_deref(), fields), action, path, edits, plan }
}

/// Returns the first of the arguments that is a text.
fn text<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| fields.get(*name)?.as_str())
}

fn edits(fields: &Map<String, Value>, arguments: &str) -> Vec<TextEdit> {
    let patched = fields.values().filter_map(Value::as_str).chain([arguments]);
    if let Some(edits) = patched.map(patch::edits).find(|edits| !edits.is_empty()) {
        return edits;
    }
    let Some(path) = text(fields, &PATHS) else { return Vec::new() };
    let several = fields.get("edits").and_then(Value::as_array);
    let parts = several.into_iter().flatten().filter_map(Value::as_object).chain([fields]);
    let replaced: Vec<TextEdit> = parts.filter_map(|part| replacement(path, part)).collect();
    if !replaced.is_empty() {
        return replaced;
    }
    let written = text(fields, &CONTENTS);
    written.map(|new| edit(path, None, new)).into_iter().collect()
}

fn replacement(path: &str, fields: &Map<String, Value>) -> Option<TextEdit> {
    let both = |(old, new)| Some((fields.get(old)?.as_str()?, fields.get(new)?.as_str()?));
    let (old, new) = REPLACEMENTS.into_iter().find_map(both)?;
    Some(edit(path, Some(old), new))
}

fn edit(path: &str, old: Option<&str>, new: &str) -> TextEdit {
    TextEdit { path: path.to_owned(), old: old.map(str::to_owned), new: new.to_owned() }
}

/// Returns what a call does, from the words in the name of the tool.
fn action(name: &str, fields: &Map<String, Value>) -> ToolAction {
    const WORDS: [(ToolAction, &[&str]); 6] = [
        (ToolAction::Fetch, &["fetch", "web", "http"]),
        (ToolAction::Search, &["grep", "glob", "search", "find", "list", "ls"]),
        (ToolAction::Delete, &["delete", "remove"]),
        (ToolAction::Edit, &["edit", "write", "patch", "replace", "create"]),
        (ToolAction::Read, &["read", "view", "cat"]),
        (ToolAction::Execute, &["bash", "shell", "exec", "command", "terminal"]),
    ];
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let named = WORDS.into_iter().find(|(_, words)| has(words)).map(|(action, _)| action);
    let runs = || fields.contains_key("command").then_some(ToolAction::Execute);
    named.or_else(runs).unwrap_or(ToolAction::Other)
}

/// Returns the name of the tool with what the call is about.
fn title(name: &str, path: Option<&str>, fields: &Map<String, Value>) -> String {
    let name = if name.is_empty() { "tool" } else { name };
    let subject = path.or_else(|| text(fields, &SUBJECTS)).unwrap_or_default();
    let words = format!("{name} {subject}");
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_TITLE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
