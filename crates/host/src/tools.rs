//! Programs that one of our own programs runs as its tools, without a runtime.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Signal, getpid, kill_process};

/// Starts one program, again and again, as a tool.
#[derive(Clone, Debug)]
pub struct ToolRunner {
    program: PathBuf,
    leading: Vec<String>,
}

impl ToolRunner {
    /// Prepares a program with the arguments that come first in every start.
    pub fn new(program: impl Into<PathBuf>, leading: impl IntoIterator<Item = String>) -> Self {
        Self { program: program.into(), leading: leading.into_iter().collect() }
    }

    /// Prepares this very program, even if its file was replaced meanwhile.
    pub fn itself(subcommand: &str) -> Self {
        Self::new("/proc/self/exe", [subcommand.to_owned()])
    }

    /// Starts the tool with additional variables. Its input and its errors go nowhere.
    pub fn start(
        &self,
        arguments: &[String],
        variables: &[(String, String)],
    ) -> io::Result<ToolProcess> {
        let mut child = Command::new(&self.program)
            .args(self.leading.iter().chain(arguments))
            .envs(variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(ToolProcess { child, output })
    }
}

/// A tool that was started. Dropping it ends nothing.
#[derive(Debug)]
pub struct ToolProcess {
    child: Child,
    output: ChildStdout,
}

impl ToolProcess {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns what the tool prints; it is at its end when the tool has ended.
    pub fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    /// Ends the tool if it still runs, and collects its status.
    pub fn end(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }
}

/// Ends this process by a signal that nothing can catch.
pub fn die() {
    // A process that cannot even end itself has nothing better to do than to go on.
    let _impossible = kill_process(getpid(), Signal::KILL);
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn shell() -> ToolRunner {
        ToolRunner::new("/bin/sh", ["-c".to_owned()])
    }

    #[test]
    fn a_tool_gets_its_arguments_and_variables_and_ends_its_output() {
        let variables = [("WORD".to_owned(), "fox".to_owned())];
        let mut tool = shell().start(&["printf \"$WORD\"".to_owned()], &variables).unwrap();
        let mut said = String::new();
        tool.output.read_to_string(&mut said).unwrap();
        assert_eq!(said, "fox");
        tool.end().unwrap();
    }

    #[test]
    fn a_tool_that_runs_is_ended() {
        let mut tool = shell().start(&["read line < /dev/zero".to_owned()], &[]).unwrap();
        tool.end().unwrap();
        let mut rest = Vec::new();
        assert_eq!(tool.output.read_to_end(&mut rest).unwrap(), 0);
        assert!(tool.pid() > 0);
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let runner = ToolRunner::new("/nonexistent/tool", []);
        assert_eq!(runner.start(&[], &[]).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
