//! What a holder is told when it is started, what it answers, and its files.

use std::path::{Path, PathBuf};

use segue_core::Error;
use segue_core::model::{Environment, LaunchId, ProcessRef, SessionId};
use serde::{Deserialize, Serialize};

/// The socket on which a holder listens, in its launch folder.
const SOCKET: &str = "holder.sock";
/// Which processes live, for people and for `segue doctor`: a serialised [`Live`].
const LIVE: &str = "live.json";
/// What a holder has to say about itself.
const LOG: &str = "holder.log";
/// What a headless agent writes to its standard error.
const ERRORS: &str = "stderr.log";

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

/// What to hold. It goes through a pipe, because the environment's values are on no disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HoldOrder {
    pub(super) launch: LaunchId,
    pub(super) session: SessionId,
    pub(super) argv: Vec<String>,
    pub(super) environment: Environment,
    pub(super) cwd: PathBuf,
    pub(super) headless: bool,
    /// The session's lock, held as long as its agent lives.
    pub(super) lock: PathBuf,
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
