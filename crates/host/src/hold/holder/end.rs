//! Ends the agent, the processes that it has started, and the holder.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use segue_core::failpoint;
use segue_core::model::{Exit, LaunchEnd};
use tokio::time::Instant;

use super::agent::AgentStream;
use super::agent_state::{AgentState, PendingStop, StopStep};
use super::{Holder, log};
use crate::cgroup::AgentGroup;
use crate::hold::descriptors::read_now;
use crate::hold::order::{self, errors_path, socket_path};
use crate::hold::wire::{WireAnswer, WireEvent};
use crate::last_output;
use crate::process::{self, ProcessHandle};

/// How long an agent has to exit when the machine shuts down.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(3);

impl Holder {
    /// Asks the agent to exit, and schedules the steps that force it to.
    pub(super) fn stop(&mut self, is_requested: bool, grace: Duration) {
        let AgentState::Running { stop } = &mut self.agent_state else { return };
        failpoint::hit("hold.stop.before");
        let new = PendingStop::new(is_requested, grace, Instant::now());
        *stop = Some(stop.map_or(new, |old| old.join(new)));
        self.signal_agent(Signal::TERM);
        // A suspended process cannot exit before it is resumed.
        self.signal_agent(Signal::CONT);
        failpoint::hit("hold.stop.after");
    }

    /// Ends the agent because this process received SIGTERM.
    pub(super) fn terminate(&mut self) {
        log("received SIGTERM");
        match &mut self.agent_state {
            AgentState::Running { .. } => self.stop(false, SHUTDOWN_GRACE),
            AgentState::Sweeping { holder_exits, .. } | AgentState::Ended { holder_exits, .. } => {
                *holder_exits = true;
            }
        }
    }

    /// Executes the step of a stop that is due.
    pub(super) fn escalate(&mut self) {
        let AgentState::Running { stop: Some(stop) } = &mut self.agent_state else { return };
        let step = stop.next;
        match stop.advance() {
            Some(next) => *stop = next,
            None => stop.at += Duration::from_secs(1),
        }
        match step {
            StopStep::HangUp => self.signal_agent(Signal::HUP),
            StopStep::Kill => {
                failpoint::hit("hold.kill.before");
                self.signal_agent(Signal::KILL);
                self.kill_all();
                failpoint::hit("hold.kill.after");
            }
        }
    }

    /// Sends a signal to the agent. The agent is a child of this process: until its exit status is
    /// collected, its process id cannot be reused.
    pub(super) fn signal_agent(&self, signal: Signal) {
        let pid = i32::try_from(self.live.agent.pid).ok().and_then(Pid::from_raw);
        if let Some(Err(error)) = pid.map(|pid| kill_process(pid, signal))
            && error != Errno::SRCH
        {
            log(&format!("the agent cannot be sent {signal:?}: {error}"));
        }
    }

    /// Collects the exit status of every process that has exited, and resumes a suspended agent.
    pub(super) fn reap(&mut self) {
        loop {
            match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) if status.stopped() => self.child_suspended(pid),
                Ok(Some((pid, status))) => self.collected(pid, status),
                Ok(None) => break,
                Err(Errno::INTR) => {}
                // No child is left.
                Err(_) => return self.finish(),
            }
        }
        if matches!(self.agent_state, AgentState::Sweeping { .. }) {
            kill_descendants();
        }
    }

    pub(super) fn is_agent(&self, pid: Pid) -> bool {
        u32::try_from(pid.as_raw_nonzero().get()) == Ok(self.live.agent.pid)
    }

    fn collected(&mut self, pid: Pid, status: WaitStatus) {
        let AgentState::Running { stop } = self.agent_state else { return };
        if !self.is_agent(pid) {
            return;
        }
        let is_requested = stop.is_some_and(|stop| stop.is_requested);
        // Record the agent's last output before its end, so that a reader of the end finds it.
        self.drain();
        let was_terminated = self.terminal.is_some() && stop.is_some_and(|stop| !stop.is_requested);
        let exit = or_terminated(exit(status), was_terminated);
        let end = LaunchEnd { exit, is_requested, at: jiff::Timestamp::now() };
        log(&format!("the agent ended: {}", end.exit));
        if let Err(error) = order::write_end(&self.folder, &end) {
            log(&format!("the end of the agent cannot be recorded: {error}"));
        }
        // After a crash the holder stays, because an automatic restart takes the environment from
        // it. In all other cases it exits.
        let holder_exits = stop.is_some() || end.exit.is_clean() || self.terminal.is_none();
        failpoint::hit("hold.sweep.before");
        self.agent_state = AgentState::Sweeping { end, holder_exits };
        self.kill_all();
    }

    /// Notifies all clients, if the agent and all processes that it has started are gone.
    fn finish(&mut self) {
        let AgentState::Sweeping { end, holder_exits } = self.agent_state else { return };
        failpoint::hit("hold.sweep.after");
        self.close_stream();
        self.group.iter().for_each(AgentGroup::remove);
        // Record the last output before the clients are notified of the end, so that they can read
        // the reason.
        if !end.is_requested
            && let Err(error) = self.record_last_output()
        {
            log(&format!("the agent's last output cannot be recorded: {error}"));
        }
        if holder_exits {
            remove_socket(&self.folder);
        }
        // Release the session's lock before the clients are notified of the end, so that the daemon
        // can start the session again.
        self.lock = None;
        self.agent_state = AgentState::Ended { end, holder_exits };
        self.clients.announce(&WireEvent::Ended(end));
        self.clients.answer_stops(&WireAnswer::Ended(end));
        failpoint::hit("hold.ended.after");
    }

    /// Records the last output of the agent's terminal, or the standard error of a headless agent.
    /// If that is empty, the reason of the end may be in its standard output.
    fn record_last_output(&mut self) -> std::io::Result<()> {
        self.draw();
        let output = match &self.terminal {
            Some(terminal) => terminal.text(),
            None => {
                let errors = last_output::end_of(&errors_path(&self.folder))?;
                let output = self.history.last(last_output::EXAMINED_BYTES).concat();
                let output = String::from_utf8_lossy(&output).into_owned();
                let is_prose = |line: &&str| !line.starts_with('{');
                match errors.trim().is_empty() {
                    true => output.lines().filter(is_prose).collect::<Vec<_>>().join("\n"),
                    false => errors,
                }
            }
        };
        last_output::write(&self.folder, &output, &self.environment)
    }

    /// Kills all processes that the agent has started: its cgroup at once, and all descendants of
    /// this process.
    fn kill_all(&self) {
        if let Some(Err(error)) = self.group.as_ref().map(AgentGroup::kill) {
            log(&format!("the cgroup of the agent cannot be killed: {error}"));
        }
        kill_descendants();
    }

    fn close_stream(&mut self) {
        self.drain();
        if let Some(AgentStream::Terminal { master, slave }) = self.stream.take() {
            // After this process has closed the slave, the kernel returns all buffered output.
            drop(slave);
            self.drain_from(&master);
        }
        self.input.clear();
        self.message_typing.give_up();
        self.changes.forget();
    }

    /// Reads all output that the agent has written until now.
    fn drain(&mut self) {
        while let Some(stream) = &self.stream {
            match read_now(stream.output(), &mut self.batch) {
                Ok(count) if count > 0 => self.process_output(count),
                _ => break,
            }
        }
        if let Some(stream) = &self.stream {
            stream.sync();
        }
    }

    fn drain_from(&mut self, master: &tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>) {
        while let Ok(count) = read_now(master, &mut self.batch)
            && count > 0
        {
            self.process_output(count);
        }
    }
}

/// Returns how an agent ended. If an agent at a terminal exits cleanly because of a shutdown, no
/// user has quit it. Then the signal that it received counts as its end.
fn or_terminated(exit: Exit, was_terminated: bool) -> Exit {
    if was_terminated && exit.is_clean() { Exit::Signal(Signal::TERM.as_raw()) } else { exit }
}

fn exit(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

/// Records that the agent never started.
pub(super) fn record_never_started(folder: &Path) {
    if let Err(error) = order::write_end_if_missing(folder, &order::never_started()) {
        log(&format!("the failed start cannot be recorded: {error}"));
    }
}

/// Kills every child of a holder whose start failed, and waits for it.
pub(super) fn end_children() {
    loop {
        kill_descendants();
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Kills every descendant of this process. Orphans become its children, and SIGCHLD reports the
/// exit of their parent process. So a descendant that is missed now is found after the next SIGCHLD.
fn kill_descendants() {
    let own = std::process::id();
    for pid in process::descendants(own) {
        let Some(Ok(Some(handle))) = process::find(pid).map(|found| ProcessHandle::open(&found))
        else {
            continue;
        };
        // Check the descent after the handle was opened, so that no other process is killed.
        if descends_from(pid, own)
            && let Err(error) = handle.signal(Signal::KILL)
        {
            log(&format!("process {pid} cannot be killed: {error}"));
        }
    }
}

fn descends_from(pid: u32, ancestor: u32) -> bool {
    std::iter::successors(Some(pid), |pid| process::parent(*pid)).skip(1).any(|pid| pid == ancestor)
}

/// Removes the socket, so that no client waits for a holder that exits.
pub(super) fn remove_socket(folder: &Path) {
    // The socket may be gone together with its folder.
    let _removed = fs::remove_file(socket_path(folder));
}
