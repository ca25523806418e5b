//! The demo agent program. It remembers and answers messages. Special messages make it misbehave in
//! the ways of real agents.
//!
//! `engine` is the state machine and has no side effects. `body` carries out the effects: it writes
//! the transcript and the live entry, and runs the tools. `interactive` and `headless` are the two
//! user interfaces.

mod arguments;
mod body;
mod command;
mod editor;
mod effect;
mod engine;
mod headless;
mod interactive;
mod keys;
mod memory;
mod paint;
mod screen;
mod start;
mod state_files;
mod terminal;
mod tool;
mod transcript;
mod wait;
mod window;

use std::fmt::Debug;
use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use jiff::Timestamp;
use segue_core::model::{Environment, ProcessRef};

pub(super) use effect::DemoDialog;

/// The operating-system functions that the agent needs from its host program.
pub trait AgentHost: Debug {
    /// Returns this process.
    fn process(&self) -> ProcessRef;

    fn environment(&self) -> &Environment;

    /// Returns the real path of the folder that the agent was started in.
    fn cwd(&self) -> io::Result<PathBuf>;

    fn now(&self) -> Timestamp;

    /// Spawns the agent program as a tool, with these arguments and additional environment
    /// variables. Standard input and standard error are `/dev/null`. Standard output is
    /// [`AgentTool::output`].
    fn start_tool(
        &self,
        arguments: &[String],
        variables: &[(String, String)],
    ) -> io::Result<Box<dyn AgentTool>>;

    /// Runs a shell command that asks a person, with this request on its standard input. Its standard
    /// output is [`AgentTool::output`].
    fn ask(&self, command: &str, request: &str) -> io::Result<Box<dyn AgentTool>>;

    /// Kills this process with a signal, like a memory access violation.
    fn crash(&self);
}

/// A tool that the agent started. Dropping this value does not end the tool.
pub trait AgentTool: Debug {
    fn pid(&self) -> u32;

    /// Returns the standard output of the tool. It reaches EOF when the tool has ended.
    fn output(&self) -> BorrowedFd<'_>;

    /// Kills the tool if it still runs, and waits for it.
    fn end(&mut self) -> io::Result<()>;
}

/// The reason why the agent does not start: an exit code and an error message.
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
    let exit_code = match arguments.first().map(String::as_str) {
        Some(tool::FLAG) => tool::run(&arguments[1..]),
        Some("--help") => help(),
        _ => start::start(arguments, host),
    };
    exit_code.unwrap_or_else(|refusal| {
        // If standard error is closed, the caller still gets the exit code.
        let _ignored = writeln!(io::stderr(), "error: {}", refusal.message);
        refusal.status
    })
}

fn help() -> Result<u8, DemoRefusal> {
    writeln!(io::stdout(), "{}\n\nspecial messages:\n{}", arguments::USAGE, command::HELP)?;
    Ok(0)
}
