//! Measures `segue ls` with many sessions in the store. The baseline is a command that does not
//! contact the daemon.

use std::path::Path;
use std::time::Duration;

use segue_core::model::{Exit, Fleet, FleetName, How, Status, WaitingFor};
use segue_core::ports::{Change, Commit, Store};
use segue_testkit::World;
use segue_testkit::contract::store::Samples;
use segue_testkit::past_sessions::past_launch;
use segue_testkit::world_store::with_store;

use crate::starts::version;
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, whole_run};

const TIMES: usize = 30;
pub(crate) const SESSIONS: usize = 1000;
const LAUNCHES: u32 = 3;
const EVENTS: usize = 20;
const AIM: Duration = Duration::from_millis(20);

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let world = World::new(program);
    fill(&world, SESSIONS);
    let known = world.sessions().len();
    assert_eq!(known, SESSIONS, "the store does not have all sessions");
    let bare = median((0..TIMES).map(|_| version(&world)).collect());
    let row = |name: &str, arguments: &[&str]| {
        let run = |_| whole_run(&mut world.command(arguments));
        let ours = median((0..TIMES).map(run).collect());
        Row::new(name, Figure::Time(ours))
            .against(Figure::Time(bare))
            .aim(Aim::Below(Figure::Time(AIM)))
    };
    vec![
        row("ls, 1,000 sessions, cold process", &["ls"]),
        row("ls --json, 1,000 sessions, cold process", &["ls", "--json"]),
    ]
}

/// Fills the store with sessions as they are after months of use. The daemon must not run.
pub(crate) fn fill(world: &World, sessions: usize) {
    with_store(world, async |store| {
        let samples = Samples::default();
        for number in 0..sessions {
            add_session(store, &samples, world, number).await;
        }
    });
}

async fn add_session(store: &dyn Store, samples: &Samples, world: &World, number: usize) {
    let fleet = format!("fleet-{}", number / 10);
    let mut session = samples.session(&fleet, &format!("agent-{number}"));
    session.cwd = world.project().join(&fleet);
    session.instructions = Some("Work on what you are told, and say what you did.\n".repeat(20));
    let (id, now) = (session.id, jiff::Timestamp::now());
    let folder = Some(session.cwd.clone());
    let name = FleetName::parse(&fleet).expect("a name");
    let mut changes =
        vec![Change::PutFleet(Fleet { name, folder }), Change::CreateSession(Box::new(session))];
    changes.extend((1..=LAUNCHES).flat_map(|launch| past_launch(samples, id, launch)));
    changes.push(Change::SetStatus { session: id, status: status(number), at: now });
    let events = (0..EVENTS).map(|_| samples.event(Some(id), "working")).collect();
    store.commit(Commit { changes, events }).await.expect("a commit");
}

/// Returns one of the statuses that a session without a process can have.
fn status(number: usize) -> Status {
    match number % 4 {
        0 => Status::Interrupted,
        1 => Status::Ended(How::Stopped),
        2 => Status::Ended(How::Crashed(Exit::Signal(9))),
        _ => Status::Waiting(WaitingFor::Choice),
    }
}
