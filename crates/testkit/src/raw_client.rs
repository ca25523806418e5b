//! An HTTP client that can send incomplete requests to the daemon.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use serde_json::Value;

use crate::World;

/// A connection to a world's daemon.
#[derive(Debug)]
pub struct RawClient(BufReader<UnixStream>);

impl RawClient {
    pub fn connect(world: &World) -> Self {
        let stream = UnixStream::connect(world.state().join("daemon.sock")).expect("a daemon");
        Self(BufReader::new(stream))
    }

    pub fn write(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).expect("a daemon that reads");
    }

    /// Sends the head of a request, and waits until the daemon asks for the body (`100 Continue`).
    pub fn begin(&mut self, request: &str, length: usize) {
        self.write(&format!(
            "{request} HTTP/1.1\r\nhost: segue\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nexpect: 100-continue\r\n\r\n"
        ));
        assert_eq!(self.line(), "HTTP/1.1 100 Continue");
        assert_eq!(self.line(), "");
    }

    /// Sends a complete request. The daemon has accepted its head when this function returns.
    pub fn ask(&mut self, request: &str, body: &Value) {
        let body = body.to_string();
        self.begin(request, body.len());
        self.write(&body);
    }

    /// Reads a response. Returns its status code and its body.
    pub fn answer(&mut self) -> (u16, Value) {
        let status = self.line();
        let status = status
            .split(' ')
            .nth(1)
            .expect("an answer of the daemon")
            .parse()
            .expect("an answer of the daemon");
        let mut length = 0;
        loop {
            let line = self.line().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            length = line
                .strip_prefix("content-length: ")
                .map_or(length, |it| it.parse().expect("an answer of the daemon"));
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).expect("an answer of the daemon");
        (status, serde_json::from_slice(&body).expect("an answer of the daemon"))
    }

    /// Waits until the daemon closes the connection, and asserts that it sends no response.
    pub fn wait_closed(&mut self) {
        assert_eq!(self.line(), "");
    }

    /// Returns the next line without its line break. An empty string also means the end of the
    /// connection.
    fn line(&mut self) -> String {
        let mut line = String::new();
        // A daemon that has exited either closed the connection (end of file) or reset it (an
        // error). Both count as the end.
        let _broken = self.0.read_line(&mut line);
        line.trim_end().to_owned()
    }
}
