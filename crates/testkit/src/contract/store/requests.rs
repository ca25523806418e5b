//! Steps of requests: each is recorded once, in the same commit as its effects, and visible only to
//! its own caller.

use jiff::{SignedDuration, Timestamp};
use segue_core::model::{RequestId, RequestKey, RequestRecord, RequestStep, SessionId};
use segue_core::ports::Change;
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict, commit};

fn key(caller: Option<SessionId>) -> RequestKey {
    RequestKey { caller, id: RequestId::new(Uuid::now_v7()) }
}

fn done(key: RequestKey, answer: &str, at: Timestamp) -> Change {
    let step = RequestStep::Done { answer: answer.to_owned() };
    Change::RecordRequest(Box::new(RequestRecord { key, step, at }))
}

pub async fn recording_a_request_step_twice_is_a_conflict(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let (key, at) = (key(None), samples.time());
    let session = samples.session("shop", "one");
    let created = RequestStep::Created { session: session.id };
    let record = RequestRecord { key, step: created.clone(), at };
    let change = Change::RecordRequest(Box::new(record));
    let create = Change::CreateSession(Box::new(session));
    store.commit(commit([create, change.clone()])).await.unwrap();
    // A step that is already recorded makes the whole commit fail, so its other changes are not
    // applied either.
    let other = samples.session("shop", "two");
    let create = Change::CreateSession(Box::new(other.clone()));
    let again = store.commit(commit([create, change])).await;
    assert_conflict(again, &[&key.id.to_string()]);
    assert_eq!(store.session(other.id).await.unwrap(), None);
    store.commit(commit([done(key, "{}", at)])).await.unwrap();
    let answer = "{}".to_owned();
    assert_eq!(store.request(key).await.unwrap(), [created, RequestStep::Done { answer }]);
}

pub async fn a_request_id_is_scoped_to_its_caller(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.session("shop", "one");
    let users = key(None);
    let agents = RequestKey { caller: Some(session.id), ..users };
    store.commit(commit([done(users, "\"secret\"", samples.time())])).await.unwrap();
    assert_eq!(store.request(agents).await.unwrap(), []);
    let changes =
        [Change::CreateSession(Box::new(session.clone())), done(agents, "1", samples.time())];
    store.commit(commit(changes)).await.unwrap();
    assert_eq!(store.request(agents).await.unwrap().len(), 1);
    store.commit(commit([Change::RemoveSession(session.id)])).await.unwrap();
    assert_eq!(store.request(agents).await.unwrap(), []);
    assert_eq!(store.request(users).await.unwrap().len(), 1);
}

pub async fn new_requests_displace_only_old_requests_of_the_same_caller(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let (first, at) = (key(None), samples.time());
    store.commit(commit([done(first, "1", at)])).await.unwrap();
    let agent = SessionId::new(Uuid::now_v7());
    let many = (0..1000).map(|_| done(key(Some(agent)), "2", at)).collect::<Vec<_>>();
    store.commit(commit(many)).await.unwrap();
    assert_eq!(store.request(first).await.unwrap().len(), 1, "displaced by another caller");
    let later = at + SignedDuration::from_hours(25);
    store.commit(commit([done(key(None), "3", later)])).await.unwrap();
    assert_eq!(store.request(first).await.unwrap(), []);
    let many = (0..600).map(|_| done(key(None), "4", later)).collect::<Vec<_>>();
    let newest = key(None);
    store.commit(commit([done(newest, "5", later)])).await.unwrap();
    store.commit(commit(many)).await.unwrap();
    assert_eq!(store.request(newest).await.unwrap(), [], "too many requests of one caller");
}
