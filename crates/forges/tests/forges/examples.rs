//! The deliveries of GitHub in the npm package `@octokit/webhooks-examples`, which other people
//! wrote. `scripts/payloads` installs it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::DeliveryReading;
use serde::Deserialize;
use serde_json::Value;

use crate::support::{SECRET, TestDelivery, bytes, words};

#[derive(Deserialize)]
struct ExampleEvent {
    name: String,
    examples: Vec<Value>,
}

fn examples() -> Vec<ExampleEvent> {
    let folder = std::env::var_os("SEGUE_TEST_PAYLOADS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/payloads"),
        PathBuf::from,
    );
    let file = folder.join("node_modules/@octokit/webhooks-examples/api.github.com/index.json");
    let text = fs::read(&file);
    let text =
        text.unwrap_or_else(|error| panic!("run `make payloads`: {}: {error}", file.display()));
    serde_json::from_slice(&text).unwrap()
}

/// The readings of every event and action that has a trigger, with the number of examples.
const TRIGGERS: [(&str, &str, &str, usize); 17] = [
    ("check_suite", "completed", "ci.succeeded", 3),
    ("check_suite", "completed", "ignored", 1),
    ("issue_comment", "created", "issue.commented", 5),
    ("issues", "assigned", "issue.assigned", 3),
    ("issues", "labeled", "issue.labeled", 2),
    ("issues", "reopened", "issue.reopened", 1),
    ("ping", "", "ping", 4),
    ("pull_request", "closed", "pull.closed", 2),
    ("pull_request", "opened", "pull.opened", 4),
    ("pull_request", "ready_for_review", "pull.opened", 3),
    ("pull_request", "review_requested", "pull.review_requested", 1),
    ("pull_request", "synchronize", "pull.synchronized", 1),
    ("pull_request_review", "submitted", "pull.review_submitted", 3),
    ("pull_request_review_comment", "created", "pull.commented", 3),
    ("push", "", "push", 2),
    ("status", "", "ci.succeeded", 4),
    ("workflow_run", "completed", "ci.succeeded", 2),
];

#[test]
fn every_example_is_verified_and_read_as_the_table_says() {
    let mut found: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    let mut count = 0;
    for event in examples() {
        for example in &event.examples {
            count += 1;
            let delivery = TestDelivery::signed("github", &event.name, bytes(example));
            assert_eq!(delivery.verify(SECRET), Ok(()), "{}", event.name);
            let reading = delivery.read();
            let reading =
                reading.unwrap_or_else(|error| panic!("{}: {error} {example}", event.name));
            let action = example["action"].as_str().unwrap_or_default().to_owned();
            *found.entry((event.name.clone(), action, words(&reading))).or_default() += 1;
        }
    }
    assert_eq!(count, 329);
    let listed = |(event, action, reading, count): &(&str, &str, &str, usize)| {
        ((event.to_string(), action.to_string(), reading.to_string()), *count)
    };
    let expected: BTreeMap<_, _> = TRIGGERS.iter().map(listed).collect();
    let is_listed =
        |key: &(String, String, String)| key.2 != "ignored" || expected.contains_key(key);
    let found: BTreeMap<_, _> = found.into_iter().filter(|(key, _)| is_listed(key)).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_event_of_an_example_has_actor_repository_and_object() {
    for event in examples() {
        for example in &event.examples {
            let delivery = TestDelivery::signed("github", &event.name, bytes(example));
            let DeliveryReading::Events(events) = delivery.read().unwrap() else { continue };
            for read in events {
                let name = &event.name;
                assert!(read.actor.is_some(), "{name}");
                assert!(read.repository.clone_url.is_some(), "{name}");
                assert_eq!(read.repository.full_name, example["repository"]["full_name"], "{name}");
                assert_eq!(read.repository.id, example["repository"]["id"], "{name}");
                let has_object = read.issue.is_some()
                    || read.pull.is_some()
                    || read.ci.is_some()
                    || read.push.is_some();
                assert!(has_object, "{name}");
                assert!(read.dedupe_key().is_some(), "{name}");
                let json = serde_json::to_string(&read).unwrap();
                assert_eq!(
                    serde_json::from_str::<segue_core::model::ForgeEvent>(&json).unwrap(),
                    read
                );
            }
        }
    }
}
