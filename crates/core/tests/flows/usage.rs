//! Counting and adding up what sessions have used.

use jiff::SignedDuration;
use segue_core::api::UsageRequest;
use segue_core::flows::{SessionState, usage};
use segue_core::model::{
    Principal, Session, Signal, Usage, UsageGrouping, UsdAmount, VendorSessionId,
};
use segue_core::ports::{Change, Commit};
use segue_fakes::samples;

use crate::scene::FlowScene;

fn tokens(input: u64, output: u64) -> Option<Usage> {
    Some(Usage { input, output, ..Usage::default() })
}

/// Counts the session's usage, as its actor does.
async fn count(scene: &mut FlowScene) -> Option<Usage> {
    let session = scene.state.session.clone();
    let known = scene.ports.store.usage_cursors(&[session.id]).await.unwrap();
    let ids: Vec<VendorSessionId> =
        scene.state.bindings.iter().map(|it| it.vendor_session.clone()).collect();
    let scan = usage::read(&scene.ports, &session, &ids, known).unwrap();
    assert!(scan.error.is_none(), "{scan:?}");
    usage::record(&scene.ports, &mut scene.state, scan.increments).await.unwrap();
    scene.state.usage
}

#[tokio::test]
async fn only_new_reports_are_counted_and_another_daemon_counts_nothing_again() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    assert_eq!(count(&mut scene).await, None);
    scene.say("used a@10", "100 7");
    scene.say("used a@11", "100 7");
    assert_eq!(count(&mut scene).await, tokens(100, 7));
    assert_eq!(count(&mut scene).await, tokens(100, 7));
    scene.say("used b@20", "50 1");
    assert_eq!(count(&mut scene).await, tokens(150, 8));
    let id = scene.state.session.id;
    scene.state = SessionState::load(&scene.ports, id).await.unwrap();
    assert_eq!(count(&mut scene).await, tokens(150, 8));
    let session = &scene.state.session;
    assert!(usage::is_behind(&scene.ports, session, &scene.id(), &[]));
    let known = scene.ports.store.usage_cursors(&[id]).await.unwrap();
    assert!(!usage::is_behind(&scene.ports, session, &scene.id(), &known));
    scene.say("used c@30", "1 1");
    assert!(usage::is_behind(&scene.ports, &scene.state.session, &scene.id(), &known));
}

#[tokio::test]
async fn scan_that_another_scan_has_overtaken_adds_nothing() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    scene.say("used a@10", "100 7");
    let session = scene.state.session.clone();
    let slow = usage::read(&scene.ports, &session, &[scene.id()], Vec::new()).unwrap();
    assert_eq!(count(&mut scene).await, tokens(100, 7));
    usage::record(&scene.ports, &mut scene.state, slow.increments).await.unwrap();
    assert_eq!(count(&mut scene).await, tokens(100, 7));
}

#[tokio::test]
async fn cost_of_a_process_is_counted_once_and_only_its_increase_is_added() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let amount = |dollars: f64| UsdAmount::from_dollars(dollars).unwrap();
    let known = |scene: &FlowScene| scene.state.usage.and_then(|usage| usage.cost_usd);
    for (reported, expected) in [(0.25, 0.25), (0.25, 0.25), (0.75, 0.75)] {
        scene.signal(Signal::Cost { total: amount(reported) }).await;
        assert_eq!(known(&scene), Some(amount(expected)));
    }
    // Another daemon reads the output of the process again.
    scene.state = SessionState::load(&scene.ports, scene.state.session.id).await.unwrap();
    scene.signal(Signal::Cost { total: amount(0.75) }).await;
    assert_eq!(known(&scene), Some(amount(0.75)));
    scene.say("used a@10", "100 7");
    let tokens_and_cost = Usage { cost_usd: Some(amount(0.75)), ..tokens(100, 7).unwrap() };
    assert_eq!(count(&mut scene).await, Some(tokens_and_cost));
}

#[tokio::test]
async fn reports_from_before_the_session_are_not_counted() {
    let mut scene = FlowScene::new();
    scene.state.session.created_at = samples::start() + SignedDuration::from_secs(15);
    scene.talk().await;
    scene.say("used old@10", "100 7");
    scene.say("used new@20", "50 1");
    assert_eq!(count(&mut scene).await, tokens(50, 1));
}

#[tokio::test]
async fn fork_adds_only_the_usage_after_it() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    scene.say("used a@10", "100 7");
    assert_eq!(count(&mut scene).await, tokens(100, 7));
    scene.show_conversation(VendorSessionId::new("fork")).await;
    scene.say("used a@10", "100 7");
    scene.say("used b@20", "50 1");
    assert_eq!(count(&mut scene).await, tokens(150, 8));
}

#[tokio::test]
async fn agent_sees_only_the_usage_that_it_may_reach() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    scene.say("used a@10", "100 7");
    count(&mut scene).await;
    let other = samples::session(7, "other");
    let create = Change::CreateSession(Box::new(other.clone()));
    let commit = Commit { changes: vec![create], events: Vec::new() };
    scene.ports.store.commit(commit).await.unwrap();
    let child = Session { parent: Some(scene.state.session.id), ..other.clone() };
    let request = UsageRequest { since: None, by: UsageGrouping::Vendor };
    let own = Principal::Agent(Box::new(scene.state.session.clone()));
    for (principal, rows) in [
        (Principal::User, 1),
        (own, 1),
        (Principal::Agent(Box::new(other)), 0),
        (Principal::Agent(Box::new(child)), 0),
    ] {
        let list = usage::list(&scene.ports, &principal, &request).await.unwrap();
        assert_eq!(list.usage.len(), rows, "{principal:?}");
    }
    let since = Some(samples::start() + SignedDuration::from_secs(11));
    let later = UsageRequest { since, ..request };
    let list = usage::list(&scene.ports, &Principal::User, &later).await.unwrap();
    assert_eq!((list.usage.len(), list.total.sessions), (0, 0));
}
