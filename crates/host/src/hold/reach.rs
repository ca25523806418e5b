//! Reaching a launch's holder, also after the file of its socket was deleted.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use segue_core::ports::Fault;
use segue_core::{Error, Result};
use tokio::time::{Instant, sleep, timeout_at};

use super::line::Line;
use super::order::{has_end, socket_path};
use super::recorded::{self, unreachable};
use crate::process::{self, ProcessHandle};
use crate::watch::{Change, Watcher};

/// How long a holder may take to listen again.
const LISTENS_WITHIN: Duration = Duration::from_secs(5);
/// How often the socket is looked for if its folder cannot be watched.
const UNWATCHED_LOOK: Duration = Duration::from_millis(100);

/// Opens a line to the holder of a launch; `None` if it has none. A holder without a socket is asked
/// by a signal to listen again.
pub(super) async fn reach(folder: &Path) -> Result<Option<Line>> {
    if let Some(line) = Line::open(&socket_path(folder)).await? {
        return Ok(Some(line));
    }
    let Some(holder) = recorded::holder(folder) else { return Ok(None) };
    if process::is_stopped(&holder) {
        return Err(unreachable(Fault::HolderStopped { pid: holder.pid }));
    }
    let failed = |error| Error::internal("cannot signal a holder").caused_by(error);
    let Some(handle) = ProcessHandle::open(&holder).map_err(failed)? else { return Ok(None) };
    let mut socket = SocketFile::watch(folder);
    if !handle.signal(Signal::HUP).map_err(failed)? {
        return Ok(None);
    }
    let deadline = Instant::now() + LISTENS_WITHIN;
    loop {
        if let Some(line) = Line::open(&socket_path(folder)).await? {
            return Ok(Some(line));
        }
        let changed = async {
            tokio::select! {
                _ = handle.gone() => Seen::Gone,
                () = socket.changed() => Seen::Change,
            }
        };
        match timeout_at(deadline, changed).await {
            Ok(Seen::Change) => {}
            Ok(Seen::Gone) => return Ok(None),
            // It is about to go: its agent has ended.
            Err(_) if has_end(folder) => return Ok(None),
            Err(_) => return Err(unreachable(Fault::SocketMissing { pid: holder.pid })),
        }
    }
}

enum Seen {
    Change,
    Gone,
}

/// The file of a holder's socket.
struct SocketFile<'a> {
    folder: &'a Path,
    /// `None` if the system has no watch left.
    watcher: Option<Watcher>,
}

impl<'a> SocketFile<'a> {
    fn watch(folder: &'a Path) -> Self {
        let watcher = Watcher::new().and_then(|mut watcher| {
            watcher.add(folder)?;
            Ok(watcher)
        });
        Self { folder, watcher: watcher.ok() }
    }

    /// Waits until something happened to the file.
    async fn changed(&mut self) {
        let socket = socket_path(self.folder);
        while let Some(watcher) = &mut self.watcher {
            match watcher.next().await {
                Ok(Change::At { path, .. }) if path != socket => {}
                Ok(_) => return,
                Err(_) => self.watcher = None,
            }
        }
        sleep(UNWATCHED_LOOK).await;
    }
}
