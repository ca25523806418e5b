//! Deliveries of forges. A damaged body is an error or is read, and every text has a maximum length.

use jiff::Timestamp;
use segue_core::model::{
    DeliveryHeaders, DeliveryReading, DeliveryRequest, ForgeId, LONGEST_BODY_BYTES, MAX_LIST_ITEMS,
    SecretText,
};
use segue_core::ports::Forges as _;
use serde_json::Value;

use crate::corpus;

/// The events of GitHub that have triggers.
const HUB_EVENTS: [&str; 10] = [
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "workflow_run",
    "check_suite",
    "status",
    "delete",
    "push",
];

/// The events of Gitea and Forgejo that have triggers.
const GITEA_EVENTS: [&str; 12] = [
    "issues",
    "issue_assign",
    "issue_label",
    "issue_comment",
    "pull_request",
    "pull_request_sync",
    "pull_request_review_request",
    "pull_request_review_rejected",
    "workflow_run",
    "action_run_failure",
    "status",
    "push",
];

/// Returns recorded deliveries. GitHub's JSON is that of Gitea.
pub(super) fn samples(forge: &str) -> Vec<Vec<u8>> {
    let names = match forge {
        "gitlab" => ["gitlab-", "gitlab-"],
        _ => ["gitea-", "forgejo-"],
    };
    corpus::deliveries(&names)
}

pub(super) fn check(name: &str, bytes: &[u8]) {
    let forge = segue_forges::all().get(&ForgeId::new(name)).expect("a forge");
    let (header, events): (&str, &[&str]) = match name {
        "github" => ("x-github-event", &HUB_EVENTS),
        "gitlab" => ("x-gitlab-event", &["Issue Hook"]),
        "gitea" => ("x-gitea-event-type", &GITEA_EVENTS),
        _ => ("x-forgejo-event-type", &GITEA_EVENTS),
    };
    for event in events {
        let headers = DeliveryHeaders::new([(header, event.as_bytes())]);
        let received_at = Timestamp::UNIX_EPOCH;
        let request = DeliveryRequest { headers: &headers, body: bytes, received_at };
        let refused = forge.webhooks().verify(&request, &SecretText::new("secret"));
        assert!(refused.is_err(), "a delivery without a signature was accepted");
        if let Ok(DeliveryReading::Events(events)) = forge.webhooks().read(&request) {
            assert!((1..=4).contains(&events.len()), "{} events", events.len());
            for event in events {
                let _same = event.dedupe_key();
                let json = serde_json::to_value(&event).expect("JSON");
                assert!(is_bounded(&json), "an event is too long");
            }
        }
    }
}

fn is_bounded(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= LONGEST_BODY_BYTES,
        Value::Array(items) => items.len() <= MAX_LIST_ITEMS && items.iter().all(is_bounded),
        Value::Object(fields) => fields.values().all(is_bounded),
        _ => true,
    }
}
