//! Deliveries, the issues on which agents work, and replies.

use std::collections::BTreeMap;

use jiff::Timestamp;
use segue_core::Kind;
use segue_core::model::{
    ActionOutcome, Delivery, DeliveryAction, DeliveryHeaders, DeliveryId, DeliveryStateKind,
    DeliverySummary, ForgeReply, ForgeSubject, IssueKey, IssueRef, PolledList, PolledRepository,
    ReplyId, ReplyState, ReplyTarget, RepositoryAddress, RepositoryId, SourceName,
    StoredDeliveryState, TaskId, TrackedIssue, TriggerKind,
};
use segue_core::ports::{Change, DeliveryQuery};
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict, assert_refused, commit};

fn source(name: &str) -> SourceName {
    SourceName::parse(name).unwrap()
}

fn delivery(number: u8, of: &str) -> Delivery {
    let body = vec![0, 0xff, number];
    let summary = DeliverySummary {
        id: DeliveryId::new(Uuid::from_u128(number.into())),
        source: source(of),
        forge_id: (number > 1).then(|| format!("id-{number}")),
        event: Some("issues".to_owned()),
        received_at: Timestamp::from_second(number.into()).unwrap(),
        bytes: u32::try_from(body.len()).unwrap(),
        state: StoredDeliveryState::Received,
        has_content: true,
    };
    let headers = DeliveryHeaders::new([("x-event", &b"issues"[..])]);
    Delivery { summary, headers, body, digest: format!("digest-{number}") }
}

fn add(delivery: &Delivery) -> Change {
    Change::AddDelivery(Box::new(delivery.clone()))
}

pub async fn delivery_is_stored_once_for_each_id_and_each_body(backend: &impl Backend) {
    let store = backend.open().await;
    let (first, second) = (delivery(1, "hub"), delivery(2, "hub"));
    store.commit(commit([add(&first), add(&second)])).await.unwrap();
    let stored = backend.open().await.delivery(first.summary.id).await.unwrap();
    assert_eq!(stored, Some(first.clone()));
    let known = store.known_delivery(&source("hub"), Some("id-2"), "other").await.unwrap();
    assert_eq!(known, Some(second.summary.id));
    let known = store.known_delivery(&source("hub"), Some("id-9"), "digest-1").await.unwrap();
    assert_eq!(known, Some(first.summary.id));
    assert_eq!(store.known_delivery(&source("hub"), None, "other").await.unwrap(), None);

    let mut same_id = delivery(3, "hub");
    same_id.summary.forge_id = Some("id-2".to_owned());
    assert_conflict(store.commit(commit([add(&same_id)])).await, &[&second.summary.id.to_string()]);
    let mut same_body = delivery(3, "hub");
    same_body.digest = "digest-1".to_owned();
    assert_conflict(
        store.commit(commit([add(&same_body)])).await,
        &[&first.summary.id.to_string()],
    );
    let mut elsewhere = same_body;
    elsewhere.summary.source = source("lab");
    store.commit(commit([add(&elsewhere)])).await.unwrap();
}

pub async fn deliveries_are_selected_by_state_source_time_and_id(backend: &impl Backend) {
    let store = backend.open().await;
    let all = [delivery(1, "hub"), delivery(2, "lab"), delivery(3, "hub")];
    store.commit(commit(all.iter().map(add))).await.unwrap();
    let task = TaskId::new(Uuid::from_u128(9));
    let outcome = ActionOutcome::TaskAdded { task };
    let action = DeliveryAction { trigger: TriggerKind::IssueAssigned, agent: None, outcome };
    let state = StoredDeliveryState::Processed { actions: vec![action] };
    let processed = all[0].summary.id;
    let set = Change::SetDelivery { delivery: processed, state: state.clone() };
    store.commit(commit([set])).await.unwrap();
    assert_eq!(store.delivery(processed).await.unwrap().unwrap().summary.state, state);

    let default = DeliveryQuery::default;
    let received = Some(vec![DeliveryStateKind::Received]);
    let before = Some(Timestamp::from_second(3).unwrap());
    let table: [(DeliveryQuery, &[usize]); 7] = [
        (default(), &[0, 1, 2]),
        (DeliveryQuery { states: received.clone(), ..default() }, &[1, 2]),
        (DeliveryQuery { source: Some(source("hub")), ..default() }, &[0, 2]),
        (DeliveryQuery { before, ..default() }, &[0, 1]),
        (DeliveryQuery { newest: Some(2), ..default() }, &[1, 2]),
        (DeliveryQuery { states: received, oldest: Some(1), ..default() }, &[1]),
        (DeliveryQuery { id_prefix: Some(all[2].summary.id.to_string()), ..default() }, &[2]),
    ];
    for (query, expected) in table {
        let found = store.deliveries(&query).await.unwrap();
        let found: Vec<DeliveryId> = found.into_iter().map(|it| it.id).collect();
        let expected: Vec<DeliveryId> = expected.iter().map(|it| all[*it].summary.id).collect();
        assert_eq!(found, expected, "{query:?}");
    }

    store.commit(commit([Change::RemoveDelivery(processed)])).await.unwrap();
    assert_eq!(store.delivery(processed).await.unwrap(), None);
    let gone = Change::SetDelivery { delivery: processed, state: StoredDeliveryState::Received };
    assert_refused(store.commit(commit([gone])).await, Kind::NotFound, &[]);
    let gone = Change::RemoveDelivery(processed);
    assert_refused(store.commit(commit([gone])).await, Kind::NotFound, &[]);
}

pub async fn content_of_a_finished_delivery_is_removed_and_its_keys_stay(backend: &impl Backend) {
    let store = backend.open().await;
    let (done, waiting) = (delivery(2, "hub"), delivery(3, "hub"));
    store.commit(commit([add(&done), add(&waiting)])).await.unwrap();
    let (id, state) = (done.summary.id, StoredDeliveryState::Ignored { reason: "ping".into() });
    store.commit(commit([Change::SetDelivery { delivery: id, state }])).await.unwrap();
    let remove = |it: &Delivery| Change::RemoveDeliveryContent(it.summary.id);
    store.commit(commit([remove(&done), remove(&waiting)])).await.unwrap();
    let stored = backend.open().await.delivery(id).await.unwrap().unwrap();
    assert!(!stored.summary.has_content && stored.body.is_empty(), "{stored:?}");
    assert_eq!((stored.headers.iter().count(), stored.summary.bytes), (0, 3));
    assert_eq!(store.delivery(waiting.summary.id).await.unwrap(), Some(waiting.clone()));
    assert_conflict(store.commit(commit([add(&done)])).await, &[&id.to_string()]);
    let default = DeliveryQuery::default;
    let table = [
        (DeliveryQuery { has_content: Some(true), ..default() }, waiting.summary.id),
        (DeliveryQuery { older_than: Some(waiting.summary.id), ..default() }, id),
    ];
    for (query, expected) in table {
        let found = store.deliveries(&query).await.unwrap();
        assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), [expected], "{query:?}");
    }
}

pub async fn polled_repository_is_replaced_by_its_newest_record(backend: &impl Backend) {
    let store = backend.open().await;
    let polled = |of: &str| PolledRepository {
        source: source(of),
        address: RepositoryAddress { id: u64::MAX, full_name: "team/app".to_owned() },
        issues: PolledList::default(),
        pulls: PolledList::default(),
        runs: BTreeMap::new(),
    };
    let put = |it: &PolledRepository| Change::PutPolledRepository(Box::new(it.clone()));
    store.commit(commit([put(&polled("hub")), put(&polled("lab"))])).await.unwrap();
    let mut newer = polled("hub");
    newer.pulls.changed_at = Some(Timestamp::from_second(5).unwrap());
    store.commit(commit([put(&newer)])).await.unwrap();
    let found = backend.open().await.polled_repositories(&source("hub")).await.unwrap();
    assert_eq!(found, [newer]);
}

pub async fn tracked_issue_is_replaced_by_its_newest_record(backend: &impl Backend) {
    let store = backend.open().await;
    let issue = |of: &str, subject| TrackedIssue {
        source: source(of),
        address: RepositoryAddress { id: u64::MAX, full_name: "team/app".to_owned() },
        subject,
        repository: RepositoryId::of_folder("/src/app".as_ref()),
        issue: IssueRef::parse("7").unwrap(),
        closed_at: None,
        needs_cleanup: false,
        seen_until: None,
        pulls: Vec::new(),
    };
    let put = |issue: &TrackedIssue| Change::PutTrackedIssue(Box::new(issue.clone()));
    let (open, pull) = (issue("hub", ForgeSubject::Issue(7)), issue("hub", ForgeSubject::Pull(7)));
    let other = issue("lab", ForgeSubject::Issue(7));
    store.commit(commit([put(&open), put(&pull), put(&other)])).await.unwrap();
    let closed_at = Some(Timestamp::from_second(5).unwrap());
    let closed = TrackedIssue { closed_at, needs_cleanup: true, pulls: vec![12], ..open };
    store.commit(commit([put(&closed)])).await.unwrap();
    let hub = backend.open().await.tracked_issues(Some(&source("hub"))).await.unwrap();
    assert!(hub.len() == 2 && hub.contains(&closed) && hub.contains(&pull), "{hub:?}");
    store.commit(commit([Change::RemoveTrackedIssue(pull.key())])).await.unwrap();
    assert_eq!(store.tracked_issues(None).await.unwrap(), [closed, other]);
}

pub async fn reply_waits_until_it_is_written(backend: &impl Backend) {
    let store = backend.open().await;
    let reply = |number: u128| ForgeReply {
        id: ReplyId::new(Uuid::from_u128(number)),
        task: TaskId::new(Uuid::from_u128(9)),
        target: ReplyTarget {
            source: source("hub"),
            repository: RepositoryAddress { id: 1, full_name: "team/app".to_owned() },
            subject: ForgeSubject::Issue(7),
        },
        text: "Done.".to_owned(),
        state: ReplyState::Waiting,
        attempts: 0,
        error: None,
        created_at: Timestamp::from_second(1).unwrap(),
    };
    let add = |reply: ForgeReply| Change::AddReply(Box::new(reply));
    store.commit(commit([add(reply(2)), add(reply(1))])).await.unwrap();
    assert_eq!(store.waiting_replies().await.unwrap(), [reply(2), reply(1)]);
    let written = ForgeReply { state: ReplyState::Written, attempts: 1, ..reply(2) };
    let set = |reply: ForgeReply| Change::SetReply(Box::new(reply));
    store.commit(commit([set(written)])).await.unwrap();
    assert_eq!(backend.open().await.waiting_replies().await.unwrap(), [reply(1)]);
    assert_refused(store.commit(commit([set(reply(3))])).await, Kind::NotFound, &[]);
}

pub async fn conversations_about_an_issue_are_those_of_all_agents(backend: &impl Backend) {
    let store = backend.open().await;
    let samples = Samples::default();
    let (repository, issue) =
        (RepositoryId::of_folder("/src/app".as_ref()), IssueRef::parse("4").unwrap());
    let mut expected = Vec::new();
    for (agent, number) in [("coder", "4"), ("tester", "4"), ("coder", "41")] {
        let session = samples.session("shop", &format!("{agent}-{number}"));
        let key = IssueKey {
            fleet: session.fleet.clone(),
            agent: segue_core::model::AgentName::parse(agent).unwrap(),
            repository: repository.clone(),
            issue: IssueRef::parse(number).unwrap(),
        };
        let id = session.id;
        let create = Change::CreateSession(Box::new(session));
        let set = Change::SetIssueSession { key: key.clone(), session: Some(id) };
        store.commit(commit([create, set])).await.unwrap();
        if number == "4" {
            expected.push((key, id));
        }
    }
    assert_eq!(store.sessions_of_issue(&repository, &issue).await.unwrap(), expected);
}
