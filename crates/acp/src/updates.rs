//! Turns of a conversation as updates for the editor.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use segue_core::model::{Role, Tool, Turn};
use segue_core::rules::tool_calls::{
    self, AgentSteps, PlanEdit, PlanStep, TextEdit, ToolAction, ToolUse,
};
use serde_json::Value;

use crate::protocol::{
    CallContent, CallLocation, CallStatus, PlanEntry, SessionUpdate, TextBlock, ToolCallState,
};

/// At most this many bytes of the output of a tool are sent.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Longer arguments of a tool are not sent as they are; the title and the diffs describe them.
const MAX_INPUT_BYTES: usize = 64 * 1024;

/// At most this many calls without a result are remembered, and as many with a result.
const MAX_OPEN_CALLS: usize = 256;

/// Converts the turns of one session. It remembers the open tool calls and the prompts whose turns the
/// editor shows already.
#[derive(Debug)]
pub(crate) struct UpdateWriter {
    /// The folder of the session, in which relative paths are.
    folder: PathBuf,
    /// Prompts of the editor that are not in the conversation yet.
    own_prompts: VecDeque<String>,
    /// The next message of the user is the prompt that the program writes for a command of the editor.
    expects_command: bool,
    open_calls: VecDeque<UnfinishedCall>,
    /// The vendor's ids of the last calls with a result. Some transcripts have a result twice.
    finished_calls: VecDeque<String>,
    /// The steps of an agent that writes them one by one.
    steps: AgentSteps,
    /// How many messages and calls were sent. Their ids contain the number.
    count: u64,
    /// Distinguishes the ids of this process from those of earlier ones.
    run: String,
}

/// A tool call without a result.
#[derive(Debug)]
struct UnfinishedCall {
    /// The vendor's id of the call. May be empty.
    vendor_id: String,
    /// The id that the editor knows, or gets if the call fails.
    id: String,
    kind: UnfinishedKind,
}

/// How the editor shows a call without a result.
#[derive(Debug)]
enum UnfinishedKind {
    /// As a tool call.
    Call { has_diff: bool },
    /// As a plan, which replaces the call with this title if it succeeds.
    Plan { title: String, edit: PlanEdit },
}

impl UpdateWriter {
    /// `run` is different in each process.
    pub(crate) fn new(folder: &Path, run: String) -> Self {
        Self {
            folder: folder.to_owned(),
            own_prompts: VecDeque::new(),
            expects_command: false,
            open_calls: VecDeque::new(),
            finished_calls: VecDeque::new(),
            steps: AgentSteps::default(),
            count: 0,
            run,
        }
    }

    /// Announces a prompt of the editor, whose turn the editor does not get back.
    pub(crate) fn expect(&mut self, prompt: &str) {
        self.own_prompts.push_back(words(prompt));
    }

    /// Announces that the next message of the user is the prompt of the editor's command, or that it
    /// is not.
    pub(crate) fn expect_command(&mut self, is_expected: bool) {
        self.expects_command = is_expected;
    }

    /// Forgets a prompt that did not reach the conversation.
    pub(crate) fn forget(&mut self, prompt: &str) {
        let prompt = words(prompt);
        self.own_prompts.retain(|it| *it != prompt);
    }

    /// Converts a turn.
    pub(crate) fn updates(&mut self, turn: Turn) -> Vec<SessionUpdate> {
        match turn.role {
            Role::User if self.is_own(&turn.text) => Vec::new(),
            Role::User => self.message(turn.text, true).into_iter().collect(),
            Role::Assistant | Role::Summary => self.message(turn.text, false).into_iter().collect(),
            Role::ToolCall => self.call(turn).into_iter().collect(),
            Role::ToolResult if self.has_result(&turn) => Vec::new(),
            Role::ToolResult => vec![self.result(turn)],
        }
    }

    /// Returns a message of Segue itself.
    pub(crate) fn note(&mut self, text: &str) -> Option<SessionUpdate> {
        self.message(format!("[Segue] {text}"), false)
    }

    /// Returns whether the editor has sent this message, and forgets it then.
    fn is_own(&mut self, text: &str) -> bool {
        if std::mem::take(&mut self.expects_command) {
            return true;
        }
        let text = words(text);
        let found = self.own_prompts.iter().position(|own| text == *own);
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

    /// Returns whether the call of a result has a result already, and remembers that it has.
    fn has_result(&mut self, result: &Turn) -> bool {
        let id = result.tool.as_ref().map_or("", |tool| tool.id.as_str());
        let is_open = self.open_calls.iter().any(|it| it.vendor_id == id);
        if id.is_empty() || is_open {
            self.finished_calls.retain(|it| it != id);
        } else if self.finished_calls.iter().any(|it| it == id) {
            return true;
        }
        self.finished_calls.push_back(id.to_owned());
        if self.finished_calls.len() > MAX_OPEN_CALLS {
            self.finished_calls.pop_front();
        }
        false
    }

    /// Converts a call. A call that changes the plan is shown when its result is there.
    fn call(&mut self, turn: Turn) -> Option<SessionUpdate> {
        let tool = turn.tool.unwrap_or_else(nameless);
        let mut found = tool_calls::describe(&tool.name, &turn.text);
        let id = if tool.id.is_empty() { self.next_id("call") } else { tool.id.clone() };
        let kind = match found.plan.take() {
            Some(edit) => UnfinishedKind::Plan { title: found.title.clone(), edit },
            None => UnfinishedKind::Call { has_diff: !found.edits.is_empty() },
        };
        let is_plan = matches!(kind, UnfinishedKind::Plan { .. });
        self.open_calls.push_back(UnfinishedCall { vendor_id: tool.id, id: id.clone(), kind });
        if self.open_calls.len() > MAX_OPEN_CALLS {
            self.open_calls.pop_front();
        }
        (!is_plan).then(|| SessionUpdate::ToolCall(self.state(id, found, &turn.text)))
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

    /// Converts the result of a call. A result without its call is shown as a call that is over, and
    /// so is a call that was to change the plan and has not.
    fn result(&mut self, turn: Turn) -> SessionUpdate {
        let tool = turn.tool.unwrap_or_else(nameless);
        let place = self.open_calls.iter().position(|it| it.vendor_id == tool.id);
        let open = place.and_then(|place| self.open_calls.remove(place));
        match open {
            Some(UnfinishedCall { id, kind: UnfinishedKind::Call { has_diff }, .. }) => {
                let status = Some(status(tool.failed));
                // The content replaces the earlier one, and a diff says more than the output of its
                // tool.
                let is_shown = has_diff && !tool.failed;
                let content = if is_shown { Vec::new() } else { output(turn.text) };
                let state =
                    ToolCallState { tool_call_id: id, status, content, ..Default::default() };
                SessionUpdate::ToolCallUpdate(state)
            }
            Some(UnfinishedCall { id, kind: UnfinishedKind::Plan { title, edit }, .. }) => {
                let applied = (!tool.failed).then(|| self.steps.apply(edit, &turn.text)).flatten();
                match applied {
                    Some(steps) => plan(steps),
                    None => over(id, title, tool.failed, turn.text),
                }
            }
            None => {
                let id = if tool.id.is_empty() { self.next_id("call") } else { tool.id };
                let title = if tool.name.is_empty() { "tool".to_owned() } else { tool.name };
                over(id, title, tool.failed, turn.text)
            }
        }
    }
}

fn status(has_failed: bool) -> CallStatus {
    if has_failed { CallStatus::Failed } else { CallStatus::Completed }
}

/// Returns a call of which the editor sees only the end.
fn over(id: String, title: String, has_failed: bool, result: String) -> SessionUpdate {
    SessionUpdate::ToolCall(ToolCallState {
        tool_call_id: id,
        title: Some(title),
        status: Some(status(has_failed)),
        content: output(result),
        ..Default::default()
    })
}

fn plan(steps: Vec<PlanStep>) -> SessionUpdate {
    SessionUpdate::Plan { entries: steps.into_iter().map(entry).collect() }
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
