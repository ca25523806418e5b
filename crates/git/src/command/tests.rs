use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_setfl, mknodat};

use super::*;

/// Prepares a shell in the place of git.
fn shell(folder: &Path, script: &str) -> GitCommand {
    let path = Environment::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    GitCommand::new(Path::new("/bin/sh"), folder, path).args(["-c", script])
}

fn with_pipe() -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::TempDir::new().unwrap();
    let pipe = temp.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    (temp, pipe)
}

/// Opens a pipe for reading, without waiting for a writer.
fn open_reader(pipe: &Path) -> File {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(pipe).unwrap();
    fcntl_setfl(&file, OFlags::empty()).unwrap();
    file
}

#[tokio::test]
async fn failed_command_reports_its_standard_error() {
    let error = shell(Path::new("/"), "echo fatal: no >&2; exit 3").run().await.unwrap_err();
    assert_eq!(error.causes, ["fatal: no"]);
    let error = shell(Path::new("/"), "exit 3").run().await.unwrap_err();
    assert!(error.causes[0].contains("exit status: 3"), "{error}");
}

#[tokio::test]
async fn warning_is_an_error_if_the_output_must_be_complete() {
    let said = "echo listed; echo \"warning: could not open directory 'a'\" >&2";
    assert_eq!(shell(Path::new("/"), said).run().await.unwrap(), b"listed\n");
    let error = shell(Path::new("/"), said).run_without_warnings().await.unwrap_err();
    assert!(error.causes[0].contains("could not open directory"), "{error}");
    let hinted = "echo listed; echo 'hint: use less' >&2";
    let output = shell(Path::new("/"), hinted).run_without_warnings().await.unwrap();
    assert_eq!(output, b"listed\n");
}

#[tokio::test]
async fn endless_output_is_cut_and_the_process_ends() {
    let output = shell(Path::new("/"), "exec yes").at_most(1000).output().await.unwrap();
    assert_eq!((output.stdout.len(), output.is_cut), (1000, true));
}

#[tokio::test]
async fn large_input_and_output_do_not_block_each_other() {
    let bytes = vec![b'x'; 3 << 20];
    let output = shell(Path::new("/"), "exec cat").input(bytes.clone()).run().await.unwrap();
    assert!(output == bytes);
}

#[tokio::test]
async fn command_that_hangs_is_ended_with_its_children() {
    for limit in
        [TimeLimit::Total(Duration::from_millis(1)), TimeLimit::Silence(Duration::from_millis(1))]
    {
        let (temp, pipe) = with_pipe();
        let mut reader = open_reader(&pipe);
        // Every process of the script has the pipe open for writing.
        let script = "exec 9>pipe; (trap '' TERM; tail -f /dev/null) & tail -f /dev/null";
        let error = shell(temp.path(), script).limit(limit).run().await.unwrap_err();
        assert!(error.message.ends_with("was ended"), "{error}");
        let rest = tokio::task::spawn_blocking(move || reader.read_to_end(&mut Vec::new()));
        assert_eq!(rest.await.unwrap().unwrap(), 0);
    }
}

#[tokio::test]
async fn background_job_of_a_hook_is_not_waited_for() {
    let (temp, pipe) = with_pipe();
    let script = "cat pipe > copy & echo done; echo said >&2";
    let output = shell(temp.path(), script).output().await.unwrap();
    assert_eq!((&output.stdout[..], &*output.stderr), (&b"done\n"[..], "said"));
    // The job still runs, and ends when the pipe is closed.
    tokio::task::spawn_blocking(move || fs::write(pipe, "x")).await.unwrap().unwrap();
}
