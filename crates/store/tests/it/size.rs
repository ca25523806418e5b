//! Tests that many sessions are all listed. The benchmarks measure the cost.

use segue_core::model::{Evidence, Exit, Launch};
use segue_core::ports::{Change, Commit, SessionQuery};
use segue_testkit::contract::store::Samples;

use crate::fixture::StoreFixture;

#[tokio::test]
async fn thousand_sessions_with_long_messages_are_all_listed() {
    let (fixture, samples) = (StoreFixture::new(), Samples::default());
    let store = segue_store::open(&fixture.store).await.unwrap();
    let changes = (0..1000).flat_map(|number| session_with_launches(&samples, number)).collect();
    store.commit(Commit { changes, events: Vec::new() }).await.unwrap();
    drop(store);

    let store = segue_store::open(&fixture.store).await.unwrap();
    let sessions = store.sessions(&SessionQuery::default()).await.unwrap();
    assert_eq!(sessions.len(), 1000);
    assert!(sessions.iter().all(|found| found.open.is_some() && found.launches == 2));
}

fn session_with_launches(samples: &Samples, number: u32) -> Vec<Change> {
    let session = samples.session("shop", &format!("coder-{number}"));
    let id = session.id;
    let message = Some("long ".repeat(4000));
    let ended = Launch {
        message: message.clone(),
        end: Some(samples.end(Exit::Code(0))),
        ..samples.launch(id, 1)
    };
    let holder = Some(samples.process(number));
    let open = Launch { message, holder, ..samples.launch(id, 2) };
    vec![
        Change::CreateSession(Box::new(session)),
        Change::CreateLaunch(Box::new(ended)),
        Change::CreateLaunch(Box::new(open)),
        Change::AddBinding(samples.binding(id, &format!("id-{number}"), Evidence::Preset)),
        Change::AddBinding(samples.binding(id, &format!("id-{number}"), Evidence::Hook)),
    ]
}
