//! Reads a transcript as turns. Cursor records neither tool results nor times.

use std::path::Path;

use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{EachTurn, Files};

use super::records::{self, CursorPart, CursorWords};
use super::typing;
use crate::shared::reading::{self, EveryLine};

pub(super) fn turns_back(files: &dyn Files, path: &Path, each: &mut EachTurn<'_>) -> Result<()> {
    reading::turns_back(files, path, EveryLine(turns_of_line), each)
}

pub(super) fn turns(files: &dyn Files, path: &Path, each: &mut EachTurn<'_>) -> Result<()> {
    reading::turns(files, path, EveryLine(turns_of_line), each)
}

/// Returns the turns of a line, which is one message. No message is ever reverted.
fn turns_of_line(line: &[u8]) -> Vec<Turn> {
    match records::words(line) {
        Some(CursorWords::OfUser(text)) => spoken(Role::User, typing::given(&text)).collect(),
        Some(CursorWords::OfAgent { text, parts }) => {
            let calls = parts.iter().filter_map(call);
            spoken(Role::Assistant, text).chain(calls).collect()
        }
        None => Vec::new(),
    }
}

fn spoken(role: Role, text: String) -> impl Iterator<Item = Turn> {
    let is_blank = text.trim().is_empty();
    (!is_blank).then(|| Turn::new(role, text)).into_iter()
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
    use crate::testing::Home;
    use crate::testing::turns::both_ways;

    const TRANSCRIPT: &str = include_str!("fixtures/transcript.jsonl");

    /// Reads a transcript in both directions, and expects the same turns.
    fn read(bytes: impl AsRef<[u8]>) -> Vec<Turn> {
        let home = Home::new();
        let path = home.write("transcript.jsonl", bytes);
        both_ways(|each| turns(&home.disk, &path, each), |each| turns_back(&home.disk, &path, each))
    }

    #[test]
    fn turns_are_read_without_cursors_tags_and_placeholders() {
        let tool = Tool { id: String::new(), name: "Read".to_owned(), failed: false };
        let wanted = [
            Turn::new(Role::User, "say blue"),
            Turn::new(Role::Assistant, "I'll look."),
            Turn::new(Role::ToolCall, r#"{"path":"README.md"}"#).with_tool(tool),
            Turn::new(Role::Assistant, "blue"),
        ];
        assert_eq!(read(TRANSCRIPT)[..4], wanted);
    }

    #[test]
    fn damaged_transcript_is_read_without_a_failure() {
        for cut in (0..TRANSCRIPT.len()).step_by(7) {
            read(&TRANSCRIPT.as_bytes()[..cut]);
            read(&TRANSCRIPT.as_bytes()[cut..]);
        }
        let mut bytes = TRANSCRIPT.as_bytes().to_vec();
        bytes[40] = 0xff;
        read(&bytes);
    }
}
