//! Writes sessions that ended long ago directly into a world's store.

use segue_core::model::{
    Binding, Evidence, Exit, Fleet, FleetName, How, SessionId, Status, VendorId,
};
use segue_core::ports::{Change, Commit, Store};

use crate::World;
use crate::contract::store::Samples;
use crate::world_store::with_store;

/// The sessions that one commit adds to the store.
const BATCH: usize = 500;

/// Adds so many sessions of the folder in which the world's commands run. The daemon must not run.
pub fn insert(world: &World, count: usize) {
    with_store(world, async |store| fill(store, world, count).await);
}

async fn fill(store: &dyn Store, world: &World, past: usize) {
    let samples = Samples::default();
    let fleet = FleetName::parse("default").expect("a name");
    let fleet = Change::PutFleet(Fleet { name: fleet, folder: None });
    store.commit(Commit { changes: vec![fleet], events: Vec::new() }).await.expect("a commit");
    for first in (0..past).step_by(BATCH) {
        let numbers = first..past.min(first + BATCH);
        let changes = numbers.flat_map(|number| past_session(&samples, world, number));
        let commit = Commit { changes: changes.collect(), events: Vec::new() };
        store.commit(commit).await.expect("a commit");
    }
}

/// Returns the changes that store a session which ended long ago.
fn past_session(samples: &Samples, world: &World, number: usize) -> Vec<Change> {
    let mut session = samples.session("default", &format!("past-{number}"));
    session.vendor = VendorId::new("demo");
    session.cwd = world.project();
    session.config_dir = world.home().join(".segue-demo");
    session.has_content = true;
    (session.status, session.headless) = match number % 3 {
        0 => (Status::Ended(How::Quit), false),
        1 => (Status::Ended(How::Stopped), false),
        _ => (Status::Idle, true),
    };
    let id = session.id;
    let mut changes = vec![Change::CreateSession(Box::new(session))];
    changes.extend(past_launch(samples, id, 1));
    changes
}

/// Returns the changes that store a launch which has ended.
pub fn past_launch(samples: &Samples, session: SessionId, number: u32) -> [Change; 3] {
    let mut launch = samples.launch(session, number);
    launch.message = Some("Fix the parser, then run all tests.".to_owned());
    launch.environment = (0..40).map(|it| format!("VARIABLE_{it}")).collect();
    let (id, end) = (launch.id, samples.end(Exit::Signal(9)));
    let vendor_session = format!("{session}-{number}");
    let binding = samples.binding(session, &vendor_session, Evidence::Registry);
    [
        Change::CreateLaunch(Box::new(launch)),
        Change::AddBinding(Binding { launch: Some(id), ..binding }),
        Change::EndLaunch { launch: id, end },
    ]
}
