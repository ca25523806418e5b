//! Requests as bytes on the daemon's socket.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use segue_testkit::World;
use serde_json::Value;

/// Sends a request to the daemon. Returns the status code and the body of the answer.
pub(crate) fn ask(world: &World, path: &str, id: &str, body: &Value) -> (u16, Value) {
    ask_at(&world.state().join("daemon.sock"), path, id, &body.to_string())
}

/// Sends a request to the daemon at this socket.
pub(crate) fn ask_at(socket: &Path, path: &str, id: &str, body: &str) -> (u16, Value) {
    let mut stream = UnixStream::connect(socket).unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: segue\r\nconnection: close\r\nsegue-request: {id}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

/// Returns a request to send a message.
pub(crate) fn send_request(world: &World, session: &str, text: &str) -> Value {
    serde_json::json!({
        "caller": { "cwd": world.project(), "environment": {} },
        "session": session,
        "text": text,
        "interrupt": false,
        "until": "recorded",
        "timeout_ms": 0,
    })
}
