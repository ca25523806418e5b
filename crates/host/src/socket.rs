//! Unix sockets at any path, including paths that are too long for a socket address.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use segue_core::{Error, Result};
use tokio::net::{UnixListener, UnixStream};

use crate::failure::{cannot, quoted};

/// The length of the longest path that fits into a socket address with its terminating zero.
const MAX_PATH_BYTES: usize = 107;

/// Listens at a path, with access for the owner only. The caller must hold the lock that prevents
/// other listeners there. A socket file without a listener is replaced.
pub fn bind(path: &Path) -> Result<UnixListener> {
    let address = Address::of(path).map_err(|error| cannot("listen at", path, &error))?;
    remove_stale(path, &address)?;
    let listener =
        UnixListener::bind(address.path()).map_err(|error| cannot("listen at", path, &error))?;
    fs::set_permissions(path, Permissions::from_mode(0o600))
        .map_err(|error| cannot("listen at", path, &error))?;
    Ok(listener)
}

/// Connects to the listener at a path. If it ends before it accepts the connection, the error is
/// the same as without a listener.
pub async fn connect(path: &Path) -> io::Result<UnixStream> {
    let address = Address::of(path)?;
    UnixStream::connect(address.path()).await.map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionReset => io::ErrorKind::ConnectionRefused.into(),
        _ => error,
    })
}

/// Connects to the listener at a path. If the listener's queue is full, waits for room in it, at
/// most for the time `limit`. After that, the error is [`io::ErrorKind::TimedOut`].
pub async fn connect_within(path: &Path, limit: Duration) -> io::Result<UnixStream> {
    match connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        other => return other,
    }
    let path = path.to_owned();
    let connected = tokio::task::spawn_blocking(move || connect_queued(&path, limit)).await;
    let stream = connected.map_err(io::Error::other)??;
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// Lets the kernel wait for room in the listener's queue.
fn connect_queued(path: &Path, limit: Duration) -> io::Result<BlockingStream> {
    let (family, kind, flags) = (AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC);
    let socket = socket_with(family, kind, flags, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
    let address = Address::of(path)?;
    match rustix::net::connect(&socket, &SocketAddrUnix::new(address.path())?) {
        Ok(()) => Ok(BlockingStream::from(socket)),
        Err(Errno::AGAIN) => Err(io::ErrorKind::TimedOut.into()),
        Err(Errno::CONNRESET) => Err(io::ErrorKind::ConnectionRefused.into()),
        Err(error) => Err(error.into()),
    }
}

/// Connects to the listener at a path, without an async runtime.
pub fn connect_blocking(path: &Path) -> io::Result<BlockingStream> {
    BlockingStream::connect(Address::of(path)?.path())
}

/// A path that fits into a socket address.
enum Address {
    Short(PathBuf),
    /// A path through the open folder, which must stay open while the path is used.
    ThroughFolder {
        path: PathBuf,
        _folder: OwnedFd,
    },
}

impl Address {
    fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_bytes().len() <= MAX_PATH_BYTES {
            return Ok(Self::Short(path.to_owned()));
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(parent, flags, Mode::empty())?;
        let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(Self::ThroughFolder { path, _folder: folder })
    }

    fn path(&self) -> &Path {
        match self {
            Self::Short(path) | Self::ThroughFolder { path, .. } => path,
        }
    }
}

fn remove_stale(path: &Path, address: &Address) -> Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot("listen at", path, &error)),
    };
    if !metadata.file_type().is_socket() {
        return Err(Error::conflict(format!("`{}` is not a socket", path.display()))
            .hint(format!("move it away: `mv {0} {0}.old`", quoted(path))));
    }
    match BlockingStream::connect(address.path()) {
        Ok(_) => Err(Error::conflict(format!("another process listens at `{}`", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| cannot("remove the stale socket", path, &error))
        }
        Err(error) => Err(cannot("listen at", path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use segue_core::Kind;
    use tempfile::TempDir;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn exchange(path: &Path) {
        let listener = bind(path).unwrap();
        let mut client = connect(path).await.unwrap();
        let (mut served, _) = listener.accept().await.unwrap();
        client.write_all(b"x").await.unwrap();
        assert_eq!(served.read_u8().await.unwrap(), b'x');
        connect_blocking(path).unwrap();
    }

    #[tokio::test]
    async fn socket_is_accessible_to_its_owner_only() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("socket");
        exchange(&path).await;
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn path_too_long_for_a_socket_address_works() {
        let temp = TempDir::new().unwrap();
        let deep = temp.path().join("d".repeat(200)).join("e".repeat(200));
        fs::create_dir_all(&deep).unwrap();
        let path = deep.join("daemon.sock");
        exchange(&path).await;
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn bind_replaces_a_stale_socket_but_not_a_live_one() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("socket");
        drop(bind(&path).unwrap());
        assert!(path.exists());
        let listener = bind(&path).unwrap();
        assert_eq!(bind(&path).unwrap_err().kind, Kind::Conflict);
        connect(&path).await.unwrap();
        drop(listener);
    }

    #[tokio::test]
    async fn bind_refuses_a_file_that_is_not_a_socket() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("socket");
        fs::write(&path, "precious").unwrap();
        assert_eq!(bind(&path).unwrap_err().kind, Kind::Conflict);
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }

    #[tokio::test]
    async fn connect_within_waits_for_a_full_queue_until_the_limit() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("socket");
        let flags = SocketFlags::CLOEXEC;
        let listener = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        rustix::net::bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let first = connect_blocking(&path).unwrap();
        let limit = Duration::from_millis(1);
        let error = connect_within(&path, limit).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let waiting =
            tokio::spawn(
                async move { connect_within(&path, Duration::from_secs(60)).await.map(drop) },
            );
        tokio::task::yield_now().await;
        drop(rustix::net::accept(&listener).unwrap());
        waiting.await.unwrap().unwrap();
        drop(first);
    }

    #[tokio::test]
    async fn connect_distinguishes_a_missing_socket_from_a_stale_one() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("socket");
        assert_eq!(connect(&path).await.unwrap_err().kind(), io::ErrorKind::NotFound);
        drop(bind(&path).unwrap());
        assert_eq!(connect(&path).await.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
