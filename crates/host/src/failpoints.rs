//! The actions of failpoints (`segue_core::failpoint`) in test builds. Environment variables
//! configure them:
//!
//! - `SEGUE_FAILPOINT=<name>[:n]` kills the process at the n-th hit of that name (default: the
//!   first). `SEGUE_FAILPOINT=list` kills nothing.
//! - `SEGUE_FAILPOINT_LOG` is a file. Each logged hit adds a line with a role, a name and a process
//!   id. With `list`, every hit is logged; otherwise only the hit that kills the process.
//! - `SEGUE_FAILPOINT_ROLE` restricts the failpoints to the role `cli`, `daemon` or `holder`.
//! - `SEGUE_FAILPOINT_GATE` is a file. Failpoints are active only while it exists. The killed
//!   process removes it.
//! - `SEGUE_FAILPOINT_HOLD` is a named pipe. The process is not killed. Instead, it waits until
//!   another process has opened and closed that pipe.
//! - `SEGUE_FAILPOINT_CLOCK` is a file with the number of seconds by which the clock is set forward
//!   or back.

use segue_core::model::Environment;

/// The kind of Segue process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessRole {
    Cli,
    Daemon,
    Holder,
}

/// Configures failpoints from the environment. Does nothing in a normal build.
#[cfg(not(feature = "failpoints"))]
pub fn arm(_environment: &Environment, _role: ProcessRole) {}

/// Returns the offset that Segue adds to the system clock. Always zero in a normal build.
#[cfg(not(feature = "failpoints"))]
pub(crate) fn clock_offset() -> jiff::SignedDuration {
    jiff::SignedDuration::ZERO
}

/// Returns the offset that Segue adds to the system clock. Tests can set it.
#[cfg(feature = "failpoints")]
pub(crate) fn clock_offset() -> jiff::SignedDuration {
    armed::clock_offset()
}

/// Configures failpoints from the environment.
#[cfg(feature = "failpoints")]
pub fn arm(environment: &Environment, role: ProcessRole) {
    armed::arm(environment, role);
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::fs::{File, OpenOptions};
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use jiff::SignedDuration;
    use rustix::process::{Signal, getpid, kill_process};
    use segue_core::failpoint;
    use segue_core::model::Environment;

    use super::ProcessRole;

    static ARMED: OnceLock<Armed> = OnceLock::new();

    struct Armed {
        setting: FailpointSetting,
        role: &'static str,
        log: Option<PathBuf>,
        gate: Option<PathBuf>,
        hold: Option<PathBuf>,
    }

    pub(super) enum FailpointSetting {
        /// Log every name.
        List,
        /// Kill or hold the process at the `left`-th further hit of this name.
        Trigger { name: String, left: AtomicU32 },
    }

    static CLOCK: OnceLock<PathBuf> = OnceLock::new();

    /// Reads the number of seconds by which a test has set the clock.
    pub(super) fn clock_offset() -> SignedDuration {
        let seconds = CLOCK.get().and_then(|path| std::fs::read_to_string(path).ok());
        let seconds = seconds.and_then(|text| text.trim().parse().ok());
        SignedDuration::from_secs(seconds.unwrap_or(0))
    }

    pub(super) fn arm(environment: &Environment, role: ProcessRole) {
        if let Some(clock) = environment.get("SEGUE_FAILPOINT_CLOCK") {
            // Only the first call sets the path.
            let _set_already = CLOCK.set(PathBuf::from(clock));
        }
        let role = word(role);
        let Some(setting) = setting(environment, role) else { return };
        let path = |name| environment.get(name).map(PathBuf::from);
        let (log, gate) = (path("SEGUE_FAILPOINT_LOG"), path("SEGUE_FAILPOINT_GATE"));
        let hold = path("SEGUE_FAILPOINT_HOLD");
        if ARMED.set(Armed { setting, role, log, gate, hold }).is_ok() {
            failpoint::install(on_hit);
        }
    }

    fn word(role: ProcessRole) -> &'static str {
        match role {
            ProcessRole::Cli => "cli",
            ProcessRole::Daemon => "daemon",
            ProcessRole::Holder => "holder",
        }
    }

    pub(super) fn setting(environment: &Environment, role: &str) -> Option<FailpointSetting> {
        if environment.get("SEGUE_FAILPOINT_ROLE").is_some_and(|only| only != role) {
            return None;
        }
        let value = environment.get("SEGUE_FAILPOINT").filter(|value| !value.is_empty())?;
        if value == "list" {
            return Some(FailpointSetting::List);
        }
        let (name, hits) = match value.split_once(':') {
            Some((name, hits)) => (name, hits.parse().ok()?),
            None => (value, 1),
        };
        Some(FailpointSetting::Trigger { name: name.to_owned(), left: AtomicU32::new(hits) })
    }

    fn on_hit(name: &str) {
        let Some(armed) = ARMED.get().filter(|armed| armed.is_active()) else { return };
        match &armed.setting {
            FailpointSetting::List => armed.log(name),
            FailpointSetting::Trigger { name: trigger, left } => {
                if name == trigger && left.fetch_sub(1, Ordering::SeqCst) == 1 {
                    armed.log(name);
                    armed.trigger();
                }
            }
        }
    }

    impl Armed {
        fn trigger(&self) {
            let Some(hold) = &self.hold else {
                // Remove the gate, so that the process that replaces this one is not killed.
                self.gate.iter().for_each(|gate| drop(std::fs::remove_file(gate)));
                die()
            };
            let waited = File::open(hold).and_then(|mut hold| hold.read_to_end(&mut Vec::new()));
            if let Err(error) = waited {
                tracing::error!(%error, hold = %hold.display(), "a failpoint cannot wait");
            }
        }

        fn is_active(&self) -> bool {
            self.gate.as_ref().is_none_or(|gate| gate.exists())
        }

        fn log(&self, name: &str) {
            let Some(log) = &self.log else { return };
            let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(log);
            let line = format!("{} {name} {}\n", self.role, std::process::id());
            let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
            if let Err(error) = written {
                tracing::error!(%error, log = %log.display(), "a failpoint cannot be logged");
            }
        }
    }

    fn die() -> ! {
        // Killing the own process cannot fail. If it does fail, this process must do nothing else.
        let _sent = kill_process(getpid(), Signal::KILL);
        loop {
            std::thread::park();
        }
    }
}

#[cfg(feature = "failpoints")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::Path;
    use std::process::{Command, ExitStatus, Stdio};

    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use tempfile::TempDir;

    use super::armed::{FailpointSetting, setting};
    use super::*;
    use crate::{ProcessContext, atomic, points};

    /// Not a test by itself: the tests below run it in a child process, which may be killed.
    #[test]
    fn victim() {
        let context = ProcessContext::read().unwrap();
        let Some(folder) = context.environment.get("VICTIM_FOLDER") else { return };
        arm(&context.environment, ProcessRole::Daemon);
        for content in ["one", "two"] {
            let path = Path::new(folder).join("file");
            atomic::write(&path, content.as_bytes(), points!("victim.write")).unwrap();
        }
    }

    fn command(folder: &Path, failpoint: &str, role: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "failpoints::tests::victim"]).stdout(Stdio::null());
        command.env("VICTIM_FOLDER", folder).env("SEGUE_FAILPOINT", failpoint);
        command.env("SEGUE_FAILPOINT_ROLE", role).env("SEGUE_FAILPOINT_LOG", folder.join("log"));
        command.env("SEGUE_FAILPOINT_GATE", folder.join("gate"));
        command
    }

    fn run(folder: &Path, failpoint: &str, role: &str) -> (ExitStatus, String) {
        let child = command(folder, failpoint, role).spawn().unwrap();
        let pid = child.id().to_string();
        let status = child.wait_with_output().unwrap().status;
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        (status, log.replace(&format!(" {pid}\n"), "\n").replace("daemon ", ""))
    }

    fn opened() -> TempDir {
        let temp = TempDir::new().unwrap();
        fs::write(temp.path().join("gate"), "").unwrap();
        temp
    }

    #[test]
    fn list_logs_every_failpoint_in_order_and_kills_nothing() {
        let temp = opened();
        let (status, log) = run(temp.path(), "list", "daemon");
        assert!(status.success());
        let once = "victim.write.before\nvictim.write.written\nvictim.write.after\n";
        assert_eq!(log, once.repeat(2));
    }

    #[test]
    fn process_dies_at_the_named_hit_and_no_file_is_torn() {
        for (failpoint, content) in [
            ("victim.write.before", None),
            ("victim.write.written", None),
            ("victim.write.after", Some("one")),
            ("victim.write.before:2", Some("one")),
            ("victim.write.written:2", Some("one")),
            ("victim.write.after:2", Some("two")),
        ] {
            let temp = opened();
            let (status, log) = run(temp.path(), failpoint, "daemon");
            assert_eq!(status.signal(), Some(9), "{failpoint}");
            assert_eq!(log.trim(), failpoint.trim_end_matches(":2"));
            let found = fs::read_to_string(temp.path().join("file")).ok();
            assert_eq!(found.as_deref(), content, "{failpoint}");
        }
    }

    #[test]
    fn held_process_continues_when_the_pipe_is_closed() {
        let temp = opened();
        let hold = temp.path().join("hold");
        mknodat(CWD, &hold, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let mut command = command(temp.path(), "victim.write.after", "daemon");
        let mut child = command.env("SEGUE_FAILPOINT_HOLD", &hold).spawn().unwrap();
        // This blocks until the process has opened the other end.
        let held = fs::OpenOptions::new().write(true).open(&hold).unwrap();
        assert_eq!(fs::read_to_string(temp.path().join("file")).unwrap(), "one");
        drop(held);
        assert!(child.wait().unwrap().success());
        assert_eq!(fs::read_to_string(temp.path().join("file")).unwrap(), "two");
    }

    #[test]
    fn process_of_another_role_is_not_killed() {
        let temp = opened();
        let (status, log) = run(temp.path(), "victim.write.before", "holder");
        assert!(status.success());
        assert_eq!(log, "");
    }

    #[test]
    fn failpoint_without_its_gate_file_is_inactive() {
        let temp = TempDir::new().unwrap();
        let (status, log) = run(temp.path(), "victim.write.before", "daemon");
        assert!(status.success());
        assert_eq!(log, "");
    }

    #[test]
    fn failpoints_are_armed_only_if_the_variable_is_set() {
        assert!(setting(&Environment::default(), "cli").is_none());
        let set = Environment::new([("SEGUE_FAILPOINT".to_owned(), "a.b:3".to_owned())]);
        assert!(
            matches!(setting(&set, "cli"), Some(FailpointSetting::Trigger { name, .. }) if name == "a.b")
        );
    }
}
