//! Connects to a launch's holder, even if its socket file was deleted.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use segue_core::ports::Fault;
use segue_core::{Error, Result};
use tokio::time::{Instant, sleep, timeout_at};

use super::holder_connection::HolderConnection;
use super::holder_process;
use super::order::{has_end, socket_path};
use crate::process::{self, ProcessHandle};
use crate::watch::FolderWait;

/// How long a holder may take to listen again.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a holder may take to listen again if its agent has ended. Nearly always such a holder
/// is about to exit.
const EXITING_TIMEOUT: Duration = Duration::from_secs(1);
/// The pause before the next attempt if the socket file exists and the holder does not listen yet.
const BIND_PAUSE: Duration = Duration::from_millis(20);

/// Connects to the holder of a launch. `None` if there is no holder. A holder without a socket gets
/// a signal to listen again.
pub(super) async fn connect(folder: &Path) -> Result<Option<HolderConnection>> {
    if let Some(connection) = HolderConnection::open(&socket_path(folder)).await? {
        return Ok(Some(connection));
    }
    let Some(holder) = holder_process::holder(folder) else { return Ok(None) };
    if process::is_stopped(&holder) {
        return Err(Error::from(Fault::HolderStopped { pid: holder.pid }));
    }
    let failed = |error| Error::internal("cannot signal a holder").caused_by(error);
    let Some(handle) = ProcessHandle::open(&holder).map_err(failed)? else { return Ok(None) };
    let mut folder_wait = FolderWait::new(&[folder]);
    if !handle.signal(Signal::HUP).map_err(failed)? {
        return Ok(None);
    }
    let limit = if has_end(folder) { EXITING_TIMEOUT } else { LISTEN_TIMEOUT };
    let deadline = Instant::now() + limit;
    loop {
        if let Some(connection) = HolderConnection::open(&socket_path(folder)).await? {
            return Ok(Some(connection));
        }
        // The socket file exists shortly before the holder listens.
        let is_bound = socket_path(folder).exists();
        let changed = async {
            tokio::select! {
                () = sleep(BIND_PAUSE), if is_bound => ListenEvent::Change,
                _ = handle.gone() => ListenEvent::Gone,
                () = folder_wait.changed() => ListenEvent::Change,
            }
        };
        match timeout_at(deadline, changed).await {
            Ok(ListenEvent::Change) => {}
            Ok(ListenEvent::Gone) => return Ok(None),
            Err(_) if has_end(folder) => return Ok(None),
            Err(_) => return Err(Error::from(Fault::SocketMissing { pid: holder.pid })),
        }
    }
}

enum ListenEvent {
    Change,
    Gone,
}
