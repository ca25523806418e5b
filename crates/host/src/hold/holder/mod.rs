//! The holder process. It owns the terminal or the pipes of one launch and its socket, and records
//! the end of the launch.

mod agent;
mod agent_state;
mod attaching;
mod client_view;
mod clients;
mod connection;
mod end;
mod message_typing;
mod output;
mod questions;
mod requests;
mod screen_changes;
mod send_queue;
mod serve;
mod start;
mod suspended;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use segue_core::model::{Environment, LaunchId, SessionId};
use segue_core::{Error, Result, failpoint};
use tokio::net::UnixListener;
use tokio::sync::mpsc;

use super::order::{HoldOrder, LiveProcesses, OrderAnswer};
use super::terminal::{OutputHistory, VirtualTerminal};
use crate::cgroup::AgentGroup;
use crate::failpoints::{self, ProcessRole};
use crate::lock::FileLock;
use crate::peer;
use crate::process_context::ProcessContext;

use agent::AgentStream;
use agent_state::AgentState;
use clients::Clients;
use connection::ClientMessage;
use message_typing::MessageTyping;
pub(super) use questions::MAX_REQUEST_BYTES;
use questions::OpenQuestions;
use screen_changes::ScreenChanges;
use start::HolderSignals;
use suspended::Suspended;

/// This many bytes of an agent's output are kept in memory.
const HISTORY_BYTES: usize = 256 << 10;
/// At most this many bytes of output are read before they are processed.
const BATCH_BYTES: usize = 64 << 10;

/// Holds the launch whose folder is the only argument. Reads its order from standard input.
pub fn run_holder(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    if let Ok(context) = ProcessContext::read() {
        failpoints::arm(&context.environment, ProcessRole::Holder);
    }
    match hold(arguments.into_iter()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log(&format!("the holder cannot start: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn hold(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let missing = || Error::usage("only the daemon may use `segue hold`");
    let folder = PathBuf::from(arguments.next().ok_or_else(missing)?);
    // Every process of an agent has a mark in its environment. An agent could remove the mark, but
    // clients do not connect to a holder that an agent started.
    if peer::is_marked(std::process::id()) {
        return Err(Error::usage("an agent may not start a holder"));
    }
    let order = read_order()?;
    leave_daemon_session()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))?;
    let tasks = tokio::task::LocalSet::new();
    tasks.block_on(&runtime, async {
        match start::start(folder.clone(), order).await {
            Ok(mut holder) => {
                answer(&OrderAnswer::Started(holder.live.clone()))?;
                holder.serve().await;
                Ok(())
            }
            Err(error) => {
                end::record_never_started(&folder);
                answer(&OrderAnswer::Failed(error.clone()))?;
                Err(error)
            }
        }
    })
}

fn read_order() -> Result<HoldOrder> {
    let failed = || Error::internal("the holder's order cannot be read");
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).map_err(|error| failed().caused_by(error))?;
    serde_json::from_slice(&text).map_err(|error| failed().caused_by(error))
}

/// Leaves the session and the working folder of the process that started this one.
fn leave_daemon_session() -> Result<()> {
    let failed = |error| Error::internal("cannot leave the daemon's session").caused_by(error);
    match rustix::process::setsid() {
        // A process group leader cannot call `setsid`. It has at least its own process group.
        Ok(_) | Err(rustix::io::Errno::PERM) => {}
        Err(error) => return Err(failed(error)),
    }
    rustix::process::chdir("/").map_err(failed)?;
    rustix::thread::set_name(c"segue-hold").map_err(failed)
}

/// Prints the line that the sender of the order waits for, and closes the sender's pipes.
fn answer(answer: &OrderAnswer) -> Result<()> {
    failpoint::hit("hold.answer.before");
    let line = serde_json::to_string(answer)
        .map_err(|error| Error::internal("cannot write the answer").caused_by(error))?;
    let mut output = std::io::stdout();
    // If the daemon died meanwhile, the next daemon finds this holder by its socket.
    let _printed = output.write_all(format!("{line}\n").as_bytes()).and_then(|()| output.flush());
    if let Err(error) = close_pipes() {
        log(&format!("the daemon's pipes stay open: {error}"));
    }
    failpoint::hit("hold.answer.after");
    Ok(())
}

fn close_pipes() -> std::io::Result<()> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(())
}

/// Writes a line to the launch's `holder.log`, which is standard error.
fn log(line: &str) {
    let now = jiff::Timestamp::now();
    // If logging fails, there is no other place to report it.
    let _written = std::io::stderr().write_all(format!("{now} {line}\n").as_bytes());
}

/// The state of a holder: the launch that it holds, and its clients.
struct Holder {
    folder: PathBuf,
    launch: LaunchId,
    session: SessionId,
    /// The cgroup of the agent. `None` if it could not be created.
    group: Option<AgentGroup>,
    environment: Environment,
    live: LiveProcesses,
    /// The session's lock. It is released when the agent and all processes that it has started are
    /// gone.
    lock: Option<FileLock>,
    listener: UnixListener,
    signals: HolderSignals,
    /// `None` after the agent has ended or has closed its output.
    stream: Option<AgentStream>,
    /// `None` for a headless agent.
    terminal: Option<VirtualTerminal>,
    history: OutputHistory,
    /// The number of output bytes that the terminal has not processed yet.
    undrawn: usize,
    /// Input that the agent has not read yet.
    input: VecDeque<u8>,
    changes: ScreenChanges,
    message_typing: MessageTyping,
    suspended: Suspended,
    questions: OpenQuestions,
    clients: Clients,
    agent_state: AgentState,
    messages: mpsc::Receiver<ClientMessage>,
    batch: Vec<u8>,
}
