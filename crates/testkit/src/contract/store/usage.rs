//! Usage: added once for each part of a source, and kept when its session is removed.

use jiff::{SignedDuration, Timestamp};
use segue_core::Error;
use segue_core::model::{
    AgentName, CountedRequest, CountedUsage, DailyUsage, Session, Usage, UsageCursor,
    UsageIncrement, UsagePosition, UsageSource, UsdAmount, VendorSessionId,
};
use segue_core::ports::{Change, SessionQuery, Store, UsageQuery};
use segue_core::rules::usage::day;

use super::{Backend, Samples, assert_conflict, assert_refused, commit};

fn used(input: u64, output: u64, cost: Option<f64>) -> Usage {
    let cost_usd = cost.map(|cost| UsdAmount::from_dollars(cost).unwrap());
    Usage { input, cached: input / 2, output, cost_usd }
}

fn cursor(offset: u64, at: Timestamp) -> UsageCursor {
    let recent = vec![CountedRequest { key: format!("m{offset}"), usage: used(1, 2, Some(0.5)) }];
    // A checksum uses all bits.
    let position = UsagePosition { offset, mark: u64::MAX - offset };
    UsageCursor { position, newest: Some(at), recent }
}

fn increment(session: &Session, counted: &[CountedUsage]) -> UsageIncrement {
    let at = counted.last().map_or(session.created_at, |it| it.at);
    UsageIncrement {
        session: session.id,
        source: UsageSource {
            conversation: VendorSessionId::new("c"),
            name: "transcript".to_owned(),
        },
        from: None,
        to: cursor(10, at),
        counted: counted.to_vec(),
    }
}

async fn add(store: &dyn Store, increment: &UsageIncrement) -> Result<i64, Error> {
    store.commit(commit([Change::AddUsage(Box::new(increment.clone()))])).await
}

async fn stored(store: &dyn Store, samples: &Samples, name: &str) -> Session {
    let agent = AgentName::parse(name).ok();
    let session = Session { agent, ..samples.session("shop", name) };
    let create = Change::CreateSession(Box::new(session.clone()));
    store.commit(commit([create])).await.unwrap();
    session
}

fn daily(session: &Session, at: Timestamp, usage: Usage) -> DailyUsage {
    let Session { id, fleet, agent, vendor, .. } = session.clone();
    DailyUsage { session: id, fleet, agent, vendor, day: day(at), usage }
}

async fn total(store: &dyn Store, session: &Session) -> Option<Usage> {
    let query = SessionQuery::id(session.id);
    store.sessions(&query).await.unwrap().pop().unwrap().usage
}

pub async fn usage_is_added_to_its_session_and_day(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let (one, other) =
        (stored(&*store, &samples, "one").await, stored(&*store, &samples, "other").await);
    assert_eq!(total(&*store, &one).await, None);
    let first = samples.time();
    let next_day = first + SignedDuration::from_hours(24);
    let counted = [
        CountedUsage { at: first, usage: used(10, 1, None) },
        CountedUsage { at: next_day, usage: used(20, 2, Some(0.25)) },
    ];
    let added = increment(&one, &counted);
    add(&*store, &added).await.unwrap();
    // The same time again, from another source.
    let again = [CountedUsage { at: next_day, usage: used(40, 4, Some(0.5)) }];
    let source = UsageSource { name: "agent-a.jsonl".to_owned(), ..added.source.clone() };
    add(&*store, &UsageIncrement { source, ..increment(&one, &again) }).await.unwrap();
    add(&*store, &increment(&other, &counted[..1])).await.unwrap();
    assert_eq!(total(&*store, &one).await, Some(used(70, 7, Some(0.75))));
    assert_eq!(total(&*store, &other).await, Some(used(10, 1, None)));
    let rows = [
        daily(&one, first, used(10, 1, None)),
        daily(&one, next_day, used(60, 6, Some(0.75))),
        daily(&other, first, used(10, 1, None)),
    ];
    let own = || Some(vec![one.id]);
    let table = [
        (UsageQuery::default(), vec![&rows[0], &rows[1], &rows[2]]),
        (UsageQuery { sessions: own(), ..UsageQuery::default() }, vec![&rows[0], &rows[1]]),
        (UsageQuery { since: Some(next_day), ..UsageQuery::default() }, vec![&rows[1]]),
        (UsageQuery { sessions: own(), since: None, until: Some(first) }, vec![&rows[0]]),
        (UsageQuery { sessions: Some(Vec::new()), ..UsageQuery::default() }, vec![]),
    ];
    for (query, expected) in table {
        assert_found(&*store, &query, &expected).await;
    }
}

async fn assert_found(store: &dyn Store, query: &UsageQuery, expected: &[&DailyUsage]) {
    let found = store.usage(query).await.unwrap();
    assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query:?}");
}

pub async fn usage_of_a_source_is_added_only_from_its_current_cursor(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = stored(&*store, &samples, "one").await;
    let counted = [CountedUsage { at: samples.time(), usage: used(10, 1, None) }];
    let first = increment(&session, &counted);
    add(&*store, &first).await.unwrap();
    assert_conflict(add(&*store, &first).await, &["shop/one"]);
    let stored = store.usage_cursors(&[session.id]).await.unwrap();
    let known = stored.first().unwrap();
    assert_eq!(stored.len(), 1);
    assert_eq!((&known.source, &known.cursor), (&first.source, &first.to));
    let next = UsageIncrement {
        from: Some(known.cursor.clone()),
        to: cursor(20, samples.time()),
        counted: Vec::new(),
        ..first.clone()
    };
    add(&*store, &next).await.unwrap();
    assert_conflict(add(&*store, &next).await, &["shop/one"]);
    assert_eq!(total(&*store, &session).await, Some(used(10, 1, None)));
    assert_eq!(store.usage_cursors(&[]).await.unwrap(), []);
}

pub async fn usage_stays_when_its_session_is_removed(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = stored(&*store, &samples, "one").await;
    let counted = [CountedUsage { at: samples.time(), usage: used(10, 1, None) }];
    let added = increment(&session, &counted);
    add(&*store, &added).await.unwrap();
    store.commit(commit([Change::RemoveSession(session.id)])).await.unwrap();
    let expected = [daily(&session, counted[0].at, counted[0].usage)];
    assert_eq!(store.usage(&UsageQuery::default()).await.unwrap(), expected);
    assert_eq!(store.usage_cursors(&[session.id]).await.unwrap(), []);
    assert_refused(add(&*store, &added).await, segue_core::Kind::NotFound, &["session"]);
}
