//! The conversation as text: the first task and the newest turns.

use super::{Material, is_digest, plain};
use crate::model::{Role, Turn};
use crate::rules::carry::cut_in_middle;
use crate::rules::redaction::redact;

const TASK: &str = "First task:\n";
const NOTICE: &str =
    "[Turns of the conversation are left out here. What follows is its newest part.]";
const GAP: &str = "\n\n";
/// Maximum number of characters of a tool's arguments or result if turns are left out.
const OF_TOOL: usize = 2_000;
/// A message with fewer characters is not worth including.
const LEAST: usize = 40;

/// Returns the conversation as text of at most `room` characters. `None` if there is too little
/// room.
pub(super) fn tell(material: &Material<'_>, room: usize) -> Option<String> {
    if room < LEAST {
        return None;
    }
    let whole = if material.is_cut { None } else { whole(material.turns, room) };
    Some(whole.unwrap_or_else(|| parts(material, room)))
}

/// Returns the complete conversation as text. `None` if it does not fit.
fn whole(turns: &[Turn], room: usize) -> Option<String> {
    let mut told = String::new();
    let mut used = 0;
    for turn in turns.iter().filter(|turn| is_worth(turn)) {
        // A character has at most four bytes, so this turn cannot fit.
        if turn.text.len() / 4 > room && !is_told_before(turn) {
            return None;
        }
        let gap = if told.is_empty() { "" } else { GAP };
        // A digest inside a digest is shortened even if there is room.
        let most = if is_told_before(turn) { room / 4 } else { usize::MAX };
        let message = message(turn, most);
        used += gap.len() + message.chars().count();
        if used > room {
            return None;
        }
        told.push_str(gap);
        told.push_str(&message);
    }
    Some(told)
}

/// Returns the first task and the newest turns as text.
fn parts(material: &Material<'_>, room: usize) -> String {
    let task = material.task.map(|task| task_of(&task.text)).filter(|text| !text.trim().is_empty());
    let most = (room / 3).saturating_sub(TASK.len());
    let task = task.map(|text| format!("{TASK}{}", cut_in_middle(&plain(&redact(text)), most)));
    let task = task.filter(|_| most >= LEAST);
    let notice = (room >= 4 * NOTICE.len()).then(|| NOTICE.to_owned());
    let mut told: Vec<String> = task.into_iter().chain(notice).collect();
    let used: usize = told.iter().map(|part| part.chars().count() + GAP.len()).sum();
    let newest = newest(material.turns, room.saturating_sub(used));
    let is_all = newest.len() == material.turns.iter().filter(|turn| is_worth(turn)).count();
    if is_all && !material.is_cut {
        told.clear();
    }
    told.extend(newest);
    told.join(GAP)
}

/// Returns the newest turns that fit into `room`, oldest first.
fn newest(turns: &[Turn], room: usize) -> Vec<String> {
    let mut kept: Vec<(Role, String)> = Vec::new();
    let mut used = 0;
    for turn in turns.iter().rev().filter(|turn| is_worth(turn)) {
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
        Role::ToolCall | Role::ToolResult => OF_TOOL.min(room / 4),
        Role::User | Role::Summary if is_told_before(turn) => room / 4,
        Role::User | Role::Assistant | Role::Summary => {
            if is_newest {
                room
            } else {
                room / 2
            }
        }
    }
}

fn is_worth(turn: &Turn) -> bool {
    turn.role == Role::ToolResult || !turn.text.trim().is_empty()
}

fn is_told_before(turn: &Turn) -> bool {
    matches!(turn.role, Role::User | Role::Summary) && is_digest(&turn.text)
}

fn message(turn: &Turn, most: usize) -> String {
    let tool = turn.tool.as_ref();
    let name = tool.map_or("", |tool| tool.name.as_str());
    let label = match turn.role {
        Role::User | Role::Summary if is_told_before(turn) => "Handed over before: ".to_owned(),
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
    let inner = inner.strip_prefix(TASK).or_else(|| inner.strip_prefix("User: ")).unwrap_or(inner);
    let ends = [NOTICE, "User: ", "Assistant: ", "Tool call (", "Folder: ", "</record-"];
    let end = ends.iter().filter_map(|end| inner.find(&format!("\n{end}"))).min();
    inner[..end.unwrap_or(inner.len())].trim_end()
}
