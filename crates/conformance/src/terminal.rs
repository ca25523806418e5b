//! A person at a terminal: a pseudo-terminal with a program in it, and the screen it shows.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::expectation::expect;
use crate::wait::readable;
use crate::world::DEADLINE;

/// How long a program may take to show typed text. If it does not, it has discarded the text.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);

/// How long the screen stays unchanged before Enter is pressed.
const A_MOMENT: Duration = Duration::from_millis(400);

/// A program in a pseudo-terminal.
#[derive(Debug)]
pub struct Terminal {
    master: File,
    slave: OwnedFd,
    child: Child,
    screen: TerminalScreen,
}

struct TerminalScreen(vt100::Parser, Vec<u8>);

impl std::fmt::Debug for TerminalScreen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.screen().contents())
    }
}

impl Terminal {
    /// Starts a command in a new terminal of this size, in which it is the session leader.
    pub fn start(command: &Command, rows: u16, columns: u16) -> Self {
        let (master, slave) = open_pair(rows, columns);
        // `setsid --ctty` makes this the controlling terminal, which safe Rust cannot do.
        let mut inside = Command::new("setsid");
        inside.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                inside.env(name, value);
            }
        }
        if let Some(folder) = command.get_current_dir() {
            inside.current_dir(folder);
        }
        let end = || Stdio::from(slave.try_clone().expect("a descriptor"));
        let child = inside.stdin(end()).stdout(end()).stderr(end()).spawn().expect("it starts");
        let parser = vt100::Parser::new(size(rows), size(columns), 0);
        Self { master, slave, child, screen: TerminalScreen(parser, Vec::new()) }
    }

    /// Types these bytes.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.master.write_all(bytes.as_ref()).expect("the terminal takes it");
    }

    /// Types a text until the screen shows it. Some programs draw their input before they accept
    /// any, and discard text that is typed too early.
    pub fn write_until_shown(&mut self, text: &str) {
        let end = Instant::now() + DEADLINE;
        while !self.contents().contains(text) {
            expect(Instant::now() < end, format!("the terminal shows {text}"), || self.contents());
            self.write(text);
            let pause = Instant::now() + TAKEN_WITHIN;
            while !self.contents().contains(text) && self.read_before(pause) {}
        }
    }

    /// Returns the screen as text.
    pub fn contents(&self) -> String {
        self.screen.0.screen().contents()
    }

    pub fn screen(&self) -> &vt100::Screen {
        self.screen.0.screen()
    }

    /// Returns every byte that the program has written.
    pub fn raw(&self) -> &[u8] {
        &self.screen.1
    }

    /// Reads until the screen shows this text.
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.contents().contains(text));
    }

    /// Reads until the screen matches.
    pub fn wait_until(&mut self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + DEADLINE;
        while !wanted(self.screen.0.screen()) {
            let more = self.read_before(end);
            expect(more, format!("the terminal shows {what}"), || self.contents());
        }
    }

    /// Reads until the program has written these bytes. They need not be on the screen.
    pub fn wait_written(&mut self, bytes: &str) {
        let end = Instant::now() + DEADLINE;
        let has = |raw: &[u8]| raw.windows(bytes.len()).any(|part| part == bytes.as_bytes());
        while !has(self.raw()) {
            let more = self.read_before(end);
            expect(more, format!("the program writes {bytes:?}"), || self.contents());
        }
    }

    /// Reads until the screen shows this text or the program ends. Returns whether the screen
    /// showed it.
    pub fn shows(&mut self, text: &str) -> bool {
        let end = Instant::now() + DEADLINE;
        loop {
            if self.contents().contains(text) {
                return true;
            }
            if self.has_ended() {
                self.drain();
                return self.contents().contains(text);
            }
            self.wait_for_more(end);
            expect(Instant::now() < end, format!("the terminal shows {text}"), || self.contents());
        }
    }

    /// Reads the available output without waiting for more.
    pub fn drain(&mut self) {
        while self.read_before(Instant::now()) {}
    }

    /// Waits for the program's end, and reads its remaining output. Returns the exit status.
    pub fn wait(&mut self) -> i32 {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                self.drain();
                return status.code().unwrap_or(-1);
            }
            self.wait_for_more(end);
            expect(Instant::now() < end, "the program ends", || self.contents());
        }
    }

    pub fn resize(&mut self, rows: u16, columns: u16) {
        tcsetwinsize(&self.slave, window(rows, columns)).expect("a size");
        self.screen.0.set_size(size(rows), size(columns));
    }

    /// Returns the terminal's settings, so that they can be compared before and after.
    pub fn settings(&self) -> Termios {
        tcgetattr(&self.slave).expect("settings")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Waits until the program writes something, which is read, or ends.
    fn wait_for_more(&mut self, end: Instant) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a number");
        // The exit status was not collected yet, so no other process can have this process id.
        let process = pidfd_open(pid, PidfdFlags::empty()).expect("a child");
        readable(&[&self.master, &process], end);
        self.read_before(Instant::now());
    }

    /// Presses Enter as a person does, shortly after the typed text is on the screen. If Enter
    /// comes too early, some programs send the text that they had before, or treat Enter as a new
    /// line.
    pub fn press_enter(&mut self) {
        let end = Instant::now() + DEADLINE;
        while Instant::now() < end && self.read_before(Instant::now() + A_MOMENT) {}
        self.write("\r");
    }

    fn read_before(&mut self, end: Instant) -> bool {
        if !readable(&[&self.master], end) {
            return false;
        }
        let mut buffer = [0; 16 * 1024];
        match self.master.read(&mut buffer) {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.screen.0.process(&buffer[..count]);
                self.screen.1.extend_from_slice(&buffer[..count]);
                true
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

fn open_pair(rows: u16, columns: u16) -> (File, OwnedFd) {
    let master =
        openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&master).expect("a terminal");
    unlockpt(&master).expect("a terminal");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = open(name.as_c_str(), flags, Mode::empty()).expect("the other end");
    tcsetwinsize(&slave, window(rows, columns)).expect("a size");
    (File::from(master), slave)
}

fn window(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn size(count: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(count).expect("a terminal has a size")
}
