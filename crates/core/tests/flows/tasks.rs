//! Tasks: added, worked on, and reported.

mod adding;
mod reports;
mod working;

use segue_core::Result;
use segue_core::api::{Caller, TaskAddRequest, TrustRequest};
use segue_core::flows::{tasks, trust};
use segue_core::model::{EventPayload, Principal, Session, Task, TaskMode, TaskStateKind};
use segue_core::ports::{Change, Commit, EventQuery, PlacedTask, Ports};
use segue_core::rules::task_tree::TreeLimits;
use segue_fakes::{FakeWorld, samples};

fn caller() -> Caller {
    Caller { cwd: samples::CWD.into(), environment: samples::environment() }
}

pub(crate) fn request(prompt: &str) -> TaskAddRequest {
    TaskAddRequest {
        caller: caller(),
        prompt: prompt.to_owned(),
        agent: "coder".to_owned(),
        repo: None,
        issue: None,
        branch: None,
        from_fork: None,
        setup_fork: false,
        key: None,
        priority: 0,
        verify: None,
        parent: None,
        mode: TaskMode::Headless,
        session: None,
        reply: None,
    }
}

/// Returns the ports of a world with a trusted project that has the agents `coder` and `tester`.
pub(crate) async fn ports() -> Ports {
    let world = FakeWorld::new();
    world.projects.write(samples::project(&["coder", "tester"]));
    let ports = world.ports();
    trust_project(&ports).await;
    ports
}

pub(crate) async fn trust_project(ports: &Ports) {
    let ask = |digest| TrustRequest { folder: samples::CWD.into(), digest };
    let shown = trust::trust(ports, &ask(None)).await.unwrap();
    trust::trust(ports, &ask(Some(shown.digest))).await.unwrap();
}

pub(crate) async fn add(ports: &Ports, request: TaskAddRequest) -> Result<Task> {
    let added =
        tasks::add(ports, &Principal::User, request, &TreeLimits::default(), |_| Ok(Vec::new()))
            .await;
    added.map(|placed| placed.task)
}

/// Adds a session, and returns it.
pub(crate) async fn session(ports: &Ports, number: u128, name: &str) -> Session {
    let session = Session { headless: true, ..samples::session(number, name) };
    let change = Change::CreateSession(Box::new(session.clone()));
    ports.store.commit(Commit { changes: vec![change], events: Vec::new() }).await.unwrap();
    session
}

pub(crate) async fn task(ports: &Ports, task: &Task) -> Task {
    let PlacedTask { task, .. } = tasks::by_id(ports, task.id).await.unwrap();
    task
}

/// Returns the states of all events about tasks, oldest first.
async fn recorded_states(ports: &Ports) -> Vec<TaskStateKind> {
    let query = EventQuery { limit: 100, ..EventQuery::default() };
    let events = ports.store.events(&query).await.unwrap().into_iter();
    let state = |payload| match payload {
        EventPayload::TaskChanged { state, .. } => Some(state),
        _ => None,
    };
    events.filter_map(|event| state(event.fact.payload)).collect()
}
