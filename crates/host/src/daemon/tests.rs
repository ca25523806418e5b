use std::ffi::OsString;
use std::io::BufRead as _;
use std::os::unix::fs::PermissionsExt as _;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use segue_core::Kind;
use tempfile::TempDir;

use super::*;
use crate::ProcessContext;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn run(script: &str, limit: Duration) -> (TempDir, Result<Ready>) {
    let temp = TempDir::new().unwrap();
    let outcome = start(shell(script), Stdio::null(), &temp.path().join("daemon.log"), limit);
    (temp, outcome)
}

#[test]
fn start_succeeds_when_the_daemon_reports_ready() {
    let (temp, outcome) = run("echo to the log >&2; echo ready", READY_TIMEOUT);
    assert!(outcome.unwrap().pid > 0);
    let log = temp.path().join("daemon.log");
    assert_eq!(fs::read_to_string(&log).unwrap(), "to the log\n");
    assert_eq!(fs::metadata(log).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn start_returns_the_complete_error_of_the_daemon() {
    let error = Error::config("the store is newer").caused_by("version 9").hint("run `segue x`");
    let script = format!("echo '{FAILED}{}'", serde_json::to_string(&error).unwrap());
    assert_eq!(run(&script, READY_TIMEOUT).1, Err(error));
    let garbled = run("echo good morning", READY_TIMEOUT).1.unwrap_err();
    assert_eq!(garbled.causes, ["good morning"]);
}

#[test]
fn daemon_that_dies_without_a_report_is_explained_by_its_log() {
    let error = run("echo 'no such library' >&2; exec >&-; exit 3", READY_TIMEOUT).1.unwrap_err();
    assert_eq!(error.kind, Kind::Unavailable);
    assert!(error.message.contains("before it was ready"), "{error}");
    assert_eq!(error.causes, ["no such library"]);
    assert!(error.hints[0].contains("daemon.log"), "{error:?}");
}

#[test]
fn start_times_out_if_the_daemon_is_not_ready() {
    let temp = TempDir::new().unwrap();
    let gate = temp.path().join("gate");
    mknodat(CWD, &gate, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    // The command waits until the test opens the named pipe, and then ends.
    let command = shell(&format!("cat '{}'; echo ready", gate.display()));
    let error = start(command, Stdio::null(), &temp.path().join("log"), Duration::from_millis(1))
        .unwrap_err();
    drop(File::options().write(true).open(gate).unwrap());
    assert!(error.message.contains("not ready yet"), "{error}");
}

#[test]
fn start_lock_is_held_until_the_daemon_reports() {
    let temp = TempDir::new().unwrap();
    let path = temp.path().join("lock");
    let gate = temp.path().join("gate");
    mknodat(CWD, &gate, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let lock = FileLock::try_acquire(&path).unwrap().unwrap();
    let shared = lock.share().unwrap();
    let command = shell(&format!("cat '{}'; exec <&-; echo ready", gate.display()));
    let limit = Duration::from_millis(1);
    start(command, shared.into(), &temp.path().join("log"), limit).unwrap_err();
    drop(lock);
    assert!(FileLock::try_acquire(&path).unwrap().is_none());
    drop(File::options().write(true).open(gate).unwrap());
    FileLock::acquire_blocking(&path).unwrap();
}

#[test]
fn start_of_a_missing_program_is_unavailable() {
    let temp = TempDir::new().unwrap();
    let missing = Command::new("/nonexistent/segue");
    let error = start(missing, Stdio::null(), &temp.path().join("log"), READY_TIMEOUT).unwrap_err();
    assert_eq!(error.kind, Kind::Unavailable);
}

#[test]
fn oversized_log_is_renamed_at_start() {
    let temp = TempDir::new().unwrap();
    let log = temp.path().join("daemon.log");
    File::create(&log).unwrap().set_len(MAX_LOG_BYTES + 1).unwrap();
    drop(open_log(&log).unwrap());
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
    assert!(temp.path().join("daemon.log.old").exists());
}

#[test]
fn daemon_does_not_inherit_variables_of_agents() {
    for kept in ["HOME", "PATH", "SEGUE_HOME", "LC_ALL", "XDG_RUNTIME_DIR", "SEGUE_FAILPOINT_LOG"] {
        assert!(is_inherited(kept), "{kept}");
    }
    for dropped in ["SEGUE_SESSION", "SEGUE_LAUNCH", "API_KEY", "TERM", "HOMEX", "LD_PRELOAD"] {
        assert!(!is_inherited(dropped), "{dropped}");
    }
}

/// Not a test by itself: the next test runs it as the daemon, in a child process.
#[test]
fn server() {
    let context = ProcessContext::read().unwrap();
    let Some(gate) = context.environment.get("SERVE_UNTIL") else { return };
    become_daemon().unwrap();
    announce(&Ok(()), Path::new("/")).unwrap();
    io::copy(&mut File::open(gate).unwrap(), &mut io::sink()).unwrap();
}

#[test]
fn daemon_detaches_from_the_terminal_folder_and_pipe_of_its_caller() {
    let temp = TempDir::new().unwrap();
    let gate = temp.path().join("gate");
    mknodat(CWD, &gate, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "daemon::tests::server", "--nocapture"]);
    command.env("SERVE_UNTIL", &gate).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let output = io::read_to_string(child.stdout.take().unwrap()).unwrap();
    // The pipe is at EOF, and the process runs until this test opens the gate. So the process has
    // detached from its caller now.
    let opened = File::options().write(true).open(gate).unwrap();
    let proc = format!("/proc/{}", child.id());
    let seen = (
        fs::read_link(format!("{proc}/fd/0")).unwrap(),
        fs::read_link(format!("{proc}/cwd")).unwrap(),
        fs::read_link(format!("{proc}/fd/1")).unwrap(),
        rustix::process::getsid(rustix::process::Pid::from_raw(child.id().cast_signed())).unwrap(),
    );
    drop(opened);
    child.wait().unwrap();
    assert!(output.lines().any(|line| line == READY), "{output}");
    assert_eq!(seen.0, Path::new("/dev/null"));
    assert_eq!(seen.1, Path::new("/"));
    assert_eq!(seen.2, Path::new("/dev/null"));
    assert_eq!(seen.3.as_raw_nonzero().get(), child.id().cast_signed());
}

/// Not a test by itself: prints which of its descriptors a spawned program would inherit.
#[test]
fn starter() {
    let context = ProcessContext::read().unwrap();
    if context.environment.get("START_WITHOUT_INHERITED").is_none() {
        return;
    }
    let words = [
        "sh",
        "-c",
        "for n in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$n ] && echo has $n; done; echo $0",
        "a b",
    ];
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let output = without_inherited(&words).output().unwrap();
    io::stdout().write_all(&output.stdout).unwrap();
}

#[test]
fn without_inherited_closes_descriptors_that_a_caller_left_open() {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$@\" 5</dev/null 9</dev/null", "sh"]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "daemon::tests::starter", "--nocapture"]);
    let output = command.env("START_WITHOUT_INHERITED", "1").output().unwrap();
    let lines: Vec<String> = output.stdout.lines().map(|line| line.unwrap()).collect();
    assert!(lines.iter().any(|line| line == "a b"), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("has ")), "{lines:?}");
}
