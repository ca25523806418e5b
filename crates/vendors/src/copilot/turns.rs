//! Reads a transcript as turns.

use std::path::Path;

use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{EachTurn, Files};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::records::{CopilotEvent, CopilotMessage, CopilotRecord};
use super::transcript;
use crate::shared::reading::{self, Belongs, ReadDirection, TranscriptFormat};

/// Reads the turns of a transcript.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    reading::read_turns(files, path, CopilotFormat { files, path }, direction, each)
}

/// The events of one conversation. Copilot cuts undone events off the file, so every event in it
/// counts.
#[derive(Clone, Copy, Debug)]
struct CopilotFormat<'a> {
    files: &'a dyn Files,
    path: &'a Path,
}

/// The part of a line that decides whether the line belongs to the conversation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotEventKind<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    /// Set if the line comes from a subagent.
    #[serde(default)]
    agent_id: Option<IgnoredAny>,
}

impl TranscriptFormat for CopilotFormat<'_> {
    fn belongs(&mut self, line: &[u8]) -> Belongs {
        match serde_json::from_slice(line) {
            Ok(CopilotEventKind { kind: "session.context_cleared", agent_id: None }) => {
                Belongs::First
            }
            Ok(CopilotEventKind {
                kind:
                    "user.message"
                    | "assistant.message"
                    | "tool.execution_complete"
                    | "session.compaction_complete",
                agent_id: None,
            }) => Belongs::Yes,
            _ => Belongs::No,
        }
    }

    fn turns(&mut self, line: &[u8]) -> Vec<Turn> {
        let Some(record) = CopilotRecord::read(line) else { return Vec::new() };
        let mut turns = match record.event {
            CopilotEvent::UserMessage(text) => {
                vec![Turn::new(Role::User, transcript::with_pastes(self.files, self.path, &text))]
            }
            CopilotEvent::ModelMessage(message) => turns_of_message(message),
            CopilotEvent::Compacted(text) => vec![Turn::new(Role::Summary, text)],
            CopilotEvent::ToolReturned(result) => {
                let tool = Tool { id: result.id, name: String::new(), failed: result.failed };
                vec![Turn::new(Role::ToolResult, result.text).with_tool(tool)]
            }
            _ => Vec::new(),
        };
        // An empty tool result is kept, an empty message is not.
        turns.retain(|turn| turn.tool.is_some() || !turn.text.is_empty());
        turns.iter_mut().for_each(|turn| turn.at = record.at);
        turns
    }
}

fn turns_of_message(message: CopilotMessage) -> Vec<Turn> {
    let calls = message.calls.into_iter().map(|call| {
        let tool = Tool { id: call.id, name: call.name, failed: false };
        Turn::new(Role::ToolCall, call.arguments).with_tool(tool)
    });
    let text = Turn::new(Role::Assistant, message.text);
    let model = message.model;
    let turns = [text].into_iter().chain(calls);
    turns.map(|turn| Turn { model: model.clone(), ..turn }).collect()
}

/// Returns the result of a command without its last line, which has the number of the shell.
pub(super) fn repeatable_part(result: &str) -> &str {
    match result.trim_end().rsplit_once("<shellId: ") {
        Some((output, number)) if !number.contains('\n') => output,
        _ => result,
    }
}

#[cfg(test)]
mod tests;
