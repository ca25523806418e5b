//! Which sessions a list shows.

use jiff::SignedDuration;
use segue_core::api::ListRequest;
use segue_core::flows::list::{self, Listed};
use segue_core::flows::open_elsewhere::OpenElsewhere;
use segue_core::model::{Fleet, FleetName, How, Principal, Session, Status, StatusKind, VendorId};
use segue_core::ports::Change;
use segue_core::{Kind, Result};
use segue_fakes::samples;

use crate::stored::Stored;

fn request() -> ListRequest {
    ListRequest::default()
}

async fn list(stored: &Stored, request: &ListRequest) -> Result<Listed> {
    list::list(&stored.ports, &Principal::User, request, &[]).await
}

fn names(listed: &Listed) -> Vec<&str> {
    listed.sessions.iter().map(|it| it.session.name.as_str()).collect()
}

/// Sessions of two fleets and two vendors. Two of them ended long ago.
async fn many() -> Stored {
    let stored = Stored::new();
    let fleet = |name: &str| FleetName::parse(name).unwrap();
    for name in ["default", "shop"] {
        stored.commit(vec![Change::PutFleet(Fleet { name: fleet(name), folder: None })]).await;
    }
    let shop = |session: Session| Session { fleet: fleet("shop"), ..session };
    stored.add(1, "runs", Status::Idle).await;
    stored.add(2, "old", Status::Ended(How::Quit)).await;
    stored.add_session(shop(samples::session(3, "seller"))).await;
    let other = Session { vendor: VendorId::new("other"), ..samples::session(4, "guest") };
    stored.add_session(Session { status: Status::Ended(How::Stopped), ..other }).await;
    stored.world.clock.advance(SignedDuration::from_hours(48));
    stored
}

#[tokio::test]
async fn sessions_that_ended_long_ago_are_counted_and_shown_on_request() {
    let stored = many().await;
    let recent = list(&stored, &request()).await.unwrap();
    assert_eq!((names(&recent), recent.count), (vec!["runs", "seller"], 4));
    let all = list(&stored, &ListRequest { all: true, ..request() }).await.unwrap();
    assert_eq!((names(&all), all.count), (vec!["runs", "old", "seller", "guest"], 4));
}

#[tokio::test]
async fn filters_find_names_by_their_beginning() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let table = [
        (ListRequest { fleets: words(&["sh"]), ..request() }, vec!["seller"], 1),
        (ListRequest { fleets: words(&["sh", "def"]), ..request() }, vec!["runs", "seller"], 4),
        (ListRequest { vendors: words(&["oth"]), all: true, ..request() }, vec!["guest"], 1),
        (ListRequest { vendors: words(&["oth"]), ..request() }, vec![], 1),
        (ListRequest { statuses: vec![StatusKind::Ended], ..request() }, vec!["old", "guest"], 2),
        (ListRequest { folder: Some("/work".into()), ..request() }, vec!["runs", "seller"], 4),
        (ListRequest { folder: Some("/gone".into()), ..request() }, vec![], 0),
    ];
    let stored = many().await;
    for (request, expected, count) in table {
        let listed = list(&stored, &request).await.unwrap();
        assert_eq!((names(&listed), listed.count), (expected, count), "{request:?}");
    }
    for unknown in [
        ListRequest { fleets: words(&["none"]), ..request() },
        ListRequest { vendors: words(&["none"]), ..request() },
    ] {
        let error = list(&stored, &unknown).await.unwrap_err();
        assert_eq!(error.kind, Kind::NotFound);
        assert!(error.hints.last().unwrap().starts_with("use one of: "), "{error:?}");
    }
}

#[tokio::test]
async fn folder_that_is_a_symlink_means_the_folder_behind_it() {
    let stored = many().await;
    stored.world.machine.link("/link", samples::CWD);
    let listed = list(&stored, &ListRequest { folder: Some("/link".into()), ..request() }).await;
    assert_eq!(names(&listed.unwrap()), ["runs", "seller"]);
}

#[tokio::test]
async fn agent_sees_and_names_only_its_own_sessions() {
    let stored = many().await;
    let own = stored.summary(&samples::session(1, "runs")).await.session;
    let child = Session { parent: Some(own.id), ..samples::session(7, "child") };
    stored.add_session(child).await;
    let agent = Principal::Agent(Box::new(own));
    let listed = list::list(&stored.ports, &agent, &request(), &[]).await.unwrap();
    assert_eq!((names(&listed), listed.count), (vec!["runs", "child"], 2));
    let shop = ListRequest { fleets: vec!["shop".to_owned()], ..request() };
    let error = list::list(&stored.ports, &agent, &shop, &[]).await.unwrap_err();
    assert_eq!(error.hints, ["use one of: default"], "it does not learn of the other fleet");
    let fleet = ListRequest { fleets: vec!["default".to_owned()], ..request() };
    let listed = list::list(&stored.ports, &agent, &fleet, &[]).await.unwrap();
    assert_eq!(names(&listed), ["runs", "child"]);
}

#[tokio::test]
async fn session_that_is_open_elsewhere_is_shown_once_however_old_it_is() {
    let stored = many().await;
    let open = async |number, name: &str| OpenElsewhere {
        summary: stored.summary(&samples::session(number, name)).await,
        pid: 7,
        detail: "open elsewhere".to_owned(),
    };
    let elsewhere = [open(2, "old").await, open(1, "runs").await];
    let user = Principal::User;
    let listed = list::list(&stored.ports, &user, &request(), &elsewhere).await.unwrap();
    assert_eq!(names(&listed), ["runs", "old", "seller"]);
    let shop = ListRequest { fleets: vec!["shop".to_owned()], ..request() };
    let listed = list::list(&stored.ports, &user, &shop, &elsewhere).await.unwrap();
    assert_eq!(names(&listed), ["seller"], "it is of another fleet");
    let agent = Principal::Agent(Box::new(samples::session(3, "seller")));
    let listed = list::list(&stored.ports, &agent, &request(), &elsewhere).await.unwrap();
    assert_eq!(names(&listed), ["seller"], "it is of another agent");
}

#[tokio::test]
async fn pages_together_are_the_whole_list() {
    let stored = many().await;
    let old = OpenElsewhere {
        summary: stored.summary(&samples::session(2, "old")).await,
        pid: 7,
        detail: "open elsewhere".to_owned(),
    };
    let all = ListRequest { all: true, ..request() };
    let of_folder = ListRequest { folder: Some(samples::CWD.into()), ..request() };
    for (request, expected) in
        [(all, vec!["runs", "old", "seller", "guest"]), (of_folder, vec!["runs", "old", "seller"])]
    {
        for limit in 1..=5 {
            let mut request = ListRequest { limit: Some(limit), ..request.clone() };
            let (mut found, mut count) = (Vec::new(), 0);
            loop {
                let elsewhere = std::slice::from_ref(&old);
                let page = list::list(&stored.ports, &Principal::User, &request, elsewhere).await;
                let page = page.unwrap();
                assert!(page.sessions.len() <= limit as usize, "{request:?}");
                found.extend(names(&page).into_iter().map(str::to_owned));
                count += page.count;
                let Some(next) = page.next else { break };
                request.cursor = Some(next.to_string());
            }
            assert_eq!((found, count), (expected.iter().map(|it| (*it).to_owned()).collect(), 4));
        }
    }
}

#[tokio::test]
async fn invalid_page_is_an_error() {
    let stored = many().await;
    let all = ListRequest { all: true, ..request() };
    for wrong in [
        ListRequest { limit: Some(0), ..all.clone() },
        ListRequest { limit: Some(1001), ..all.clone() },
        ListRequest { cursor: Some("yesterday".to_owned()), ..all },
    ] {
        assert_eq!(list(&stored, &wrong).await.unwrap_err().kind, Kind::Usage, "{wrong:?}");
    }
}

#[tokio::test]
async fn store_that_fails_is_an_error() {
    let fleets = ListRequest { fleets: vec!["shop".to_owned()], ..request() };
    let all = ListRequest { all: true, ..request() };
    let table = [
        (&fleets, "store.fleet_names"),
        (&fleets, "store.vendor_ids"),
        (&fleets, "store.count_sessions"),
        (&fleets, "store.sessions"),
        (&all, "store.sessions"),
    ];
    for (request, call) in table {
        let stored = many().await;
        stored.world.calls.fail(call, 1);
        assert!(list(&stored, request).await.is_err(), "{call}");
    }
}
