//! Ends: of the agent, of everything it started, and of the holder.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use segue_core::failpoint;
use segue_core::model::{Exit, LaunchEnd};
use tokio::time::Instant;

use super::agent::Stream;
use super::lives::{Life, Stop, StopStep};
use super::{Holder, log};
use crate::cgroup::AgentGroup;
use crate::hold::descriptors::read_now;
use crate::hold::order::{self, errors_path, socket_path};
use crate::hold::wire::{Answer, Event};
use crate::last_words;
use crate::process::{self, ProcessHandle};

/// What an agent gets when the machine goes down.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(3);

impl Holder {
    /// Asks the agent to end, and sees to it that it does.
    pub(super) fn stop(&mut self, asked: bool, grace: Duration) {
        let Life::Running { stop } = &mut self.life else { return };
        failpoint::hit("hold.stop.before");
        let new = Stop::new(asked, grace, Instant::now());
        *stop = Some(stop.map_or(new, |old| old.join(new)));
        self.signal_agent(Signal::TERM);
        // One that is stopped cannot end before it goes on.
        self.signal_agent(Signal::CONT);
        failpoint::hit("hold.stop.after");
    }

    /// Ends the agent because this process was told to end.
    pub(super) fn terminate(&mut self) {
        log("told to end");
        match &mut self.life {
            Life::Running { .. } => self.stop(false, SHUTDOWN_GRACE),
            Life::Sweeping { leave, .. } | Life::Ended { leave, .. } => *leave = true,
        }
    }

    /// Carries out the step of a stop whose time has come.
    pub(super) fn escalate(&mut self) {
        let Life::Running { stop: Some(stop) } = &mut self.life else { return };
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

    /// Signals the agent, which is this process's child: until its status is taken, nobody else
    /// can have its number.
    pub(super) fn signal_agent(&self, signal: Signal) {
        let pid = i32::try_from(self.live.agent.pid).ok().and_then(Pid::from_raw);
        if let Some(Err(error)) = pid.map(|pid| kill_process(pid, signal))
            && error != Errno::SRCH
        {
            log(&format!("the agent cannot be sent {signal:?}: {error}"));
        }
    }

    /// Takes the status of every process that has ended, and continues an agent that was stopped.
    pub(super) fn reap(&mut self) {
        loop {
            match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
                Ok(Some((pid, status))) if status.stopped() => self.stopped(pid),
                Ok(Some((pid, status))) => self.collected(pid, status),
                Ok(None) => break,
                Err(Errno::INTR) => {}
                // Nobody is left.
                Err(_) => return self.finish(),
            }
        }
        if matches!(self.life, Life::Sweeping { .. }) {
            kill_descendants();
        }
    }

    pub(super) fn is_agent(&self, pid: Pid) -> bool {
        u32::try_from(pid.as_raw_nonzero().get()) == Ok(self.live.agent.pid)
    }

    fn collected(&mut self, pid: Pid, status: WaitStatus) {
        let Life::Running { stop } = self.life else { return };
        if !self.is_agent(pid) {
            return;
        }
        let asked = stop.is_some_and(|stop| stop.asked);
        // The stream has the agent's last words before anybody can read that it ended.
        self.drain();
        let was_told = self.terminal.is_some() && stop.is_some_and(|stop| !stop.asked);
        let exit = unless_told_to(exit(status), was_told);
        let end = LaunchEnd { exit, asked, at: jiff::Timestamp::now() };
        log(&format!("the agent ended: {}", end.exit));
        if let Err(error) = order::write_end(&self.folder, &end) {
            log(&format!("how the agent ended is not on disk: {error}"));
        }
        // Only a crash leaves something that an automatic restart needs: the environment.
        let leave = stop.is_some() || end.exit.is_clean() || self.terminal.is_none();
        failpoint::hit("hold.sweep.before");
        self.life = Life::Sweeping { end, leave };
        self.kill_all();
    }

    /// Lets everybody know, when the agent and all that it started are gone.
    fn finish(&mut self) {
        let Life::Sweeping { end, leave } = self.life else { return };
        failpoint::hit("hold.sweep.after");
        self.close_stream();
        self.group.iter().for_each(AgentGroup::remove);
        // Whoever hears of the end can read why.
        if !end.asked
            && let Err(error) = self.keep_last_words()
        {
            log(&format!("what the agent printed last is not on disk: {error}"));
        }
        if leave {
            remove_socket(&self.folder);
        }
        // Whoever hears of the end can start the session again.
        self.lock = None;
        self.life = Life::Ended { end, leave };
        self.clients.announce(&Event::Ended(end));
        self.clients.answer_stops(&Answer::Ended(end));
        failpoint::hit("hold.ended.after");
    }

    /// Writes down what the agent printed last: on its terminal, or as its errors. A headless agent
    /// without errors may have said why among its answers.
    fn keep_last_words(&mut self) -> std::io::Result<()> {
        self.draw();
        let output = match &self.terminal {
            Some(terminal) => terminal.text(),
            None => {
                let errors = last_words::end_of(&errors_path(&self.folder))?;
                let said = self.history.last(last_words::LOOKED_AT_BYTES).concat();
                let said = String::from_utf8_lossy(&said).into_owned();
                let is_prose = |line: &&str| !line.starts_with('{');
                match errors.trim().is_empty() {
                    true => said.lines().filter(is_prose).collect::<Vec<_>>().join("\n"),
                    false => errors,
                }
            }
        };
        last_words::write(&self.folder, &output, &self.environment)
    }

    /// Kills what the agent started: all of its cgroup at once, and what descends from this process.
    fn kill_all(&self) {
        if let Some(Err(error)) = self.group.as_ref().map(AgentGroup::kill) {
            log(&format!("the cgroup of the agent cannot be killed: {error}"));
        }
        kill_descendants();
    }

    fn close_stream(&mut self) {
        self.drain();
        if let Some(Stream::Terminal { master, slave }) = self.stream.take() {
            // Without our own end the kernel gives out all that is still on its way.
            drop(slave);
            self.drain_from(&master);
        }
        self.input.clear();
        self.typist.give_up();
        self.changes.forget();
    }

    /// Takes in what the agent has written until now.
    fn drain(&mut self) {
        let Some(stream) = self.stream.take() else { return };
        self.stream = Some(stream);
        while let Some(stream) = &self.stream {
            match read_now(stream.output(), &mut self.batch) {
                Ok(count) if count > 0 => self.take_in(count),
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
            self.take_in(count);
        }
    }
}

/// Returns how an agent ended. One at a terminal that ends in good order because the machine goes
/// down was not left by a person: the signal that it was sent is its end.
fn unless_told_to(exit: Exit, was_told: bool) -> Exit {
    if was_told && exit.is_clean() { Exit::Signal(Signal::TERM.as_raw()) } else { exit }
}

fn exit(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

/// Writes down that there never was an agent.
pub(super) fn record_never_started(folder: &Path) {
    if let Err(error) = order::write_end_unless_there(folder, &order::never_started()) {
        log(&format!("the failed start is not on disk: {error}"));
    }
}

/// Ends every child and waits for it, when there will be no holder after all.
pub(super) fn end_children() {
    loop {
        kill_descendants();
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Kills every process that descends from this one. Orphans become its children, and the end of a
/// parent is an event: one that escapes this round is met in the next.
fn kill_descendants() {
    let own = std::process::id();
    for pid in process::descendants(own) {
        let Some(Ok(Some(handle))) = process::find(pid).map(|found| ProcessHandle::open(&found))
        else {
            continue;
        };
        // It is asked again after the process is held: then it cannot be another one.
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

/// Takes the socket away, so that nobody waits on a holder that goes.
pub(super) fn remove_socket(folder: &Path) {
    // It may be gone with its folder.
    let _removed = fs::remove_file(socket_path(folder));
}
