//! Turns of a conversation as updates for the editor.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use segue_core::model::{Role, Tool, Turn};
use segue_core::rules::tool_calls::{self, PlanStep, TextEdit, ToolAction, ToolUse};
use serde_json::Value;

use crate::protocol::{
    CallContent, CallLocation, CallStatus, PlanEntry, SessionUpdate, TextBlock, ToolCallState,
};

/// At most this many bytes of the output of a tool are sent.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Longer arguments of a tool are not sent as they are; the title and the diffs describe them.
const MAX_INPUT_BYTES: usize = 64 * 1024;

/// At most this many calls without a result are remembered.
const MAX_OPEN_CALLS: usize = 256;

/// Converts the turns of one session. It remembers the open tool calls and the prompts whose turns the
/// editor shows already.
#[derive(Debug)]
pub(crate) struct UpdateWriter {
    /// The folder of the session, in which relative paths are.
    folder: PathBuf,
    /// Prompts of the editor that are not in the conversation yet.
    own_prompts: VecDeque<ExpectedPrompt>,
    open_calls: VecDeque<UnfinishedCall>,
    /// How many messages and calls were sent. Their ids contain the number.
    count: u64,
    /// Distinguishes the ids of this process from those of earlier ones.
    run: String,
}

/// A prompt of the editor that is not in the conversation yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExpectedPrompt {
    /// The words of the prompt.
    text: String,
    /// The conversation has the prompt that the program writes for the command.
    is_command: bool,
}

impl ExpectedPrompt {
    pub(crate) fn new(prompt: &str, is_command: bool) -> Self {
        Self { text: words(prompt), is_command }
    }
}

/// A tool call without a result.
#[derive(Debug)]
struct UnfinishedCall {
    /// The vendor's id of the call. May be empty.
    vendor_id: String,
    /// The id that the editor knows. `None` if the editor got a plan instead of a call.
    id: Option<String>,
    has_diff: bool,
}

impl UpdateWriter {
    /// `run` is different in each process.
    pub(crate) fn new(folder: &Path, run: String) -> Self {
        let folder = folder.to_owned();
        Self { folder, own_prompts: VecDeque::new(), open_calls: VecDeque::new(), count: 0, run }
    }

    /// Announces a prompt of the editor, whose turn the editor does not get back.
    pub(crate) fn expect(&mut self, prompt: ExpectedPrompt) {
        self.own_prompts.push_back(prompt);
    }

    /// Forgets a prompt that did not reach the conversation.
    pub(crate) fn forget(&mut self, prompt: &str) {
        let prompt = words(prompt);
        self.own_prompts.retain(|it| it.text != prompt);
    }

    /// Converts a turn.
    pub(crate) fn updates(&mut self, turn: Turn) -> Vec<SessionUpdate> {
        match turn.role {
            Role::User if self.is_own(&turn.text) => Vec::new(),
            Role::User => self.message(turn.text, true).into_iter().collect(),
            Role::Assistant | Role::Summary => self.message(turn.text, false).into_iter().collect(),
            Role::ToolCall => vec![self.call(turn)],
            Role::ToolResult => self.result(turn).into_iter().collect(),
        }
    }

    /// Returns a message of Segue itself.
    pub(crate) fn note(&mut self, text: &str) -> Option<SessionUpdate> {
        self.message(format!("[Segue] {text}"), false)
    }

    /// Returns whether the editor has sent this message, and forgets it then.
    fn is_own(&mut self, text: &str) -> bool {
        let text = words(text);
        let found = self.own_prompts.iter().position(|own| own.is_command || text == own.text);
        found.and_then(|place| self.own_prompts.remove(place)).is_some()
    }

    fn message(&mut self, text: String, is_user: bool) -> Option<SessionUpdate> {
        if text.trim().is_empty() {
            return None;
        }
        let (message_id, content) = (self.next_id("message"), TextBlock { text });
        Some(match is_user {
            true => SessionUpdate::UserMessageChunk { content, message_id },
            false => SessionUpdate::AgentMessageChunk { content, message_id },
        })
    }

    fn next_id(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}-{}-{}", self.run, self.count)
    }

    fn call(&mut self, turn: Turn) -> SessionUpdate {
        let tool = turn.tool.unwrap_or_else(nameless);
        let found = tool_calls::describe(&tool.name, &turn.text);
        let is_plan = found.plan.is_some();
        let id = if tool.id.is_empty() { self.next_id("call") } else { tool.id.clone() };
        let has_diff = !found.edits.is_empty();
        let open =
            UnfinishedCall { vendor_id: tool.id, id: (!is_plan).then(|| id.clone()), has_diff };
        self.open_calls.push_back(open);
        if self.open_calls.len() > MAX_OPEN_CALLS {
            self.open_calls.pop_front();
        }
        match found.plan {
            Some(steps) => SessionUpdate::Plan { entries: steps.into_iter().map(entry).collect() },
            None => SessionUpdate::ToolCall(self.state(id, found, &turn.text)),
        }
    }

    fn state(&self, id: String, found: ToolUse, arguments: &str) -> ToolCallState {
        let location = |path: String| CallLocation { path: self.folder.join(path) };
        let parse = || serde_json::from_str::<Value>(arguments).ok();
        let is_short = arguments.len() <= MAX_INPUT_BYTES;
        ToolCallState {
            tool_call_id: id,
            title: Some(found.title),
            kind: Some(kind(found.action)),
            status: Some(CallStatus::InProgress),
            content: found.edits.into_iter().map(|edit| self.diff(edit)).collect(),
            locations: found.path.map(location).into_iter().collect(),
            raw_input: is_short.then(parse).flatten(),
        }
    }

    fn diff(&self, TextEdit { path, old, new }: TextEdit) -> CallContent {
        CallContent::Diff { path: self.folder.join(path), old_text: old, new_text: new }
    }

    /// Converts the result of a call. A result without its call is shown as a call that is over.
    fn result(&mut self, turn: Turn) -> Option<SessionUpdate> {
        let tool = turn.tool.unwrap_or_else(nameless);
        let place = self.open_calls.iter().position(|it| it.vendor_id == tool.id);
        let open = place.and_then(|place| self.open_calls.remove(place));
        let status = Some(if tool.failed { CallStatus::Failed } else { CallStatus::Completed });
        let content = output(turn.text);
        let Some(UnfinishedCall { id, has_diff, .. }) = open else {
            let id = if tool.id.is_empty() { self.next_id("call") } else { tool.id };
            let title = if tool.name.is_empty() { "tool".to_owned() } else { tool.name };
            let title = Some(title);
            let state =
                ToolCallState { tool_call_id: id, title, status, content, ..Default::default() };
            return Some(SessionUpdate::ToolCall(state));
        };
        // The content replaces the earlier one, and a diff says more than the output of its tool.
        let content = if has_diff && !tool.failed { Vec::new() } else { content };
        let state = ToolCallState { tool_call_id: id?, status, content, ..Default::default() };
        Some(SessionUpdate::ToolCallUpdate(state))
    }
}

fn nameless() -> Tool {
    Tool { id: String::new(), name: String::new(), failed: false }
}

fn kind(action: ToolAction) -> &'static str {
    // The words are the same.
    action.word()
}

fn entry(PlanStep { text, state }: PlanStep) -> PlanEntry {
    PlanEntry { content: text, priority: "medium", status: state.word() }
}

fn output(text: String) -> Vec<CallContent> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let text = match text.len() > MAX_OUTPUT_BYTES {
        true => format!("{}\n[…]", &text[..text.floor_char_boundary(MAX_OUTPUT_BYTES)]),
        false => text,
    };
    vec![CallContent::Content { content: TextBlock { text } }]
}

/// Returns the words of a text. Programs change the white space and add invisible characters.
fn words(text: &str) -> String {
    let is_visible = |it: &char| !matches!(it, '\u{200b}' | '\u{feff}');
    let text: String = text.chars().filter(is_visible).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
