//! A proxy in front of the daemon that cuts connections.

use std::fs::{self, DirBuilder};
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use segue_testkit::{CommandOutcome, World};

/// What a proxy does to the first request to its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The daemon answers, but the connection is closed before the client gets any of the answer.
    Answer,
    /// The connection is closed after the client got half of the answer.
    HalfOfTheAnswer,
    /// The connection is closed as soon as the daemon has the request, while it still works on it.
    AtOnce,
}

/// A `SEGUE_HOME` whose socket leads to the daemon of a world. One connection to it is cut.
#[derive(Debug)]
pub(crate) struct Proxy<'world> {
    world: &'world World,
    home: PathBuf,
    /// The heads of the requests to the path, in order.
    request_heads: Arc<Mutex<Vec<String>>>,
}

impl<'world> Proxy<'world> {
    /// Listens in a `SEGUE_HOME` of its own and cuts the first request to this path.
    pub(crate) fn before(world: &'world World, path: &str, cut: Cut) -> Self {
        let home = world.root().join("proxied");
        // An earlier proxy of the same test may have left this folder.
        let _removed = fs::remove_dir_all(&home);
        let state = home.join("state");
        DirBuilder::new().recursive(true).mode(0o700).create(&state).unwrap();
        let listener = UnixListener::bind(state.join("daemon.sock")).unwrap();
        let daemon_socket = world.state().join("daemon.sock");
        let request_heads = Arc::<Mutex<Vec<String>>>::default();
        let proxy = Self { world, home, request_heads: Arc::clone(&request_heads) };
        let (path, pending_cut) = (path.to_owned(), Arc::new(Mutex::new(Some(cut))));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(daemon) = UnixStream::connect(&daemon_socket) else { return };
                let (path, request_heads, pending_cut) =
                    (path.clone(), Arc::clone(&request_heads), Arc::clone(&pending_cut));
                thread::spawn(move || {
                    Relay { client, daemon, path, request_heads, pending_cut }.run();
                });
            }
        });
        proxy
    }

    /// Runs a command through the proxy.
    pub(crate) fn segue<const N: usize>(&self, arguments: [&str; N]) -> CommandOutcome {
        CommandOutcome::of(self.world.command(arguments).env("SEGUE_HOME", &self.home))
    }

    /// Runs a command through the proxy and checks that it succeeds.
    pub(crate) fn ok<const N: usize>(&self, arguments: [&str; N]) -> String {
        let outcome = self.segue(arguments);
        assert_eq!(outcome.status, 0, "segue {arguments:?}: {outcome:#?}");
        outcome.stdout
    }

    /// Checks that the request was sent twice with the same id.
    #[track_caller]
    pub(crate) fn assert_sent_twice(self) {
        let request_heads = self.request_heads.lock().unwrap().clone();
        let ids: Vec<String> = request_heads.iter().map(|head| request_id(head)).collect();
        assert_eq!(ids.len(), 2, "{ids:?}");
        assert_eq!(ids[0], ids[1]);
    }
}

/// One connection through the proxy.
struct Relay {
    client: UnixStream,
    daemon: UnixStream,
    path: String,
    request_heads: Arc<Mutex<Vec<String>>>,
    pending_cut: Arc<Mutex<Option<Cut>>>,
}

impl Relay {
    fn run(mut self) {
        while let Some((head, body)) = read_message(&mut self.client) {
            let is_cut_path =
                head.lines().next().unwrap().split(' ').nth(1) == Some(self.path.as_str());
            if is_cut_path {
                self.request_heads.lock().unwrap().push(head.clone());
            }
            let cut = is_cut_path.then(|| self.pending_cut.lock().unwrap().take()).flatten();
            // Head and body are sent in one write. Otherwise the daemon closes the connection if it
            // answers before it gets a body that it does not need.
            let request = [head.as_bytes(), &body].concat();
            if self.daemon.write_all(&request).is_err() {
                break;
            }
            if cut == Some(Cut::AtOnce) {
                break;
            }
            let Some((head, body)) = read_message(&mut self.daemon) else { break };
            let mut answer = head.into_bytes();
            answer.extend(body);
            if cut == Some(Cut::HalfOfTheAnswer) {
                answer.truncate(answer.len() / 2);
            }
            if cut != Some(Cut::Answer) && self.client.write_all(&answer).is_err() {
                break;
            }
            if cut.is_some() {
                break;
            }
        }
        // The connection may be closed already.
        let _gone = self.client.shutdown(Shutdown::Both);
        let _gone = self.daemon.shutdown(Shutdown::Both);
    }
}

/// Reads one HTTP message with a content length. Returns `None` at the end of the stream.
fn read_message(stream: &mut UnixStream) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// Returns the request id in the head of a request.
fn request_id(head: &str) -> String {
    let value = head.lines().find_map(|line| line.strip_prefix("segue-request: "));
    value.unwrap_or_else(|| panic!("no request id in {head}")).to_owned()
}
