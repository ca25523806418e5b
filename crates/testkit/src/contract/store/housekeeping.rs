//! What housekeeping reads, and what it records.

use jiff::Timestamp;
use segue_core::model::{DiskLevel, Exit, HousekeepingState, Launch, LaunchIndexEntry};
use segue_core::ports::Change;

use super::{Backend, Samples, commit};

pub async fn the_next_sweep_and_the_disk_level_are_kept_when_the_store_is_opened_again(
    backend: &impl Backend,
) {
    let store = backend.open().await;
    assert_eq!(store.housekeeping().await.unwrap(), HousekeepingState::default());
    let next_sweep = Some(Timestamp::from_second(1_800_000_000).unwrap());
    store.commit(commit(next_sweep.map(Change::SetNextSweep))).await.unwrap();
    store.commit(commit([Change::SetDiskLevel(DiskLevel::Warning)])).await.unwrap();
    let expected = HousekeepingState { next_sweep, disk_level: DiskLevel::Warning };
    assert_eq!(backend.open().await.housekeeping().await.unwrap(), expected);
}

pub async fn the_index_of_launches_has_the_end_of_each_launch(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    assert_eq!(store.launch_index().await.unwrap(), []);
    let session = samples.stored_session(&*store, "shop", "coder").await.id;
    let end = samples.end(Exit::Code(0));
    let ended = Launch { end: Some(end), ..samples.launch(session, 2) };
    let open = samples.launch(session, 10);
    let create = |launch: &Launch| Change::CreateLaunch(Box::new(launch.clone()));
    store.commit(commit([create(&open), create(&ended)])).await.unwrap();
    let entry = |launch: &Launch, ended_at| {
        let Launch { id, session, number, .. } = *launch;
        LaunchIndexEntry { id, session, number, ended_at }
    };
    let expected = [entry(&ended, Some(end.at)), entry(&open, None)];
    assert_eq!(store.launch_index().await.unwrap(), expected);
}
