//! Child processes: this program again, running one ignored test.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const STORE: &str = "SEGUE_TEST_STORE";

/// A child process. It is killed on drop, if it still runs.
pub(crate) struct StoreProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl StoreProcess {
    /// Starts a test of this program with the path of a store.
    pub(crate) fn start(test: &str, store: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(STORE, store)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    /// Waits until the process prints a line that begins with this word. Returns the rest of the
    /// line.
    pub(crate) fn wait_for_line(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            let length = self.output.read_line(&mut line).unwrap();
            assert!(length > 0, "the process ended without printing `{word}`");
            if let Some(rest) = line.trim_end().strip_prefix(word) {
                return rest.trim().to_owned();
            }
            line.clear();
        }
    }

    pub(crate) fn send_line(&mut self, word: &str) {
        writeln!(self.input, "{word}").unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the process exits, and returns the signal that ended it.
    pub(crate) fn ending_signal(mut self) -> Option<i32> {
        self.child.wait().unwrap().signal()
    }

    pub(crate) fn finish(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for StoreProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the store that the starting test named. `None` if no test started this process.
pub(crate) fn named_store() -> Option<PathBuf> {
    std::env::var_os(STORE).map(PathBuf::from)
}

/// Prints a word on its own line for the starting test.
pub(crate) fn print_line(word: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "\n{word}").unwrap();
    output.flush().unwrap();
}

/// Waits for a word from the starting test, or for EOF.
pub(crate) fn read_line() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// Runs a test of this program as root of a mount namespace, on its own small filesystem.
///
/// If this machine does not allow that, prints a message and returns.
pub(crate) fn run_on_small_filesystem(test: &str) {
    if !mounts_are_allowed() {
        print_line("SKIPPED: this machine allows no mount namespace (`unshare -rm`)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=2m,mode=700 none "$1" && shift && exec "$@""#;
    let program: OsString = std::env::current_exe().unwrap().into();
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(program)
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(STORE, folder.path().join("segue.db"))
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("1 passed"), "{test} did not run: {stdout}");
}

fn mounts_are_allowed() -> bool {
    let tried = Command::new("unshare")
        .args(["-rm", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"])
        .output();
    tried.is_ok_and(|output| output.status.success())
}
