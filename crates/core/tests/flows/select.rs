//! The sessions that a user's words mean.

use segue_core::api::{SelectRequest, Selection};
use segue_core::flows::look::SelectionMode;
use segue_core::flows::select::{self, Chosen};
use segue_core::model::{
    Dialog, Exit, Fleet, FleetName, How, Principal, Session, Status, WaitingFor,
};
use segue_core::ports::Change;
use segue_core::{Kind, Result};
use segue_fakes::samples;

use crate::stored::Stored;

fn fleet(name: &str) -> FleetName {
    FleetName::parse(name).unwrap()
}

async fn in_fleet(stored: &Stored, number: u128, address: &str, status: Status) -> Session {
    let (of, name) = address.split_once('/').unwrap();
    let session = Session { fleet: fleet(of), status, ..samples::session(number, name) };
    stored.add_session(session).await
}

/// The fleet `shop`, which belongs to the sample folder, and a session of the fleet `default`.
async fn shop() -> Stored {
    let stored = Stored::new();
    let folder = Some(samples::CWD.into());
    stored.commit(vec![Change::PutFleet(Fleet { name: fleet("shop"), folder })]).await;
    in_fleet(&stored, 1, "shop/coder", Status::Idle).await;
    in_fleet(&stored, 2, "shop/writer", Status::Ended(How::Quit)).await;
    let elsewhere = Session { cwd: "/else".into(), ..samples::session(3, "fox") };
    stored.add_session(Session { status: Status::Idle, ..elsewhere }).await;
    stored
}

async fn find(stored: &Stored, text: &str) -> Result<String> {
    let cwd = samples::CWD.as_ref();
    let found = select::find(&stored.ports, &Principal::User, text, cwd).await;
    found.map(|it| it.session.address())
}

fn addresses(chosen: &Chosen) -> Vec<String> {
    chosen.sessions.iter().map(|it| it.summary.session.address()).collect()
}

#[tokio::test]
async fn session_is_found_by_name_beginning_id_url_and_vendors_id() {
    let stored = shop().await;
    let session = samples::session(1, "coder");
    stored.bind(&session, "abc-1").await;
    let id = session.id.to_string();
    let url = format!("segue://session/{id}");
    for text in ["coder", "cod", "shop/coder", "shop/co", &id, &url, "abc-1"] {
        assert_eq!(find(&stored, text).await.unwrap(), "shop/coder", "{text}");
    }
    assert_eq!(find(&stored, "default").await.unwrap(), "default/fox", "its only session");
}

#[tokio::test]
async fn whole_name_is_required_for_a_command_that_cannot_be_undone() {
    let stored = shop().await;
    let (user, cwd) = (Principal::User, samples::CWD.as_ref());
    let find = async |text| select::find_whole(&stored.ports, &user, text, cwd).await;
    assert_eq!(find("coder").await.unwrap().session.name.as_str(), "coder");
    assert_eq!(find("code").await.unwrap_err().kind, Kind::NotFound);
}

#[tokio::test]
async fn word_that_means_nothing_several_sessions_or_a_fleet_is_an_error() {
    let stored = shop().await;
    in_fleet(&stored, 4, "blog/coder", Status::Idle).await;
    in_fleet(&stored, 5, "sale/one", Status::Idle).await;
    let table = [
        ("codr", Kind::NotFound, "did you mean"),
        ("shop", Kind::Usage, "use `shop/writer`"),
        ("s", Kind::Usage, "(the fleet)"),
        ("", Kind::Usage, ""),
    ];
    for (text, kind, hint) in table {
        let error = find(&stored, text).await.unwrap_err();
        assert_eq!(error.kind, kind, "{text}: {error:?}");
        assert!(error.hints.iter().any(|it| it.contains(hint)) || hint.is_empty(), "{error:?}");
    }
    assert_eq!(find(&stored, "coder").await.unwrap(), "shop/coder", "that of the own folder");
    let far = "/far".as_ref();
    let error = select::find(&stored.ports, &Principal::User, "coder", far).await.unwrap_err();
    assert_eq!(error.message, "`coder` can mean 2 sessions");
    assert_eq!(error.hints.len(), 2);
}

#[tokio::test]
async fn agent_reaches_only_its_own_sessions_and_no_fleet() {
    let stored = shop().await;
    let own = samples::session(3, "fox");
    let child = Session { parent: Some(own.id), ..samples::session(7, "foxes") };
    stored.add_session(child).await;
    let agent = Principal::Agent(Box::new(own));
    let cwd = samples::CWD.as_ref();
    let find = async |text| select::find(&stored.ports, &agent, text, cwd).await;
    assert_eq!(find("foxes").await.unwrap().session.name.as_str(), "foxes");
    for text in ["coder", "shop", "default"] {
        assert!(find(text).await.is_err(), "{text}");
    }
    for selection in [Selection::All, Selection::Here] {
        let chosen = select::selected(&stored.ports, &agent, &selection, cwd).await;
        assert!(chosen.is_err(), "{selection:?}");
    }
}

#[tokio::test]
async fn name_that_an_agent_chose_does_not_hide_longer_names() {
    let stored = shop().await;
    let parent = Some(samples::session(3, "fox").id);
    let child = Session { parent, ..samples::session(7, "cod") };
    stored.add_session(Session { fleet: fleet("shop"), ..child }).await;
    let error = find(&stored, "cod").await.unwrap_err();
    assert_eq!(error.message, "`cod` can mean 2 sessions");
}

fn dialog() -> Dialog {
    Dialog {
        id: "1".to_owned(),
        kind: WaitingFor::Permission,
        question: "may I?".to_owned(),
        choices: vec!["yes".to_owned(), "no".to_owned()],
        answer: "segue answer shop/a yes".to_owned(),
    }
}

#[tokio::test]
async fn answer_to_a_fleet_goes_to_its_only_session_that_asks() {
    let asks = Status::Waiting(WaitingFor::Permission);
    let table: [(&[Status], Result<&str, Kind>); 5] = [
        (&[Status::Idle, asks], Ok("shop/b")),
        (&[Status::Idle], Ok("shop/a")),
        (&[Status::Idle, Status::Idle], Err(Kind::Conflict)),
        (&[asks, asks], Err(Kind::Usage)),
        // It waits without a process, so that there is nothing to answer.
        (&[Status::Waiting(WaitingFor::Choice), Status::Idle], Err(Kind::Conflict)),
    ];
    for (statuses, expected) in table {
        let stored = Stored::new();
        for ((number, name), status) in (1..).zip(["shop/a", "shop/b"]).zip(statuses) {
            in_fleet(&stored, number, name, *status).await;
        }
        let first = samples::session(1, "a").id;
        let question = |session| (session == first).then(dialog);
        let asked = ("shop", samples::CWD.as_ref());
        let found = select::find_asking(&stored.ports, &Principal::User, asked, question).await;
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.session.address(), expected),
            (Err(error), Err(kind)) => {
                assert_eq!(error.kind, kind, "{statuses:?}");
                let is_asked = kind == Kind::Usage;
                let hints = ["run `segue answer shop/a yes`, or `no`", "run `segue attach shop/b`"];
                let has = |hint: &&str| error.hints.iter().any(|it| it.starts_with(*hint));
                assert_eq!(hints.iter().all(has), is_asked, "{error:?}");
            }
            (found, _) => panic!("{statuses:?}: {found:?}"),
        }
    }
    let stored = shop().await;
    let asked = ("coder", samples::CWD.as_ref());
    let found = select::find_asking(&stored.ports, &Principal::User, asked, |_| None).await;
    assert_eq!(found.unwrap().session.address(), "shop/coder", "whether it asks or not");
}

#[tokio::test]
async fn selection_of_a_folder_has_its_fleets_and_what_works_in_it() {
    let stored = shop().await;
    in_fleet(&stored, 4, "default/here", Status::Idle).await;
    let user = Principal::User;
    let cwd = samples::CWD.as_ref();
    let chosen = select::selected(&stored.ports, &user, &Selection::Here, cwd).await.unwrap();
    assert_eq!(addresses(&chosen), ["shop/coder", "shop/writer", "default/here"]);
    assert!(chosen.sessions.iter().all(|it| it.selection == SelectionMode::InBulk));
    let all = select::selected(&stored.ports, &user, &Selection::All, cwd).await.unwrap();
    assert_eq!(all.sessions.len(), 4);
    let finished = all.sessions.iter().filter(|it| it.is_finished());
    assert_eq!(finished.count(), 1, "the writer ended by itself");
}

#[tokio::test]
async fn names_select_each_session_once_and_a_fleet_leaves_finished_ones_out() {
    let stored = shop().await;
    let request = |names: &[&str], finished| SelectRequest {
        cwd: samples::CWD.into(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        whole: false,
        finished,
    };
    let select = async |names: &[&str], finished| {
        let request = request(names, finished);
        select::select(&stored.ports, &Principal::User, &request).await.unwrap()
    };
    let twice = select(&["coder", "shop", "shop/coder"], false).await;
    assert_eq!(addresses(&twice), ["shop/coder"]);
    assert_eq!(twice.sessions[0].selection, SelectionMode::ByName);
    let all = select(&["shop"], true).await;
    assert_eq!(addresses(&all), ["shop/coder", "shop/writer"]);
    let named = select(&["writer", "nobody"], false).await;
    assert_eq!((addresses(&named), named.failed.len()), (vec!["shop/writer".to_owned()], 1));
    let whole = SelectRequest { whole: true, ..request(&["cod"], false) };
    select::select(&stored.ports, &Principal::User, &whole).await.unwrap_err();
}

#[tokio::test]
async fn sessions_that_were_stopped_or_handed_over_are_left_out_unless_they_are_named() {
    let stored = shop().await;
    let stopped = in_fleet(&stored, 5, "shop/stopped", Status::Ended(How::Stopped)).await;
    let crashed = Status::Ended(How::Crashed(Exit::Signal(9)));
    in_fleet(&stored, 6, "shop/crashed", crashed).await;
    let user = Principal::User;
    let cwd = samples::CWD.as_ref();
    let here = select::selected(&stored.ports, &user, &Selection::Here, cwd).await.unwrap();
    let (kept, left_out) = select::without_resting(&stored.ports, here).await.unwrap();
    assert_eq!(addresses(&kept), ["shop/coder", "shop/crashed"]);
    let left_out: Vec<_> = left_out.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(left_out, ["writer", stopped.name.as_str()]);
    let named = Selection::Named(vec!["stopped".to_owned()]);
    let named = select::selected(&stored.ports, &user, &named, cwd).await.unwrap();
    let (kept, left_out) = select::without_resting(&stored.ports, named).await.unwrap();
    assert_eq!((kept.sessions.len(), left_out.len()), (1, 0));
}

#[tokio::test]
async fn store_that_fails_is_an_error() {
    let stored = shop().await;
    for call in ["store.fleets_of", "store.sessions"] {
        stored.world.calls.fail(call, 1);
        assert!(find(&stored, "coder").await.is_err(), "{call}");
        for selection in [Selection::Here, Selection::Named(vec!["coder".to_owned()])] {
            stored.world.calls.fail(call, 1);
            let (user, cwd) = (Principal::User, samples::CWD.as_ref());
            let chosen = select::selected(&stored.ports, &user, &selection, cwd).await;
            assert!(chosen.is_err(), "{call} {selection:?}");
        }
    }
}
