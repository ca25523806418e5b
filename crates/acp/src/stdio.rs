//! The agent on standard input and output.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use segue_core::{Error, Result};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::agent::{AcpAgent, AcpSettings};
use crate::editor::EditorLink;
use crate::port::EditorPort;

/// The longest line of an editor. It contains a whole prompt, with its files.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// How many lines of the editor wait until they are handled.
const WAITING_LINES: usize = 16;

/// How long requests that have begun may take after the editor is gone: a prompt that has arrived is
/// still recorded.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves one editor until its end of `input` is closed. The agents of its sessions go on.
///
/// `input` and `output` have a thread each, which block. They are not waited for: a process that ends
/// ends them.
pub async fn serve(
    port: Arc<dyn EditorPort>,
    settings: AcpSettings,
    input: impl std::io::Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<()> {
    let (sender, lines) = mpsc::channel(WAITING_LINES);
    thread::spawn(move || read_lines(input, &sender));
    let (editor, written) = EditorLink::new();
    let (gone, is_gone) = oneshot::channel();
    thread::spawn(move || {
        write_lines(written, output);
        let _ended = gone.send(());
    });
    serve_lines(port, settings, (lines, editor), is_gone).await
}

async fn serve_lines(
    port: Arc<dyn EditorPort>,
    settings: AcpSettings,
    (mut lines, editor): (mpsc::Receiver<Result<String>>, EditorLink),
    mut is_gone: oneshot::Receiver<()>,
) -> Result<()> {
    let agent = Arc::new(AcpAgent::new(port, editor, settings));
    let mut tasks = JoinSet::new();
    let ended = loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(Ok(line)) => agent.receive(&line, &mut tasks).await,
                Some(Err(error)) => break Err(error),
                None => break Ok(()),
            },
            _ = tasks.join_next(), if !tasks.is_empty() => {}
            _ = &mut is_gone => return Ok(()),
        }
    };
    agent.end_waits();
    let all = async { while tasks.join_next().await.is_some() {} };
    // Tasks that take longer are dropped.
    let _late = timeout(END_TIMEOUT, all).await;
    drop((tasks, agent));
    let _unwritten = timeout(END_TIMEOUT, is_gone).await;
    ended
}

/// Reads lines until the end of the input, or until the agent has ended.
fn read_lines(input: impl std::io::Read, lines: &mpsc::Sender<Result<String>>) {
    let mut input = BufReader::new(input);
    while let Some(line) = next_line(&mut input).transpose() {
        let is_end = line.is_err();
        if lines.blocking_send(line).is_err() || is_end {
            return;
        }
    }
}

/// Reads a line. `None` at the end of the input.
fn next_line(input: &mut impl BufRead) -> Result<Option<String>> {
    let failed = |error| Error::unavailable("the editor cannot be read").caused_by(error);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        match read.map_err(failed)? {
            0 => return Ok(None),
            _ if !line.ends_with(b"\n") && line.len() as u64 == MAX_LINE_BYTES => {
                let error = format!("a line of the editor has more than {MAX_LINE_BYTES} bytes");
                return Err(Error::usage(error));
            }
            _ if line.trim_ascii().is_empty() => {}
            _ => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
        }
    }
}

/// Writes lines until there are none left, or until the editor is gone.
fn write_lines(mut lines: mpsc::Receiver<String>, mut output: impl Write) {
    while let Some(mut line) = lines.blocking_recv() {
        line.push('\n');
        if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
