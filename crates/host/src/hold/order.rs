//! What a holder is told when it is started, what it answers, and its files.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::{Environment, Exit, LaunchEnd, LaunchId, ProcessRef, SessionId};
use segue_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::terminal::Size;
use crate::folders::{END, ERRORS};
use crate::{atomic, points};

/// The socket on which a holder listens, in its launch folder.
const SOCKET: &str = "holder.sock";
/// Which processes live, for people and for `segue doctor`: a serialised [`Live`].
const LIVE: &str = "live.json";
/// What a holder has to say about itself.
const LOG: &str = "holder.log";

/// Returns where the holder of a launch listens.
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

/// Tells whether a launch is over, as far as its folder knows.
pub(super) fn has_end(launch_folder: &Path) -> bool {
    launch_folder.join(END).exists()
}

/// Returns how a launch ended; `None` if that is not on disk or cannot be read.
pub(super) fn read_end(launch_folder: &Path) -> Option<LaunchEnd> {
    serde_json::from_slice(&fs::read(launch_folder.join(END)).ok()?).ok()
}

/// Writes down how a launch ended.
pub(super) fn write_end(launch_folder: &Path, end: &LaunchEnd) -> Result<()> {
    let text = serde_json::to_vec(end)
        .map_err(|error| Error::internal("cannot word the end").caused_by(error))?;
    atomic::write(&launch_folder.join(END), &text, points!("hold.end"))
}

/// Writes down how a launch ended if nobody has; the first word about it stays.
pub(super) fn write_end_unless_there(launch_folder: &Path, end: &LaunchEnd) -> Result<()> {
    if has_end(launch_folder) { Ok(()) } else { write_end(launch_folder, end) }
}

/// Returns the end of a launch without an agent.
pub(super) fn never_started() -> LaunchEnd {
    LaunchEnd { exit: Exit::NeverStarted, asked: false, at: jiff::Timestamp::now() }
}

/// What to hold. It goes through a pipe, because the environment's values are on no disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HoldOrder {
    pub(super) launch: LaunchId,
    pub(super) session: SessionId,
    pub(super) argv: Vec<String>,
    /// Run to its end before.
    #[serde(default)]
    pub(super) before: Vec<String>,
    /// The standard input of a headless agent.
    #[serde(default)]
    pub(super) input: Option<PathBuf>,
    pub(super) environment: Environment,
    pub(super) cwd: PathBuf,
    pub(super) headless: bool,
    /// What the terminal begins with; `None` from an older daemon.
    #[serde(default)]
    pub(super) size: Option<Size>,
    /// The session's lock, held as long as its agent lives.
    pub(super) lock: PathBuf,
}

impl HoldOrder {
    /// Returns the size that the agent's terminal begins with, whatever was asked for.
    pub(super) fn first_size(&self) -> Size {
        self.size.unwrap_or(Size::DEFAULT).sensible()
    }
}

/// The one line with which a holder answers its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OrderAnswer {
    Started(Live),
    Failed(Error),
}

/// The processes of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    pub holder: ProcessRef,
    pub agent: ProcessRef,
}
