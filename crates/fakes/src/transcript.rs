//! The transcripts of fake vendors: lines of plain text.

use std::io;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::Files;
use segue_core::{Error, Result};

use crate::samples;

/// Returns a line of a transcript: `WHO: TEXT`, with `\n` for a line break in the text.
///
/// `WHO` is `user`, `agent`, `summary`, `call ID` or `result ID`. `user@10` speaks ten seconds after
/// [`samples::start`], `user@` at an unknown time, and `user` at [`samples::start`]. An agent's line
/// ends the turn, so `user: hi` alone is a turn that was cut off. A line `cwd: PATH` names the
/// folder of the conversation. Lines of others are no turns.
pub fn transcript_line(who: &str, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    format!("{who}: {text}\n")
}

/// Returns the line of a turn.
pub(crate) fn line_of(turn: &Turn) -> String {
    let id = turn.tool.as_ref().map_or("", |tool| tool.id.as_str());
    let who = match turn.role {
        Role::User => "user".to_owned(),
        Role::Assistant => "agent".to_owned(),
        Role::Summary => "summary".to_owned(),
        Role::ToolCall => format!("call {id}"),
        Role::ToolResult => format!("result {id}"),
    };
    let since_start = |at: Timestamp| at.duration_since(samples::start()).as_secs().to_string();
    let at = turn.at.map(since_start).unwrap_or_default();
    transcript_line(&format!("{who}@{at}"), &turn.text)
}

/// A transcript that was read.
#[derive(Debug, Default)]
pub(crate) struct FakeTranscript {
    pub(crate) turns: Vec<Turn>,
    /// The folder that its line `cwd` names.
    pub(crate) cwd: Option<PathBuf>,
}

impl FakeTranscript {
    /// Reads a transcript. A missing transcript is empty.
    pub(crate) fn read(files: &dyn Files, path: &Path) -> Result<Self> {
        match files.facts(path).map_err(unreadable(path))? {
            None => Ok(Self::default()),
            Some(_) => Ok(Self::parse(&files.head(path, usize::MAX).map_err(unreadable(path))?)),
        }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut transcript = Self::default();
        for line in String::from_utf8_lossy(bytes).lines() {
            let Some((who, text)) = line.split_once(": ") else { continue };
            let text = unescaped(text);
            if who == "cwd" {
                transcript.cwd = Some(text.into());
            } else {
                transcript.turns.extend(turn(who, text));
            }
        }
        transcript
    }

    /// Returns the first message of the user.
    pub(crate) fn first_message(&self) -> Option<String> {
        self.turns.iter().find(|it| it.role == Role::User).map(|it| it.text.clone())
    }

    pub(crate) fn began_at(&self) -> Timestamp {
        self.turns.first().and_then(|it| it.at).unwrap_or_else(samples::start)
    }
}

/// Returns an error for a file that cannot be read.
pub(crate) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.display().to_string();
    move |error| Error::internal(format!("cannot read `{path}`")).caused_by(error)
}

fn turn(who: &str, text: String) -> Option<Turn> {
    let (who, at) = match who.split_once('@') {
        None => (who, Some(samples::start())),
        Some((who, seconds)) => (who, seconds.parse().ok().map(after_start)),
    };
    let (who, id) = who.split_once(' ').unwrap_or((who, ""));
    let (role, is_tool) = match who {
        "user" => (Role::User, false),
        "agent" => (Role::Assistant, false),
        "summary" => (Role::Summary, false),
        "call" => (Role::ToolCall, true),
        "result" => (Role::ToolResult, true),
        _ => return None,
    };
    let tool = Tool { id: id.to_owned(), name: "shell".to_owned(), failed: false };
    Some(Turn { tool: is_tool.then_some(tool), at, ..Turn::new(role, text) })
}

fn after_start(seconds: i64) -> Timestamp {
    samples::start() + SignedDuration::from_secs(seconds)
}

fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let next = || match letters.next()? {
        '\\' => letters.next().map(|letter| if letter == 'n' { '\n' } else { letter }),
        letter => Some(letter),
    };
    std::iter::from_fn(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turn_is_read_as_it_was_written() {
        let tool = Tool { id: "1".to_owned(), name: "shell".to_owned(), failed: false };
        let turns = [
            Turn::new(Role::User, "two\nlines, and a \\ too").at(Some(after_start(10))),
            Turn::new(Role::ToolCall, "{}").at(Some(samples::start())).with_tool(tool.clone()),
            Turn::new(Role::ToolResult, "a: b").at(Some(samples::start())).with_tool(tool),
            Turn::new(Role::Summary, "before: nothing"),
            Turn::new(Role::Assistant, "").at(Some(after_start(-3))),
        ];
        let lines: String = turns.iter().map(line_of).collect();
        assert_eq!(FakeTranscript::parse(lines.as_bytes()).turns, turns);
    }

    #[test]
    fn line_without_a_time_is_of_the_start_and_other_lines_are_no_turns() {
        let read = FakeTranscript::parse(b"cwd: /a\nuser: hi\nend: 1\nhalf a li");
        assert_eq!(read.turns, [Turn::new(Role::User, "hi").at(Some(samples::start()))]);
        assert_eq!(read.cwd, Some("/a".into()));
    }
}
