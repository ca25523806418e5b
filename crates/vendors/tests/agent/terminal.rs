//! Runs the agent in a pseudo-terminal that answers no terminal queries.

use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Stdio};

use rustix::fs::OFlags;
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::trial::{TestProcess, Trial, deadline, is_ready};

/// The agent at a terminal.
pub(crate) struct AgentTerminal {
    master: OwnedFd,
    slave: OwnedFd,
    running: TestProcess,
    parser: vt100::Parser<Titles>,
}

/// Records the title and counts the bells, because `vt100` does not store them.
#[derive(Default)]
pub(crate) struct Titles {
    last: String,
    bells: usize,
}

impl vt100::Callbacks for Titles {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.last = String::from_utf8_lossy(title).into_owned();
    }

    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.bells += 1;
    }
}

impl AgentTerminal {
    pub(crate) fn open(trial: &Trial, arguments: &[&str]) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        rustix::fs::fcntl_setfl(&master, OFlags::NONBLOCK).unwrap();
        set_size(&master, 60, 12);
        let mut command = trial.command();
        command.arg("--own-terminal").args(arguments);
        let side = || Stdio::from(slave.try_clone().unwrap());
        command.stdin(side()).stdout(side()).stderr(side());
        let running = TestProcess::start(&mut command);
        let (rows, columns) = (12.try_into().unwrap(), 60.try_into().unwrap());
        let parser = vt100::Parser::new_with_callbacks(rows, columns, 0, Titles::default());
        Self { master, slave, running, parser }
    }

    pub(crate) fn send(&self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        assert_eq!(rustix::io::write(&self.master, bytes).unwrap(), bytes.len());
    }

    /// Types a message and Enter.
    pub(crate) fn send_message(&self, text: &str) {
        self.send(format!("{text}\r"));
    }

    /// Reads until the screen shows a text.
    pub(crate) fn wait_for_text(&mut self, text: &str) {
        self.wait_for_screen(text, |terminal| terminal.contents().contains(text));
    }

    /// Reads until the title equals this text.
    pub(crate) fn wait_for_title(&mut self, title: &str) {
        self.wait_for_screen(title, |terminal| terminal.parser.callbacks().last == title);
    }

    pub(crate) fn wait_for_screen(&mut self, description: &str, condition: impl Fn(&Self) -> bool) {
        let deadline = deadline();
        while !condition(self) {
            let is_late = !is_ready(&self.master, deadline);
            if is_late || !self.read() {
                panic!("the screen does not show {description:?}:\n{}", self.contents());
            }
        }
    }

    pub(crate) fn contents(&self) -> String {
        self.screen().contents()
    }

    pub(crate) fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    pub(crate) fn bells(&self) -> usize {
        self.parser.callbacks().bells
    }

    /// Changes the size of the terminal and of the screen model.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        set_size(&self.master, columns, rows);
        let (rows, columns) = (rows.try_into().unwrap(), columns.try_into().unwrap());
        self.parser.screen_mut().set_size(rows, columns);
    }

    /// Returns whether the terminal is in cooked mode, as a shell expects.
    pub(crate) fn is_cooked(&self) -> bool {
        tcgetattr(&self.slave).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.running.signal(signal);
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running.child.id()
    }

    /// Waits until the agent exits, and reads the rest of its output.
    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        let status = self.running.wait_for_exit();
        while self.read() {}
        status
    }

    /// Closes the terminal while the agent runs.
    pub(crate) fn hang_up(self) -> TestProcess {
        self.running
    }

    /// Reads the available output. Returns whether there was any.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 8192];
        match rustix::io::read(&self.master, &mut bytes) {
            Ok(length) => {
                self.parser.process(&bytes[..length]);
                length > 0
            }
            Err(_) => false,
        }
    }
}

fn set_size(master: &OwnedFd, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).unwrap();
}
