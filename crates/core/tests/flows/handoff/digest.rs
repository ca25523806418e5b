//! A conversation as one message.

use segue_core::flows::handoff::{
    DigestMessage, HandoffOptions, HandoffPlan, HandoffTarget, digest_message,
};
use segue_core::model::{Environment, FolderState, Status, VendorId, WaitingFor};

use super::{carry_out, conversation, plan, plan_with, rewrite, source, source_of, talked, target};
use crate::scene::FlowScene;

fn digest(scene: &FlowScene, plan: &HandoffPlan) -> DigestMessage {
    let source = plan.source.conversation.as_ref().unwrap();
    digest_message(&scene.ports, plan, source).unwrap()
}

#[tokio::test]
async fn digest_has_the_conversation_the_folder_and_the_open_question() {
    let mut scene = talked().await;
    let folder = FolderState {
        path: "/work".to_owned(),
        branch: Some("main".to_owned()),
        commits: vec!["begin".to_owned()],
        dirty: vec!["notes.md".to_owned()],
        more_dirty: 2,
    };
    scene.world.machine.set_folder_state(folder);
    scene.state.session.status = Status::Waiting(WaitingFor::Permission);
    let text = digest(&scene, &plan(&scene).await).text.unwrap();
    let parts = [
        "remember amber",
        "noted",
        "another agent, Tool,",
        "Branch: main",
        "- begin",
        "- notes.md",
        "- and 2 more",
        "it waited for an answer",
    ];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[tokio::test]
async fn secrets_of_the_request_are_removed_from_the_conversation_and_from_the_folder() {
    let scene = talked().await;
    rewrite(&scene, &[("user", "use swordfish99")]);
    let folder = FolderState {
        branch: Some("swordfish99".to_owned()),
        commits: vec!["add swordfish99".to_owned()],
        dirty: vec!["swordfish99.txt".to_owned()],
        ..FolderState::default()
    };
    scene.world.machine.set_folder_state(folder);
    let secret = ("SHOP_PASSWORD".to_owned(), "swordfish99".to_owned());
    let vendor = (VendorId::new("other"), None);
    let target = HandoffTarget::new(&scene.ports, vendor, None, Environment::new([secret]));
    let plan = HandoffPlan::to_new_session(source(&scene).await, target.unwrap());
    let digest = digest(&scene, &plan);
    let text = digest.text.unwrap();
    assert!(!text.contains("swordfish99"), "{text}");
    assert_eq!(text.matches("[redacted]").count(), 4, "{text}");
    assert_eq!(digest.excerpt.removed.total(), 1, "those of the folder are not counted");
}

#[tokio::test]
async fn digest_of_a_long_conversation_keeps_to_the_budget_and_names_the_first_task() {
    let scene = talked().await;
    let long = "word ".repeat(200);
    let lines = [("user", "the task"), ("agent", &long), ("user", &long), ("agent", "the end")];
    rewrite(&scene, &lines);
    let options = HandoffOptions { budget: Some(1_500), ..HandoffOptions::default() };
    let text = digest(&scene, &plan_with(&scene, options).await).text.unwrap();
    assert!(text.chars().count() <= 1_500, "{}", text.chars().count());
    assert!(text.contains("First task:\nthe task") && text.contains("the end"), "{text}");
}

#[tokio::test]
async fn earlier_session_gets_only_the_new_turns_and_no_task() {
    let scene = talked().await;
    let there = carry_out(&scene, &plan(&scene).await).await;
    let path = source_of(&scene, &there).await.conversation.unwrap().transcript;
    let long = "word ".repeat(300);
    scene.world.disk.append(path, format!("user@20: {long}\nagent@25: {long}\nuser@26: done\n"));
    let options = || HandoffOptions { budget: Some(1_500), ..HandoffOptions::default() };
    let (source, target) = (source_of(&scene, &there).await, target(&scene, "tool"));
    let mut back = HandoffPlan::new(&scene.ports, source, target, options()).await.unwrap();
    let text = digest(&scene, &back).text.unwrap();
    assert!(!text.contains("remember amber") && text.contains("done"), "{text}");
    back.earlier = None;
    let text = digest(&scene, &back).text.unwrap();
    assert!(text.contains("First task:\nremember amber"), "a new session needs it: {text}");
}

#[tokio::test]
async fn conversation_without_words_has_no_digest() {
    let scene = talked().await;
    rewrite(&scene, &[("call 1", "{}"), ("result 1", "x")]);
    let plan = plan(&scene).await;
    assert_eq!(digest(&scene, &plan).text, None);
    let source = conversation(&scene).await;
    scene.world.calls.fail("files.read", 1);
    digest_message(&scene.ports, &plan, &source).unwrap_err();
}
