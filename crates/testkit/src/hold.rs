//! Holding a process at a failpoint, to do something behind its back.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};

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
        let pipe = world.root().join("hold");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        let values = [point, role, pipe.to_str().expect("a plain path")];
        VARIABLES.iter().zip(values).for_each(|(name, value)| world.set(name, value));
        Self { pipe }
    }

    /// Waits until the process has come there, does something, and lets it go on. Later ones wait
    /// nowhere.
    pub fn meanwhile(self, world: &mut World, act: impl FnOnce(&World)) {
        VARIABLES.iter().for_each(|name| world.unset(name));
        let (sender, opened) = mpsc::channel();
        thread::spawn(move || {
            // To open it takes until the other end is open, too.
            let held = OpenOptions::new().write(true).open(self.pipe);
            // The test may have stopped waiting.
            let _gone = sender.send(held);
        });
        let held = opened.recv_timeout(DEADLINE).expect("a process at its failpoint");
        let held = held.expect("a pipe");
        act(world);
        drop(held);
    }
}
