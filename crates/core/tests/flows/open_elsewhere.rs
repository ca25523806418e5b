//! Conversations of sessions that are open in processes outside of Segue, and other machines.

use segue_core::Kind;
use segue_core::flows::{machines, open_elsewhere};
use segue_core::model::{How, MachineId, Session, Status, VendorId, VendorSessionId};
use segue_core::ports::Live;
use segue_fakes::{FakeVendor, Storage, samples};
use uuid::Uuid;

use crate::stored::Stored;

fn live(pid: u32, id: &str) -> Live {
    Live { pid, started: None, id: VendorSessionId::new(id) }
}

/// A session that has ended, whose conversation a process reports as open.
async fn opened(reported: Vec<Live>) -> (Stored, Session) {
    let vendor = FakeVendor::default();
    *vendor.live.lock().unwrap() = reported;
    let stored = Stored::with(vendor);
    let session = stored.add(1, "fox", Status::Ended(How::Quit)).await;
    stored.bind(&session, "one").await;
    (stored, session)
}

async fn found(stored: &Stored) -> Vec<(u32, String)> {
    let places = open_elsewhere::places(&stored.ports).await.unwrap();
    let open = open_elsewhere::open_conversations(&stored.ports, places);
    let found = open_elsewhere::sessions(&stored.ports, open).await.unwrap();
    found.into_iter().map(|it| (it.pid, it.detail)).collect()
}

#[tokio::test]
async fn session_whose_conversation_a_foreign_process_has_open_is_found() {
    let (stored, _) = opened(vec![live(7, "one")]).await;
    assert_eq!(found(&stored).await, [], "the process is gone");
    stored.world.machine.start_process(7, "/usr/bin/tool --resume one", None);
    let expected = (7, "open elsewhere: process 7 (tool)".to_owned());
    assert_eq!(found(&stored).await, [expected]);
}

#[tokio::test]
async fn process_of_another_conversation_start_time_or_of_the_session_itself_is_not_foreign() {
    let reused = Live { started: Some(1), ..live(7, "one") };
    for reported in [live(7, "two"), reused] {
        let (stored, _) = opened(vec![reported]).await;
        stored.world.machine.start_process(7, "tool", None);
        assert_eq!(found(&stored).await, []);
    }
    let (stored, session) = opened(vec![live(7, "one")]).await;
    let launches = stored.ports.store.launches(session.id).await.unwrap();
    stored.world.machine.start_process(7, "tool", Some(launches[0].id));
    assert_eq!(found(&stored).await, [], "it is a leftover of the session's own launch");
}

#[tokio::test]
async fn session_that_left_the_conversation_or_runs_is_not_listed() {
    let (stored, session) = opened(vec![live(7, "one")]).await;
    stored.world.machine.start_process(7, "tool", None);
    stored.bind(&session, "two").await;
    assert_eq!(found(&stored).await, [], "it went on to another conversation");
    let (stored, _) = opened(vec![live(7, "three")]).await;
    stored.world.machine.start_process(7, "tool", None);
    let runs = stored.add(2, "owl", Status::Idle).await;
    stored.bind(&runs, "three").await;
    assert_eq!(found(&stored).await, [], "Segue's own process has it");
}

#[tokio::test]
async fn place_that_cannot_be_checked_reports_nothing() {
    let (stored, session) = opened(vec![live(7, "one")]).await;
    stored.world.machine.start_process(7, "tool", None);
    let storage = Storage::Unreadable;
    stored.world.vendors.put(FakeVendor { storage, ..FakeVendor::default() });
    assert_eq!(found(&stored).await, []);
    let summary = stored.summary(&session).await;
    let mut place = open_elsewhere::place_of(&summary).unwrap();
    place.vendor = VendorId::new("gone");
    assert!(open_elsewhere::open_conversations(&stored.ports, vec![place]).is_empty());
    let runs = stored.add(2, "owl", Status::Idle).await;
    assert_eq!(open_elsewhere::place_of(&stored.summary(&runs).await), None);
}

#[tokio::test]
async fn store_that_fails_is_an_error() {
    for call in ["store.resting_places", "store.sessions", "store.launches"] {
        let (stored, _) = opened(vec![live(7, "one")]).await;
        stored.world.machine.start_process(7, "tool", None);
        stored.world.calls.fail(call, 1);
        let found = async {
            let places = open_elsewhere::places(&stored.ports).await?;
            let open = open_elsewhere::open_conversations(&stored.ports, places);
            open_elsewhere::sessions(&stored.ports, open).await
        };
        assert!(found.await.is_err(), "{call}");
    }
}

#[tokio::test]
async fn session_of_another_machine_is_refused_and_names_that_machine() {
    let stored = Stored::new();
    let other = MachineId::new(Uuid::from_u128(77));
    let far = Session { status: Status::Idle, ..samples::session(1, "far") };
    let far = stored.add_on(other, far).await;
    let near = stored.add(2, "near", Status::Idle).await;
    for (session, expected) in [(&far, Some(other)), (&near, None)] {
        let open = stored.summary(session).await.open;
        assert_eq!(machines::other_machine(&stored.ports, open.as_ref()), expected);
        let refused = machines::refuse_other(&stored.ports, session, open.unwrap().machine);
        assert_eq!(refused.err().map(|it| it.kind), expected.map(|_| Kind::Conflict));
    }
    assert_eq!(machines::other_machine(&stored.ports, None), None, "it has no process");
    machines::refuse_other(&stored.ports, &far, None).unwrap();
}
