//! Deliveries that no forge sends: broken, nested, huge. Each is an error, and none is a crash.

use segue_core::model::{
    LONGEST_BODY_BYTES, LONGEST_NAME_BYTES, MAX_DELIVERY_BYTES, MAX_LIST_ITEMS,
};
use serde_json::json;

use crate::support::{FORGES, TestDelivery, bytes, form};

/// An event of each forge that has a trigger.
fn event_of(forge: &str) -> &'static str {
    if forge == "gitlab" { "Issue Hook" } else { "issues" }
}

fn delivery(forge: &'static str, body: impl Into<Vec<u8>>) -> TestDelivery {
    TestDelivery::signed(forge, event_of(forge), body)
}

#[test]
fn broken_bodies_are_errors_that_show_no_text() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!("{{\"object_kind\":\"issue\",\"x\":{open}{close}}}").into_bytes()
    };
    let bodies: [Vec<u8>; 9] = [
        Vec::new(),
        b"hush".to_vec(),
        b"\"hush\"".to_vec(),
        b"[]".to_vec(),
        b"{\"action\": \"hush".to_vec(),
        b"{\"action\": \"\xff\xfehush\"}".to_vec(),
        nested(10_000),
        nested(1_000_000),
        b"{} {}".to_vec(),
    ];
    for forge in FORGES {
        for body in &bodies {
            let error = delivery(forge, body.clone()).read().unwrap_err();
            assert!(!format!("{error:?}").contains("hush"), "{error:?}");
            assert_eq!(error.message, "the delivery cannot be read", "{forge}");
        }
    }
}

#[test]
fn event_without_its_object_is_an_error() {
    let table = [
        ("github", "issues", json!({ "action": "closed" })),
        ("github", "issues", json!({ "action": "closed", "issue": { "number": 1 } })),
        ("github", "issue_comment", json!({ "action": "created", "comment": { "id": 1 } })),
        ("github", "pull_request", json!({ "action": "closed", "pull_request": {} })),
        ("github", "push", json!({ "after": "1" })),
        ("github", "workflow_run", json!({ "action": "completed" })),
        ("gitea", "issues", json!({ "action": "closed" })),
        ("forgejo", "action_run_failure", json!({ "action": "failure" })),
        ("gitlab", "Issue Hook", json!({ "object_kind": "issue" })),
        ("gitlab", "Push Hook", json!({ "object_kind": "push", "ref": "refs/heads/a" })),
        (
            "gitlab",
            "Note Hook",
            json!({ "object_kind": "note", "object_attributes": { "noteable_type": "Issue" } }),
        ),
    ];
    for (forge, event, body) in table {
        let read = TestDelivery::signed(forge, event, bytes(&body)).read();
        assert!(read.is_err(), "{forge} {event} {body} {read:?}");
    }
}

#[test]
fn field_of_another_type_is_an_error() {
    let body = json!({ "action": 7, "issue": [] });
    assert!(delivery("github", bytes(&body)).read().is_err());
    let body = json!({ "object_kind": "issue", "object_attributes": { "iid": "one" } });
    assert!(delivery("gitlab", bytes(&body)).read().is_err());
}

#[test]
fn body_over_the_limit_is_an_error_and_at_the_limit_is_read() {
    let body = |length: usize| {
        let (head, tail) = ("{\"x\":\"", "\"}");
        format!("{head}{}{tail}", "a".repeat(length - head.len() - tail.len())).into_bytes()
    };
    for forge in FORGES {
        // Without a signature of the large body, which takes long.
        let small = TestDelivery::signed(forge, "star", "{}");
        let large = TestDelivery { body: body(MAX_DELIVERY_BYTES), ..small.clone() };
        assert!(large.read().is_ok(), "{forge}");
        let too_large = TestDelivery { body: body(MAX_DELIVERY_BYTES + 1), ..small };
        let error = too_large.read().unwrap_err();
        assert!(error.causes[0].contains("26214401 bytes"), "{error:?}");
    }
}

#[test]
fn texts_and_lists_have_a_maximum_length() {
    let users: Vec<_> = (1..=500).map(|id| json!({ "id": id, "login": "u".repeat(900) })).collect();
    let body = json!({
        "action": "closed",
        "issue": {
            "number": 1,
            "title": "\u{fc}".repeat(100_000),
            "body": "\u{fc}".repeat(1_000_000),
            "html_url": format!("https://example.org/{}", "x".repeat(10_000)),
            "assignees": users,
            "labels": (0..500).map(|id| json!({ "name": format!("l{id}") })).collect::<Vec<_>>(),
        },
        "repository": { "id": 1, "full_name": "a/b" },
    });
    let issue = delivery("github", bytes(&body)).event().issue.unwrap();
    assert!(issue.title.len() <= 1024 && issue.body.len() <= LONGEST_BODY_BYTES);
    assert!(issue.body.len() > LONGEST_BODY_BYTES - 4);
    assert_eq!((issue.assignees.len(), issue.labels.len()), (MAX_LIST_ITEMS, MAX_LIST_ITEMS));
    assert!(issue.assignees.iter().all(|user| user.login.len() <= LONGEST_NAME_BYTES));
    assert_eq!(issue.web_url, "");
}

#[test]
fn form_is_read_where_the_forge_sends_it() {
    let json = json!({
        "ref": "refs/heads/a b+c", "before": "1".repeat(40), "after": "2".repeat(40),
        "repository": { "id": 1, "full_name": "a/b" },
    });
    for forge in ["github", "gitea", "forgejo"] {
        let delivery = TestDelivery::signed(forge, "push", form(&bytes(&json)));
        let delivery = delivery.without("Content-Type");
        let delivery = delivery.with("Content-Type", "application/x-www-form-urlencoded");
        assert_eq!(delivery.event().branch.as_deref(), Some("a b+c"), "{forge}");
        let no_payload = TestDelivery { body: b"x=1".to_vec(), ..delivery };
        assert!(no_payload.read().is_err(), "{forge}");
    }
}

#[test]
fn clone_url_with_credentials_or_a_program_is_left_out() {
    for url in ["https://user:hush@example.org/a/b.git", "ext::sh -c hush", "", "-x"] {
        let body = json!({
            "action": "closed", "issue": { "number": 1 },
            "repository": { "id": 1, "full_name": "a/b", "clone_url": url },
        });
        let event = delivery("github", bytes(&body)).event();
        assert_eq!(event.repository.clone_url, None, "{url}");
    }
}
