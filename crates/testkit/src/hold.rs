//! Holding a process at a failpoint, to do something behind its back.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc;
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::processes;
use crate::world::{DEADLINE, World};

/// The variables that have a process wait.
const VARIABLES: [&str; 3] = ["SEGUE_FAILPOINT", "SEGUE_FAILPOINT_ROLE", "SEGUE_FAILPOINT_HOLD"];

/// A point at which the next process of its kind in a world waits.
#[derive(Debug)]
pub struct Hold {
    pipe: PathBuf,
}

impl Hold {
    /// Has the next daemon wait at this point.
    pub fn at(world: &mut World, point: &str) -> Self {
        Self::process_at(world, "daemon", point)
    }

    /// Has the next process of this role wait at this point.
    pub fn process_at(world: &mut World, role: &str, point: &str) -> Self {
        let hold = Self::file(world);
        let values = [point, role, hold.pipe()];
        VARIABLES.iter().zip(values).for_each(|(name, value)| world.set(name, value));
        hold
    }

    /// Makes the pipe alone, for a command that gets the variables by itself.
    pub fn file(world: &World) -> Self {
        let pipe = world.root().join("hold");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        Self { pipe }
    }

    /// Returns the value of `SEGUE_FAILPOINT_HOLD`.
    pub fn pipe(&self) -> &str {
        self.pipe.to_str().expect("a plain path")
    }

    /// Waits until the process has come there, does something, and lets it go on. Later ones wait
    /// nowhere.
    pub fn meanwhile(self, world: &mut World, act: impl FnOnce(&World)) {
        VARIABLES.iter().for_each(|name| world.unset(name));
        self.kept(|| act(world));
    }

    /// Waits until the process has come there, does something, and lets it go on.
    pub fn kept(self, act: impl FnOnce()) {
        let (sender, opened) = mpsc::channel();
        let pipe = self.pipe.clone();
        thread::spawn(move || {
            // To open it takes until the other end is open, too.
            let held = OpenOptions::new().write(true).open(pipe);
            // The test may have stopped waiting.
            let _gone = sender.send(held);
        });
        let held = opened.recv_timeout(DEADLINE).expect("a process at its failpoint");
        let held = held.expect("a pipe");
        act();
        drop(held);
        std::fs::remove_file(self.pipe).expect("a pipe that is there");
    }
}

/// Starts a command, and kills it and its daemon when the daemon comes to this point. A command that
/// lived would start another daemon and ask again.
pub fn kill_both_at(world: &mut World, point: &str, start: impl FnOnce(&World) -> Child) {
    let hold = Hold::at(world, point);
    let mut command = start(world);
    hold.meanwhile(world, |world| {
        command.kill().and_then(|()| command.wait()).expect("the command is gone");
        // A daemon that is held may answer nobody.
        let is_daemon =
            |pid: &u32| processes::command_line(*pid).get(1).is_some_and(|word| word == "daemon");
        processes::kill_all(|| world.processes().into_iter().filter(is_daemon).collect());
    });
}
