//! Conversations that were started without Segue.

use jiff::{SignedDuration, Timestamp};
use segue_core::Kind;
use segue_core::api::{AdoptCandidate, AdoptRequest};
use segue_core::flows::adopt::{self, AdoptFilter, AdoptPlan};
use segue_core::model::{RequestId, RequestKey, Status, VendorId, VendorSessionId};
use segue_core::ports::{Change, Live, Place, SessionQuery};
use segue_fakes::{FakeVendor, FakeWorld, Storage, samples, transcript_line};
use uuid::Uuid;

use crate::stored::{Stored, caller};

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

fn request() -> AdoptRequest {
    AdoptRequest { caller: caller(), vendor: None, id: None, name: None, all: false, since: None }
}

fn asking_for(id: &str) -> AdoptRequest {
    AdoptRequest { id: Some(id.to_owned()), ..request() }
}

fn key() -> Option<RequestKey> {
    Some(RequestKey { caller: None, id: RequestId::new(Uuid::from_u128(5)) })
}

fn after(seconds: i64) -> Timestamp {
    samples::start() + SignedDuration::from_secs(seconds)
}

/// Returns the ids of the conversations that the filter describes.
async fn found(stored: &Stored, filter: &AdoptFilter) -> Vec<String> {
    let found = adopt::candidates(&stored.ports, &samples::environment(), filter).await.unwrap();
    found.into_iter().map(|it| format!("{}:{}", it.vendor, it.vendor_session_id)).collect()
}

async fn candidate(stored: &Stored, id: &str) -> AdoptCandidate {
    let found = adopt::candidates(&stored.ports, &samples::environment(), &only(id)).await;
    found.unwrap().remove(0)
}

#[tokio::test]
async fn request_lists_adopts_or_names_what_an_earlier_attempt_has_adopted() {
    let stored = Stored::new();
    stored.write("one", &[("user", "hello")]);
    let plan = async |request: &AdoptRequest| adopt::plan(&stored.ports, key(), request).await;
    let AdoptPlan::Listed(report) = plan(&request()).await.unwrap() else { panic!() };
    assert_eq!((report.candidates.len(), report.adopted.len()), (1, 0));
    for asked in [asking_for("one"), AdoptRequest { all: true, ..request() }] {
        let AdoptPlan::Adopt(found, report) = plan(&asked).await.unwrap() else { panic!() };
        assert_eq!((found.len(), report.adopted.len()), (1, 0));
    }
    let one = candidate(&stored, "one").await;
    adopt::adopt(&stored.ports, &one, (Some("fox"), key())).await.unwrap();
    let AdoptPlan::Adopt(found, report) = plan(&asking_for("one")).await.unwrap() else { panic!() };
    assert_eq!((found.len(), report.adopted[0].name.as_str()), (0, "fox"));
    let of_others = adopt::plan(&stored.ports, None, &asking_for("one")).await.unwrap_err();
    assert_eq!(of_others.kind, Kind::Conflict);
    assert_eq!(of_others.hints, ["run `segue resume default/fox` to go on with it"]);
}

#[tokio::test]
async fn session_that_was_adopted_and_removed_since_is_not_reported() {
    let stored = Stored::new();
    stored.write("one", &[("user", "hello")]);
    let one = candidate(&stored, "one").await;
    let state = adopt::adopt(&stored.ports, &one, (Some("fox"), key())).await.unwrap();
    stored.commit(vec![Change::RemoveSession(state.session.id)]).await;
    let plan = adopt::plan(&stored.ports, key(), &asking_for("one")).await.unwrap();
    let AdoptPlan::Adopt(found, report) = plan else { panic!() };
    assert_eq!((found.len(), report.adopted.len()), (1, 0), "it can be adopted again");
}

#[tokio::test]
async fn request_with_an_unknown_vendor_or_conversation_is_an_error() {
    let stored = Stored::new();
    let vendor = AdoptRequest { vendor: Some("nobody".to_owned()), ..request() };
    let table = [
        (vendor, Kind::NotFound, "nobody"),
        (asking_for("none"), Kind::NotFound, "there is no conversation `none`"),
        (asking_for("--yolo"), Kind::Usage, "--yolo"),
    ];
    for (request, kind, message) in table {
        let error = adopt::plan(&stored.ports, None, &request).await.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    let none = AdoptRequest { all: true, ..request() };
    let plan = adopt::plan(&stored.ports, None, &none).await.unwrap();
    assert!(matches!(plan, AdoptPlan::Adopt(found, _) if found.is_empty()));
}

#[tokio::test]
async fn conversations_are_listed_newest_first_up_to_the_limit_and_by_filter() {
    let stored = Stored::new();
    stored.write("old", &[("user", "hello")]);
    stored.write("new", &[("cwd", "/other"), ("user", "hello")]);
    stored.write("empty", &[]);
    stored.world.disk.touch(samples::transcript(&VendorSessionId::new("new")), after(5));
    let all = AdoptFilter::default();
    assert_eq!(found(&stored, &all).await, ["tool:new", "tool:old"]);
    let table = [
        (AdoptFilter { since: Some(after(5)), ..all.clone() }, vec!["tool:new"]),
        (AdoptFilter { since: Some(after(6)), ..all.clone() }, vec![]),
        (AdoptFilter { cwd: Some("/work".into()), ..all.clone() }, vec!["tool:old"]),
        (AdoptFilter { at_most: Some(1), ..all.clone() }, vec!["tool:new"]),
        (AdoptFilter { vendor: Some(VendorId::new("tool")), ..only("old") }, vec!["tool:old"]),
    ];
    for (filter, expected) in table {
        assert_eq!(found(&stored, &filter).await, expected, "{filter:?}");
    }
}

#[tokio::test]
async fn conversation_of_another_vendor_with_the_same_id_can_be_adopted() {
    let stored = Stored::new();
    stored.world.vendors.put(FakeVendor { name: "other", ..FakeVendor::default() });
    stored.write("same", &[("user", "hello")]);
    stored.world.disk.write("/home/other/same.txt", transcript_line("user", "hello"));
    let session = stored.add(1, "fox", Status::Idle).await;
    stored.bind(&session, "same").await;
    assert_eq!(found(&stored, &only("same")).await, ["other:same"]);
}

#[tokio::test]
async fn conversation_that_cannot_be_read_is_left_out_and_a_config_dir_is_an_error() {
    let stored = Stored::new();
    stored.write("one", &[("user", "hello")]);
    stored.world.calls.fail("files.read", 1);
    assert_eq!(found(&stored, &AdoptFilter::default()).await, Vec::<String>::new());
    stored.world.calls.fail("files.list", 1);
    let filter = AdoptFilter::default();
    let error = adopt::candidates(&stored.ports, &samples::environment(), &filter).await;
    assert!(error.unwrap_err().message.contains("/home/tool"));
    let storage = Storage::Unreadable;
    stored.world.vendors.put(FakeVendor { storage, ..FakeVendor::default() });
    assert_eq!(found(&stored, &AdoptFilter::default()).await, Vec::<String>::new());
}

#[tokio::test]
async fn process_that_is_gone_or_has_another_start_time_does_not_have_it_open() {
    let vendor = FakeVendor::default();
    let live = vendor.live.clone();
    let stored = Stored::with(vendor);
    stored.write("one", &[("user", "hello")]);
    let reported = |started| Live { pid: 7, started, id: VendorSessionId::new("one") };
    *live.lock().unwrap() = vec![reported(None)];
    assert_eq!(candidate(&stored, "one").await.open_in, None, "there is no such process");
    stored.world.machine.start_process(7, "tool", None);
    for (started, expected) in [(Some(1), None), (Some(70), Some(7))] {
        *live.lock().unwrap() = vec![reported(started)];
        assert_eq!(candidate(&stored, "one").await.open_in, expected, "{started:?}");
    }
    let place = Place { config_dir: samples::CONFIG_DIR.into(), cwd: samples::CWD.into() };
    assert!(adopt::open_in(&stored.ports, &VendorId::new("gone"), &place).is_empty());
}

#[tokio::test]
async fn draft_needs_the_very_folder_and_a_free_name() {
    let stored = Stored::new();
    stored.write("one", &[("user", "hello")]);
    let one = candidate(&stored, "one").await;
    let draft = async |name| adopt::draft(&stored.ports, &one, name).await;
    draft(Some("a/b")).await.unwrap_err();
    let next = Uuid::from_u128(stored.ports.clock.random_id().as_u128() + 1);
    for (number, name) in (1..).zip(segue_core::rules::naming::suggestions(next)) {
        stored.add(number, &name, Status::Idle).await;
    }
    let error = draft(None).await.unwrap_err();
    assert_eq!((error.kind, error.hints.len()), (Kind::Conflict, 1), "both suggestions are taken");
    stored.world.disk.create_folder("/elsewhere");
    stored.world.machine.link(samples::CWD, "/elsewhere");
    assert!(draft(None).await.unwrap_err().to_string().contains("is a symlink now"));
    let gone = AdoptCandidate { cwd: "/gone".into(), ..one.clone() };
    let error = adopt::draft(&stored.ports, &gone, None).await.unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
}

#[tokio::test]
async fn conversation_is_adopted_once_even_by_two_requests() {
    let stored = Stored::new();
    stored.write("one", &[("user", "hello")]);
    let one = candidate(&stored, "one").await;
    adopt::adopt(&stored.ports, &one, (Some("fox"), None)).await.unwrap();
    for name in ["owl", "fox"] {
        let error = adopt::adopt(&stored.ports, &one, (Some(name), None)).await.unwrap_err();
        assert_eq!(error.kind, Kind::Conflict, "{name}");
    }
    let all = SessionQuery::default();
    assert_eq!(stored.ports.store.count_sessions(&all).await.unwrap(), 1);
}

#[tokio::test]
async fn store_that_fails_adopts_nothing() {
    let stored = Stored::new();
    stored.write("one", &[("user", "hello")]);
    let one = candidate(&stored, "one").await;
    // The first commit records the fleet, the second one the session.
    for nth in [1, 2] {
        stored.world.calls.fail("store.commit", nth);
        adopt::adopt(&stored.ports, &one, (Some("fox"), None)).await.unwrap_err();
    }
    let all = SessionQuery::default();
    assert_eq!(stored.ports.store.count_sessions(&all).await.unwrap(), 0);
    for call in ["store.config_dirs", "store.sessions", "store.request"] {
        stored.world.calls.fail(call, 1);
        let plan = adopt::plan(&stored.ports, key(), &asking_for("one")).await;
        assert!(plan.is_err(), "{call}");
    }
}
