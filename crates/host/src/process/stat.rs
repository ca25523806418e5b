//! Parses `/proc/<pid>/stat`.

use super::read_bounded;

/// The maximum length of the line. The kernel writes shorter lines.
const MAX_LINE_BYTES: usize = 4096;
/// The flag `PF_KTHREAD` in `/proc/<pid>/stat`.
const KERNEL_THREAD: u32 = 0x0020_0000;

/// The fields of `/proc/<pid>/stat` that Segue needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) pid: u32,
    pub(super) parent: u32,
    /// The process group.
    pub(super) group: u32,
    /// The foreground process group of its terminal. `None` without a terminal.
    pub(super) foreground: Option<u32>,
    /// The session (`setsid`) of the process. A process can leave its session, but never join
    /// another.
    pub(super) session: i32,
    pub(super) started: u64,
    pub(super) activity: ProcessState,
    /// Whether this is a kernel thread, which never executes a program.
    pub(super) is_kernel_thread: bool,
}

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessState {
    /// It waits for an event.
    Waiting,
    /// A signal or a debugger stopped it.
    Stopped,
    /// It runs or waits for a disk. It may be inside `execve`.
    Busy,
    /// Its first thread has exited, but other threads run. `/proc` reports it nearly like a zombie.
    Leaderless,
    /// It has exited. At most its exit status is left.
    Ended,
}

impl ProcessState {
    fn of(letter: &str, threads: u32) -> Self {
        match letter {
            "Z" | "X" | "x" if threads > 1 => Self::Leaderless,
            "Z" | "X" | "x" => Self::Ended,
            "R" | "D" => Self::Busy,
            "T" | "t" => Self::Stopped,
            _ => Self::Waiting,
        }
    }
}

impl Stat {
    pub(super) fn is_alive(&self) -> bool {
        self.activity != ProcessState::Ended
    }

    pub(super) fn read(pid: u32) -> Option<Self> {
        Self::parse(pid, &read_bounded(pid, "stat", MAX_LINE_BYTES)?)
    }

    /// Parses the fields after the last `)`. The name before it can contain any character.
    fn parse(pid: u32, line: &[u8]) -> Option<Self> {
        let end_of_name = line.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(line.get(end_of_name + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        // The state is field 3, the parent 4, the group 5, the session 6, the foreground 8, the
        // flags 9, the number of threads 20 and the start 22.
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let foreground: i64 = fields.nth(1)?.parse().ok()?;
        let flags: u32 = fields.next()?.parse().ok()?;
        let threads = fields.nth(10)?.parse().ok()?;
        let started = fields.nth(1)?.parse().ok()?;
        Some(Self {
            pid,
            parent,
            group,
            foreground: u32::try_from(foreground).ok().filter(|group| *group != 0),
            session,
            started,
            activity: ProcessState::of(state, threads),
            is_kernel_thread: flags & KERNEL_THREAD != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reads_all_states_and_a_name_with_brackets() {
        let line = b"7 (a) b) R 5 1 3 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 1 2 3";
        let stat = Stat {
            pid: 7,
            parent: 5,
            group: 1,
            foreground: None,
            session: 3,
            started: 4242,
            activity: ProcessState::Busy,
            is_kernel_thread: false,
        };
        assert_eq!(Stat::parse(7, line), Some(stat));
        let zombie = b"7 (z) Z 5 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 1 2 3";
        assert!(!Stat::parse(7, zombie).unwrap().is_alive());
        let leaderless = b"7 (z) Z 5 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 4242 1 2 3";
        let leaderless = Stat::parse(7, leaderless).unwrap();
        assert_eq!((leaderless.activity, leaderless.is_alive()), (ProcessState::Leaderless, true));
        let kernel = b"7 (k) S 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 4242 1 2 3";
        assert!(Stat::parse(7, kernel).unwrap().is_kernel_thread);
        let stopped = b"7 (s) T 5 6 5 34816 6 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 1 2 3";
        let stopped = Stat::parse(7, stopped).unwrap();
        assert_eq!((stopped.activity, stopped.is_alive()), (ProcessState::Stopped, true));
        assert_eq!((stopped.group, stopped.foreground), (6, Some(6)));
        assert_eq!(Stat::parse(7, b"7 (torn) R 5"), None);
    }
}
