//! The steps from an order to a running agent.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{getpid, set_child_subreaper};
use segue_core::model::{LaunchId, SessionId};
use segue_core::{Error, Result, failpoint};
use tokio::net::UnixListener;
use tokio::signal::unix::{Signal, SignalKind};
use tokio::sync::mpsc;

use super::agent_state::AgentState;
use super::clients::Clients;
use super::message_typing::MessageTyping;
use super::questions::OpenQuestions;
use super::screen_changes::ScreenChanges;
use super::suspended::Suspended;
use super::{BATCH_BYTES, HISTORY_BYTES, Holder, end, log};
use crate::cgroup::AgentGroup;
use crate::hold::order::{HoldOrder, LiveProcesses, has_end, live_path, socket_path};
use crate::hold::session_lock::LockNote;
use crate::hold::terminal::{OutputHistory, VirtualTerminal};
use crate::hold::waiting::listen_to;
use crate::leftovers::LAUNCH_MARK;
use crate::lock::FileLock;
use crate::process::EnvironmentNow;
use crate::{atomic, leftovers, points, process, socket};

/// The environment variable that names the session of a process.
const SESSION_MARK: &str = "SEGUE_SESSION";
/// The processes are examined at most this many times while one of them is inside `execve`.
/// `execve` takes less time than that.
const MAX_SURVEYS: usize = 50;
/// At most this many messages of clients wait to be handled.
const MAX_WAITING_MESSAGES: usize = 64;

/// The signals that a holder handles.
pub(super) struct HolderSignals {
    pub(super) child: Signal,
    pub(super) terminate: Signal,
    /// SIGHUP: a client misses the socket. A holder has no controlling terminal that could hang up.
    pub(super) hangup: Signal,
    /// SIGCONT: this process was stopped and continues.
    pub(super) continued: Signal,
}

impl HolderSignals {
    fn listen() -> Result<Self> {
        Ok(Self {
            child: listen_to(SignalKind::child())?,
            terminate: listen_to(SignalKind::terminate())?,
            hangup: listen_to(SignalKind::hangup())?,
            continued: listen_to(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }
}

/// Carries out an order. Returns when the agent runs.
pub(super) async fn start(folder: PathBuf, order: HoldOrder) -> Result<Holder> {
    let lock = take_lock(&order)?;
    refuse_if_over(&folder, order.launch)?;
    // This examines every process of the machine.
    if !order.is_first_launch {
        end_leftovers(order.session).await?;
    }
    let own = getpid();
    set_child_subreaper(Some(own))
        .map_err(|error| Error::internal("cannot adopt orphans").caused_by(error))?;
    let signals = HolderSignals::listen()?;
    let listener = listen(&folder)?;
    let group = make_group(order.launch);
    let started = match start_agent(&order, &folder, group.as_ref()) {
        Ok(started) => started,
        Err(error) => {
            end::end_children();
            group.iter().for_each(AgentGroup::remove);
            end::remove_socket(&folder);
            return Err(error);
        }
    };
    let (live, stream) = started;
    let (sender, messages) = mpsc::channel(MAX_WAITING_MESSAGES);
    let terminal = (!order.headless).then(|| VirtualTerminal::new(order.first_size()));
    Ok(Holder {
        folder,
        launch: order.launch,
        session: order.session,
        group,
        environment: order.environment,
        live,
        lock: Some(lock),
        listener,
        signals,
        stream: Some(stream),
        terminal,
        history: OutputHistory::new(HISTORY_BYTES),
        undrawn: 0,
        input: std::collections::VecDeque::new(),
        changes: ScreenChanges::default(),
        message_typing: MessageTyping::default(),
        suspended: Suspended::default(),
        questions: OpenQuestions::default(),
        clients: Clients::new(sender),
        agent_state: AgentState::running(),
        messages,
        batch: vec![0; BATCH_BYTES],
    })
}

/// Creates the cgroup of the agent. `None` if this user cannot create one.
fn make_group(launch: LaunchId) -> Option<AgentGroup> {
    failpoint::hit("hold.cgroup.before");
    let group = AgentGroup::make(launch);
    failpoint::hit("hold.cgroup.after");
    group.map_err(|error| log(&format!("the agent has no cgroup of its own: {error}"))).ok()
}

fn start_agent(
    order: &HoldOrder,
    folder: &Path,
    group: Option<&AgentGroup>,
) -> Result<(LiveProcesses, super::AgentStream)> {
    let own = std::process::id();
    let holder =
        process::find(own).ok_or_else(|| Error::internal("cannot identify this process"))?;
    let agent = super::agent::start(order, folder, group)?;
    let live = LiveProcesses { holder, agent: agent.process };
    let text = serde_json::to_vec_pretty(&live)
        .map_err(|error| Error::internal("cannot write `live.json`").caused_by(error))?;
    atomic::write_while_running(&live_path(folder), &text, points!("hold.live"))?;
    Ok((live, agent.stream))
}

/// Takes the session's lock. While it is held, no other process can hold the session.
fn take_lock(order: &HoldOrder) -> Result<FileLock> {
    failpoint::hit("hold.lock.before");
    let Some(lock) = FileLock::try_acquire(&order.lock)? else {
        return Err(held_by_other(order));
    };
    // The error message for a second holder uses this note.
    let note = LockNote::own(order.launch);
    if let Err(error) = fs::write(&order.lock, note.to_string()) {
        log(&format!("the holder cannot write its note into the lock: {error}"));
    }
    failpoint::hit("hold.lock.after");
    Ok(lock)
}

fn held_by_other(order: &HoldOrder) -> Error {
    let holder = match LockNote::read(&order.lock) {
        Some(LockNote { pid, launch, .. }) => format!("process {pid} for launch `{launch}`"),
        None => "another process".to_owned(),
    };
    Error::conflict(format!("session `{}` is held by {holder}", order.session))
        .hint(format!("run `segue attach {}` to see it", order.session))
}

/// Fails if a daemon has given up the launch meanwhile. Its session may already run in another
/// launch.
fn refuse_if_over(folder: &Path, launch: LaunchId) -> Result<()> {
    if has_end(folder) {
        return Err(Error::conflict(format!("launch `{launch}` was given up before it started"))
            .hint("run `segue resume` to bring its session back"));
    }
    Ok(())
}

/// Ends processes that earlier launches of the session left behind. Two agents would damage the
/// conversation.
async fn end_leftovers(session: SessionId) -> Result<()> {
    failpoint::hit("hold.leftovers.before");
    let dead: Vec<LaunchId> = marked_launches(session).into_iter().collect();
    for ended in leftovers::end_marked(&dead).await? {
        log(&format!("ended a leftover: process {} (`{}`)", ended.pid, ended.command));
    }
    failpoint::hit("hold.leftovers.after");
    Ok(())
}

/// Returns the session's launches that still have processes. Repeats the survey until all processes
/// could be examined. The launch of this holder has no processes yet.
fn marked_launches(session: SessionId) -> BTreeSet<LaunchId> {
    let session = session.to_string();
    for _ in 0..MAX_SURVEYS {
        let (found, is_incomplete) = survey(&session);
        if !found.is_empty() || !is_incomplete {
            return found;
        }
    }
    BTreeSet::new()
}

/// Examines all processes. Also returns whether one of them was inside `execve`, so that its
/// environment was not readable.
fn survey(session: &str) -> (BTreeSet<LaunchId>, bool) {
    let mut found = BTreeSet::new();
    let mut is_incomplete = false;
    for pid in process::all() {
        match process::environment_now(pid) {
            EnvironmentNow::Known(environment) => {
                let value = |name| process::value_in(&environment, name);
                if value(SESSION_MARK).is_some_and(|marked| marked == session) {
                    found.extend(value(LAUNCH_MARK).and_then(|mark| mark.parse::<LaunchId>().ok()));
                }
            }
            EnvironmentNow::InsideExecve => is_incomplete = true,
            EnvironmentNow::None => {}
        }
    }
    (found, is_incomplete)
}

pub(super) fn listen(folder: &Path) -> Result<UnixListener> {
    failpoint::hit("hold.socket.before");
    let listener = socket::bind(&socket_path(folder))?;
    failpoint::hit("hold.socket.after");
    Ok(listener)
}
