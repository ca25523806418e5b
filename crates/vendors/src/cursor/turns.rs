//! Reads a transcript as turns. Cursor records neither tool results nor times.

use std::path::Path;

use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{EachTurn, Files};

use super::records::{self, CursorPart, CursorWords};
use super::typing;
use crate::shared::reading::{self, EveryLine, ReadDirection, text_turn};

/// Reads the turns of a transcript.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    reading::read_turns(files, path, EveryLine(turns_of_line), direction, each)
}

/// Returns the turns of a line, which is one message. Cursor never reverts a message.
fn turns_of_line(line: &[u8]) -> Vec<Turn> {
    match records::message(line) {
        Some(CursorWords::User(text)) => {
            text_turn(Role::User, typing::unescaped(&text), None).into_iter().collect()
        }
        Some(CursorWords::Agent { text, parts }) => {
            let calls = parts.iter().filter_map(call);
            text_turn(Role::Assistant, text, None).into_iter().chain(calls).collect()
        }
        None => Vec::new(),
    }
}

fn call(part: &CursorPart) -> Option<Turn> {
    let name = part.tool()?.to_owned();
    let tool = Tool { id: part.id.clone().unwrap_or_default(), name, failed: false };
    let arguments = part.input.as_ref().map_or_else(|| "{}".to_owned(), ToString::to_string);
    Some(Turn::new(Role::ToolCall, arguments).with_tool(tool))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::CursorVendor;
    use crate::testing::turns::{assert_damage_is_tolerated, read_turns_of_text};

    const TRANSCRIPT: &str = include_str!("fixtures/transcript.jsonl");
    const PATH: &str = "transcript.jsonl";

    #[test]
    fn turns_are_read_without_cursors_tags_and_placeholders() {
        let tool = Tool { id: String::new(), name: "Read".to_owned(), failed: false };
        let wanted = [
            Turn::new(Role::User, "say blue"),
            Turn::new(Role::Assistant, "I'll look."),
            Turn::new(Role::ToolCall, r#"{"path":"README.md"}"#).with_tool(tool),
            Turn::new(Role::Assistant, "blue"),
        ];
        assert_eq!(read_turns_of_text(&CursorVendor, PATH, TRANSCRIPT)[..4], wanted);
    }

    #[test]
    fn damaged_transcript_is_read_without_a_failure() {
        assert_damage_is_tolerated(&CursorVendor, PATH, TRANSCRIPT);
    }
}
