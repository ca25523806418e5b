//! A conversation that comes back to a vendor goes on in the session that it had there.

use jiff::SignedDuration;
use segue_core::flows::handoff::{HandoffOptions, HandoffPlan};
use segue_core::model::{Session, VendorId};
use segue_core::ports::{Change, Commit};
use segue_fakes::{FakeVendor, samples, transcript_line};

use super::{carry_out, plan, plan_from, plan_with, source_of, talked, target, texts};
use crate::scene::FlowScene;

/// A conversation that went from `fox` of `tool` to a session of `other`, which has said more.
async fn gone_on() -> (FlowScene, Session) {
    let scene = talked().await;
    let there = carry_out(&scene, &plan(&scene).await).await;
    say(&scene, &there, "user@20", "and now").await;
    say(&scene, &there, "agent@25", "done").await;
    (scene, there)
}

async fn say(scene: &FlowScene, session: &Session, who: &str, text: &str) {
    let conversation = source_of(scene, session).await.conversation.unwrap();
    scene.world.disk.append(conversation.transcript, transcript_line(who, text));
}

fn earlier(plan: &HandoffPlan) -> Option<String> {
    plan.earlier.as_ref().map(|it| it.session.name.to_string())
}

#[tokio::test]
async fn only_the_new_turns_are_added_to_the_earlier_session() {
    let (scene, there) = gone_on().await;
    let back = plan_from(&scene, &there, "tool").await;
    let names: Vec<_> = back.sessions().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["fox-other", "fox"]);
    let target = back.target_session(&scene.ports).await.unwrap();
    assert!(!target.is_new && target.is_recorded);
    assert_eq!((target.session.id, &target.conversation), (scene.state.session.id, &scene.id()));
    carry_out(&scene, &back).await;
    let all = ["remember amber", "noted", "and now", "done"];
    assert_eq!(texts(&scene, &scene.state.session).await, all);
}

#[tokio::test]
async fn step_that_is_repeated_adds_nothing_twice() {
    let (scene, there) = gone_on().await;
    scene.world.clock.advance(SignedDuration::from_secs(60));
    carry_out(&scene, &plan_from(&scene, &there, "tool").await).await;
    let again = plan_from(&scene, &there, "tool").await;
    assert!(again.native_content(&scene.ports).unwrap().is_none());
    assert_eq!(texts(&scene, &scene.state.session).await.len(), 4);
}

#[tokio::test]
async fn conversation_that_comes_back_over_a_third_vendor_finds_its_first_session() {
    let (scene, there) = gone_on().await;
    scene.world.vendors.put(FakeVendor::taking_over("third"));
    let third = carry_out(&scene, &plan_from(&scene, &there, "third").await).await;
    say(&scene, &third, "user@40", "the end").await;
    let back = plan_from(&scene, &third, "tool").await;
    assert_eq!(earlier(&back).as_deref(), Some("fox"));
    carry_out(&scene, &back).await;
    let all = ["remember amber", "noted", "and now", "done", "the end"];
    assert_eq!(texts(&scene, &scene.state.session).await, all);
}

#[tokio::test]
async fn request_with_a_name_begins_a_new_session() {
    let (scene, there) = gone_on().await;
    let (source, target) = (source_of(&scene, &there).await, target(&scene, "tool"));
    let options = HandoffOptions { name: Some("owl".to_owned()), ..HandoffOptions::default() };
    let back = HandoffPlan::new(&scene.ports, source, target, options).await.unwrap();
    assert_eq!(earlier(&back), None);
    let session = carry_out(&scene, &back).await;
    assert_eq!(session.name.as_str(), "owl");
    assert_eq!(texts(&scene, &session).await.len(), 4, "all turns are new to it");
}

#[tokio::test]
async fn earlier_session_that_cannot_go_on_is_left_alone() {
    let (scene, there) = gone_on().await;
    let is_found = async || earlier(&plan_from(&scene, &there, "tool").await).is_some();
    assert!(is_found().await);
    scene.world.holders.kill(scene.launch());
    assert!(is_found().await, "it can be resumed");
    scene.world.disk.remove(scene.transcript());
    assert!(!is_found().await, "its transcript is only in its guard");
}

#[tokio::test]
async fn session_of_another_folder_or_vendor_is_no_earlier_session() {
    let (scene, there) = gone_on().await;
    let moved = Session { cwd: "/elsewhere".into(), ..there.clone() };
    assert_eq!(earlier(&plan_from(&scene, &moved, "tool").await), None);
    assert_eq!(earlier(&plan_from(&scene, &there, "other").await), None, "it is the source");
    scene.world.vendors.put(FakeVendor::taking_over("third"));
    assert_eq!(earlier(&plan_from(&scene, &there, "third").await), None);
}

#[tokio::test]
async fn removed_session_is_no_earlier_session() {
    let (scene, there) = gone_on().await;
    let other = Session { vendor: VendorId::new("tool"), ..samples::session(9, "owl") };
    let created = Change::CreateSession(Box::new(other.clone()));
    let commit = Commit { changes: vec![created], events: Vec::new() };
    scene.ports.store.commit(commit).await.unwrap();
    let removed = Change::RemoveSession(there.id);
    let commit = Commit { changes: vec![removed], events: Vec::new() };
    scene.ports.store.commit(commit).await.unwrap();
    let plan = plan_with(&scene, HandoffOptions::default()).await;
    assert_eq!(earlier(&plan), None, "the way back is gone with it");
}

#[tokio::test]
async fn turn_that_its_user_adds_to_the_earlier_session_meanwhile_counts_after_a_second_look() {
    let (scene, there) = gone_on().await;
    scene.world.clock.advance(SignedDuration::from_secs(60));
    let mut back = plan_from(&scene, &there, "tool").await;
    scene.say("user@30", "besides");
    back.earlier.as_mut().unwrap().read_again(&scene.ports).unwrap();
    let content = back.native_content(&scene.ports).unwrap();
    assert!(content.is_some(), "turns since the handoff are still carried");
    scene.world.calls.fail("files.facts", 1);
    back.earlier.as_mut().unwrap().read_again(&scene.ports).unwrap_err();
}

#[tokio::test]
async fn chain_that_cannot_be_read_is_an_error() {
    for call in ["store.handoffs_of", "store.session", "holders.find"] {
        let (scene, there) = gone_on().await;
        let (source, target) = (source_of(&scene, &there).await, target(&scene, "tool"));
        scene.world.calls.fail(call, 1);
        let plan = HandoffPlan::new(&scene.ports, source, target, HandoffOptions::default()).await;
        assert!(plan.is_err(), "{call}");
    }
}
