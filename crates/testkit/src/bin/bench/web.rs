//! Measures the web page in a real browser: keys in a terminal, the first view of a fleet, an idle
//! page, and 100 MB of output. The baseline of the keys is a server that returns each message,
//! without a terminal; both are measured in the same page, key by key. `crates/web/browser/bench.mjs`
//! drives the browser.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use segue_testkit::scene::{daemon_pid, text, write_project};
use segue_testkit::{NetworkClient, TerminalClient, World};
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Message, WebSocket};

use crate::figures::{ProcessUsage, resident};
use crate::fleet::{self, AGENTS, Processes};
use crate::lists::fill;
use crate::table::{Aim, Figure, Row};

/// The keys of the page, and those of the client without a browser.
const BROWSER_KEYS: usize = 500;
const CLIENT_KEYS: usize = 2000;
const ECHO_AIM: Aim = Aim::Within(2.0);

/// The sessions of the first view. `AGENTS` of them have a process.
const SESSIONS: usize = 200;
const VIEW_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(300)));
const VIEW_TIMES: usize = 7;

/// An idle page and an idle daemon do nothing: there is less than one wake-up.
const IDLE_AIM: Aim = Aim::Below(Figure::Count(1));
/// A browser on another machine gets a heartbeat every 15 seconds.
const HOUR_AIM: Aim = Aim::Below(Figure::Memory(10_000));
const MEMORY_AIM: Aim = Aim::Within(1.2);

/// The agent: it echoes all keys, then writes 20 MB and 100 MB after a line each.
const AGENT: &str = "#!/bin/sh
flood() { head -c \"$1\" /dev/zero | tr '\\0' x | fold -w 79; echo; echo \"$2 over\"; }
stty -echo -icanon; echo ready; dd bs=1 count=2500 status=none; stty icanon
read line; flood 20000000 fill; read line; flood 100000000 flood; cat
";

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let mut rows = terminals(program);
    rows.extend(fleet_views(program));
    rows
}

fn terminals(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    let agent = world.project().join("agent");
    fs::write(&agent, AGENT).expect("a program");
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("a program");
    write_project(&world, &format!("[vendors.agent]\ncommand = [\"{}\"]\n", agent.display()));
    world.ok(["run", "-d", "--vendor", "agent", "--name", "fox"]);
    let client = NetworkClient::listen(&world).with_scopes(&world, "bench", &["read", "send"]);
    let id = text(&world.session("fox"), "id").to_owned();
    let mut rows = echoes(&world, &client, &id);
    rows.extend(memory(&world, &id));
    rows
}

fn echoes(world: &World, client: &NetworkClient, id: &str) -> Vec<Row> {
    let query = "access=control&rows=40&columns=120";
    let mut terminal = TerminalClient::open(client, id, query, &[]).expect("a terminal");
    terminal.wait_text("ready");
    let (ours, bare) = (echo_times(&mut terminal), bare_echo_times());
    drop(terminal);
    let bare_server = start_bare_server();
    let arguments =
        json!({ "session": id, "bare": format!("ws://{bare_server}"), "keys": BROWSER_KEYS });
    let measured = Measurement::start(world, "echo", &arguments).result();
    vec![
        Row::new("echo of a key in the browser's terminal, p95", time(&measured["ours_p95"]))
            .against(time(&measured["bare_p95"]))
            .aim(ECHO_AIM),
        Row::new("  median", time(&measured["ours"])).against(time(&measured["bare"])),
        Row::new("  until the page has drawn it, p95", time(&measured["drawn_p95"])),
        Row::new("  the same without a browser, p95", p95(ours)).against(p95(bare)),
    ]
}

/// Types keys one by one, each after the echo of the one before.
fn echo_times(terminal: &mut TerminalClient) -> Vec<Duration> {
    let letters = (b'a'..=b'z').map(char::from).cycle().take(CLIENT_KEYS);
    let echo = |letter: char| {
        let begin = Instant::now();
        terminal.input(letter.encode_utf8(&mut [0; 4]));
        while !terminal.next_completes(letter.encode_utf8(&mut [0; 4])) {}
        begin.elapsed()
    };
    letters.map(echo).collect()
}

/// Sends the same messages to a server that returns them.
fn bare_echo_times() -> Vec<Duration> {
    let stream = TcpStream::connect(start_bare_server()).expect("a server");
    stream.set_nodelay(true).expect("a socket");
    let head = "GET / HTTP/1.1\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    (&stream).write_all(head.as_bytes()).expect("a server");
    read_head(&stream);
    let mut socket = WebSocket::from_raw_socket(stream, Role::Client, None);
    let times = (0..CLIENT_KEYS).map(|_| {
        let begin = Instant::now();
        socket.send(Message::binary(b"a".to_vec())).expect("a server");
        socket.read().expect("an echo");
        begin.elapsed()
    });
    times.collect()
}

/// Starts a server that returns each WebSocket message to its first client. It ends with the client.
fn start_bare_server() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        stream.set_nodelay(true).expect("a socket");
        let head = read_head(&stream);
        let mut fields = head.lines().filter_map(|line| line.split_once(": "));
        let key = fields.find(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key"));
        let key = key.expect("a WebSocket").1;
        let digest = Sha1::new().chain_update(key).chain_update(KEY_END).finalize();
        let accept = STANDARD.encode(digest);
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-accept: {accept}\r\n\r\n"
        );
        (&stream).write_all(answer.as_bytes()).expect("a client");
        let mut socket = WebSocket::from_raw_socket(stream, Role::Server, None);
        while let Ok(message @ Message::Binary(_)) = socket.read() {
            socket.send(message).expect("a client");
        }
    });
    address
}

/// The text that every server appends to a client's key.
const KEY_END: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Reads the head of a request or an answer.
fn read_head(mut stream: &TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

fn p95(mut times: Vec<Duration>) -> Figure {
    times.sort_unstable();
    Figure::Time(times.get(times.len() * 95 / 100).copied().unwrap_or_default())
}

fn memory(world: &World, id: &str) -> Vec<Row> {
    let daemon = daemon_pid(world);
    let mut measurement = Measurement::start(world, "memory", &json!({ "session": id }));
    measurement.wait_line("begin");
    let before = resident(daemon);
    measurement.wait_line("end");
    let after = resident(daemon);
    let page = measurement.result();
    let row = |name: &str, before: u64, after: u64| {
        let row = Row::new(name, Figure::Memory(after)).against(Figure::Memory(before));
        row.aim(MEMORY_AIM)
    };
    vec![
        row("memory of the daemon after 100 MB of output to a page", before, after),
        row("  memory of the page's objects", number(&page["before"]), number(&page["after"])),
    ]
}

fn fleet_views(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    fill(&world, SESSIONS - AGENTS);
    let sessions = fleet::bring_up_in(&world);
    assert_eq!(sessions.len(), SESSIONS, "not all sessions are there");
    NetworkClient::listen(&world);
    let arguments = json!({ "sessions": SESSIONS, "times": VIEW_TIMES });
    let view = Measurement::start(&world, "view", &arguments).result();
    let mut rows = vec![
        Row::new("first view of 200 sessions, cold browser", time(&view["median_ms"]))
            .aim(VIEW_AIM),
        Row::new("  bytes over the wire", Figure::Memory(number(&view["bytes"]))),
    ];
    rows.extend(idle(&world));
    rows
}

fn idle(world: &World) -> Vec<Row> {
    let processes = Processes::of(world);
    let ours = [&processes.daemons[..], &processes.holders].concat();
    let mut measurement = Measurement::start(world, "idle", &json!({}));
    measurement.wait_line("begin");
    let before = ProcessUsage::of(&ours);
    measurement.wait_line("end");
    let usage = ProcessUsage::of(&ours).since(before);
    let page = measurement.result();
    let count = |name: &str| Figure::Count(number(&page[name]));
    vec![
        Row::new("idle page for 20 s, 50 agents: requests", count("requests")).aim(IDLE_AIM),
        Row::new("  messages that it received", count("parts")).aim(IDLE_AIM),
        Row::new(
            "  bytes that it would receive in an hour",
            Figure::Memory(number(&page["bytes_per_hour"])),
        )
        .aim(HOUR_AIM),
        Row::new("  how often its code ran", count("callbacks")).aim(IDLE_AIM),
        Row::new("  how often daemon or holders woke up", Figure::Count(usage.switches))
            .aim(IDLE_AIM),
    ]
}

/// A running part of `bench.mjs`.
struct Measurement {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Measurement {
    fn start(world: &World, part: &str, arguments: &Value) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web");
        let packages = folder.join("node_modules/playwright-core");
        assert!(packages.exists(), "run `scripts/web browser`: {} is missing", packages.display());
        let mut command = Command::new("node");
        command.arg(folder.join("browser/bench.mjs")).arg(part).arg(arguments.to_string());
        command.current_dir(world.project()).env_clear().envs(world.environment());
        command.env("SEGUE_PROGRAM", world.program()).env("SEGUE_FOLDER", world.project());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("node starts");
        let lines = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, lines }
    }

    fn next_line(&mut self) -> String {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).expect("a line of its output");
        assert!(read > 0, "the measurement in the browser has failed");
        line.trim_end().to_owned()
    }

    fn wait_line(&mut self, wanted: &str) {
        while self.next_line() != wanted {}
    }

    /// Waits for the result.
    fn result(mut self) -> Value {
        let result = loop {
            let line = self.next_line();
            if let Ok(result @ Value::Object(_)) = serde_json::from_str(&line) {
                break result;
            }
        };
        let status = self.child.wait().expect("its end");
        assert!(status.success(), "the measurement in the browser has failed: {status}");
        result
    }
}

/// Returns the time of a number of milliseconds.
fn time(milliseconds: &Value) -> Figure {
    let seconds = milliseconds.as_f64().expect("a number") / 1e3;
    Figure::Time(Duration::from_secs_f64(seconds))
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a whole number")
}
