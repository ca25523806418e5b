//! An HTTP client for the daemon's TCP address. It can send requests that no proper client sends.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use serde_json::{Value, json};

use crate::World;

/// A client of a daemon that listens on loopback.
#[derive(Clone, Debug)]
pub struct NetworkClient {
    pub address: SocketAddr,
    token: Option<String>,
    /// The address from which it connects.
    from: Ipv4Addr,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct HttpAnswer {
    pub status: u16,
    /// Null if the body is not JSON.
    pub body: Value,
    /// The whole answer.
    pub text: String,
}

impl HttpAnswer {
    /// Returns the value of a header. `None` if the answer does not have it.
    pub fn header(&self, name: &str) -> Option<&str> {
        let head = self.text.split("\r\n\r\n").next()?;
        let mut fields = head.lines().skip(1).filter_map(|line| line.split_once(": "));
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl NetworkClient {
    /// Makes the daemon of a world listen on a free port.
    pub fn listen(world: &World) -> Self {
        let report = world.json(["serve", "--listen", "127.0.0.1:0", "--json"]);
        assert_eq!(report["state"], "listening", "{report}");
        let address = report["address"].as_str().expect("an address");
        Self::of(address.parse().expect("an address"))
    }

    /// Returns a client of an address without a token.
    pub fn of(address: SocketAddr) -> Self {
        Self { address, token: None, from: Ipv4Addr::LOCALHOST }
    }

    /// Creates a token with these scopes, and returns a client that uses it.
    #[must_use]
    pub fn with_scopes(&self, world: &World, name: &str, scopes: &[&str]) -> Self {
        let mut arguments = vec!["token", "create", "--json", "--name", name];
        arguments.extend(scopes.iter().flat_map(|scope| ["--scope", scope]));
        let output = world.command(&arguments).output().expect("the program under test");
        let created: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        self.with_token(created["token"].as_str().expect("a token"))
    }

    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Returns a client that connects from another address of this machine. The daemon counts the
    /// requests of each address.
    #[must_use]
    pub fn from_address(&self, from: Ipv4Addr) -> Self {
        Self { from, ..self.clone() }
    }

    /// Returns the token of this client.
    pub fn token(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }

    pub fn get(&self, path: &str) -> HttpAnswer {
        self.ask("GET", path, None, &[])
    }

    pub fn post(&self, path: &str, body: &Value) -> HttpAnswer {
        self.ask("POST", path, Some(body), &[])
    }

    /// Sends a request with further headers, and reads the answer.
    pub fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> HttpAnswer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let has = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut lines = vec![
            format!("{method} {path} HTTP/1.1"),
            "connection: close".to_owned(),
            "content-type: application/json".to_owned(),
            format!("content-length: {}", body.len()),
        ];
        lines.extend((!has("host")).then(|| format!("host: {}", self.address)));
        lines.extend(self.token.as_ref().map(|token| format!("authorization: Bearer {token}")));
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        self.raw(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes())
    }

    /// Sends a delivery to the webhook of a source.
    pub fn deliver(&self, source: &str, headers: &[(&str, &str)], body: &[u8]) -> HttpAnswer {
        self.raw(&self.delivery(source, headers, body))
    }

    /// Returns the request that sends a delivery.
    pub fn delivery(&self, source: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let mut lines = vec![
            format!("POST /webhooks/{source} HTTP/1.1"),
            "connection: close".to_owned(),
            format!("host: {}", self.address),
            format!("content-length: {}", body.len()),
        ];
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        let mut request = format!("{}\r\n\r\n", lines.join("\r\n")).into_bytes();
        request.extend_from_slice(body);
        request
    }

    /// Sends bytes, and reads until the daemon closes the connection.
    pub fn raw(&self, bytes: &[u8]) -> HttpAnswer {
        exchange(connect_from(self.from, self.address), bytes)
    }
}

/// Connects from another address of this machine, such as 127.0.0.2. The daemon counts the
/// connections of each address.
pub fn connect_from(from: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let own = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&own, &SocketAddr::from((from, 0))).expect("an address");
    connect(&own, &to).expect("a daemon that listens");
    TcpStream::from(own)
}

/// Sends bytes, and reads until the peer closes the connection.
pub fn exchange(mut stream: impl Read + Write, bytes: &[u8]) -> HttpAnswer {
    // The daemon may answer and close before it has read everything.
    let _sent = stream.write_all(bytes).and_then(|()| stream.flush());
    answer(String::new(), stream)
}

/// Reads the rest of an answer, until the peer closes the connection or the answer is complete.
pub(crate) fn answer(head: String, mut stream: impl Read) -> HttpAnswer {
    let length =
        head.to_ascii_lowercase().split("content-length: ").nth(1).map(|rest| {
            rest.split("\r\n").next().and_then(|number| number.parse().ok()).unwrap_or(0)
        });
    let mut rest = Vec::new();
    let _closed = stream.by_ref().take(length.unwrap_or(u64::MAX)).read_to_end(&mut rest);
    let text = head + &String::from_utf8_lossy(&rest);
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    HttpAnswer { status, body: serde_json::from_str(body).unwrap_or(json!(null)), text }
}
