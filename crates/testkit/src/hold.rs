//! Pauses a Segue process at a failpoint, so that a test can act while the process waits.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc;
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::world::{DEADLINE, World};
use crate::{processes, scene};

/// The environment variables that make a process wait at a failpoint.
const VARIABLES: [&str; 3] = ["SEGUE_FAILPOINT", "SEGUE_FAILPOINT_ROLE", "SEGUE_FAILPOINT_HOLD"];

/// A failpoint at which the next process of one role (`cli`, `daemon` or `holder`) waits.
///
/// The process opens the named pipe `pipe` for reading, and waits until the writing end is opened
/// and closed again.
#[derive(Debug)]
pub struct Hold {
    pipe: PathBuf,
}

impl Hold {
    /// Makes the next daemon wait at this failpoint.
    pub fn at(world: &mut World, point: &str) -> Self {
        Self::process_at(world, "daemon", point)
    }

    /// Makes the next process of this role wait at this failpoint.
    pub fn process_at(world: &mut World, role: &str, point: &str) -> Self {
        let hold = Self::pipe_in(world);
        let values = [point, role, hold.pipe()];
        VARIABLES.iter().zip(values).for_each(|(name, value)| world.set(name, value));
        hold
    }

    /// Only creates the named pipe. The test sets the environment variables itself, on the command
    /// that is to wait.
    pub fn pipe_in(world: &World) -> Self {
        let pipe = world.root().join("hold");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        Self { pipe }
    }

    /// Returns the value of `SEGUE_FAILPOINT_HOLD`.
    pub fn pipe(&self) -> &str {
        self.pipe.to_str().expect("a plain path")
    }

    /// Waits until the process is at the failpoint, calls `act`, and lets the process continue.
    /// Processes that start from now on do not wait.
    pub fn meanwhile(self, world: &mut World, act: impl FnOnce(&World)) {
        VARIABLES.iter().for_each(|name| world.unset(name));
        self.while_held(|| act(world));
    }

    /// Waits until the process is at the failpoint, calls `act`, and lets the process continue.
    pub fn while_held(self, act: impl FnOnce()) {
        let (sender, opened) = mpsc::channel();
        let pipe = self.pipe.clone();
        thread::spawn(move || {
            // Opening one end of a named pipe blocks until the other end is open.
            let held = OpenOptions::new().write(true).open(pipe);
            // The send fails if the test has already timed out.
            let _gone = sender.send(held);
        });
        let held = opened.recv_timeout(DEADLINE).expect("a process at its failpoint");
        let held = held.expect("a pipe");
        act();
        drop(held);
        std::fs::remove_file(self.pipe).expect("a pipe that is there");
    }
}

/// Starts a command. Kills the command and its daemon when the daemon reaches this failpoint. If the
/// command survived, it would start another daemon and repeat its request.
pub fn kill_both_at(world: &mut World, point: &str, start: impl FnOnce(&World) -> Child) {
    let hold = Hold::at(world, point);
    let mut command = start(world);
    hold.meanwhile(world, |world| {
        command.kill().and_then(|()| command.wait()).expect("the command is gone");
        kill_waiting_daemon(world);
    });
}

/// Kills the daemon. Finds it by its command line, because a daemon that waits at a failpoint might
/// not answer requests.
pub fn kill_waiting_daemon(world: &World) {
    processes::kill_all(|| scene::pids_running(world, "daemon"));
}
