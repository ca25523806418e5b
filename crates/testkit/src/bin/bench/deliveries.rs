//! Measures the receipt of deliveries: verified, stored on disk, and answered. The baseline is SQLite
//! alone, with the same bodies.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use segue_testkit::dispatch_scene::SECRET;
use segue_testkit::forge_server::ServedDelivery;
use segue_testkit::{RawClient, World, scene};

use crate::figures::resident;
use crate::table::{Aim, Figure, Row};
use crate::tasks::BareDatabase;
use crate::timing::timed;

/// The connections that send at the same time.
const CONNECTIONS: usize = 8;
/// The deliveries that are measured, and those that are sent before and after.
const FIRST: usize = 2_000;
const MEASURED: usize = 8_000;
const MORE: usize = 90_000;

/// At least 0.7 times as many deliveries as commits in the same time.
const RATE_AIM: Aim = Aim::Within(1.42);
/// Few answers take much longer than most.
const SLOWEST_AIM: Aim = Aim::Within(5.0);
const MEMORY_AIM: Aim = Aim::Within(1.1);

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    write_settings(&world);
    world.ok(["daemon", "start"]);
    send_all(&world, 0..FIRST);
    let begin = Instant::now();
    let mut answers = send_all(&world, FIRST..FIRST + MEASURED);
    let each = begin.elapsed() / u32::try_from(MEASURED).expect("a number");
    let before = resident(scene::daemon_pid(&world));
    send_all(&world, FIRST + MEASURED..FIRST + MEASURED + MORE);
    let after = resident(scene::daemon_pid(&world));
    answers.sort();
    let (usual, slowest) = (answers[answers.len() / 2], answers[answers.len() * 99 / 100]);
    vec![
        Row::new("delivery, 8 connections, time for each", Figure::Time(each))
            .against(Figure::Time(bare(&world)))
            .aim(RATE_AIM),
        Row::new("  answer, 99 of 100, compared with half of them", Figure::Time(slowest))
            .against(Figure::Time(usual))
            .aim(SLOWEST_AIM),
        Row::new("  memory of the daemon after 100,000, and after 10,000", Figure::Memory(after))
            .against(Figure::Memory(before))
            .aim(MEMORY_AIM),
    ]
}

/// Writes a source without rules, so that only the receipt is measured.
pub(crate) fn write_settings(world: &World) {
    let secret = world.root().join("hook-secret");
    std::fs::write(&secret, format!("{SECRET}\n")).expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&secret, mode).expect("a closed file");
    let text = format!(
        "[environment]\nshell = false\n[[sources]]\nname = \"hub\"\nforge = \"github\"\n\
         secret = {{ file = \"{}\" }}\n",
        secret.display()
    );
    std::fs::write(world.segue_home().join("config.toml"), text).expect("settings");
}

fn body(number: usize) -> String {
    format!("{{\"zen\":\"{number}\",\"hook_id\":{number},\"text\":\"{}\"}}", "x".repeat(8000))
}

/// Sends deliveries over several connections to the daemon's socket. Returns how long each answer
/// took.
fn send_all(world: &World, numbers: std::ops::Range<usize>) -> Vec<Duration> {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..CONNECTIONS)
            .map(|worker| {
                let own = numbers.clone().skip(worker).step_by(CONNECTIONS);
                scope.spawn(move || send(world, own))
            })
            .collect();
        workers.into_iter().flat_map(|it| it.join().expect("a worker")).collect()
    })
}

fn send(world: &World, numbers: impl Iterator<Item = usize>) -> Vec<Duration> {
    let mut client = RawClient::connect(world);
    numbers.map(|number| send_one(&mut client, number)).collect()
}

/// Sends a delivery. Returns how long the answer took.
pub(crate) fn send_one(client: &mut RawClient, number: usize) -> Duration {
    let id = format!("bench-{number}");
    let body = body(number).into_bytes();
    let ServedDelivery { headers, body } = ServedDelivery::signed(("ping", &id), body, SECRET);
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let head = format!(
        "POST /webhooks/hub HTTP/1.1\r\nhost: segue\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    let text = head + &String::from_utf8_lossy(&body);
    let (time, (status, answer)) = timed(|| {
        client.write(&text);
        client.answer()
    });
    assert_eq!(status, 202, "{answer}");
    time
}

/// Returns the time of a commit of the same body to a database with nothing else.
fn bare(world: &World) -> Duration {
    let mut rows = BareDatabase::open(&world.root().join("bare.db"));
    (0..FIRST).for_each(|number| rows.add(&body(number)));
    let begin = Instant::now();
    (0..MEASURED).for_each(|number| rows.add(&body(number)));
    begin.elapsed() / u32::try_from(MEASURED).expect("a number")
}
