//! Streams of events.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use segue_testkit::NetworkClient;
use serde_json::{Value, json};

use super::world_with;

/// An open stream of events.
struct OpenStream {
    reader: BufReader<TcpStream>,
}

impl OpenStream {
    /// Opens a stream, and reads the head of the answer.
    fn open(client: &NetworkClient, path: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(client.address).unwrap();
        let (address, token) = (client.address, client.token());
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut open = Self { reader: BufReader::new(stream) };
        let status = open.line().unwrap();
        assert_eq!(status, "HTTP/1.1 200 OK");
        while open.line().is_some_and(|line| !line.is_empty()) {}
        open
    }

    /// Returns the next line. `None` if the stream has ended.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
        }
    }

    /// Reads until a line begins like this, and returns the rest of the line.
    fn until(&mut self, beginning: &str) -> Option<String> {
        loop {
            let line = self.line()?;
            if let Some(rest) = line.strip_prefix(beginning) {
                return Some(rest.to_owned());
            }
        }
    }

    /// Returns the next event: its id and its data.
    fn event(&mut self) -> Option<(String, Value)> {
        let id = self.until("id: ")?;
        let data = self.until("data: ")?;
        Some((id, serde_json::from_str(&data).unwrap()))
    }
}

#[test]
fn stream_goes_on_after_the_last_event_that_the_client_has_got() {
    let (world, client) = world_with(&["fox"]);
    let id = world.session("fox")["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/events/stream?after=0&sessions={id}");
    let mut stream = OpenStream::open(&client, &path, "");
    let (first, created) = stream.event().unwrap();
    assert_eq!(
        (&created["kind"], &created["seq"].to_string()),
        (&json!("session_created"), &first)
    );
    let (second, planned) = stream.event().unwrap();
    assert_eq!(planned["session"], id.as_str());
    drop(stream);
    let mut again = OpenStream::open(&client, &path, &format!("Last-Event-ID: {first}\r\n"));
    assert_eq!(again.event().unwrap().0, second);

    let path = "/v1/events/stream?kinds=message_delivered";
    let mut new = OpenStream::open(&client, path, "");
    new.until(": ").unwrap();
    world.ok(["send", "fox", "remember the word amber"]);
    assert_eq!(new.event().unwrap().1["kind"], "message_delivered");
    for wrong in ["kinds=nothing", "sessions=x", "after=x", "other=1"] {
        assert_eq!(client.get(&format!("/v1/events/stream?{wrong}")).status, 400, "{wrong}");
    }
}

#[test]
fn many_streams_get_the_same_event_while_others_are_not_read_and_end_with_the_daemon() {
    let (world, client) = world_with(&["fox"]);
    let unread: Vec<OpenStream> =
        (0..10).map(|_| OpenStream::open(&client, "/v1/events/stream?after=0", "")).collect();
    let open = |_| {
        let mut stream = OpenStream::open(&client, "/v1/events/stream?kinds=message_delivered", "");
        stream.until(": ").unwrap();
        stream
    };
    let mut streams: Vec<OpenStream> = (0..80).map(open).collect();
    world.ok(["send", "fox", "remember the word amber"]);
    let events: Vec<(String, Value)> = streams.iter_mut().map(|it| it.event().unwrap()).collect();
    assert!(events.iter().all(|it| it == &events[0]), "{events:?}");
    world.ok(["daemon", "stop"]);
    assert!(streams.iter_mut().all(|stream| stream.event().is_none()));
    drop(unread);
}

#[test]
fn revoked_token_ends_the_streams_that_it_has_opened() {
    let (world, client) = world_with(&["fox"]);
    let other = client.with_scopes(&world, "other", &["read"]);
    let mut streams = [
        OpenStream::open(&client, "/v1/events/stream?kinds=answered", ""),
        OpenStream::open(&client, "/v1/events/follow?sessions=&after=-1&limit=0&newest=false", ""),
    ];
    let id = world.session("fox")["id"].as_str().unwrap().to_owned();
    let mut of_other = OpenStream::open(&other, &format!("/v1/events/stream?sessions={id}"), "");
    of_other.until(": ").unwrap();
    world.ok(["token", "revoke", "program"]);
    for stream in &mut streams {
        // The last chunk of a body is empty. The connection stays open for the next request.
        assert_eq!(stream.until("0").as_deref(), Some(""));
    }
    world.ok(["send", "fox", "remember the word amber"]);
    assert_eq!(of_other.event().unwrap().1["session"], id.as_str());
}
