//! Reads a transcript as turns, and writes turns as a transcript.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{
    Conversion, EachTurn, Files, Target, Transcription, TranscriptionOrder, TurnWriter,
};

use super::records::DemoRecord;
use super::{Demo, paths};
use crate::shared::reading::{self, EveryLine, ReadDirection};
use crate::shared::writing::write_line;

/// The name of the only tool that the demo agent has.
const TOOL_NAME: &str = "shell";

impl Conversion for Demo {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        let place = order.place;
        let header = DemoRecord::Session {
            id: order.id.to_string(),
            cwd: place.cwd.display().to_string(),
            at: order.now,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let path = paths::transcript(&place.config_dir, &place.cwd, order.id.as_str());
        let header = order.append_to.is_none().then_some(header);
        let writer = Box::new(DemoWriter { header, now: order.now, is_open: false });
        Ok(Transcription { target: Target::Transcript(path), extra_files: Vec::new(), writer })
    }
}

/// Reads the turns of a transcript.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    reading::read_turns(files, path, EveryLine(turns_of_line), direction, each)
}

/// Returns the turn of a line. A line is one record, and the agent never reverts a record.
fn turns_of_line(line: &[u8]) -> Vec<Turn> {
    DemoRecord::read(line).and_then(turn).into_iter().collect()
}

fn turn(record: DemoRecord) -> Option<Turn> {
    // The agent runs one tool at a time, so a result follows its call and needs no id.
    let tool = || Tool { id: String::new(), name: TOOL_NAME.to_owned(), failed: false };
    let turn = |role, text, at| Turn::new(role, text).at(Some(at));
    match record {
        DemoRecord::User { text, at } => Some(turn(Role::User, text, at)),
        DemoRecord::Assistant { text, at } => Some(turn(Role::Assistant, text, at)),
        DemoRecord::ToolCall { text, at } => Some(turn(Role::ToolCall, text, at).with_tool(tool())),
        DemoRecord::ToolResult { text, at } => {
            Some(turn(Role::ToolResult, text, at).with_tool(tool()))
        }
        DemoRecord::Session { .. } | DemoRecord::TurnEnd { .. } => None,
    }
}

/// Writes turns as records of a transcript.
#[derive(Debug)]
struct DemoWriter {
    /// The header, until it is written. `None` if the turns are appended to an existing transcript.
    header: Option<DemoRecord>,
    /// The timestamp of turns that have none.
    now: Timestamp,
    /// The last turn has begun and its end is not written.
    is_open: bool,
}

impl DemoWriter {
    fn end_turn(&mut self, at: Timestamp, out: &mut Vec<u8>) {
        if self.is_open {
            write_line(&DemoRecord::TurnEnd { at, words: None }, out);
        }
        self.is_open = false;
    }
}

impl TurnWriter for DemoWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(header) = self.header.take() {
            write_line(&header, out);
        }
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        let (text, at) = (turn.text.clone(), turn.at.unwrap_or(self.now));
        let record = match turn.role {
            Role::User | Role::Summary => {
                self.end_turn(at, out);
                DemoRecord::User { text, at }
            }
            Role::Assistant => DemoRecord::Assistant { text, at },
            Role::ToolCall => DemoRecord::ToolCall { text, at },
            Role::ToolResult => DemoRecord::ToolResult { text, at },
        };
        self.is_open = true;
        write_line(&record, out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.end_turn(self.now, out);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use segue_core::ports::Transcripts as _;

    use super::*;
    use crate::testing::Home;
    use crate::testing::turns::{read_turns, write_turns};

    #[test]
    fn written_turns_read_back_in_both_directions() {
        let home = Home::new();
        let at = Some(Timestamp::UNIX_EPOCH);
        let tool = Tool { id: String::new(), name: TOOL_NAME.to_owned(), failed: false };
        let turns = [
            Turn::new(Role::User, "list\nthem ü").at(at),
            Turn::new(Role::ToolCall, "ls").at(at).with_tool(tool.clone()),
            Turn::new(Role::ToolResult, "a b").at(at).with_tool(tool),
            Turn::new(Role::Assistant, "two").at(at),
            Turn::new(Role::User, "thanks").at(at),
        ];
        let (transcription, bytes) = write_turns(&Demo, &home, ("one", None), &turns);
        let path = home.write("written.jsonl", bytes);
        assert_eq!(read_turns(&Demo, &path), turns);
        let mut last = Vec::new();
        Demo.turns_back(&home.disk, &path, &mut |turn| {
            last.push(turn);
            if last.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        assert_eq!(last, [turns[4].clone(), turns[3].clone()]);
        let target = transcription.target;
        assert!(matches!(target, Target::Transcript(path) if path.ends_with("one.jsonl")));
    }
}
