//! The demo agent program. It remembers and answers messages, and misbehaves in every known way on
//! request.
//!
//! `engine` decides what to do and does nothing itself. `body` has the transcript, the live entry
//! and the tools. `interactive` and `headless` are the two user interfaces.

mod arguments;
mod body;
mod command;
mod editor;
mod effect;
mod engine;
mod headless;
mod interactive;
mod keys;
mod log;
mod memory;
mod paint;
mod presence;
mod screen;
mod start;
mod terminal;
mod tool;
mod wait;
mod window;

use std::fmt::Debug;
use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use jiff::Timestamp;
use segue_core::model::{Environment, ProcessRef};

/// What the agent needs from the machine and cannot do itself.
pub trait AgentHost: Debug {
    /// Returns this process.
    fn process(&self) -> ProcessRef;

    fn environment(&self) -> &Environment;

    /// Returns the real path of the folder that the agent was started in.
    fn cwd(&self) -> io::Result<PathBuf>;

    fn now(&self) -> Timestamp;

    /// Starts the agent program once more, with these arguments and additional environment
    /// variables. Its standard input and standard error lead nowhere; its standard output is the
    /// output of the tool.
    fn start_tool(
        &self,
        arguments: &[String],
        variables: &[(String, String)],
    ) -> io::Result<Box<dyn AgentTool>>;

    /// Ends this process by a signal, as a memory access violation would.
    fn crash(&self);
}

/// A tool that the agent started. Dropping this value does not end the tool.
pub trait AgentTool: Debug {
    fn pid(&self) -> u32;

    /// Returns the standard output of the tool. It reaches EOF when the tool has ended.
    fn output(&self) -> BorrowedFd<'_>;

    /// Ends the tool if it still runs, and collects its exit code.
    fn end(&mut self) -> io::Result<()>;
}

/// Why the agent does not start: its exit code and a message for a person.
#[derive(Debug)]
struct DemoRefusal {
    status: u8,
    message: String,
}

impl DemoRefusal {
    fn new(status: u8, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl From<io::Error> for DemoRefusal {
    fn from(error: io::Error) -> Self {
        Self::new(1, error.to_string())
    }
}

/// Runs the agent and returns its exit code.
pub fn run(arguments: Vec<String>, host: &dyn AgentHost) -> u8 {
    let ended = match arguments.first().map(String::as_str) {
        Some(tool::FLAG) => tool::run(&arguments[1..]),
        Some("--help") => help(),
        _ => start::start(arguments, host),
    };
    ended.unwrap_or_else(|refusal| {
        // If standard error is closed, the exit code alone has to do.
        let _unread = writeln!(io::stderr(), "error: {}", refusal.message);
        refusal.status
    })
}

fn help() -> Result<u8, DemoRefusal> {
    writeln!(
        io::stdout(),
        "{}\n\nmessages that it understands:\n{}",
        arguments::USAGE,
        command::HELP
    )?;
    Ok(0)
}
