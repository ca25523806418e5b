//! Signatures and tokens of deliveries.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use segue_core::model::DeliveryRefusal;

use crate::support::{FORGES, SECRET, TestDelivery, digest, forge, form, hexadecimal, received_at};

#[test]
fn published_signature_of_github_is_accepted() {
    let delivery = TestDelivery {
        forge: "github",
        headers: vec![(
            "X-Hub-Signature-256".into(),
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17".into(),
        )],
        body: b"Hello, World!".to_vec(),
    };
    assert_eq!(delivery.verify("It's a Secret to Everybody"), Ok(()));
    assert_eq!(delivery.verify("another"), Err(DeliveryRefusal::WrongSignature));
}

#[test]
fn delivery_with_the_right_secret_is_accepted_and_with_another_refused() {
    for forge in FORGES {
        let delivery = TestDelivery::signed(forge, "push", "{\"a\": \"\u{fc}\"}");
        assert_eq!(delivery.verify(SECRET), Ok(()), "{forge}");
        assert_eq!(delivery.verify("wrong"), Err(DeliveryRefusal::WrongSignature), "{forge}");
        assert_eq!(delivery.verify(""), Err(DeliveryRefusal::EmptySecret), "{forge}");
    }
}

#[test]
fn changed_or_truncated_body_is_refused() {
    for forge in ["github", "forgejo", "gitea"] {
        let delivery = TestDelivery::signed(forge, "push", "{\"a\": 1}");
        for body in ["{\"a\": 2}", "{\"a\": 1} ", "{\"a\": 1", ""] {
            let changed = TestDelivery { body: body.into(), ..delivery.clone() };
            assert_eq!(changed.verify(SECRET), Err(DeliveryRefusal::WrongSignature), "{forge}");
        }
    }
}

#[test]
fn unusable_signatures_are_refused_with_the_reason() {
    let table = [
        ("github", "X-Hub-Signature-256", "", DeliveryRefusal::MalformedSignature),
        ("github", "X-Hub-Signature-256", "sha256=", DeliveryRefusal::EmptySignature),
        ("github", "X-Hub-Signature-256", "sha256=abc", DeliveryRefusal::MalformedSignature),
        ("github", "X-Hub-Signature-256", "sha1=757107ea", DeliveryRefusal::MalformedSignature),
        ("github", "X-Other", "1", DeliveryRefusal::MissingSignature),
        ("github", "X-Hub-Signature", "sha1=757107ea", DeliveryRefusal::OnlySha1),
        ("gitea", "X-Gitea-Signature", "", DeliveryRefusal::EmptySignature),
        ("gitea", "X-Gitea-Signature", "sha256=00", DeliveryRefusal::MalformedSignature),
        ("gitea", "X-Hub-Signature", "sha1=757107ea", DeliveryRefusal::OnlySha1),
        ("forgejo", "X-Forgejo-Signature", "", DeliveryRefusal::EmptySignature),
        ("forgejo", "X-Gitea-Signature", "zz", DeliveryRefusal::MalformedSignature),
        ("gitlab", "X-Gitlab-Token", "", DeliveryRefusal::WrongSignature),
        ("gitlab", "X-Other", "1", DeliveryRefusal::MissingSignature),
    ];
    for (forge, name, value, expected) in table {
        let headers = vec![(name.to_owned(), value.to_owned())];
        let delivery = TestDelivery { forge, headers, body: b"{}".to_vec() };
        assert_eq!(delivery.verify(SECRET), Err(expected), "{forge} {name}: {value}");
    }
}

#[test]
fn signature_header_that_occurs_twice_is_refused() {
    for (forge, name) in [("github", "X-Hub-Signature-256"), ("gitlab", "X-Gitlab-Token")] {
        let delivery = TestDelivery::signed(forge, "push", "{}").with(name, "another");
        assert_eq!(delivery.verify(SECRET), Err(DeliveryRefusal::MissingSignature), "{forge}");
    }
}

#[test]
fn github_signs_the_form_and_gitea_the_json_in_it() {
    let json = b"{\"ref\": \"refs/heads/a b\"}";
    for (forge, signed) in
        [("github", form(json)), ("gitea", json.to_vec()), ("forgejo", json.to_vec())]
    {
        let body = form(json);
        let digits = hexadecimal(SECRET.as_bytes(), &signed);
        let (name, value) = match forge {
            "github" => ("X-Hub-Signature-256", format!("sha256={digits}")),
            _ => ("X-Gitea-Signature", digits),
        };
        let headers = vec![(name.to_owned(), value)];
        let delivery = TestDelivery { forge, headers, body };
        let delivery = delivery.with("Content-Type", "application/x-www-form-urlencoded");
        assert_eq!(delivery.verify(SECRET), Ok(()), "{forge}");
        assert_eq!(delivery.verify("wrong"), Err(DeliveryRefusal::WrongSignature), "{forge}");
    }
    let delivery = TestDelivery::signed("gitea", "push", "x=1").without("Content-Type");
    let delivery = delivery.with("Content-Type", "application/x-www-form-urlencoded");
    assert_eq!(delivery.verify(SECRET), Err(DeliveryRefusal::UnreadableBody));
}

/// Returns a delivery of GitLab that is signed with a signing token at a time.
fn signed_by_token(key: &[u8], seconds: i64) -> TestDelivery {
    let body = b"{}".to_vec();
    let signed = [format!("id-1.{seconds}.").as_bytes(), &body].concat();
    let signature = format!("v1,{}", STANDARD.encode(digest(key, &signed)));
    TestDelivery { forge: "gitlab", headers: Vec::new(), body }
        .with("webhook-id", "id-1")
        .with("webhook-timestamp", &seconds.to_string())
        .with("webhook-signature", &format!("v2,AAAA v1,AAAA {signature}"))
}

#[test]
fn signing_token_of_gitlab_covers_id_time_and_body() {
    let key = [7_u8; 32];
    let token = format!("whsec_{}", STANDARD.encode(key));
    let now = received_at().as_second();
    let delivery = signed_by_token(&key, now);
    assert_eq!(delivery.verify(&token), Ok(()));
    let table = [
        (signed_by_token(&[8; 32], now), DeliveryRefusal::WrongSignature),
        (signed_by_token(&key, now - 301), DeliveryRefusal::Expired),
        (signed_by_token(&key, now + 301), DeliveryRefusal::Expired),
        (delivery.clone().without("webhook-id"), DeliveryRefusal::MissingSignature),
        (delivery.clone().without("webhook-signature"), DeliveryRefusal::MissingSignature),
        // The plain token is no substitute for the signature.
        (
            delivery.clone().without("webhook-signature").with("X-Gitlab-Token", &token),
            DeliveryRefusal::MissingSignature,
        ),
        (
            delivery.clone().without("webhook-id").with("webhook-id", "id-2"),
            DeliveryRefusal::WrongSignature,
        ),
        (
            delivery.clone().without("webhook-signature").with("webhook-signature", "v1,"),
            DeliveryRefusal::EmptySignature,
        ),
        (
            delivery.clone().without("webhook-signature").with("webhook-signature", "v2,AAAA"),
            DeliveryRefusal::MalformedSignature,
        ),
    ];
    for (delivery, expected) in table {
        assert_eq!(delivery.verify(&token), Err(expected), "{:?}", delivery.headers);
    }
    assert_eq!(delivery.verify("whsec_"), Err(DeliveryRefusal::EmptySecret));
    assert_eq!(delivery.verify("whsec_?"), Err(DeliveryRefusal::EmptySecret));
}

#[test]
fn stored_headers_have_no_secrets() {
    for id in FORGES {
        let delivery = TestDelivery::signed(id, "push", "{}")
            .with("Authorization", "Basic hush")
            .with("Cookie", "hush");
        let stored = forge(id).webhooks().storable_headers(&delivery.header_values());
        let values: Vec<_> = stored.iter().collect();
        assert!(
            values.iter().all(|(_, it)| !it.contains(SECRET) && !it.contains("hush")),
            "{values:?}"
        );
        assert!(values.iter().any(|(name, _)| name.contains("-event")), "{values:?}");
    }
}

#[test]
fn delivery_id_is_a_plain_word() {
    let table = [
        ("github", "X-GitHub-Delivery", "72d3162e-cc78", Some("72d3162e-cc78")),
        ("gitea", "X-Gitea-Delivery", "1", Some("1")),
        ("forgejo", "X-Forgejo-Delivery", "2", Some("2")),
        ("forgejo", "X-Gitea-Delivery", "3", Some("3")),
        ("gitlab", "Idempotency-Key", "4", Some("4")),
        ("gitlab", "X-Gitlab-Webhook-UUID", "5", Some("5")),
        ("github", "X-GitHub-Delivery", "", None),
        ("github", "X-GitHub-Delivery", "a\u{1b}b", None),
        ("github", "X-Gitea-Delivery", "1", None),
    ];
    for (id, name, value, expected) in table {
        let headers = vec![(name.to_owned(), value.to_owned())];
        let delivery = TestDelivery { forge: id, headers, body: Vec::new() };
        let found = forge(id).webhooks().delivery_id(&delivery.header_values());
        assert_eq!(found.as_deref(), expected, "{id} {name}");
    }
    let long = TestDelivery { forge: "github", headers: Vec::new(), body: Vec::new() };
    let long = long.with("X-GitHub-Delivery", &"x".repeat(201)).header_values();
    assert_eq!(forge("github").webhooks().delivery_id(&long), None);
}
