//! Runs the demo agent as a separate program, for manual trials and for its tests.
//!
//! `cargo run --example demo-agent -- --print "remember the word fox"`

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};

use jiff::Timestamp;
use rustix::process::{Signal, getpid, ioctl_tiocsctty, kill_process, setsid};
use segue_core::model::{Environment, ProcessRef};
use segue_vendors::demo::agent::{AgentHost, AgentTool, run};

fn main() -> ExitCode {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == "--own-terminal") {
        arguments.remove(0);
        if take_terminal().is_err() {
            return ExitCode::FAILURE;
        }
    }
    let host = ExampleHost { environment: Environment::new(env::vars()) };
    ExitCode::from(run(arguments, &host))
}

/// Makes standard input the controlling terminal of a new process session, as Segue's holder does.
fn take_terminal() -> io::Result<()> {
    setsid()?;
    Ok(ioctl_tiocsctty(io::stdin())?)
}

#[derive(Debug)]
struct ExampleHost {
    environment: Environment,
}

impl AgentHost for ExampleHost {
    fn process(&self) -> ProcessRef {
        let pid = getpid().as_raw_nonzero().get().unsigned_abs();
        ProcessRef { pid, started: started().unwrap_or(0), boot: String::new() }
    }

    fn environment(&self) -> &Environment {
        &self.environment
    }

    fn cwd(&self) -> io::Result<PathBuf> {
        env::current_dir()
    }

    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn start_tool(
        &self,
        arguments: &[String],
        variables: &[(String, String)],
    ) -> io::Result<Box<dyn AgentTool>> {
        let mut child = Command::new(env::current_exe()?)
            .args(arguments)
            .envs(variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Box::new(ExampleToolProcess { child, output }))
    }

    fn ask(&self, command: &str, request: &str) -> io::Result<Box<dyn AgentTool>> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?.write_all(request.as_bytes())?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Box::new(ExampleToolProcess { child, output }))
    }

    fn crash(&self) {
        // If the signal cannot be sent, the agent exits with an exit code instead.
        let _impossible = kill_process(getpid(), Signal::KILL);
    }
}

/// Returns the start time of this process in clock ticks since boot.
fn started() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, after_name) = stat.rsplit_once(") ")?;
    after_name.split(' ').nth(19)?.parse().ok()
}

#[derive(Debug)]
struct ExampleToolProcess {
    child: Child,
    output: ChildStdout,
}

impl AgentTool for ExampleToolProcess {
    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    fn end(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }
}
