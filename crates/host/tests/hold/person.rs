//! A user at a terminal: writes keys to a pseudo-terminal and reads its output.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use segue_core::model::ProcessRef;
use segue_host::process;
use vt100::{Callbacks, Parser, Screen};

use super::fixture::{DEADLINE, holder_program};

/// Records the window title of a terminal.
#[derive(Debug, Default)]
pub(crate) struct TitleRecorder {
    pub(crate) title: String,
}

impl Callbacks for TitleRecorder {
    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }
}

/// A user who runs `attach` in a terminal.
pub(crate) struct Person {
    master: File,
    /// Is kept open, so that the terminal outlives the program in it, as with a shell.
    slave: OwnedFd,
    child: Child,
    parser: Parser<TitleRecorder>,
    /// All output to the terminal.
    pub(crate) output: Vec<u8>,
    /// The terminal's settings before `attach`.
    settings: Termios,
}

impl Person {
    /// Attaches from a terminal of this size.
    pub(crate) fn attach(socket: &Path, rows: u16, cols: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        tcsetwinsize(&master, size(rows, cols)).unwrap();
        let settings = tcgetattr(&slave).unwrap();
        // `exec-agent` makes the pseudo-terminal the controlling terminal of the program, here of
        // `attach`.
        let mut command = Command::new(holder_program());
        command
            .args(["exec-agent", "", "", "/", "0"])
            .arg(holder_program())
            .arg("attach")
            .arg(socket);
        command.env_clear().env("TERM", "xterm-256color");
        command.stdin(Stdio::null());
        command.stdout(Stdio::from(slave.try_clone().unwrap()));
        command.stderr(Stdio::from(slave.try_clone().unwrap()));
        let child = command.spawn().unwrap();
        let non_zero = |number| NonZeroU16::new(number).unwrap();
        let parser =
            Parser::new_with_callbacks(non_zero(rows), non_zero(cols), 0, TitleRecorder::default());
        Self { master: File::from(master), slave, child, parser, output: Vec::new(), settings }
    }

    pub(crate) fn process(&self) -> ProcessRef {
        process::find(self.child.id()).unwrap()
    }

    pub(crate) fn type_keys(&mut self, bytes: impl AsRef<[u8]>) {
        self.master.write_all(bytes.as_ref()).unwrap();
    }

    /// Changes the size of the terminal's window.
    pub(crate) fn resize(&mut self, rows: u16, cols: u16) {
        tcsetwinsize(&self.master, size(rows, cols)).unwrap();
        let non_zero = |number| NonZeroU16::new(number).unwrap();
        self.parser.set_size(non_zero(rows), non_zero(cols));
    }

    pub(crate) fn screen(&self) -> &Screen {
        self.parser.screen()
    }

    pub(crate) fn title(&self) -> &str {
        &self.parser.callbacks().title
    }

    pub(crate) fn rows(&self) -> Vec<String> {
        let (_, cols) = self.screen().size();
        self.screen().rows(0, cols.get()).map(|row| row.trim_end().to_owned()).collect()
    }

    /// Waits until the condition holds. Fails with `expected` in its message.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, expected: &str, mut condition: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !condition(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && self.read_output(left), "no {expected}: {:#?}", self.rows());
        }
    }

    #[track_caller]
    pub(crate) fn wait_for_text(&mut self, text: &str) {
        self.wait_for(text, |person| person.screen().contents().contains(text));
    }

    /// Reads the next output to the terminal. Returns whether there was any in time.
    fn read_output(&mut self, limit: std::time::Duration) -> bool {
        let limit = Timespec::try_from(limit).unwrap();
        let mut descriptors = [PollFd::new(&self.master, PollFlags::IN)];
        match poll(&mut descriptors, Some(&limit)) {
            // A signal such as SIGCHLD interrupted the wait. The caller repeats it.
            Err(Errno::INTR) => return true,
            ready if ready.unwrap() == 0 => return false,
            _ => {}
        }
        let mut buffer = [0; 65_536];
        let count = self.master.read(&mut buffer).unwrap();
        self.output.extend_from_slice(&buffer[..count]);
        self.parser.process(&buffer[..count]);
        true
    }

    /// Waits until the program in the terminal has ended, and checks that the terminal is restored.
    #[track_caller]
    pub(crate) fn wait_for_restored_terminal(&mut self, last_line: &str) -> ExitStatus {
        self.wait_for_text(last_line);
        let status = self.child.wait().unwrap();
        let after = tcgetattr(&self.slave).unwrap();
        assert_eq!(format!("{after:?}"), format!("{:?}", self.settings));
        let screen = self.screen();
        assert!(!screen.alternate_screen());
        assert!(!screen.hide_cursor());
        assert!(!screen.bracketed_paste());
        assert!(!screen.application_cursor());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        assert_eq!(screen.cursor_style(), vt100::CursorStyle::Default);
        for reset in ["\x1b[?1004l", "\x1b[?2031l", "\x1b[<1u", "\x1b[23;0t", "\x1b[>4m"] {
            assert!(self.has_received(reset.as_bytes()), "{reset:?}");
        }
        status
    }

    pub(crate) fn has_received(&self, bytes: &[u8]) -> bool {
        self.output.windows(bytes.len()).any(|window| window == bytes)
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

fn size(rows: u16, cols: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 }
}
