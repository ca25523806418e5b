//! A program in a pseudo-terminal, driven as a person would: typed text, and the screen that the
//! program draws.

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

/// A program that has not drawn typed text within this time has discarded it.
const ECHO_TIMEOUT: Duration = Duration::from_secs(5);

/// Enter is pressed after the program has written nothing for this time.
const QUIET_BEFORE_ENTER: Duration = Duration::from_millis(400);

/// A program in a pseudo-terminal.
#[derive(Debug)]
pub struct Terminal {
    master: File,
    slave: OwnedFd,
    child: Child,
    screen: TerminalScreen,
}

struct TerminalScreen {
    parser: vt100::Parser,
    /// Every byte that the program has written.
    raw: Vec<u8>,
}

impl std::fmt::Debug for TerminalScreen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.parser.screen().contents())
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
        let stdio = || Stdio::from(slave.try_clone().expect("a descriptor"));
        inside.stdin(stdio()).stdout(stdio()).stderr(stdio());
        let child = inside.spawn().expect("the command starts");
        let parser = vt100::Parser::new(size(rows), size(columns), 0);
        Self { master, slave, child, screen: TerminalScreen { parser, raw: Vec::new() } }
    }

    /// Types these bytes.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.master.write_all(bytes.as_ref()).expect("the terminal accepts input");
    }

    /// Types a text until the screen shows it. Some programs draw their input before they accept
    /// any, and discard text that is typed too early.
    pub fn write_until_shown(&mut self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !self.contents().contains(text) {
            let in_time = Instant::now() < deadline;
            expect(in_time, format!("the terminal shows {text}"), || self.contents());
            self.write(text);
            let discarded = Instant::now() + ECHO_TIMEOUT;
            while !self.contents().contains(text) && self.read_before(discarded) {}
        }
    }

    /// Types a text behind the text `before` in the input: one key at a time, each after the screen
    /// shows the previous one. Some programs treat keys that arrive together as a paste, which they
    /// may draw only at their next event.
    pub fn type_keys(&mut self, before: &str, text: &str) {
        let mut typed = before.to_owned();
        for key in text.chars() {
            typed.push(key);
            self.write(key.encode_utf8(&mut [0; 4]));
            // A space at the end of a row cannot be told from an empty cell.
            self.wait_for(typed.trim_end());
        }
    }

    /// Returns the screen as text.
    pub fn contents(&self) -> String {
        self.screen().contents()
    }

    pub fn screen(&self) -> &vt100::Screen {
        self.screen.parser.screen()
    }

    /// Returns every byte that the program has written.
    pub fn raw(&self) -> &[u8] {
        &self.screen.raw
    }

    /// Reads until the screen shows this text.
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.contents().contains(text));
    }

    /// Reads until `is_shown` returns true for the screen. `expected` names the awaited content in
    /// the report of a timeout.
    pub fn wait_until(&mut self, expected: &str, is_shown: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !is_shown(self.screen()) {
            let has_read = self.read_before(deadline);
            expect(has_read, format!("the terminal shows {expected}"), || self.contents());
        }
    }

    /// Reads until the program has written these bytes. They need not be on the screen.
    pub fn wait_written(&mut self, bytes: &str) {
        let deadline = Instant::now() + DEADLINE;
        let contains = |raw: &[u8]| raw.windows(bytes.len()).any(|part| part == bytes.as_bytes());
        while !contains(self.raw()) {
            let has_read = self.read_before(deadline);
            expect(has_read, format!("the program writes {bytes:?}"), || self.contents());
        }
    }

    /// Reads until the screen shows this text or the program ends. Returns whether the screen
    /// shows the text.
    pub fn shows(&mut self, text: &str) -> bool {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if self.contents().contains(text) {
                return true;
            }
            if self.has_ended() {
                self.drain();
                return self.contents().contains(text);
            }
            self.read_output_or_end(deadline);
            let in_time = Instant::now() < deadline;
            expect(in_time, format!("the terminal shows {text}"), || self.contents());
        }
    }

    /// Reads the available output without waiting for more.
    pub fn drain(&mut self) {
        while self.read_before(Instant::now()) {}
    }

    /// Waits for the program's end, and reads its remaining output. Returns the exit status.
    pub fn wait(&mut self) -> i32 {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                self.drain();
                return status.code().unwrap_or(-1);
            }
            self.read_output_or_end(deadline);
            expect(Instant::now() < deadline, "the program ends", || self.contents());
        }
    }

    pub fn resize(&mut self, rows: u16, columns: u16) {
        tcsetwinsize(&self.slave, window(rows, columns)).expect("a size");
        self.screen.parser.set_size(size(rows), size(columns));
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

    /// Waits until the program writes or ends, and reads what it has written.
    fn read_output_or_end(&mut self, deadline: Instant) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a number");
        // The exit status was not collected yet, so no other process can have this process id.
        let process = pidfd_open(pid, PidfdFlags::empty()).expect("a child");
        readable(&[&self.master, &process], deadline);
        self.read_before(Instant::now());
    }

    /// Presses Enter as a person does, shortly after the program has drawn the typed text. If Enter
    /// arrives too early, some programs send an earlier state of their input, or treat Enter as a
    /// new line.
    pub fn press_enter(&mut self) {
        let deadline = Instant::now() + DEADLINE;
        while Instant::now() < deadline && self.read_before(Instant::now() + QUIET_BEFORE_ENTER) {}
        self.write("\r");
    }

    /// Waits for output and reads it. Returns false if none arrives before the deadline, or if the
    /// terminal is closed.
    fn read_before(&mut self, deadline: Instant) -> bool {
        if !readable(&[&self.master], deadline) {
            return false;
        }
        let mut buffer = [0; 16 * 1024];
        match self.master.read(&mut buffer) {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.screen.parser.process(&buffer[..count]);
                self.screen.raw.extend_from_slice(&buffer[..count]);
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
