//! The standard input, output and error of a git process.

use std::io;
use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::Errno;
use segue_core::ports::GitProgress;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStdin};
use tokio::sync::watch;

use crate::failure::without_credentials;

/// Maximum length of the standard error that is kept: its end.
const LONGEST_STDERR_BYTES: usize = 16 << 10;
/// Maximum length of one progress line.
const LONGEST_LINE_BYTES: usize = 1 << 10;
const CHUNK_BYTES: usize = 64 << 10;

/// Limits of what is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamLimits {
    pub(crate) stdout_bytes: usize,
    /// Maximum time between two outputs on standard error.
    pub(crate) silence: Option<Duration>,
}

/// Why this process did not wait until git ended by itself.
#[derive(Debug)]
pub(crate) enum GitStopped {
    Silent,
    Failed(io::Error),
}

impl From<io::Error> for GitStopped {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// What a process printed.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub(crate) stdout: Vec<u8>,
    /// Whether standard output was longer than its limit.
    pub(crate) is_cut: bool,
    stderr: Vec<u8>,
}

impl Captured {
    /// Returns the lines of standard error, without progress that was overwritten.
    pub(crate) fn stderr(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let last = |line: &str| line.trim_end_matches('\r').rsplit('\r').next().map(str::to_owned);
        text.lines().filter_map(last).collect::<Vec<_>>().join("\n")
    }
}

/// Writes the input, reads both outputs, and waits for the process.
pub(crate) async fn exchange(
    child: &mut Child,
    input: Vec<u8>,
    limits: StreamLimits,
    progress: &GitProgress,
    captured: &mut Captured,
) -> Result<ExitStatus, GitStopped> {
    let Captured { stdout, is_cut, stderr } = captured;
    let mut lines = ProgressLines { progress, line: Vec::new() };
    let mut take_stdout = |bytes: &[u8]| {
        let room = limits.stdout_bytes.saturating_sub(stdout.len());
        stdout.extend_from_slice(&bytes[..bytes.len().min(room)]);
        *is_cut = bytes.len() > room;
        !*is_cut
    };
    let mut take_stderr = |bytes: &[u8]| {
        stderr.extend_from_slice(bytes);
        stderr.drain(..stderr.len().saturating_sub(LONGEST_STDERR_BYTES));
        lines.take(bytes);
        true
    };
    let (ended, is_ended) = watch::channel(false);
    let output = Pipe::new(child.stdout.take().map(|it| it.into_owned_fd()), is_ended.clone());
    let errors = Pipe::new(child.stderr.take().map(|it| it.into_owned_fd()), is_ended);
    let fed = feed(child.stdin.take(), input);
    let status = async {
        let status = child.wait().await;
        // It fails if both streams are closed already, which is not an error.
        let _listeners = ended.send(true);
        Ok(status?)
    };
    let (status, (), (), ()) = tokio::try_join!(
        status,
        output?.read(None, &mut take_stdout),
        errors?.read(limits.silence, &mut take_stderr),
        fed,
    )?;
    Ok(status)
}

async fn feed(stdin: Option<ChildStdin>, input: Vec<u8>) -> Result<(), GitStopped> {
    let Some(mut stdin) = stdin else { return Ok(()) };
    match stdin.write_all(&input).await {
        // A process that failed before it has read everything reports the reason itself.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The reading end of a pipe from a process.
struct Pipe {
    pipe: Option<Receiver>,
    is_ended: watch::Receiver<bool>,
}

impl Pipe {
    fn new(
        pipe: Option<io::Result<OwnedFd>>,
        is_ended: watch::Receiver<bool>,
    ) -> Result<Self, GitStopped> {
        let pipe = pipe.transpose()?.map(Receiver::from_owned_fd).transpose()?;
        Ok(Self { pipe, is_ended })
    }

    /// Reads until EOF, or until the sink returns `false`.
    ///
    /// A process that git leaves behind, such as a background job of a hook, may keep the pipe
    /// open. So the reading also ends when git has ended and the pipe is empty.
    async fn read(
        mut self,
        silence: Option<Duration>,
        sink: &mut impl FnMut(&[u8]) -> bool,
    ) -> Result<(), GitStopped> {
        let Some(mut pipe) = self.pipe.take() else { return Ok(()) };
        let mut chunk = vec![0; CHUNK_BYTES];
        let longest = silence.unwrap_or(Duration::MAX);
        loop {
            let read = tokio::time::timeout(longest, pipe.read(&mut chunk));
            let count = tokio::select! {
                biased;
                read = read => read.map_err(|_| GitStopped::Silent)??,
                _ = self.is_ended.wait_for(|is_ended| *is_ended) => break,
            };
            if count == 0 || !sink(&chunk[..count]) {
                return Ok(());
            }
        }
        drain(&pipe.into_nonblocking_fd()?, &mut chunk, sink)
    }
}

/// Reads what is in a pipe now.
fn drain(
    pipe: &OwnedFd,
    chunk: &mut [u8],
    sink: &mut impl FnMut(&[u8]) -> bool,
) -> Result<(), GitStopped> {
    loop {
        match rustix::io::read(pipe, &mut *chunk) {
            Ok(0) | Err(Errno::AGAIN) => return Ok(()),
            Ok(count) if sink(&chunk[..count]) => {}
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(GitStopped::Failed(error.into())),
        }
    }
}

/// Splits standard error into progress lines.
struct ProgressLines<'a> {
    progress: &'a GitProgress,
    line: Vec<u8>,
}

impl ProgressLines<'_> {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\r' | b'\n' => self.report(),
                byte if self.line.len() < LONGEST_LINE_BYTES => self.line.push(*byte),
                _ => {}
            }
        }
    }

    fn report(&mut self) {
        let line = String::from_utf8_lossy(&self.line);
        if !line.trim().is_empty() {
            self.progress.report(&without_credentials(line.trim()));
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn progress_lines_end_at_carriage_returns_and_have_no_credentials() {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = seen.clone();
        let progress = GitProgress::new(move |line| sink.lock().unwrap().push(line.to_owned()));
        let mut lines = ProgressLines { progress: &progress, line: Vec::new() };
        lines.take(b"Receiving:  10%\rRecei");
        lines.take(b"ving: 100%, done.\n\nfrom https://t0ken@h/a\nnext");
        let wanted = ["Receiving:  10%", "Receiving: 100%, done.", "from https://h/a"];
        assert_eq!(*seen.lock().unwrap(), wanted);
    }

    #[test]
    fn captured_errors_have_no_overwritten_progress() {
        let stderr = b"Receiving: 10%\rReceiving: 100%, done.\r\nfatal: no\n".to_vec();
        let captured = Captured { stderr, ..Captured::default() };
        assert_eq!(captured.stderr(), "Receiving: 100%, done.\nfatal: no");
    }
}
