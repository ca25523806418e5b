//! Carries out the effects that the engine decides on.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::super::paths::NESTED_VARIABLE;
use super::super::questions;
use super::super::records::LiveStatus;
use super::effect::{DemoDialog, DemoEffect, DemoEvent, Placement};
use super::engine::Engine;
use super::state_files::{self, LiveEntryFile};
use super::transcript::DemoTranscript;
use super::{AgentHost, AgentTool, tool};

const FILE_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// The agent's resources: its transcript, its live entry, its tools and its timer.
#[derive(Debug)]
pub(super) struct DemoBody<'a> {
    pub(super) host: &'a dyn AgentHost,
    pub(super) config_dir: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) transcript: DemoTranscript,
    pub(super) live_entry: LiveEntryFile,
    pub(super) tools: Vec<StartedTool>,
    pub(super) deadline: Option<Instant>,
    /// The shell command that asks a person.
    pub(super) ask_command: Option<String>,
    /// The agent no longer reads its terminal.
    pub(super) is_deaf: bool,
}

/// A tool that has not ended yet.
#[derive(Debug)]
pub(super) struct StartedTool {
    tool: Box<dyn AgentTool>,
    placement: Placement,
    /// The output of a command that asks a person. `None` for other tools.
    reply: Option<Vec<u8>>,
}

/// How the agent's process ends. The number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DemoEnding {
    /// The agent ends its foreground tool and removes its live entry.
    Clean(u8),
    /// The agent leaves its tools and its live entry behind.
    Crash(u8),
}

/// A user interface that shows the agent's output.
pub(super) trait Face {
    /// Shows an effect after it was carried out. `id` is the id of the current conversation.
    fn show(&mut self, effect: &DemoEffect, id: &str) -> io::Result<()>;
}

enum ToolOutcome {
    Done,
    Event(DemoEvent),
    End(DemoEnding),
}

impl DemoBody<'_> {
    /// Passes an event to the engine, and carries out and shows the effects. Returns `Some` if the
    /// agent must end.
    pub(super) fn handle(
        &mut self,
        engine: &mut Engine,
        face: &mut dyn Face,
        event: DemoEvent,
    ) -> io::Result<Option<DemoEnding>> {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            for effect in engine.handle(event) {
                let outcome = self.carry_out(&effect)?;
                face.show(&effect, self.transcript.id())?;
                match outcome {
                    ToolOutcome::Done => {}
                    ToolOutcome::Event(event) => events.push(event),
                    ToolOutcome::End(ending) => return Ok(Some(ending)),
                }
            }
        }
        Ok(None)
    }

    /// Writes this status to the live entry.
    pub(super) fn publish_status(&mut self, status: LiveStatus) -> io::Result<()> {
        self.live_entry.publish(self.transcript.id(), status, self.host.now())
    }

    /// Returns the outputs of the running tools. The position is the index for `read_tool`.
    pub(super) fn tool_outputs(&self) -> Vec<BorrowedFd<'_>> {
        self.tools.iter().map(|running| running.tool.output()).collect()
    }

    /// Reads the output of the tool with this index. Returns an event if the tool has ended and the
    /// agent waits for it.
    pub(super) fn read_tool(&mut self, index: usize) -> io::Result<Option<DemoEvent>> {
        let Some(running) = self.tools.get_mut(index) else { return Ok(None) };
        let mut bytes = [0; 256];
        let count = read_available(running.tool.output(), &mut bytes)?;
        if count > 0 {
            if let Some(reply) = &mut running.reply {
                reply.extend_from_slice(&bytes[..count]);
            }
            return Ok(None);
        }
        let mut ended = self.tools.remove(index);
        ended.tool.end()?;
        if let Some(reply) = ended.reply {
            return Ok(Some(DemoEvent::Choice(questions::chosen(&reply))));
        }
        Ok((ended.placement == Placement::Foreground).then_some(DemoEvent::ToolEnded))
    }

    /// Ends the foreground tool and removes the live entry.
    pub(super) fn clean_up(&mut self) -> io::Result<()> {
        self.stop_tool()?;
        self.live_entry.remove()
    }

    fn carry_out(&mut self, effect: &DemoEffect) -> io::Result<ToolOutcome> {
        let now = self.host.now();
        match effect {
            DemoEffect::Record(author, text) => self.transcript.append_line(*author, text, now)?,
            DemoEffect::EndTurn => self.transcript.end_turn(now)?,
            DemoEffect::Status(status) => self.publish_status(*status)?,
            DemoEffect::Wake(pause) => self.deadline = Instant::now().checked_add(*pause),
            DemoEffect::StartTool { duration, placement } => {
                return Ok(ToolOutcome::Event(self.start_tool(*duration, *placement)));
            }
            DemoEffect::StopTool => self.stop_tool()?,
            DemoEffect::Ask(dialog) => return Ok(self.ask(*dialog)),
            DemoEffect::Read(path) => {
                let read = read_file(path).map_err(|error| error.to_string());
                return Ok(ToolOutcome::Event(DemoEvent::FileRead(read)));
            }
            DemoEffect::Trust => {
                state_files::trust(&self.config_dir, &self.cwd)?;
                self.live_entry.is_hidden = false;
            }
            DemoEffect::Clear => {
                self.transcript.clear(new_id());
                self.publish_status(self.live_entry.status())?;
            }
            DemoEffect::Fork => {
                self.transcript.fork(new_id(), now)?;
                self.publish_status(self.live_entry.status())?;
            }
            DemoEffect::Deaf => self.is_deaf = true,
            DemoEffect::Exit(status) => return Ok(ToolOutcome::End(DemoEnding::Clean(*status))),
            DemoEffect::Crash(status) => return Ok(ToolOutcome::End(self.crash(*status))),
            DemoEffect::Finished { ok, text } => {
                self.live_entry.set_failure((!ok).then(|| text.clone()));
            }
            DemoEffect::Notice(_) | DemoEffect::Streamed(_) | DemoEffect::Show(_) => {}
        }
        Ok(ToolOutcome::Done)
    }

    fn start_tool(&mut self, duration: Duration, placement: Placement) -> DemoEvent {
        match self.spawn_tool(duration, placement) {
            Ok(running) => {
                let pid = running.tool.pid();
                self.tools.push(running);
                DemoEvent::ToolStarted(pid)
            }
            Err(error) => DemoEvent::ToolFailed(error.to_string()),
        }
    }

    /// Runs the command that asks a person. Without it, there is no answer.
    fn ask(&mut self, dialog: DemoDialog) -> ToolOutcome {
        let command = self.ask_command.as_deref();
        let asked = command.map(|command| self.host.ask(command, &questions::request(dialog)));
        match asked {
            Some(Ok(tool)) => {
                let (placement, reply) = (Placement::Foreground, Some(Vec::new()));
                self.tools.push(StartedTool { tool, placement, reply });
                ToolOutcome::Done
            }
            Some(Err(_)) | None => ToolOutcome::Event(DemoEvent::Choice(None)),
        }
    }

    /// Spawns a tool and waits until it prints that it is ready.
    fn spawn_tool(&self, duration: Duration, placement: Placement) -> io::Result<StartedTool> {
        let variables = [(NESTED_VARIABLE.to_owned(), self.transcript.id().to_owned())];
        let mut tool = self.host.start_tool(&tool::arguments(duration, placement), &variables)?;
        if read_available(tool.output(), &mut [0; 256])? == 0 {
            tool.end()?;
            return Err(io::Error::other("the tool exited before it was ready"));
        }
        Ok(StartedTool { tool, placement, reply: None })
    }

    fn stop_tool(&mut self) -> io::Result<()> {
        let is_foreground = |running: &mut StartedTool| running.placement == Placement::Foreground;
        self.tools.extract_if(.., is_foreground).try_for_each(|mut running| running.tool.end())
    }

    fn crash(&self, status: Option<u8>) -> DemoEnding {
        if status.is_none() {
            self.host.crash();
        }
        // If the signal did not kill the process, exit with the code of such a crash: 128 +
        // SIGSEGV.
        DemoEnding::Crash(status.unwrap_or(139))
    }
}

/// Creates a conversation id: a random UUID, as most vendors use.
pub(super) fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Reads the file that a message names, at most `FILE_LIMIT_BYTES`.
fn read_file(path: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_LIMIT_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads available bytes of an output. Returns their number; 0 at EOF.
fn read_available(output: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(output, &mut *bytes) {
            Err(rustix::io::Errno::INTR) => {}
            read => return Ok(read?),
        }
    }
}
