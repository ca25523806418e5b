//! A daemon of another version: the next command replaces it, and no agent is affected.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::JoinHandle;

use segue_testkit::World;
use segue_testkit::conversation::{ask, wait_turns};
use segue_testkit::scene::finish;
use serde_json::json;

use super::{daemons, live_pid};
use crate::world;

/// Acts as a daemon of another version, in this process, until it is asked to shut down. Returns
/// the requests that it received.
fn start_other_version(world: &World) -> JoinHandle<Vec<String>> {
    let lock = File::options().write(true).open(world.state().join("locks/daemon")).unwrap();
    lock.lock().unwrap();
    let socket = world.state().join("daemon.sock");
    fs::remove_file(&socket).ok();
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let mut requests = Vec::new();
        while requests.last().is_none_or(|last| last != "POST /v1/shutdown") {
            let (mut client, _) = listener.accept().unwrap();
            while let Some(request) = answer(&mut client) {
                requests.push(request);
            }
        }
        // The listener is closed before the lock is released, as in a real daemon.
        drop(listener);
        drop(lock);
        requests
    })
}

/// Answers one request on a connection. Returns `None` if the client has closed the connection.
fn answer(client: &mut UnixStream) -> Option<String> {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let mut lines = Vec::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        length = line.strip_prefix("content-length: ").map_or(length, |it| it.parse().unwrap());
        lines.push(line);
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    let request = lines[0].trim_end_matches(" http/1.1").replacen("post", "POST", 1);
    let body = if request.contains("health") {
        // No process has this pid. So the client waits only until the lock is released.
        json!({"version": "0.0.1", "protocol": 1, "pid": u32::MAX, "started_at": "2026-01-01T00:00:00Z"})
    } else {
        json!(null)
    };
    let body = body.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    client.write_all(format!("{head}{body}").as_bytes()).ok()?;
    Some(request)
}

#[test]
fn daemon_of_another_version_is_replaced_and_agents_keep_running() {
    let world = world();
    world.ok(["run", "-d", "--name", "coder", "remember the word lime"]);
    let before = world.session("coder");
    wait_turns(&world, &before, 1);
    world.ok(["daemon", "stop"]);

    let old = start_other_version(&world);
    // Several clients find the old daemon at the same time. One of them replaces it.
    let clients = [(); 5].map(|()| world.start(["ls", "--json"]));
    for outcome in clients.map(finish) {
        assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
    }
    let requests = old.join().unwrap();
    let shutdowns = requests.iter().filter(|it| it.contains("shutdown")).count();
    assert_eq!(shutdowns, 1, "{requests:?}");

    assert_eq!(daemons(&world).len(), 1);
    let after = world.session("coder");
    assert_eq!(live_pid(&after, "pid"), live_pid(&before, "pid"));
    assert_eq!(live_pid(&after, "holder_pid"), live_pid(&before, "holder_pid"));
    assert!(ask(&world, &after, "which word?").contains("lime"));
}
