//! Acts as a daemon in this process: takes the lock and the socket, and answers as a test needs it.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use segue_testkit::World;
use serde_json::json;

/// A daemon in this process.
pub(crate) struct InProcessDaemon {
    listener: UnixListener,
    lock: File,
}

impl InProcessDaemon {
    /// Takes the place of a world's daemon, which must have ended.
    pub(crate) fn of(world: &World) -> Self {
        let lock = lock(world);
        let socket = world.state().join("daemon.sock");
        fs::remove_file(&socket).unwrap();
        Self { listener: UnixListener::bind(&socket).unwrap(), lock }
    }

    /// Uses a processor for this long, while a client waits for an answer.
    pub(crate) fn busy_for(self, time: Duration) -> Self {
        let began = Instant::now();
        while began.elapsed() < time {
            std::hint::spin_loop();
        }
        self
    }

    /// Answers this many clients that it is stopping, and then ends.
    pub(crate) fn stop_after(self, clients: usize) {
        for _ in 0..clients {
            let (client, _) = self.listener.accept().unwrap();
            answer_stopping(client);
        }
        // The listener is closed before the lock is released, as in a real daemon.
        drop(self.listener);
        drop(self.lock);
    }
}

/// Takes the lock of a world's daemon, which must have ended.
pub(crate) fn lock(world: &World) -> File {
    let lock = File::options().write(true).open(world.state().join("locks/daemon")).unwrap();
    lock.lock().unwrap();
    lock
}

/// Reads a request, and answers that this daemon is stopping.
fn answer_stopping(client: UnixStream) {
    let mut reader = BufReader::new(client);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        let line = line.trim().to_ascii_lowercase();
        length = line.strip_prefix("content-length: ").map_or(length, |it| it.parse().unwrap());
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    let body = json!({
        "version": env!("CARGO_PKG_VERSION"), "protocol": 2, "pid": std::process::id(),
        "started_at": "2026-01-01T00:00:00Z", "ending": true,
    });
    let body = body.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    reader.get_mut().write_all(format!("{head}{body}").as_bytes()).unwrap();
}
