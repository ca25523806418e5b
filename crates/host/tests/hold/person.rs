//! A user at a terminal: types into a pseudo-terminal and reads what it shows.

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

/// What a terminal emulator records besides its screen.
#[derive(Debug, Default)]
pub(crate) struct TitleRecorder {
    pub(crate) title: String,
}

impl Callbacks for TitleRecorder {
    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.title = String::from_utf8_lossy(title).into_owned();
    }
}

/// A user who ran `attach` in their terminal.
pub(crate) struct Person {
    master: File,
    /// Kept open, so that the terminal outlives the program in it, as under a shell.
    slave: OwnedFd,
    child: Child,
    parser: Parser<TitleRecorder>,
    /// Everything that was sent to the terminal.
    pub(crate) seen: Vec<u8>,
    before: Termios,
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
        let before = tcgetattr(&slave).unwrap();
        // The step that gives an agent its terminal also gives one to this client.
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
        Self { master: File::from(master), slave, child, parser, seen: Vec::new(), before }
    }

    pub(crate) fn process(&self) -> ProcessRef {
        process::find(self.child.id()).unwrap()
    }

    pub(crate) fn types(&mut self, bytes: impl AsRef<[u8]>) {
        self.master.write_all(bytes.as_ref()).unwrap();
    }

    /// Changes the size of the terminal's window.
    pub(crate) fn resizes(&mut self, rows: u16, cols: u16) {
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

    /// Waits until the terminal shows what is expected.
    #[track_caller]
    pub(crate) fn sees(&mut self, what: &str, mut is_there: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !is_there(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && self.watches(left), "{what}: {:#?}", self.rows());
        }
    }

    #[track_caller]
    pub(crate) fn sees_text(&mut self, text: &str) {
        self.sees(text, |person| person.screen().contents().contains(text));
    }

    /// Reads the next output to the terminal. Returns whether there was any.
    fn watches(&mut self, limit: std::time::Duration) -> bool {
        let limit = Timespec::try_from(limit).unwrap();
        let mut waiting = [PollFd::new(&self.master, PollFlags::IN)];
        match poll(&mut waiting, Some(&limit)) {
            // A child has ended (SIGCHLD). The caller looks again.
            Err(Errno::INTR) => return true,
            ready if ready.unwrap() == 0 => return false,
            _ => {}
        }
        let mut buffer = [0; 65_536];
        let count = self.master.read(&mut buffer).unwrap();
        self.seen.extend_from_slice(&buffer[..count]);
        self.parser.process(&buffer[..count]);
        true
    }

    /// Waits until the program in the terminal has ended, and checks that the terminal is restored.
    #[track_caller]
    pub(crate) fn has_their_terminal_back(&mut self, last_line: &str) -> ExitStatus {
        self.sees_text(last_line);
        let status = self.child.wait().unwrap();
        let after = tcgetattr(&self.slave).unwrap();
        assert_eq!(format!("{after:?}"), format!("{:?}", self.before));
        let screen = self.screen();
        assert!(!screen.alternate_screen());
        assert!(!screen.hide_cursor());
        assert!(!screen.bracketed_paste());
        assert!(!screen.application_cursor());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        assert_eq!(screen.cursor_style(), vt100::CursorStyle::Default);
        for undone in ["\x1b[?1004l", "\x1b[?2031l", "\x1b[<1u", "\x1b[23;0t", "\x1b[>4m"] {
            assert!(self.was_sent(undone.as_bytes()), "{undone:?}");
        }
        status
    }

    pub(crate) fn was_sent(&self, bytes: &[u8]) -> bool {
        self.seen.windows(bytes.len()).any(|window| window == bytes)
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
