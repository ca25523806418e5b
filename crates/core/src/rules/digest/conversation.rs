//! The conversation as text: the first task and the newest turns.

use super::{DigestInput, is_digest, plain};
use crate::model::{Role, Turn};
use crate::rules::redaction::redact;
use crate::rules::transfer::cut_in_middle;

const TASK_HEADING: &str = "First task:\n";
const NOTICE: &str =
    "[Turns of the conversation are left out here. What follows is its newest part.]";
const GAP: &str = "\n\n";
/// Maximum number of characters of a tool's arguments or result if turns are left out.
const MAX_TOOL_CHARACTERS: usize = 2_000;
/// A message that would have to be cut to fewer characters is left out.
const MIN_MESSAGE_CHARACTERS: usize = 40;

/// Returns the conversation as text of at most `room` characters. `None` if there is too little
/// room.
pub(super) fn as_text(input: &DigestInput<'_>, room: usize) -> Option<String> {
    if room < MIN_MESSAGE_CHARACTERS {
        return None;
    }
    let all = if input.is_cut { None } else { all_turns(input.turns, room) };
    Some(all.unwrap_or_else(|| newest_turns_with_task(input, room)))
}

/// Returns the complete conversation as text. `None` if it does not fit.
fn all_turns(turns: &[Turn], room: usize) -> Option<String> {
    let mut text = String::new();
    let mut used = 0;
    for turn in turns.iter().filter(|turn| has_content(turn)) {
        // A character has at most four bytes, so this turn cannot fit.
        if turn.text.len() / 4 > room && !is_earlier_digest(turn) {
            return None;
        }
        let gap = if text.is_empty() { "" } else { GAP };
        // A digest inside a digest is shortened even if there is room.
        let most = if is_earlier_digest(turn) { room / 4 } else { usize::MAX };
        let message = message(turn, most);
        used += gap.len() + message.chars().count();
        if used > room {
            return None;
        }
        text.push_str(gap);
        text.push_str(&message);
    }
    Some(text)
}

/// Returns the first task and the newest turns as text.
fn newest_turns_with_task(input: &DigestInput<'_>, room: usize) -> String {
    let task = input.task.map(|task| task_of(&task.text)).filter(|text| !text.trim().is_empty());
    let most = (room / 3).saturating_sub(TASK_HEADING.len());
    let task =
        task.map(|text| format!("{TASK_HEADING}{}", cut_in_middle(&plain(&redact(text)), most)));
    let task = task.filter(|_| most >= MIN_MESSAGE_CHARACTERS);
    let notice = (room >= 4 * NOTICE.len()).then(|| NOTICE.to_owned());
    let mut parts: Vec<String> = task.into_iter().chain(notice).collect();
    let used: usize = parts.iter().map(|part| part.chars().count() + GAP.len()).sum();
    let newest = newest(input.turns, room.saturating_sub(used));
    let is_all = newest.len() == input.turns.iter().filter(|turn| has_content(turn)).count();
    if is_all && !input.is_cut {
        parts.clear();
    }
    parts.extend(newest);
    parts.join(GAP)
}

/// Returns the newest turns that fit into `room`, oldest first.
fn newest(turns: &[Turn], room: usize) -> Vec<String> {
    let mut kept: Vec<(Role, String)> = Vec::new();
    let mut used = 0;
    for turn in turns.iter().rev().filter(|turn| has_content(turn)) {
        let gap = if kept.is_empty() { 0 } else { GAP.len() };
        let message = message(turn, most(turn, room, kept.is_empty()));
        used += gap + message.chars().count();
        if used > room {
            break;
        }
        kept.push((turn.role, message));
    }
    // A tool result means little without its call.
    while kept.len() > 1 && kept.last().is_some_and(|(role, _)| *role == Role::ToolResult) {
        kept.pop();
    }
    kept.into_iter().rev().map(|(_, message)| message).collect()
}

/// Returns the maximum length of a turn, so that one turn does not use all the room.
fn most(turn: &Turn, room: usize, is_newest: bool) -> usize {
    match turn.role {
        Role::ToolCall | Role::ToolResult => MAX_TOOL_CHARACTERS.min(room / 4),
        Role::User | Role::Summary if is_earlier_digest(turn) => room / 4,
        Role::User | Role::Assistant | Role::Summary => {
            if is_newest {
                room
            } else {
                room / 2
            }
        }
    }
}

fn has_content(turn: &Turn) -> bool {
    turn.role == Role::ToolResult || !turn.text.trim().is_empty()
}

fn is_earlier_digest(turn: &Turn) -> bool {
    matches!(turn.role, Role::User | Role::Summary) && is_digest(&turn.text)
}

fn message(turn: &Turn, most: usize) -> String {
    let tool = turn.tool.as_ref();
    let name = tool.map_or("", |tool| tool.name.as_str());
    let label = match turn.role {
        Role::User | Role::Summary if is_earlier_digest(turn) => "Handed over before: ".to_owned(),
        Role::User => "User: ".to_owned(),
        Role::Assistant => "Assistant: ".to_owned(),
        Role::Summary => "Summary: ".to_owned(),
        Role::ToolCall => format!("Tool call ({name}): "),
        Role::ToolResult if tool.is_some_and(|tool| tool.failed) => "Tool failure: ".to_owned(),
        Role::ToolResult => "Tool result: ".to_owned(),
    };
    let text = cut_in_middle(&plain(&turn.text), most.saturating_sub(label.chars().count()));
    format!("{label}{text}")
}

/// Returns the original task if the text is an earlier digest.
fn task_of(text: &str) -> &str {
    if !is_digest(text) {
        return text;
    }
    let inner = text.split_once("<record-").and_then(|(_, rest)| rest.split_once(">\n"));
    let inner = inner.map_or(text, |(_, inner)| inner);
    let inner =
        inner.strip_prefix(TASK_HEADING).or_else(|| inner.strip_prefix("User: ")).unwrap_or(inner);
    let ends = [NOTICE, "User: ", "Assistant: ", "Tool call (", "Folder: ", "</record-"];
    let end = ends.iter().filter_map(|end| inner.find(&format!("\n{end}"))).min();
    inner[..end.unwrap_or(inner.len())].trim_end()
}
