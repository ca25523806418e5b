//! Launches: at most one per session is open, and the first recorded end is final.

use segue_core::Kind;
use segue_core::model::{
    Exit, Launch, LaunchEnd, LaunchId, LaunchMode, MachineId, SessionId, VendorSessionId,
};
use segue_core::ports::{Change, SessionQuery, Store};
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict, assert_refused, commit};

pub async fn every_field_of_a_launch_is_read_back_unchanged(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await.id;
    let plain = samples.stored_launch(&*store, session, 1).await;
    let full = Launch {
        mode: LaunchMode::Resume,
        planned: Some(VendorSessionId::new("id-1")),
        message: Some("x".repeat(1_000_000)),
        argv: vec!["sample".to_owned(), "--resume".to_owned(), "id-1\n".to_owned()],
        vendor_version: Some("1.2.3".to_owned()),
        git_commit: Some("0123abc".to_owned()),
        environment: vec!["HOME".to_owned(), "PATH".to_owned()],
        machine: Some(MachineId::new(Uuid::from_u128(7))),
        holder: Some(samples.process(1)),
        agent: Some(samples.process(2)),
        end: Some(LaunchEnd { is_requested: true, ..samples.end(Exit::Signal(15)) }),
        ..samples.launch(session, 2)
    };
    store.commit(commit([Change::CreateLaunch(Box::new(full.clone()))])).await.unwrap();
    assert_eq!(store.launches(session).await.unwrap(), [plain, full]);
}

pub async fn a_second_open_launch_of_a_session_is_a_conflict(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await.id;
    let other = samples.stored_session(&*store, "shop", "other").await.id;
    let first = samples.stored_launch(&*store, session, 1).await;
    samples.stored_launch(&*store, other, 1).await;

    let second = Change::CreateLaunch(Box::new(samples.launch(session, 2)));
    let refused = store.commit(commit([second.clone()])).await;
    assert_conflict(refused, &["`shop/coder`", "live launch"]);
    let end = Change::EndLaunch { launch: first.id, end: samples.end(Exit::Unknown) };
    store.commit(commit([end, second])).await.unwrap();
    assert_eq!(store.launches(session).await.unwrap().len(), 2);

    // A launch that has already ended can still be added, for example one that was found on disk.
    // It is not a second open launch.
    let found = Launch { end: Some(samples.end(Exit::Code(1))), ..samples.launch(session, 3) };
    store.commit(commit([Change::CreateLaunch(Box::new(found.clone()))])).await.unwrap();
    let twin = Launch { end: found.end, id: found.id, ..samples.launch(other, 2) };
    let result = store.commit(commit([Change::CreateLaunch(Box::new(twin))])).await;
    assert_conflict(result, &[&found.id.to_string()]);
}

pub async fn ending_a_launch_again_keeps_its_first_end(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await.id;
    let launch = samples.stored_launch(&*store, session, 1).await.id;
    let first = samples.end(Exit::Signal(9));
    for end in [first, samples.end(Exit::Code(0)), samples.end(Exit::Unknown)] {
        store.commit(commit([Change::EndLaunch { launch, end }])).await.unwrap();
        assert_eq!(only_launch(&*store, session).await.end, Some(first));
    }
}

pub async fn processes_of_a_launch_are_recorded_only_while_it_is_open(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await.id;
    let launch = samples.stored_launch(&*store, session, 1).await.id;
    let (holder, agent) = (Some(samples.process(1)), Some(samples.process(2)));
    let steps = [
        ((holder.clone(), None), (holder.clone(), None)),
        ((None, agent.clone()), (holder.clone(), agent.clone())),
    ];
    for ((given_holder, given_agent), recorded) in steps {
        let change = Change::SetProcesses { launch, holder: given_holder, agent: given_agent };
        store.commit(commit([change])).await.unwrap();
        let kept = only_launch(&*store, session).await;
        assert_eq!((kept.holder, kept.agent), recorded);
    }
    let end = Change::EndLaunch { launch, end: samples.end(Exit::Code(0)) };
    store.commit(commit([end])).await.unwrap();
    let late = Change::SetProcesses { launch, holder: Some(samples.process(3)), agent: None };
    assert_conflict(store.commit(commit([late])).await, &["`shop/coder`", "ended"]);
    assert_eq!(only_launch(&*store, session).await.holder, holder);
}

pub async fn open_launches_returns_the_launches_without_an_end(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let mut open = Vec::new();
    for name in ["a", "b", "c"] {
        let session = samples.stored_session(&*store, "shop", name).await.id;
        let ended = samples.stored_launch(&*store, session, 1).await.id;
        let end = Change::EndLaunch { launch: ended, end: samples.end(Exit::Code(0)) };
        store.commit(commit([end])).await.unwrap();
        if name != "b" {
            open.push(samples.stored_launch(&*store, session, 2).await);
        }
    }
    assert_eq!(store.open_launches(&[]).await.unwrap(), open);
}

pub async fn open_launches_of_other_machines_are_left_out(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let [own, replaced, other] = [1, 2, 3].map(|number| MachineId::new(Uuid::from_u128(number)));
    let mut launches = Vec::new();
    for (number, machine) in [None, Some(own), Some(replaced), Some(other)].into_iter().enumerate()
    {
        let session = samples.stored_session(&*store, "shop", &format!("coder-{number}")).await.id;
        let launch = Launch { machine, ..samples.launch(session, 1) };
        store.commit(commit([Change::CreateLaunch(Box::new(launch.clone()))])).await.unwrap();
        launches.push(launch);
    }
    assert_eq!(store.open_launches(&[]).await.unwrap(), launches[..1]);
    assert_eq!(store.open_launches(&[own]).await.unwrap(), launches[..2]);
    assert_eq!(store.open_launches(&[own, replaced]).await.unwrap(), launches[..3]);
    let listed = store.sessions(&SessionQuery::default()).await.unwrap();
    let machines: Vec<_> = listed.into_iter().map(|it| it.open.unwrap().machine).collect();
    assert_eq!(machines, [None, Some(own), Some(replaced), Some(other)]);
}

pub async fn changes_to_an_unknown_launch_fail_with_not_found(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let launch = LaunchId::new(Uuid::now_v7());
    let changes = [
        Change::SetProcesses { launch, holder: None, agent: None },
        Change::EndLaunch { launch, end: samples.end(Exit::Code(0)) },
    ];
    for change in changes {
        let result = store.commit(commit([change])).await;
        assert_refused(result, Kind::NotFound, &[&launch.to_string()]);
    }
}

async fn only_launch(store: &dyn Store, session: SessionId) -> Launch {
    let mut launches = store.launches(session).await.unwrap();
    assert_eq!(launches.len(), 1);
    launches.remove(0)
}
