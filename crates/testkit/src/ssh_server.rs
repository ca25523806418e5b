//! Git over ssh on the loopback address, by the `sshd` of Debian's package `openssh-server`.
//!
//! Each connection has its own `sshd`, in a user namespace in which the user of the test is `git`.
//! The server has its own list of users, keys and settings, so it uses no account of this machine.

use std::fs;
use std::fs::{File, OpenOptions};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::JoinHandle;

use tokio::process::{Child, Command};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

const SSHD: &str = "/usr/sbin/sshd";
/// The id of the user `git` in the namespace of a connection.
const USER_ID: &str = "1000";
/// The name of the server in the settings of its clients.
const ALIAS: &str = "forge";

/// The shell script that starts `sshd`. Its first argument is the list of users.
const START: &str = "mount --bind \"$1\" /etc/passwd && shift && exec unshare --user \
    --map-user=\"$1\" --map-group=\"$1\" \"$2\" -i -e -f \"$3\"";

/// A server for git over ssh. It runs until this value is dropped.
#[derive(Debug)]
pub struct SshServer {
    address: SocketAddr,
    files: SshFiles,
    serving: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// A client of an [`SshServer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SshClient {
    /// It knows the server, and the server knows its key.
    Known,
    /// It knows the server, and the server does not know its key.
    WithOtherKey,
    /// The server knows its key, and it has never connected to the server.
    NewToServer,
}

/// The folder with keys and settings.
#[derive(Clone, Debug)]
struct SshFiles(PathBuf);

impl SshServer {
    /// Serves the bare repositories of a folder, and puts its own files into the folder `ssh` beside
    /// them. Only works in a test that is [`isolated`](crate::isolated): it mounts a list of users.
    ///
    /// # Panics
    ///
    /// If Debian's package `openssh-server` is not installed.
    pub fn start(repositories: &Path) -> Self {
        assert!(Path::new(SSHD).exists(), "`{SSHD}` is missing: run `scripts/tools`");
        let files = SshFiles(repositories.with_file_name("ssh"));
        files.write(repositories);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        files.write_known_hosts(address);
        let (stop, stopped) = oneshot::channel();
        let own = files.clone();
        let thread = std::thread::spawn(move || run(listener, &own, stopped));
        Self { address, files, serving: Some((stop, thread)) }
    }

    /// Returns the URL of a repository.
    pub fn url(&self, repository: &str) -> String {
        format!("ssh://git@{}/~/{repository}", self.address)
    }

    /// Returns the short form of the URL of a repository, as `scp` has it.
    pub fn short_url(&self, repository: &str) -> String {
        format!("git@{ALIAS}:{repository}")
    }

    /// Returns the value of `GIT_SSH_COMMAND` for a client. It reads no file of the user who runs the
    /// test.
    pub fn command(&self, client: SshClient) -> String {
        let name = format!("{client:?}");
        let (key, hosts) = match client {
            SshClient::Known => ("known", "known_hosts"),
            SshClient::WithOtherKey => ("other", "known_hosts"),
            SshClient::NewToServer => ("known", "no_hosts"),
        };
        let path = |name: &str| self.files.path(name).display().to_string();
        let settings = format!(
            "Host {ALIAS}\nHostName {}\nPort {}\nHost *\nIdentityFile {}\nIdentitiesOnly yes\n\
             UserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\nUpdateHostKeys no\n",
            self.address.ip(),
            self.address.port(),
            path(key),
            path(hosts),
        );
        fs::write(self.files.path(&name), settings).expect("a file");
        format!("ssh -F {}", path(&name))
    }

    /// Returns the log of `sshd`.
    pub fn log(&self) -> String {
        fs::read_to_string(self.files.path("log")).unwrap_or_default()
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.serving.take() {
            // The receiver is gone only if the thread has panicked, which the test has reported.
            let _gone = stop.send(());
            let _ended = thread.join();
        }
    }
}

impl SshFiles {
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes the keys and settings of the server, and the keys of its clients.
    fn write(&self, repositories: &Path) {
        fs::create_dir(&self.0).expect("a folder");
        for key in ["host", "known", "other"] {
            self.make_key(key);
        }
        fs::copy(self.path("known.pub"), self.path("authorized_keys")).expect("a file");
        let home = repositories.display();
        let users = format!("git:x:{USER_ID}:{USER_ID}::{home}:/bin/sh\n");
        fs::write(self.path("passwd"), users).expect("a file");
        let settings = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n",
            self.path("host").display(),
            self.path("authorized_keys").display(),
        );
        fs::write(self.path("sshd_config"), settings).expect("a file");
    }

    fn make_key(&self, name: &str) {
        let mut command = std::process::Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]).arg(self.path(name));
        let status = command.status().expect("`ssh-keygen` starts");
        assert!(status.success(), "`ssh-keygen`: {status}");
    }

    fn write_known_hosts(&self, address: SocketAddr) {
        let key = fs::read_to_string(self.path("host.pub")).expect("a key");
        let line = format!("[{}]:{} {key}", address.ip(), address.port());
        fs::write(self.path("known_hosts"), line).expect("a file");
    }

    fn log(&self) -> File {
        let log = OpenOptions::new().create(true).append(true).open(self.path("log"));
        log.expect("a log")
    }
}

fn run(listener: TcpListener, files: &SshFiles, stopped: oneshot::Receiver<()>) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("a listener");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        tokio::select! {
            () = serve(&listener, files) => {}
            _ = stopped => {}
        }
    });
}

/// Serves every connection. The processes end with the runtime.
async fn serve(listener: &tokio::net::TcpListener, files: &SshFiles) {
    loop {
        let (connection, _) = listener.accept().await.expect("a connection");
        let connection = connection.into_std().expect("a connection");
        connection.set_nonblocking(false).expect("a connection");
        let mut child = start_sshd(files, connection.into());
        tokio::spawn(async move { child.wait().await });
    }
}

/// Starts an `sshd` for one connection, as `inetd` does: it is both standard input and output.
fn start_sshd(files: &SshFiles, connection: OwnedFd) -> Child {
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", START, "sh"]).arg(files.path("passwd"));
    command.args([USER_ID, SSHD]).arg(files.path("sshd_config"));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").kill_on_drop(true);
    let output = connection.try_clone().expect("a connection");
    command.stdin(Stdio::from(connection)).stdout(Stdio::from(output));
    command.stderr(Stdio::from(files.log())).spawn().expect("`unshare` starts")
}
