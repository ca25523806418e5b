//! Conversations that were started without Segue.

use segue_core::flows::adopt::{self, AdoptFilter};
use segue_core::model::VendorSessionId;
use segue_core::ports::Live;
use segue_fakes::{FakeVendor, FakeWorld, samples, transcript_line};

fn by_hand(world: &FakeWorld, id: &str) {
    let path = samples::transcript(&VendorSessionId::new(id));
    world.disk.write(path, transcript_line("user", "hello"));
}

fn only(id: &str) -> AdoptFilter {
    AdoptFilter { id: Some(VendorSessionId::new(id)), ..AdoptFilter::default() }
}

#[tokio::test]
async fn wanted_conversation_is_marked_if_a_process_has_it_open() {
    let vendor = FakeVendor::default();
    let live = vendor.live.clone();
    let world = FakeWorld::with_vendor(vendor);
    by_hand(&world, "one");
    let (ports, environment) = (world.ports(), samples::environment());
    let open_in = async || {
        let found = adopt::candidates(&ports, &environment, &only("one")).await.unwrap();
        found[0].open_in
    };
    assert_eq!(open_in().await, None);
    world.machine.start_process(7, "tool", None);
    *live.lock().unwrap() = vec![Live { pid: 7, started: None, id: VendorSessionId::new("one") }];
    assert_eq!(open_in().await, Some(7));
}

#[tokio::test]
async fn draft_records_nothing_and_adopting_records_session_and_fleet() {
    let world = FakeWorld::new();
    by_hand(&world, "one");
    let ports = world.ports();
    let environment = samples::environment();
    let found = adopt::candidates(&ports, &environment, &only("one")).await.unwrap();
    adopt::draft(&ports, &found[0], None).await.unwrap();
    assert_eq!(world.calls.count("store.commit"), 0);
    let state = adopt::adopt(&ports, &found[0], (Some("fox"), None)).await.unwrap();
    assert_eq!(state.vendor_session().map(VendorSessionId::as_str), Some("one"));
    assert!(ports.store.fleet(&state.session.fleet).await.unwrap().is_some());
    let again = adopt::candidates(&ports, &environment, &only("one")).await.unwrap();
    assert!(again.is_empty(), "it belongs to a session: {again:?}");
}
