//! A socket listener that stays reachable: if its socket file is deleted, it creates a new one.

use std::fs;
use std::future::pending;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use segue_core::ports::FolderChange;
use segue_core::{Error, Result};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::socket;
use crate::watch::Watcher;

/// Listens at a path for as long as it lives.
#[derive(Debug)]
pub struct Listener {
    path: PathBuf,
    socket: UnixListener,
    file: FileId,
    /// `None` if the system has no inotify watch left. Then only SIGHUP makes the listener check
    /// its socket.
    watcher: Option<Watcher>,
    hangup: Signal,
    /// Whether the socket file is gone, could not be created again, and this was logged.
    is_lost: bool,
}

/// Identifies a file independently of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns the id of the file at a path. `None` if no file is there.
    fn at(path: &Path) -> Option<Self> {
        let metadata = fs::symlink_metadata(path).ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

impl Listener {
    /// Listens at a path, with access for the owner only. The caller must hold the lock that
    /// prevents other listeners there. From now on, SIGHUP makes the listener check its socket.
    pub fn bind(path: &Path) -> Result<Self> {
        let hangup = signal(SignalKind::hangup())
            .map_err(|error| Error::internal("cannot receive signals").caused_by(error))?;
        // Watch before binding. Otherwise the deletion of the new socket file could be missed.
        let watcher = watch(path);
        let (socket, file) = bind(path)?;
        Ok(Self { path: path.to_owned(), socket, file, watcher, hangup, is_lost: false })
    }

    /// Accepts the next connection. Dropping the future loses no connection.
    pub async fn accept(&mut self) -> io::Result<UnixStream> {
        loop {
            let Self { socket, watcher, hangup, .. } = self;
            tokio::select! {
                accepted = socket.accept() => return accepted.map(|(stream, _)| stream),
                () = changed(watcher) => self.restore_socket(),
                _ = hangup.recv() => self.restore_socket(),
            }
        }
    }

    /// Listens at the path again if the socket file is missing or was replaced.
    fn restore_socket(&mut self) {
        if self.watcher.is_none() {
            self.watcher = watch(&self.path);
        }
        if FileId::at(&self.path) == Some(self.file) {
            return;
        }
        match bind(&self.path) {
            Ok((socket, file)) => {
                (self.socket, self.file, self.is_lost) = (socket, file, false);
                let path = self.path.display();
                tracing::warn!(%path, "the socket was deleted; it was created again");
            }
            // Log this only once. The log may be in the same folder as the socket, and each write to
            // it would wake this listener again.
            Err(_) if self.is_lost => {}
            Err(error) => {
                self.is_lost = true;
                tracing::error!(%error, "the socket was deleted, and cannot be created");
            }
        }
    }
}

fn bind(path: &Path) -> Result<(UnixListener, FileId)> {
    let gone = || Error::unavailable(format!("the socket `{}` is gone", path.display()));
    let socket = socket::bind(path)?;
    FileId::at(path).map(|file| (socket, file)).ok_or_else(gone)
}

fn watch(path: &Path) -> Option<Watcher> {
    let watched = Watcher::new().and_then(|mut watcher| {
        watcher.add(path.parent().unwrap_or(path))?;
        Ok(watcher)
    });
    watched.inspect_err(|error| tracing::warn!(%error, "the socket is not watched")).ok()
}

/// Waits for a change in the folder of the socket. Without a watcher, it waits forever.
async fn changed(watcher: &mut Option<Watcher>) {
    let change = match watcher {
        Some(watcher) => watcher.next().await,
        None => pending().await,
    };
    if matches!(change, Ok(FolderChange::Unwatched { .. }) | Err(_)) {
        *watcher = None;
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Retries until the listener has created its socket again, connects, and sends one byte.
    async fn exchange(listener: &mut Listener, path: &Path) {
        let client = async {
            let mut watcher = Watcher::new().unwrap();
            watcher.add(path.parent().unwrap()).unwrap();
            loop {
                match socket::connect(path).await {
                    Ok(stream) => return stream,
                    Err(_) => drop(watcher.next().await.unwrap()),
                }
            }
        };
        let (mut client, served) = tokio::join!(client, listener.accept());
        client.write_all(b"x").await.unwrap();
        assert_eq!(served.unwrap().read_u8().await.unwrap(), b'x');
    }

    #[tokio::test]
    async fn deleted_moved_or_replaced_socket_is_created_again() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("socket");
        let mut listener = Listener::bind(&path).unwrap();
        exchange(&mut listener, &path).await;
        fs::remove_file(&path).unwrap();
        exchange(&mut listener, &path).await;
        fs::rename(&path, temp.path().join("away")).unwrap();
        exchange(&mut listener, &path).await;
        // A socket file without a listener.
        fs::remove_file(&path).unwrap();
        drop(UnixListener::bind(&path).unwrap());
        exchange(&mut listener, &path).await;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn socket_is_created_again_after_its_folder_was_recreated() {
        let temp = TempDir::new().unwrap();
        let folder = temp.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let path = folder.join("socket");
        let mut listener = Listener::bind(&path).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("file"), "").unwrap();
        exchange(&mut listener, &path).await;
    }
}
