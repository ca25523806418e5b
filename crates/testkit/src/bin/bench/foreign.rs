//! Measures `segue adopt`, which lists conversations that were started without Segue. There may be
//! thousands of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_testkit::World;
use segue_testkit::scene::daemon_pid;
use uuid::Uuid;

use crate::starts::version;
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, whole_run};

const TIMES: usize = 10;
/// The number of conversations of each vendor.
const CONVERSATIONS_OF_EACH: usize = 750;
/// The number of times that the last line of each transcript is repeated.
const LAST_LINE_COPIES: usize = 200;

const AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(500)));

/// A recorded conversation, the id in it, and the path relative to the home for a copy with another
/// id.
struct Recorded {
    text: &'static str,
    id: &'static str,
    place: fn(Uuid) -> String,
}

const RECORDED: [Recorded; 4] = [
    Recorded {
        text: include_str!("../../../../vendors/src/claude/fixtures/interactive.jsonl"),
        id: "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11",
        place: |id| format!(".claude/projects/-code-a/{id}.jsonl"),
    },
    Recorded {
        text: include_str!("../../../../vendors/src/codex/fixtures/prepared-two-turns.jsonl"),
        id: "01a1e1b4-0000-7600-96ed-000000000001",
        place: |id| format!(".codex/sessions/2026/11/16/rollout-2026-11-16T00-00-00-{id}.jsonl"),
    },
    Recorded {
        text: include_str!("../../../../vendors/src/pi/fixtures/recorded.jsonl"),
        id: "01a1e1b4-9591-7600-96ed-7294b417ca9a",
        place: |id| format!(".pi/agent/sessions/--code-a--/2026-11-16T00-00-00-000Z_{id}.jsonl"),
    },
    Recorded {
        text: include_str!("../../../../vendors/src/copilot/fixtures/permission.jsonl"),
        id: "21111111-2222-4333-8444-555555555555",
        place: |id| format!(".copilot/session-state/{id}/events.jsonl"),
    },
];

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    let kept = fill(&world.home());
    // The first command starts the daemon, so it is not measured.
    whole_run(&mut world.command(["adopt"]));
    let before = bytes_read(&world);
    let list = median((0..TIMES).map(|_| whole_run(&mut world.command(["adopt"]))).collect());
    let read = (bytes_read(&world) - before) / TIMES as u64;
    let command = median((0..TIMES).map(|_| version(&world)).collect());
    let count = CONVERSATIONS_OF_EACH * RECORDED.len();
    let name = format!("adopt: the list, of {count} by hand, of {} vendors", RECORDED.len());
    vec![
        Row::new(name, Figure::Time(list)).against(Figure::Time(command)).aim(AIM),
        Row::new("adopt: what is read for it".to_owned(), Figure::Memory(read))
            .against(Figure::Memory(kept)),
    ]
}

/// Writes the conversations of all vendors into a home. Returns their total size in bytes.
fn fill(home: &Path) -> u64 {
    let mut bytes = 0;
    for recorded in &RECORDED {
        let last = recorded.text.lines().next_back().unwrap_or_default();
        let rest = format!("{last}\n").repeat(LAST_LINE_COPIES);
        for number in 0..CONVERSATIONS_OF_EACH {
            let id = Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 + number as u128);
            let path: PathBuf = home.join((recorded.place)(id));
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let text = format!("{}{rest}", recorded.text).replace(recorded.id, &id.to_string());
            bytes += text.len() as u64;
            fs::write(path, text).expect("a conversation");
        }
    }
    bytes
}

/// Returns the number of bytes that the daemon has read from files, sockets and pipes.
fn bytes_read(world: &World) -> u64 {
    let daemon = daemon_pid(world);
    let io = fs::read_to_string(format!("/proc/{daemon}/io")).expect("its figures");
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("a figure");
    line.parse().expect("a number")
}
