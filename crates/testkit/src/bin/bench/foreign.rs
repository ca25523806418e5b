//! Listing conversations that were begun by hand, of which there may be thousands.

use std::fs;
use std::path::Path;
use std::time::Duration;

use segue_testkit::World;
use serde_json::json;

use crate::starts::version;
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, whole_run};

const TIMES: usize = 10;
const CONVERSATIONS: usize = 3_000;
/// How much is said in each after its beginning.
const REST: usize = 200;

const AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(500)));

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    fill(&world);
    // The first one starts the daemon.
    whole_run(&mut world.command(["adopt"]));
    let list = median((0..TIMES).map(|_| whole_run(&mut world.command(["adopt"]))).collect());
    let command = median((0..TIMES).map(|_| version(&world)).collect());
    let name = format!("adopt: the list, of {CONVERSATIONS} by hand");
    vec![Row::new(name, Figure::Time(list)).against(Figure::Time(command)).aim(AIM)]
}

fn fill(world: &World) {
    let at = "2026-01-01T00:00:00Z";
    for number in 0..CONVERSATIONS {
        let folder = format!("/code/project-{}", number % 40);
        let home = world.home().join(".segue-demo/conversations").join(folder.replace('/', "-"));
        fs::create_dir_all(&home).expect("a folder");
        let id = format!("by-hand-{number}");
        let header = json!({"type": "session", "id": id, "cwd": folder, "at": at, "version": "0"});
        let turn = |turn| json!({"type": "user", "text": format!("turn {turn}"), "at": at});
        let lines = std::iter::once(header).chain((0..REST).map(turn));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        fs::write(home.join(format!("{id}.jsonl")), text).expect("a conversation");
    }
}
