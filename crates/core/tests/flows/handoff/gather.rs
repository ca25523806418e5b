//! The newest turns that fit into a budget, cleaned and without secrets.

use jiff::{SignedDuration, Timestamp};
use segue_core::flows::handoff::{ConversationExcerpt, TransferLimit, gather};
use segue_core::model::{Role, Turn};
use segue_core::rules::redaction::KnownSecrets;
use segue_fakes::{FakeVendor, Storage, samples};

use super::{conversation, rewrite, talked};
use crate::scene::FlowScene;

fn within(budget: usize) -> TransferLimit {
    TransferLimit { budget, since: None }
}

fn since(budget: usize, seconds: i64) -> TransferLimit {
    TransferLimit { budget, since: Some(at(seconds)) }
}

fn at(seconds: i64) -> Timestamp {
    samples::start() + SignedDuration::from_secs(seconds)
}

async fn gathered(scene: &FlowScene, limit: TransferLimit) -> ConversationExcerpt {
    let source = conversation(scene).await;
    gather(&scene.ports, &source, limit, &KnownSecrets::default()).unwrap()
}

fn texts(excerpt: &ConversationExcerpt) -> Vec<&str> {
    excerpt.turns.iter().map(|turn| turn.text.as_str()).collect()
}

#[tokio::test]
async fn conversation_that_fits_is_gathered_whole() {
    let scene = talked().await;
    let all = gathered(&scene, within(1_000)).await;
    assert_eq!(texts(&all), ["remember amber", "noted"]);
    assert_eq!((all.is_cut, all.left_out), (false, Some(0)));
    assert_eq!((all.has_messages(), all.characters()), (true, 19));
    assert_eq!(all.task.as_ref().map(|task| task.text.as_str()), Some("remember amber"));
}

/// A conversation of ten turns of 400 characters.
async fn long() -> FlowScene {
    let scene = talked().await;
    let texts: Vec<String> = (0..10).map(|number| format!("{number}").repeat(400)).collect();
    let who = |number: usize| if number.is_multiple_of(2) { "user" } else { "agent" };
    let lines: Vec<(&str, &str)> =
        texts.iter().enumerate().map(|(number, text)| (who(number), text.as_str())).collect();
    rewrite(&scene, &lines);
    scene
}

#[tokio::test]
async fn conversation_that_is_too_long_keeps_its_task_and_its_newest_turns() {
    let scene = long().await;
    let part = gathered(&scene, within(2_000)).await;
    assert!(part.is_cut && part.characters() <= 2_000);
    let texts = texts(&part);
    assert!(texts[0].starts_with("000") && texts[0].contains("left out"), "{}", texts[0]);
    assert!(texts.last().unwrap().starts_with("999"));
    assert_eq!(part.left_out, Some(10 - part.turns.len() as u64));
}

#[tokio::test]
async fn omitted_turns_of_a_transcript_of_many_megabytes_are_not_counted() {
    let scene = long().await;
    for (length, is_counted) in [(16 << 20, true), ((16 << 20) + 1, false)] {
        scene.world.files.pretend_length(scene.transcript(), length);
        let part = gathered(&scene, within(2_000)).await;
        assert_eq!(part.left_out.is_some(), is_counted, "{length}");
    }
}

#[tokio::test]
async fn only_turns_after_the_handoff_are_gathered_and_counted() {
    let scene = talked().await;
    let lines = [("user@1", "old"), ("agent@2", "old"), ("user@3", "new"), ("agent@4", "newest")];
    rewrite(&scene, &lines);
    let part = gathered(&scene, since(1_000, 2)).await;
    assert_eq!((texts(&part), part.left_out), (vec!["new", "newest"], Some(0)));
    assert_eq!(part.task.as_ref().map(|it| it.text.as_str()), Some("old"), "for the digest");
    assert!(!part.is_cut);
    let none = gathered(&scene, since(1_000, 4)).await;
    assert!(!none.has_messages());
}

#[tokio::test]
async fn turns_after_the_handoff_that_do_not_fit_are_counted_without_the_older_ones() {
    let scene = talked().await;
    let long = "x".repeat(400);
    let lines = ["user@1", "agent@2", "user@3", "agent@4", "user@5", "agent@6"];
    let lines: Vec<(&str, &str)> = lines.iter().map(|who| (*who, long.as_str())).collect();
    rewrite(&scene, &lines);
    let part = gathered(&scene, since(1_000, 2)).await;
    // Four turns are new. The first task is not carried, because the target has it.
    let [notice, carried] = &texts(&part)[..] else { panic!("{:?}", part.turns) };
    assert_eq!((*carried, part.is_cut), (long.as_str(), true));
    assert!(notice.starts_with("[3 turns of this conversation are left out"), "{notice}");
    assert_eq!(part.left_out, Some(3), "the notice is no turn of the conversation");
}

#[tokio::test]
async fn turns_without_a_time_get_that_of_the_first_message_or_of_now() {
    let scene = talked().await;
    let times = async || {
        let part = gathered(&scene, within(1_000)).await;
        part.turns.iter().map(|turn: &Turn| turn.at).collect::<Vec<_>>()
    };
    scene.world.clock.advance(SignedDuration::from_secs(60));
    rewrite(&scene, &[("user@7", "hi"), ("agent@", "hello")]);
    assert_eq!(times().await, [Some(at(7)), Some(at(7))]);
    rewrite(&scene, &[("agent@", "hello")]);
    assert_eq!(times().await, [Some(at(60))], "there is no first message");
}

#[tokio::test]
async fn tool_ids_are_made_from_the_id_of_the_conversation() {
    let scene = talked().await;
    rewrite(&scene, &[("user", "list"), ("call strange/1", "{}"), ("result strange/1", "a")]);
    let part = gathered(&scene, within(1_000)).await;
    let plain: String = scene.id().as_str().chars().filter(char::is_ascii_alphanumeric).collect();
    let expected = format!("call_{}_1", &plain[plain.len() - 8..]);
    let tools: Vec<_> = part.turns.iter().filter_map(|it| it.tool.as_ref()).collect();
    assert!(tools.len() == 2 && tools.iter().all(|tool| tool.id == expected), "{tools:?}");
}

#[tokio::test]
async fn known_secrets_and_those_that_a_later_turn_identifies_are_removed() {
    let scene = talked().await;
    let lines = [
        ("user", "log in with swordfish99 as q7Xb2LmZ9vTr4KpW"),
        ("agent", "what is q7Xb2LmZ9vTr4KpW?"),
        ("user", "API_TOKEN=q7Xb2LmZ9vTr4KpW"),
    ];
    rewrite(&scene, &lines);
    let mut known = KnownSecrets::default();
    known.add_environment([("SHOP_PASSWORD", "swordfish99")].into_iter());
    let source = conversation(&scene).await;
    let part = gather(&scene.ports, &source, within(1_000), &known).unwrap();
    let task = part.task.as_ref().unwrap().text.as_str();
    for text in texts(&part).into_iter().chain([task]) {
        assert!(!text.contains("swordfish99") && !text.contains("q7Xb2LmZ"), "{text}");
    }
    assert_eq!(task, "log in with [redacted] as [redacted]");
    assert_eq!(part.removed.total(), 4, "the task is counted as a turn only: {:?}", part.removed);
}

#[tokio::test]
async fn secret_in_a_turn_that_is_cut_is_removed_before_the_cut_and_counted() {
    let scene = talked().await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    let long = format!("{}{secret}{}", "a ".repeat(480), "b ".repeat(3_000));
    rewrite(&scene, &[("user", "hi"), ("agent", &long)]);
    let part = gathered(&scene, within(2_000)).await;
    assert!(texts(&part).iter().all(|text| !text.contains("ghp_")), "{:?}", texts(&part));
    assert_eq!(part.removed.by_kind().get("github-token"), Some(&1));
}

#[tokio::test]
async fn only_tools_and_summaries_are_no_messages() {
    let scene = talked().await;
    rewrite(&scene, &[("call 1", "{}"), ("result 1", "a")]);
    let part = gathered(&scene, within(1_000)).await;
    assert!(!part.has_messages() && part.turns.len() == 2);
    rewrite(&scene, &[("summary", "what was before")]);
    let part = gathered(&scene, within(1_000)).await;
    assert_eq!(part.turns[0].role, Role::User, "every vendor takes a message of the user");
    assert!(part.has_messages());
}

#[tokio::test]
async fn conversation_that_cannot_be_read_is_an_error() {
    let scene = talked().await;
    let source = conversation(&scene).await;
    let limit = within(1_000);
    // The turns are read first, then the first message.
    for nth in [1, 2] {
        scene.world.calls.fail("files.read", nth);
        gather(&scene.ports, &source, limit, &KnownSecrets::default()).unwrap_err();
    }
    let vendor = FakeVendor { storage: Storage::Unreadable, ..FakeVendor::default() };
    scene.world.vendors.put(vendor);
    let vendor = scene.ports.vendors.of(&scene.state.session).unwrap();
    let source = segue_core::flows::handoff::SourceConversation { vendor, ..source };
    let error = gather(&scene.ports, &source, limit, &KnownSecrets::default()).unwrap_err();
    assert_eq!(error.message, "Segue cannot read transcripts of `tool`");
}
