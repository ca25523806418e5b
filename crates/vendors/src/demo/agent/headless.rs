//! The headless user interface: runs one turn and prints JSON lines to standard output.

use std::io::{self, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use super::arguments::Invocation;
use super::body::{DemoBody, DemoEnding, Face};
use super::effect::{DemoEffect, DemoEvent, LineAuthor};
use super::engine::Engine;
use super::wait::{DemoWake, SignalSockets};

/// Runs one turn. After a failed turn and after SIGTERM, the exit code is 0, as in real agents.
/// Only the `result` line shows whether the turn succeeded.
pub(super) fn run(
    invocation: &Invocation,
    body: &mut DemoBody<'_>,
    mut engine: Engine,
    mut signals: SignalSockets,
) -> io::Result<DemoEnding> {
    let mut stream = OutputStream::new(invocation, &body.cwd);
    stream.init(body.transcript.id())?;
    let begin = DemoEvent::Begin { is_trusted: true, prompt: invocation.prompt.clone() };
    if let Some(ending) = body.handle(&mut engine, &mut stream, begin)? {
        return Ok(ending);
    }
    while !engine.is_resting() {
        for wake in signals.wait(None, &body.tool_outputs(), body.deadline)? {
            let event = match wake {
                DemoWake::Stop => return Ok(DemoEnding::Clean(0)),
                DemoWake::Tool(index) => body.read_tool(index)?,
                DemoWake::Deadline => {
                    body.deadline = None;
                    Some(DemoEvent::Tick)
                }
                DemoWake::Resized | DemoWake::Input => None,
            };
            let Some(event) = event else { continue };
            if let Some(ending) = body.handle(&mut engine, &mut stream, event)? {
                return Ok(ending);
            }
        }
    }
    Ok(DemoEnding::Clean(0))
}

/// The JSON lines on standard output.
struct OutputStream {
    /// The fields of each `init` line, except the type and the session id.
    init_fields: Value,
}

impl OutputStream {
    fn new(invocation: &Invocation, cwd: &Path) -> Self {
        let init_fields = json!({
            "cwd": cwd.to_string_lossy(),
            "model": invocation.model,
            "permission": invocation.permission.word(),
            "instructions": invocation.instructions,
            "version": env!("CARGO_PKG_VERSION"),
        });
        Self { init_fields }
    }

    /// Prints the id of the conversation, at the start and after each change of the conversation.
    fn init(&self, id: &str) -> io::Result<()> {
        let mut line = self.init_fields.clone();
        line["type"] = json!("init");
        line["session_id"] = json!(id);
        print(&line)
    }
}

impl Face for OutputStream {
    fn show(&mut self, effect: &DemoEffect, id: &str) -> io::Result<()> {
        match effect {
            DemoEffect::Record(LineAuthor::Assistant, text) => {
                print(&json!({"type": "assistant", "text": text}))
            }
            DemoEffect::Record(LineAuthor::ToolCall, text) => {
                print(&json!({"type": "tool_call", "text": text}))
            }
            DemoEffect::Record(LineAuthor::ToolResult, text) => {
                print(&json!({"type": "tool_result", "text": text}))
            }
            DemoEffect::Finished { ok, text } => {
                print(&json!({"type": "result", "ok": ok, "text": text, "session_id": id}))
            }
            DemoEffect::Clear | DemoEffect::Fork => self.init(id),
            _ => Ok(()),
        }
    }
}

fn print(line: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
