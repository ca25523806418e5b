//! Carries out the effects that the engine decides on.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::super::paths::NESTED_VARIABLE;
use super::super::records::LiveStatus;
use super::effect::{DemoEffect, DemoEvent, Placement};
use super::engine::Engine;
use super::log::DemoTranscript;
use super::presence::{self, LiveEntryFile};
use super::{AgentHost, AgentTool, tool};

const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// The transcript, the live entry, the tools and the time of the next wake-up.
#[derive(Debug)]
pub(super) struct DemoBody<'a> {
    pub(super) host: &'a dyn AgentHost,
    pub(super) home: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) log: DemoTranscript,
    pub(super) presence: LiveEntryFile,
    pub(super) tools: Vec<StartedTool>,
    pub(super) deadline: Option<Instant>,
    /// The agent no longer reads from its terminal.
    pub(super) is_deaf: bool,
}

/// A tool that has not ended yet.
#[derive(Debug)]
pub(super) struct StartedTool {
    tool: Box<dyn AgentTool>,
    placement: Placement,
}

/// How the agent's process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DemoEnding {
    /// The agent stops its tool and removes its live entry.
    Clean(u8),
    /// The agent leaves everything as it is.
    Crash(u8),
}

/// The output of the agent.
pub(super) trait Face {
    /// Shows an effect that was carried out in the conversation with this id.
    fn show(&mut self, effect: &DemoEffect, id: &str) -> io::Result<()>;
}

enum ToolOutcome {
    Done,
    Event(DemoEvent),
    End(DemoEnding),
}

impl DemoBody<'_> {
    /// Passes an event to the engine, and carries out and shows the effects. Returns how the agent
    /// ends, if it does.
    pub(super) fn live(
        &mut self,
        engine: &mut Engine,
        face: &mut dyn Face,
        event: DemoEvent,
    ) -> io::Result<Option<DemoEnding>> {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            for effect in engine.handle(event) {
                let outcome = self.carry_out(&effect)?;
                face.show(&effect, self.log.id())?;
                match outcome {
                    ToolOutcome::Done => {}
                    ToolOutcome::Event(event) => events.push(event),
                    ToolOutcome::End(ending) => return Ok(Some(ending)),
                }
            }
        }
        Ok(None)
    }

    /// Writes the live entry of the agent with this status.
    pub(super) fn announce(&mut self, status: LiveStatus) -> io::Result<()> {
        self.presence.announce(self.log.id(), status, self.host.now())
    }

    /// Returns the outputs of the running tools, in the order of their numbers.
    pub(super) fn tool_outputs(&self) -> Vec<BorrowedFd<'_>> {
        self.tools.iter().map(|running| running.tool.output()).collect()
    }

    /// Reads the output of a tool. Returns an event if the tool has ended and the agent waits for
    /// it.
    pub(super) fn hear_tool(&mut self, number: usize) -> io::Result<Option<DemoEvent>> {
        let Some(running) = self.tools.get(number) else { return Ok(None) };
        if read_some(running.tool.output())? > 0 {
            return Ok(None);
        }
        let mut ended = self.tools.remove(number);
        ended.tool.end()?;
        Ok((ended.placement == Placement::Foreground).then_some(DemoEvent::ToolEnded))
    }

    /// Ends the foreground tool and removes the live entry.
    pub(super) fn clean_up(&mut self) -> io::Result<()> {
        self.stop_tool()?;
        self.presence.remove()
    }

    fn carry_out(&mut self, effect: &DemoEffect) -> io::Result<ToolOutcome> {
        let now = self.host.now();
        match effect {
            DemoEffect::Record(said, text) => self.log.say(*said, text, now)?,
            DemoEffect::EndTurn => self.log.end_turn(now)?,
            DemoEffect::Status(status) => self.announce(*status)?,
            DemoEffect::Wake(pause) => self.deadline = Instant::now().checked_add(*pause),
            DemoEffect::StartTool { lasts, placement } => {
                return Ok(ToolOutcome::Event(self.start_tool(*lasts, *placement)));
            }
            DemoEffect::StopTool => self.stop_tool()?,
            DemoEffect::Read(path) => {
                let read = read_file(path).map_err(|error| error.to_string());
                return Ok(ToolOutcome::Event(DemoEvent::FileRead(read)));
            }
            DemoEffect::Trust => {
                presence::trust(&self.home, &self.cwd)?;
                self.presence.is_hidden = false;
            }
            DemoEffect::Clear => {
                self.log.clear(new_id());
                self.announce(self.presence.status())?;
            }
            DemoEffect::Fork => {
                self.log.fork(new_id(), now)?;
                self.announce(self.presence.status())?;
            }
            DemoEffect::Deaf => self.is_deaf = true,
            DemoEffect::Exit(status) => return Ok(ToolOutcome::End(DemoEnding::Clean(*status))),
            DemoEffect::Crash(status) => return Ok(ToolOutcome::End(self.crash(*status))),
            DemoEffect::Notice(_)
            | DemoEffect::Streamed(_)
            | DemoEffect::Show(_)
            | DemoEffect::Finished { .. } => {}
        }
        Ok(ToolOutcome::Done)
    }

    fn start_tool(&mut self, lasts: Duration, placement: Placement) -> DemoEvent {
        match self.try_tool(lasts, placement) {
            Ok(running) => {
                let pid = running.tool.pid();
                self.tools.push(running);
                DemoEvent::ToolStarted(pid)
            }
            Err(error) => DemoEvent::ToolFailed(error.to_string()),
        }
    }

    /// Starts a tool and waits until it reports that it is ready.
    fn try_tool(&self, lasts: Duration, placement: Placement) -> io::Result<StartedTool> {
        let inside = [(NESTED_VARIABLE.to_owned(), self.log.id().to_owned())];
        let mut tool = self.host.start_tool(&tool::arguments(lasts, placement), &inside)?;
        if read_some(tool.output())? == 0 {
            tool.end()?;
            return Err(io::Error::other("the tool ended at once"));
        }
        Ok(StartedTool { tool, placement })
    }

    fn stop_tool(&mut self) -> io::Result<()> {
        let is_foreground = |running: &mut StartedTool| running.placement == Placement::Foreground;
        self.tools.extract_if(.., is_foreground).try_for_each(|mut running| running.tool.end())
    }

    fn crash(&self, status: Option<u8>) -> DemoEnding {
        if status.is_none() {
            self.host.crash();
        }
        // If no signal ended the process, return the exit code of such a crash: 128 + SIGSEGV.
        DemoEnding::Crash(status.unwrap_or(139))
    }
}

/// Makes an id of the kind that vendors use.
pub(super) fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Reads the file that a message refers to, at most `LARGEST_FILE` bytes of it. A longer text is
/// not a prompt.
fn read_file(path: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_FILE).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the available bytes of an output. Returns their number; 0 at EOF.
fn read_some(output: BorrowedFd<'_>) -> io::Result<usize> {
    let mut bytes = [0; 256];
    loop {
        match rustix::io::read(output, &mut bytes) {
            Err(rustix::io::Errno::INTR) => {}
            read => return Ok(read?),
        }
    }
}
