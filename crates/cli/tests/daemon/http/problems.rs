//! Requests that fail are answered with problem details.

use segue_testkit::{HttpAnswer, NetworkClient};
use serde_json::json;

use super::{header, world_with};
use crate::world;

fn assert_problem(answer: &HttpAnswer, status: u16, kind: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert_eq!(header(answer, "content-type"), Some("application/problem+json"), "{}", answer.text);
    let body = &answer.body;
    assert_eq!((&body["status"], &body["kind"]), (&json!(status), &json!(kind)), "{body}");
    assert_eq!(body["type"], format!("urn:segue:problem:{kind}"), "{body}");
    for member in ["title", "detail", "message"] {
        assert!(body[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {body}");
    }
    assert!(body["causes"].is_array() && body["hints"].is_array(), "{body}");
}

#[test]
fn wrong_requests_are_answered_with_problems_and_the_headers_that_belong_to_them() {
    let (_world, client) = world_with(&[]);
    assert_problem(&client.get("/v1/nothing"), 404, "not_found");
    assert_problem(&client.get("/nothing"), 404, "not_found");
    let wrong_method = client.ask("PUT", "/v1/sessions", Some(&json!({})), &[]);
    assert_problem(&wrong_method, 405, "usage");
    assert_eq!(header(&wrong_method, "allow"), Some("GET, HEAD"));
    let both = client.ask("DELETE", "/v1/tasks", None, &[]);
    assert_eq!(header(&both, "allow"), Some("GET, HEAD, POST"), "{}", both.text);
    for query in ["limit=0", "limit=1001", "limit=x", "status=nice", "other=1", "cursor=x"] {
        assert_problem(&client.get(&format!("/v1/sessions?{query}")), 400, "usage");
        assert_eq!(client.get(&format!("/v1/tasks?{query}")).status, 400, "{query}");
    }
    for query in ["repository=x", "issue=a%20b", &format!("fleet={}", "x".repeat(20_000))] {
        assert_problem(&client.get(&format!("/v1/sessions?{query}")), 400, "usage");
    }
    for path in ["/v1/sessions/x", "/v1/tasks/x", "/v1/worktrees/x/diff"] {
        assert_problem(&client.get(path), 400, "usage");
    }
    let unknown = "00000000-0000-7000-8000-000000000009";
    for path in [
        format!("/v1/sessions/{unknown}"),
        format!("/v1/sessions/{unknown}/transcript"),
        format!("/v1/sessions/{unknown}/messages"),
        format!("/v1/tasks/{unknown}"),
        format!("/v1/worktrees/{unknown}/diff"),
    ] {
        assert_problem(&client.get(&path), 404, "not_found");
    }
    assert_problem(&client.post("/v1/serve", &json!("report")), 403, "forbidden");
    assert_problem(&client.post("/v1/list", &json!([])), 400, "usage");
}

#[test]
fn missing_token_is_challenged_and_too_many_requests_name_the_time_to_wait() {
    let world = world();
    let client = NetworkClient::listen(&world);
    let refused = client.get("/v1/sessions");
    assert_problem(&refused, 401, "unauthorized");
    assert_eq!(header(&refused, "www-authenticate"), Some("Bearer realm=\"segue\""));
    let answers = std::iter::repeat_with(|| client.get("/v1/sessions"));
    let too_many = answers.take(200).find(|it| it.status == 429).unwrap();
    assert_problem(&too_many, 429, "too_many");
    let seconds: u64 = header(&too_many, "retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
}
