use super::super::samples::{Sample, numbers_and_texts};
use super::*;

async fn news(follower: &mut Follower) -> News {
    follower.changed().await.unwrap();
    follower.news().unwrap()
}

#[tokio::test]
async fn each_new_turn_is_returned_once_with_its_number() {
    let sample = Sample::new();
    (1..=20).for_each(|number| sample.say(&number.to_string(), number));
    let (mut follower, turns) = Follower::start(sample.reading(), 2).unwrap();
    assert_eq!(numbers_and_texts(&turns), [(Some(19), "19"), (Some(20), "20")]);
    sample.say("21", 21);
    assert_eq!(numbers_and_texts(&news(&mut follower).await.turns), [(Some(21), "21")]);
    assert!(follower.news().unwrap().turns.is_empty());
    sample.say("22", 22);
    sample.say("23", 23);
    assert_eq!(
        numbers_and_texts(&news(&mut follower).await.turns),
        [(Some(22), "22"), (Some(23), "23")]
    );
}

#[tokio::test]
async fn repeated_text_is_returned_as_a_new_turn() {
    let sample = Sample::new();
    sample.say("first", 1);
    (0..12).for_each(|_| sample.say("yes", 2));
    let (mut follower, _) = Follower::start(sample.reading(), 0).unwrap();
    // Among equal turns, the last eight do not show whether twelve or thirteen exist. So add turns
    // that differ.
    sample.say("no", 3);
    sample.say("no", 3);
    let news = news(&mut follower).await;
    assert_eq!(numbers_and_texts(&news.turns), [(Some(14), "no"), (Some(15), "no")]);
    sample.say("no", 3);
    follower.changed().await.unwrap();
    assert_eq!(numbers_and_texts(&follower.news().unwrap().turns), [(Some(16), "no")]);
}

#[tokio::test]
async fn turn_in_a_new_transcript_or_a_completed_line_is_returned() {
    let sample = Sample::new();
    let (mut follower, turns) = Follower::start(sample.reading(), 10).unwrap();
    assert_eq!(turns, []);
    sample.say("one", 1);
    assert_eq!(numbers_and_texts(&news(&mut follower).await.turns), [(Some(1), "one")]);
    sample.add("{\"type\":\"user\",\"text\":\"tw");
    assert_eq!(news(&mut follower).await.turns, []);
    sample.add("o\",\"at\":\"2026-01-02T03:04:05Z\"}\n");
    assert_eq!(numbers_and_texts(&news(&mut follower).await.turns), [(Some(2), "two")]);
}

#[tokio::test]
async fn replaced_file_continues_after_the_last_common_turn() {
    let sample = Sample::new();
    sample.replace(&[("one", 1), ("two", 2)]);
    let (mut follower, _) = Follower::start(sample.reading(), 10).unwrap();
    sample.replace(&[("one", 1), ("two", 2), ("three", 3)]);
    assert_eq!(numbers_and_texts(&news(&mut follower).await.turns), [(Some(3), "three")]);
    // The last turns were removed, and another one was added.
    sample.replace(&[("one", 1), ("other", 4)]);
    let changed = news(&mut follower).await;
    assert!(!changed.rewritten);
    assert_eq!(numbers_and_texts(&changed.turns), [(Some(2), "other")]);
    sample.replace(&[("one", 1)]);
    assert_eq!(news(&mut follower).await.turns, []);
    sample.say("again", 5);
    assert_eq!(numbers_and_texts(&news(&mut follower).await.turns), [(Some(2), "again")]);
}

#[tokio::test]
async fn transcript_without_known_turns_is_reported_as_rewritten() {
    let sample = Sample::new();
    sample.replace(&[("one", 1), ("two", 2)]);
    let (mut follower, _) = Follower::start(sample.reading(), 10).unwrap();
    sample.replace(&[("summary", 3), ("three", 4)]);
    let changed = news(&mut follower).await;
    assert!(changed.rewritten);
    assert_eq!(numbers_and_texts(&changed.turns), [(Some(1), "summary"), (Some(2), "three")]);
    sample.say("four", 5);
    let changed = news(&mut follower).await;
    assert!(!changed.rewritten);
    assert_eq!(numbers_and_texts(&changed.turns), [(Some(3), "four")]);
}

#[test]
fn changes_of_database_files_concern_it_and_other_changes_do_not() {
    let bases = [PathBuf::from("/home/store.db")];
    let at = |path: &str| FolderChange::At { path: PathBuf::from(path), gone: false };
    for path in ["/home/store.db", "/home/store.db-wal", "/home"] {
        assert!(concerns(&at(path), &bases), "{path}");
    }
    for path in ["/home/other.db", "/elsewhere/store.db", "/home/stor"] {
        assert!(!concerns(&at(path), &bases), "{path}");
    }
    assert!(concerns(&FolderChange::Overflow, &bases));
}
