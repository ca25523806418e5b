//! Measures streams of events: how long an event takes to reach many clients, and what they cost while
//! nothing happens. The baseline is one client.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use segue_testkit::{RawClient, World, scene};

use crate::deliveries::{send_one, write_settings};
use crate::figures::ProcessUsage;
use crate::idle::{LOAD_AIM, SETTLE, WINDOW, load};
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed};

const CLIENTS: usize = 200;
/// The events that are measured, with each number of clients.
const EVENTS: usize = 100;

const LATENCY_AIM: Aim = Aim::Within(10.0);
const WAKE_UPS_AIM: Aim = Aim::Below(Figure::Count(1));

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    write_settings(&world);
    world.ok(["daemon", "start"]);
    let mut clients = vec![EventClient::connect(&world)];
    let one = latency(&world, &mut clients, 0);
    clients.extend((1..CLIENTS).map(|_| EventClient::connect(&world)));
    let all = latency(&world, &mut clients, EVENTS);
    let connected = idle(&world);
    drop(clients);
    let alone = idle(&world);
    vec![
        Row::new("event, from its delivery to 200 streams", Figure::Time(all))
            .against(Figure::Time(one))
            .aim(LATENCY_AIM),
        Row::new("  idle for 20 s with 200 streams, of a core", load(connected)).aim(LOAD_AIM),
        Row::new("  how often it woke up without streams", Figure::Count(alone.switches))
            .aim(WAKE_UPS_AIM),
    ]
}

/// Returns the median of the times until all clients have an event.
fn latency(world: &World, clients: &mut [EventClient], first: usize) -> Duration {
    let mut sender = RawClient::connect(world);
    let one = |number: usize| {
        let (time, ()) = timed(|| {
            send_one(&mut sender, number);
            clients.iter_mut().for_each(EventClient::wait);
        });
        time
    };
    median((first..first + EVENTS).map(one).collect())
}

/// Returns what the daemon uses while nothing happens.
#[expect(clippy::disallowed_methods, reason = "the benchmark measures a period of time")]
fn idle(world: &World) -> ProcessUsage {
    let daemon = [scene::daemon_pid(world)];
    thread::sleep(SETTLE);
    let before = ProcessUsage::of(&daemon);
    thread::sleep(WINDOW);
    ProcessUsage::of(&daemon).since(before)
}

/// A client that reads a stream of events.
struct EventClient(BufReader<UnixStream>);

impl EventClient {
    /// Connects, and waits until the stream has begun.
    fn connect(world: &World) -> Self {
        let mut stream =
            UnixStream::connect(world.state().join("daemon.sock")).expect("a daemon that listens");
        let request =
            "GET /v1/events/stream?kinds=delivery_processed HTTP/1.1\r\nhost: segue\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("a daemon that reads");
        let mut client = Self(BufReader::new(stream));
        client.wait_for(": events of Segue");
        client
    }

    /// Waits for the next event.
    fn wait(&mut self) {
        self.wait_for("data: ");
    }

    fn wait_for(&mut self, beginning: &str) {
        let mut line = String::new();
        while !line.starts_with(beginning) {
            line.clear();
            let count = self.0.read_line(&mut line).expect("a line");
            assert!(count > 0, "the stream has ended");
        }
    }
}
