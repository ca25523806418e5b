//! The order with which a holder is started, its answer, and the names of its files.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::{Environment, Exit, LaunchEnd, LaunchId, ProcessRef, SessionId};
use segue_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::terminal::Size;
use crate::folders::{END, ERRORS};
use crate::{atomic, points};

/// The name of the socket at which a holder listens, in its launch folder.
const SOCKET: &str = "holder.sock";
/// The name of the file with the live processes, for people and for `segue doctor`: a serialised
/// [`LiveProcesses`].
const LIVE: &str = "live.json";
/// The name of a holder's log file.
const LOG: &str = "holder.log";

/// Returns the path of the socket at which the holder of a launch listens.
pub fn socket_path(launch_folder: &Path) -> PathBuf {
    launch_folder.join(SOCKET)
}

pub(super) fn live_path(launch_folder: &Path) -> PathBuf {
    launch_folder.join(LIVE)
}

pub(super) fn log_path(launch_folder: &Path) -> PathBuf {
    launch_folder.join(LOG)
}

pub(super) fn errors_path(launch_folder: &Path) -> PathBuf {
    launch_folder.join(ERRORS)
}

/// Returns whether the end of a launch is recorded in its folder.
pub(super) fn has_end(launch_folder: &Path) -> bool {
    launch_folder.join(END).exists()
}

/// Returns how a launch ended. `None` if its end is not recorded or cannot be read.
pub(super) fn read_end(launch_folder: &Path) -> Option<LaunchEnd> {
    serde_json::from_slice(&fs::read(launch_folder.join(END)).ok()?).ok()
}

/// Records how a launch ended.
pub(super) fn write_end(launch_folder: &Path, end: &LaunchEnd) -> Result<()> {
    let text = serde_json::to_vec(end)
        .map_err(|error| Error::internal("cannot write the end").caused_by(error))?;
    atomic::write(&launch_folder.join(END), &text, points!("hold.end"))
}

/// Records how a launch ended, unless an end is recorded already.
pub(super) fn write_end_if_missing(launch_folder: &Path, end: &LaunchEnd) -> Result<()> {
    if has_end(launch_folder) { Ok(()) } else { write_end(launch_folder, end) }
}

/// Returns the end of a launch whose agent never started.
pub(super) fn never_started() -> LaunchEnd {
    LaunchEnd { exit: Exit::NeverStarted, is_requested: false, at: jiff::Timestamp::now() }
}

/// The order to a holder. It is sent through a pipe, because the values of the environment must not
/// be on disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HoldOrder {
    pub(super) launch: LaunchId,
    pub(super) session: SessionId,
    /// Whether the session had no launch before, so that no process of it can exist. `false` from an
    /// older daemon.
    #[serde(default)]
    pub(super) is_first_launch: bool,
    pub(super) argv: Vec<String>,
    /// A command that must succeed before the agent starts.
    #[serde(default)]
    pub(super) before: Vec<String>,
    /// The standard input of a headless agent.
    #[serde(default)]
    pub(super) input: Option<PathBuf>,
    pub(super) environment: Environment,
    pub(super) cwd: PathBuf,
    pub(super) headless: bool,
    /// The initial size of the terminal. `None` from an older daemon.
    #[serde(default)]
    pub(super) size: Option<Size>,
    /// The session's lock, which is held for as long as its agent lives.
    pub(super) lock: PathBuf,
}

impl HoldOrder {
    /// Returns the initial size of the agent's terminal, limited to sensible values.
    pub(super) fn first_size(&self) -> Size {
        self.size.unwrap_or(Size::DEFAULT).clamped()
    }
}

/// The one line with which a holder answers its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OrderAnswer {
    Started(LiveProcesses),
    Failed(Error),
}

/// The processes of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveProcesses {
    pub holder: ProcessRef,
    pub agent: ProcessRef,
}
