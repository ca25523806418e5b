//! A browser that has logged in to the daemon's web page, and its terminals.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_tungstenite::tungstenite::{Message, WebSocket};

use crate::network_client::{HttpAnswer, NetworkClient};
use crate::{World, network_client};

/// A browser that has logged in.
#[derive(Clone, Debug)]
pub struct WebBrowser {
    pub client: NetworkClient,
    /// The cookie, as the browser sends it.
    pub cookie: String,
    /// The key that the page sends with each request.
    pub page_key: String,
}

impl WebBrowser {
    /// Logs a browser in with a new link of `segue web`, with these scopes.
    pub fn log_in(world: &World, client: &NetworkClient, scopes: &[&str]) -> Self {
        Self::with_code(client, &login_code(world, scopes)).expect("a login")
    }

    /// Logs a browser in with a code. Returns the answer if the code is refused.
    pub fn with_code(client: &NetworkClient, code: &str) -> Result<Self, HttpAnswer> {
        let answer = log_in(client, code);
        if answer.status != 200 {
            return Err(answer);
        }
        let set = answer.header("set-cookie").expect("a cookie");
        let cookie = set.split(';').next().unwrap_or_default().to_owned();
        let page_key = answer.body["page_key"].as_str().expect("a page key").to_owned();
        Ok(Self { client: client.clone(), cookie, page_key })
    }

    /// Returns the origin of the page.
    pub fn origin(&self) -> String {
        format!("http://{}", self.client.address)
    }

    pub fn get(&self, path: &str) -> HttpAnswer {
        let headers = [("cookie", self.cookie.as_str()), ("segue-page-key", &self.page_key)];
        self.client.ask("GET", path, None, &headers)
    }

    /// Sends a request as the page does.
    pub fn ask(&self, method: &str, path: &str, body: &Value) -> HttpAnswer {
        let headers = [
            ("cookie", self.cookie.as_str()),
            ("origin", &self.origin()),
            ("segue-page-key", &self.page_key),
        ];
        self.client.ask(method, path, Some(body), &headers)
    }

    pub fn post(&self, path: &str, body: &Value) -> HttpAnswer {
        self.ask("POST", path, body)
    }

    /// Opens a terminal as the page does. Returns the answer if it is refused.
    pub fn terminal(&self, session: &str, query: &str) -> Result<TerminalClient, HttpAnswer> {
        let protocols = protocols(&self.page_key);
        let headers = [
            ("cookie", self.cookie.as_str()),
            ("origin", &self.origin()),
            ("sec-websocket-protocol", &protocols),
        ];
        TerminalClient::open(&self.client, session, query, &headers)
    }
}

/// Returns the subprotocols with which a page opens a WebSocket.
pub fn protocols(page_key: &str) -> String {
    format!("segue.terminal, segue.page-key.{page_key}")
}

/// Returns the code of a new login link with these scopes.
pub fn login_code(world: &World, scopes: &[&str]) -> String {
    let mut arguments = vec!["web", "--no-open", "--json"];
    arguments.extend(scopes.iter().flat_map(|scope| ["--scope", scope]));
    let output = world.command(&arguments).output().expect("the program under test");
    let link: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    code_of(link["url"].as_str().expect("a link"))
}

/// Returns the code of a link.
pub fn code_of(link: &str) -> String {
    link.split_once('#').expect("a code").1.to_owned()
}

/// Sends a code as the page of a login link does.
pub fn log_in(client: &NetworkClient, code: &str) -> HttpAnswer {
    client.post("/v1/web/login", &serde_json::json!({ "code": code }))
}

/// A terminal over a WebSocket.
#[derive(Debug)]
pub struct TerminalClient {
    socket: WebSocket<TcpStream>,
    /// The output that was received.
    pub output: Vec<u8>,
    /// The notices that were received.
    pub notices: Vec<Value>,
    /// The answer that opened the terminal.
    pub head: String,
}

/// What a terminal has received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalInput {
    Bytes,
    Notice(Value),
    /// The connection was closed, with this code.
    Closed(Option<u16>),
}

impl TerminalClient {
    /// Opens a terminal with further headers. Returns the answer if it is refused.
    pub fn open(
        client: &NetworkClient,
        session: &str,
        query: &str,
        headers: &[(&str, &str)],
    ) -> Result<Self, HttpAnswer> {
        let mut lines = vec![
            format!("GET /v1/sessions/{session}/terminal?{query} HTTP/1.1"),
            format!("host: {}", client.address),
            "connection: Upgrade".to_owned(),
            "upgrade: websocket".to_owned(),
            "sec-websocket-version: 13".to_owned(),
            "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==".to_owned(),
        ];
        let token = Some(client.token()).filter(|token| !token.is_empty());
        lines.extend(token.map(|token| format!("authorization: Bearer {token}")));
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        let mut stream = TcpStream::connect(client.address).expect("a daemon that listens");
        stream.set_nodelay(true).expect("a socket");
        let request = format!("{}\r\n\r\n", lines.join("\r\n"));
        stream.write_all(request.as_bytes()).expect("a request");
        let head = head(&mut stream);
        if !head.starts_with("HTTP/1.1 101 ") {
            return Err(network_client::answer(head, &mut stream));
        }
        let socket = WebSocket::from_raw_socket(stream, Role::Client, None);
        Ok(Self { socket, output: Vec::new(), notices: Vec::new(), head })
    }

    /// Types bytes into the terminal.
    pub fn input(&mut self, bytes: &str) {
        self.socket.send(Message::binary(bytes.as_bytes().to_vec())).expect("a connection");
    }

    /// Types more bytes than the daemon accepts. The daemon may close the connection before it has
    /// read all of them.
    pub fn input_too_much(&mut self, bytes: &str) {
        drop(self.socket.send(Message::binary(bytes.as_bytes().to_vec())));
    }

    /// Sends a request.
    pub fn request(&mut self, request: &Value) {
        self.socket.send(Message::text(request.to_string())).expect("a connection");
    }

    /// Waits for the next message.
    pub fn receive(&mut self) -> TerminalInput {
        match self.socket.read() {
            Ok(Message::Binary(bytes)) => {
                self.output.extend_from_slice(&bytes);
                TerminalInput::Bytes
            }
            Ok(Message::Text(text)) => {
                let notice: Value = serde_json::from_str(&text).expect("JSON");
                self.notices.push(notice.clone());
                TerminalInput::Notice(notice)
            }
            Ok(Message::Close(frame)) => TerminalInput::Closed(frame.map(|it| code(&it))),
            Ok(_) => self.receive(),
            Err(_) => TerminalInput::Closed(None),
        }
    }

    /// Waits for a notice of this type that is as wanted.
    pub fn wait_notice(&mut self, kind: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.receive() {
                TerminalInput::Notice(notice) if notice["type"] == kind && is_wanted(&notice) => {
                    return notice;
                }
                TerminalInput::Closed(code) => {
                    panic!("the terminal was closed ({code:?}): {:?}", self.notices)
                }
                _ => {}
            }
        }
    }

    /// Waits until the output contains a text.
    pub fn wait_text(&mut self, text: &str) {
        let mut searched = 0;
        while !contains(&self.output[searched..], text.as_bytes()) {
            searched = self.output.len().saturating_sub(text.len());
            self.next_open();
        }
    }

    /// Waits for the next message. Returns whether its bytes complete this text.
    pub fn next_completes(&mut self, text: &str) -> bool {
        let searched = self.output.len().saturating_sub(text.len());
        self.next_open();
        contains(&self.output[searched..], text.as_bytes())
    }

    /// Waits for the next message of a connection that must stay open.
    fn next_open(&mut self) {
        if let TerminalInput::Closed(code) = self.receive() {
            let end = self.output.len().saturating_sub(2000);
            panic!("closed ({code:?}): {}", String::from_utf8_lossy(&self.output[end..]));
        }
    }

    /// Waits until the daemon closes the connection. Returns the code.
    pub fn wait_closed(&mut self) -> Option<u16> {
        loop {
            if let TerminalInput::Closed(code) = self.receive() {
                // Sends the answer to the close message.
                let _ended = self.socket.flush();
                return code;
            }
        }
    }
}

fn code(frame: &CloseFrame) -> u16 {
    frame.code.into()
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Reads the head of an answer.
fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}
