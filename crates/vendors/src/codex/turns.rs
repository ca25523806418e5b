//! Converts rollouts to turns.

use std::ops::ControlFlow;
use std::path::Path;

use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{EachTurn, Files};
use serde::Deserialize;

use super::lineage::{self, RolloutPart};
use super::records::{RolloutLine, RolloutRecord};
use crate::shared::reading::{self, Belongs, ReadDirection, TranscriptFormat};

/// Reads the turns of a conversation from all rollouts that contain it.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let mut parts = lineage::parts(files, path);
    if direction == ReadDirection::Forward {
        parts.reverse();
    }
    for part in parts {
        let mut flow = ControlFlow::Continue(());
        reading::read_turns(files, &part.path, Items::of(&part), direction, &mut |turn| {
            flow = each(turn);
            flow
        })?;
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// The model's history in one rollout.
#[derive(Debug)]
struct Items {
    /// The ordinal of the first line that does not belong.
    end: Option<u64>,
    /// How many earlier messages of the user, each with everything after it, are rolled back.
    rolled_back: u64,
    /// The text of the last compaction that was read. The end of this text repeats the model's
    /// answer before the compaction, so that answer is omitted.
    summary: Option<String>,
}

/// The fields that decide whether a line belongs.
#[derive(Deserialize)]
struct RolloutGlance<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default)]
    ordinal: Option<u64>,
    #[serde(borrow)]
    payload: RolloutPayload<'a>,
}

#[derive(Deserialize)]
struct RolloutPayload<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a str>,
    #[serde(borrow, default)]
    role: Option<&'a str>,
    #[serde(default)]
    num_turns: Option<u64>,
}

impl Items {
    fn of(part: &RolloutPart) -> Self {
        Self { end: part.end, rolled_back: 0, summary: None }
    }

    /// Returns whether a line is before the end of the part. If so, all lines before it are, too.
    fn is_before_end(&mut self, number: Option<u64>) -> bool {
        if let (Some(end), Some(number)) = (self.end, number)
            && number < end
        {
            self.end = None;
        }
        self.end.is_none()
    }

    /// Returns whether an item of the model's history belongs.
    fn is_in_history(&mut self, line: &[u8]) -> bool {
        if self.rolled_back > 0 {
            let is_user_message =
                matches!(record(line), Some(RolloutRecord::HistoryUserMessage(_)));
            self.rolled_back -= u64::from(is_user_message);
            return false;
        }
        let Some(summary) = self.summary.take() else { return true };
        match record(line) {
            Some(RolloutRecord::ModelMessage(text)) => !summary.ends_with(text.trim_end()),
            _ => true,
        }
    }

    fn belongs_if_in_history(&mut self, line: &[u8]) -> Belongs {
        if self.is_in_history(line) { Belongs::Yes } else { Belongs::No }
    }
}

impl TranscriptFormat for Items {
    fn belongs(&mut self, line: &[u8]) -> Belongs {
        let Ok(glance) = serde_json::from_slice::<RolloutGlance<'_>>(line) else {
            return Belongs::No;
        };
        if !self.is_before_end(glance.ordinal) {
            return Belongs::No;
        }
        let payload = &glance.payload;
        match (glance.kind, payload.kind, payload.role) {
            ("event_msg", Some("thread_rolled_back"), _) => {
                let more = payload.num_turns.unwrap_or_default();
                self.rolled_back = self.rolled_back.saturating_add(more);
                Belongs::No
            }
            ("response_item", Some("message"), Some("user" | "assistant")) => {
                self.belongs_if_in_history(line)
            }
            ("response_item", Some("message"), _) => Belongs::No,
            ("response_item", Some(kind), _) if kind.contains("_call") => {
                self.belongs_if_in_history(line)
            }
            ("compacted", ..) if self.rolled_back == 0 => {
                self.summary = match record(line) {
                    Some(RolloutRecord::Compacted(summary)) => Some(summary.trim_end().to_owned()),
                    _ => None,
                };
                Belongs::Yes
            }
            _ => Belongs::No,
        }
    }

    fn turns(&mut self, line: &[u8]) -> Vec<Turn> {
        RolloutLine::read(line).and_then(turn).into_iter().collect()
    }
}

fn record(line: &[u8]) -> Option<RolloutRecord> {
    RolloutLine::read(line).map(|line| line.record)
}

fn turn(line: RolloutLine) -> Option<Turn> {
    let turn = match line.record {
        RolloutRecord::HistoryUserMessage(text) if !text.is_empty() => Turn::new(Role::User, text),
        RolloutRecord::ModelMessage(text) => Turn::new(Role::Assistant, text),
        RolloutRecord::Compacted(text) => Turn::new(Role::Summary, text),
        RolloutRecord::ToolCalled(call) => Turn::new(Role::ToolCall, call.arguments)
            .with_tool(Tool { id: call.id, name: call.name, failed: false }),
        RolloutRecord::ToolReturned(outcome) => Turn::new(Role::ToolResult, outcome.text)
            .with_tool(Tool { id: outcome.id, name: String::new(), failed: outcome.failed }),
        _ => return None,
    };
    Some(turn.at(Some(line.at)))
}

/// Returns the result of a command without the id and the time of its output, which are two lines at
/// the beginning.
pub(super) fn repeatable_part(result: &str) -> &str {
    let without = |text| {
        let rest = str::strip_prefix(text, "Chunk ID: ")?.split_once('\n')?.1;
        rest.strip_prefix("Wall time: ")?.split_once('\n').map(|(_, rest)| rest)
    };
    without(result).unwrap_or(result)
}

#[cfg(test)]
mod tests;
