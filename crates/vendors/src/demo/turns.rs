//! Reads a transcript as turns, and writes turns as a transcript.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{EachTurn, Files, Target, Transcription, TranscriptionOrder, TurnWriter};

use super::home;
use super::records::DemoRecord;
use crate::shared::reading::{self, EveryLine};

/// The name of the only tool that the demo agent has.
const TOOL: &str = "shell";

pub(super) fn turns_back(files: &dyn Files, path: &Path, each: &mut EachTurn<'_>) -> Result<()> {
    reading::turns_back(files, path, EveryLine(turns_of_line), each)
}

pub(super) fn turns(files: &dyn Files, path: &Path, each: &mut EachTurn<'_>) -> Result<()> {
    reading::turns(files, path, EveryLine(turns_of_line), each)
}

/// Returns the turns of a line, which is one record. No record is ever reverted.
fn turns_of_line(line: &[u8]) -> Vec<Turn> {
    DemoRecord::read(line).and_then(turn).into_iter().collect()
}

fn turn(record: DemoRecord) -> Option<Turn> {
    // The agent runs one tool at a time, so a result needs no id to belong to its call.
    let tool = || Tool { id: String::new(), name: TOOL.to_owned(), failed: false };
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

pub(super) fn transcription(order: &TranscriptionOrder<'_>) -> Transcription {
    let place = order.place;
    let header = DemoRecord::Session {
        id: order.id.to_string(),
        cwd: place.cwd.display().to_string(),
        at: order.now,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let path = home::transcript(&place.config_dir, &place.cwd, order.id.as_str());
    let header = order.onto.is_none().then_some(header);
    let writer = Box::new(DemoWriter { header, now: order.now, is_open: false });
    Transcription { target: Target::Transcript(path), beside: Vec::new(), writer }
}

#[derive(Debug)]
struct DemoWriter {
    header: Option<DemoRecord>,
    now: Timestamp,
    /// A turn has begun and has no end yet.
    is_open: bool,
}

impl DemoWriter {
    fn close(&mut self, at: Timestamp, out: &mut Vec<u8>) {
        if self.is_open {
            write(&DemoRecord::TurnEnd { at }, out);
        }
        self.is_open = false;
    }
}

impl TurnWriter for DemoWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(header) = self.header.take() {
            write(&header, out);
        }
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        let (text, at) = (turn.text.clone(), turn.at.unwrap_or(self.now));
        let record = match turn.role {
            Role::User | Role::Summary => {
                self.close(at, out);
                DemoRecord::User { text, at }
            }
            Role::Assistant => DemoRecord::Assistant { text, at },
            Role::ToolCall => DemoRecord::ToolCall { text, at },
            Role::ToolResult => DemoRecord::ToolResult { text, at },
        };
        self.is_open = true;
        write(&record, out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.close(self.now, out);
    }
}

fn write(record: &DemoRecord, out: &mut Vec<u8>) {
    if serde_json::to_writer(&mut *out, record).is_ok() {
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use segue_core::model::VendorSessionId;

    use super::*;
    use crate::testing::Home;

    #[test]
    fn written_turns_read_back_in_both_directions() {
        let home = Home::new();
        let at = Some(Timestamp::UNIX_EPOCH);
        let tool = Tool { id: String::new(), name: TOOL.to_owned(), failed: false };
        let said = [
            Turn::new(Role::User, "list\nthem ü").at(at),
            Turn::new(Role::ToolCall, "ls").at(at).with_tool(tool.clone()),
            Turn::new(Role::ToolResult, "a b").at(at).with_tool(tool),
            Turn::new(Role::Assistant, "two").at(at),
            Turn::new(Role::User, "thanks").at(at),
        ];
        let id = VendorSessionId::new("one");
        let order = TranscriptionOrder {
            files: &home.disk,
            place: &home.place,
            id: &id,
            title: "fleet/one",
            model: None,
            now: Timestamp::UNIX_EPOCH,
            onto: None,
        };
        let mut written = Vec::new();
        let Transcription { mut writer, target, .. } = transcription(&order);
        writer.begin(&mut written);
        said.iter().for_each(|turn| writer.turn(turn, &mut written));
        writer.end(&mut written);
        let path = home.write("written.jsonl", written);
        let mut read = Vec::new();
        turns(&home.disk, &path, &mut |turn| {
            read.push(turn);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(read, said);
        let mut last = Vec::new();
        turns_back(&home.disk, &path, &mut |turn| {
            last.push(turn);
            if last.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        assert_eq!(last, [said[4].clone(), said[3].clone()]);
        assert!(matches!(target, Target::Transcript(path) if path.ends_with("one.jsonl")));
    }
}
