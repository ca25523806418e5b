//! Measures terminals over WebSockets: how long a key takes until its echo is back, and the memory of
//! the daemon while 100 MB of output pass. The baseline of the echo is a server that returns each
//! message, without a terminal.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use segue_testkit::scene::{daemon_pid, text, write_project};
use segue_testkit::{NetworkClient, TerminalClient, World};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Message, WebSocket};

use crate::figures::resident;
use crate::table::{Aim, Figure, Row};

const KEYS: usize = 2000;
const AIM: Aim = Aim::Within(2.0);

/// The agent: it echoes what is typed, and writes 100 MB after the line `go`.
const AGENT: &str = "#!/bin/sh
stty -echo -icanon; echo ready; dd bs=1 count=2000 status=none; stty icanon
read line; head -c 100000000 /dev/zero | tr '\\0' x | fold -w 79; echo; echo flood over; cat
";

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    let agent = world.project().join("agent");
    fs::write(&agent, AGENT).expect("a program");
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("a program");
    write_project(&world, &format!("[vendors.agent]\ncommand = [\"{}\"]\n", agent.display()));
    world.ok(["run", "-d", "--vendor", "agent", "--name", "fox"]);
    let client = NetworkClient::listen(&world).with_scopes(&world, "bench", &["read", "send"]);
    let id = text(&world.session("fox"), "id").to_owned();
    let query = "access=control&rows=40&columns=120";
    let mut terminal = TerminalClient::open(&client, &id, query, &[]).expect("a terminal");
    terminal.wait_text("ready");
    let ours = echo_times(&mut terminal);
    let bare = bare_echo_times();
    let echo = Row::new("echo of a key over a WebSocket, p95", p95(ours)).against(p95(bare));
    vec![echo.aim(AIM), memory(&world, &mut terminal)]
}

/// Types keys one by one, each after the echo of the one before.
fn echo_times(terminal: &mut TerminalClient) -> Vec<Duration> {
    let letters = (b'a'..=b'z').map(char::from).cycle().take(KEYS);
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
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        stream.set_nodelay(true).expect("a socket");
        let mut socket = WebSocket::from_raw_socket(stream, Role::Server, None);
        while let Ok(message @ Message::Binary(_)) = socket.read() {
            socket.send(message).expect("a client");
        }
    });
    let stream = TcpStream::connect(address).expect("a server");
    stream.set_nodelay(true).expect("a socket");
    let mut socket = WebSocket::from_raw_socket(stream, Role::Client, None);
    let times = (0..KEYS).map(|_| {
        let begin = Instant::now();
        socket.send(Message::binary(b"a".to_vec())).expect("a server");
        socket.read().expect("an echo");
        begin.elapsed()
    });
    let times = times.collect();
    drop(socket);
    server.join().expect("a server");
    times
}

fn p95(mut times: Vec<Duration>) -> Figure {
    times.sort_unstable();
    Figure::Time(times.get(times.len() * 95 / 100).copied().unwrap_or_default())
}

fn memory(world: &World, terminal: &mut TerminalClient) -> Row {
    let daemon = daemon_pid(world);
    let before = resident(daemon);
    terminal.input("go\r");
    while !terminal.next_completes("flood over") {
        terminal.output.clear();
    }
    let name = "memory of the daemon after 100 MB of output to a browser";
    let limit = Aim::Within(1.2);
    Row::new(name, Figure::Memory(resident(daemon))).against(Figure::Memory(before)).aim(limit)
}
