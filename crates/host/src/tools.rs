//! Starts other programs as tools, without an async runtime.

use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Signal, getpid, kill_process};

/// Starts a program as a tool. One runner can start it many times.
#[derive(Clone, Debug)]
pub struct ToolRunner {
    program: PathBuf,
    first_arguments: Vec<String>,
}

impl ToolRunner {
    /// Returns a runner for a program. Every start passes `first_arguments` before its own arguments.
    pub fn new(
        program: impl Into<PathBuf>,
        first_arguments: impl IntoIterator<Item = String>,
    ) -> Self {
        Self { program: program.into(), first_arguments: first_arguments.into_iter().collect() }
    }

    /// Returns a runner for the program of this process, even if its file was replaced meanwhile.
    pub fn itself(subcommand: &str) -> Self {
        Self::new("/proc/self/exe", [subcommand.to_owned()])
    }

    /// Starts the tool with additional environment variables. It has no standard input, and its
    /// standard error is discarded.
    pub fn start(
        &self,
        arguments: &[String],
        variables: &[(String, String)],
    ) -> io::Result<ToolProcess> {
        self.spawn(arguments, variables, Stdio::null())
    }

    /// Starts the tool with a short text as its standard input.
    pub fn start_with_input(&self, arguments: &[String], input: &str) -> io::Result<ToolProcess> {
        let mut tool = self.spawn(arguments, &[], Stdio::piped())?;
        // The pipe is closed after the text.
        let written = tool.child.stdin.take().map(|mut pipe| pipe.write_all(input.as_bytes()));
        written.transpose()?;
        Ok(tool)
    }

    fn spawn(
        &self,
        arguments: &[String],
        variables: &[(String, String)],
        input: Stdio,
    ) -> io::Result<ToolProcess> {
        let mut child = Command::new(&self.program)
            .args(self.first_arguments.iter().chain(arguments))
            .envs(variables.iter().cloned())
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(ToolProcess { child, output })
    }
}

/// A running tool. Dropping it does not end the process.
#[derive(Debug)]
pub struct ToolProcess {
    child: Child,
    output: ChildStdout,
}

impl ToolProcess {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the tool's standard output. It reaches its end when the tool exits.
    pub fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    /// Kills the tool if it still runs, and collects its exit status.
    pub fn end(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }
}

/// Kills this process with SIGKILL, which cannot be caught.
pub fn die() {
    // A process may always send itself a signal. If it fails nevertheless, the process continues.
    let _sent = kill_process(getpid(), Signal::KILL);
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn shell() -> ToolRunner {
        ToolRunner::new("/bin/sh", ["-c".to_owned()])
    }

    #[test]
    fn tool_gets_its_arguments_and_variables() {
        let variables = [("WORD".to_owned(), "fox".to_owned())];
        let mut tool = shell().start(&["printf \"$WORD\"".to_owned()], &variables).unwrap();
        let mut output = String::new();
        tool.output.read_to_string(&mut output).unwrap();
        assert_eq!(output, "fox");
        tool.end().unwrap();
    }

    #[test]
    fn tool_reads_its_input_to_the_end() {
        let mut tool = shell().start_with_input(&["cat".to_owned()], "a fox").unwrap();
        let mut output = String::new();
        tool.output.read_to_string(&mut output).unwrap();
        assert_eq!(output, "a fox");
        tool.end().unwrap();
    }

    #[test]
    fn end_kills_a_running_tool() {
        let mut tool = shell().start(&["read line < /dev/zero".to_owned()], &[]).unwrap();
        tool.end().unwrap();
        let mut rest = Vec::new();
        assert_eq!(tool.output.read_to_end(&mut rest).unwrap(), 0);
        assert!(tool.pid() > 0);
    }

    #[test]
    fn start_of_a_missing_program_is_an_error() {
        let runner = ToolRunner::new("/nonexistent/tool", []);
        assert_eq!(runner.start(&[], &[]).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
