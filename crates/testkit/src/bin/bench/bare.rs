//! The baseline: a program in a pseudo-terminal without a holder. Its output is read and discarded.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The number of bytes that a holder reads at once.
const READ_BYTES: usize = 64 << 10;

/// A program that runs in a pseudo-terminal.
pub(crate) struct Bare {
    child: Child,
    reader: JoinHandle<u64>,
}

impl Bare {
    /// Starts a command in a pseudo-terminal with the default size of a holder's terminal.
    pub(crate) fn start(command: &mut Command) -> Self {
        let (mut master, slave) = open_pair();
        let end = || Stdio::from(slave.try_clone().expect("a descriptor"));
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("it starts");
        // `Command` keeps the descriptors of the terminal open. They must be replaced, because
        // otherwise the reader would never get an end of file.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        drop(slave);
        let reader = thread::spawn(move || read_all(&mut master));
        Self { child, reader }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end of the output. Returns its length in bytes.
    pub(crate) fn wait(mut self) -> u64 {
        let count = self.reader.join().expect("a reader");
        self.child.wait().expect("a child");
        count
    }

    pub(crate) fn kill(mut self) {
        // Killing fails if the program has already exited.
        let _ended = self.child.kill();
        self.wait();
    }
}

/// Reads until the error that a pseudo-terminal returns when its other end is closed. Returns the
/// number of bytes.
fn read_all(master: &mut File) -> u64 {
    let mut buffer = vec![0; READ_BYTES];
    let mut count = 0;
    while let Ok(read @ 1..) = master.read(&mut buffer) {
        count += read as u64;
    }
    count
}

fn open_pair() -> (File, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).expect("a terminal");
    grantpt(&master).expect("a terminal");
    unlockpt(&master).expect("a terminal");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = open(name.as_c_str(), flags, Mode::empty()).expect("the other end");
    let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&slave, size).expect("a size");
    (File::from(master), slave)
}
