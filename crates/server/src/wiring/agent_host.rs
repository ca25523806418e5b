//! The machine's services for the built-in agent: process, environment, clock and tools.

use std::ffi::OsString;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use segue_core::model::{Environment, ProcessRef};
use segue_host::tools::{self, ToolProcess, ToolRunner};
use segue_host::{ProcessContext, process};
use segue_vendors::demo::agent::{self, AgentHost, AgentTool};

/// The subcommand that runs the agent.
const SUBCOMMAND: &str = "demo-agent";

pub(super) fn run(arguments: Vec<OsString>) -> ExitCode {
    let Ok(context) = ProcessContext::read() else { return ExitCode::FAILURE };
    let Some(process) = process::find(std::process::id()) else { return ExitCode::FAILURE };
    let lossy = |argument: OsString| argument.to_string_lossy().into_owned();
    let arguments = arguments.into_iter().map(lossy).collect();
    ExitCode::from(agent::run(arguments, &DemoAgentHost { context, process }))
}

#[derive(Debug)]
struct DemoAgentHost {
    context: ProcessContext,
    process: ProcessRef,
}

impl AgentHost for DemoAgentHost {
    fn process(&self) -> ProcessRef {
        self.process.clone()
    }

    fn environment(&self) -> &Environment {
        &self.context.environment
    }

    fn cwd(&self) -> io::Result<PathBuf> {
        self.context.cwd.canonicalize()
    }

    fn now(&self) -> Timestamp {
        super::now()
    }

    fn start_tool(
        &self,
        arguments: &[String],
        variables: &[(String, String)],
    ) -> io::Result<Box<dyn AgentTool>> {
        let tool = ToolRunner::itself(SUBCOMMAND).start(arguments, variables)?;
        Ok(Box::new(RunningTool(tool)))
    }

    fn ask(&self, command: &str, request: &str) -> io::Result<Box<dyn AgentTool>> {
        let shell = ToolRunner::new("/bin/sh", ["-c".to_owned()]);
        Ok(Box::new(RunningTool(shell.start_with_input(&[command.to_owned()], request)?)))
    }

    fn crash(&self) {
        tools::die();
    }
}

#[derive(Debug)]
struct RunningTool(ToolProcess);

impl AgentTool for RunningTool {
    fn pid(&self) -> u32 {
        self.0.pid()
    }

    fn output(&self) -> BorrowedFd<'_> {
        self.0.output()
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.end()
    }
}
