//! Failing servers: errors, rate limits, redirects, slow and huge answers.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use segue_core::Kind;
use segue_core::model::{ForgeSubject, SecretText};
use segue_core::ports::{Clock as _, ForgeAccess, ForgeFault};
use segue_fakes::FakeClock;
use segue_testkit::ForgeServer;
use segue_testkit::forge_server::ForgeServerFault;

use crate::api::{ApiScene, NAME, TOKEN};
use crate::support::{FORGES, forge};

#[tokio::test]
async fn error_status_becomes_its_fault() {
    let message = "as the test requested".to_owned();
    let table = [
        (401, ForgeFault::Unauthorized),
        (403, ForgeFault::Forbidden(message.clone())),
        (404, ForgeFault::NotFound),
        (410, ForgeFault::NotFound),
        (400, ForgeFault::Rejected(400, message.clone())),
        (422, ForgeFault::Rejected(422, message)),
        (500, ForgeFault::ServerError(500)),
        (502, ForgeFault::ServerError(502)),
    ];
    for id in FORGES {
        let scene = ApiScene::new(id);
        for (status, expected) in &table {
            scene.server.fail("/user", 1, ForgeServerFault::status(*status));
            let failure = scene.api.own_account().await.unwrap_err();
            assert_eq!(failure.fault, *expected, "{id}");
            assert_eq!(failure.host, scene.server.host(), "{id}");
        }
        // No fault is remembered.
        assert!(scene.api.own_account().await.is_ok(), "{id}");
    }
}

#[tokio::test]
async fn wrong_token_is_unauthorized() {
    for id in FORGES {
        let scene = ApiScene::with(id, "wrong", Duration::from_secs(20));
        let failure = scene.api.own_account().await.unwrap_err();
        assert_eq!(failure.fault, ForgeFault::Unauthorized, "{id}");
        assert_eq!(segue_core::Error::from(failure).kind, Kind::Config, "{id}");
    }
}

fn limited(status: u16, headers: &[(&'static str, &str)], body: &str) -> ForgeServerFault {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    ForgeServerFault::Status(status, headers, body.to_owned())
}

#[tokio::test]
async fn rate_limit_is_reported_with_its_time_and_no_request_is_sent_before() {
    let reset = (FakeClock::default().now().as_second() + 90).to_string();
    let used_up = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset.as_str())];
    let secondary = "{\"message\":\"You have exceeded a secondary rate limit\"}";
    let table = [
        (limited(429, &[("retry-after", "30")], "{}"), 30),
        (limited(403, &[("retry-after", "30")], "{}"), 30),
        (limited(503, &[("retry-after", "30")], "{}"), 30),
        (limited(403, &used_up, "{}"), 90),
        (limited(429, &[("ratelimit-reset", &reset)], "{}"), 90),
        (limited(429, &[], "{}"), 60),
        (limited(403, &[], secondary), 60),
    ];
    for (id, (fault, seconds)) in FORGES.iter().flat_map(|id| table.iter().map(move |it| (id, it)))
    {
        let scene = ApiScene::new(id);
        scene.server.fail("/user", 1, fault.clone());
        let failure = scene.api.own_account().await.unwrap_err();
        let ForgeFault::RetryAfter(time) = failure.fault else { panic!("{failure}") };
        let pause = time.as_second() - scene.clock.now().as_second();
        assert_eq!(pause, *seconds, "{id} {fault:?}");
        scene.clock.advance(SignedDuration::from_secs(pause - 1));
        let again = scene.api.own_account().await.unwrap_err();
        assert_eq!(again.fault, ForgeFault::RetryAfter(time), "{id}");
        assert_eq!(scene.server.requests().len(), 1, "{id}");
        scene.clock.advance(SignedDuration::from_secs(1));
        assert!(scene.api.own_account().await.is_ok(), "{id}");
    }
}

#[tokio::test]
async fn last_allowed_request_succeeds_and_the_next_one_waits() {
    let scene = ApiScene::new("github");
    let reset = (scene.clock.now().as_second() + 10).to_string();
    let headers = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", reset.as_str())];
    scene.server.fail("/user", 1, limited(200, &headers, "{\"id\":1,\"login\":\"segue-bot\"}"));
    assert!(scene.api.own_account().await.is_ok());
    let failure = scene.api.own_account().await.unwrap_err();
    assert!(matches!(failure.fault, ForgeFault::RetryAfter(_)), "{failure}");
    assert_eq!(scene.server.requests().len(), 1);
}

#[tokio::test]
async fn redirect_to_another_server_is_refused_and_gets_no_token() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let other = ForgeServer::start(TOKEN);
        let number = scene.server.change(|forge| forge.add_issue(NAME, "Crash", &[]));
        for status in [301, 302, 303, 307, 308] {
            let url = format!("http://{}/api/v3/user", other.host());
            scene.server.fail("/user", 1, ForgeServerFault::Redirect(status, url.clone()));
            let failure = scene.api.own_account().await.unwrap_err();
            assert_eq!(failure.fault, ForgeFault::Redirected("127.0.0.1".into()), "{id} {status}");
            let path = if id == "gitlab" { "/notes" } else { "/comments" };
            scene.server.fail(path, 1, ForgeServerFault::Redirect(status, url));
            let subject = ForgeSubject::Issue(number);
            let posted = scene.api.post_comment(&scene.repository, subject, "x").await;
            assert!(matches!(posted.unwrap_err().fault, ForgeFault::Redirected(_)), "{id}");
        }
        assert!(other.requests().is_empty(), "{id}");
    }
}

#[tokio::test]
async fn endless_redirects_end() {
    let scene = ApiScene::new("gitea");
    let url = format!("http://{}/api/v1/user", scene.server.host());
    scene.server.fail("/user", 100, ForgeServerFault::Redirect(302, url));
    let failure = scene.api.own_account().await.unwrap_err();
    assert!(matches!(failure.fault, ForgeFault::InvalidAnswer(_)), "{failure}");
    assert_eq!(scene.server.requests().len(), 4);
}

#[tokio::test]
async fn server_that_does_not_answer_times_out() {
    let scene = ApiScene::with("github", TOKEN, Duration::from_millis(200));
    scene.server.fail("/user", 1, ForgeServerFault::NoAnswer);
    let failure = scene.api.own_account().await.unwrap_err();
    assert_eq!(failure.fault, ForgeFault::TimedOut);
    assert!(failure.fault.is_temporary());
}

#[tokio::test]
async fn server_that_is_gone_is_unreachable() {
    for id in FORGES {
        let access = ForgeAccess {
            // No service uses this port.
            url: "http://127.0.0.1:1".to_owned(),
            token: SecretText::new(TOKEN),
            timeout: Duration::from_secs(20),
            clock: Arc::new(FakeClock::default()),
            pace: None,
        };
        let failure = forge(id).api(&access).unwrap().own_account().await.unwrap_err();
        assert!(matches!(&failure.fault, ForgeFault::Unreachable(reason) if !reason.is_empty()));
        assert_eq!(segue_core::Error::from(failure).kind, Kind::Unavailable, "{id}");
    }
}

#[tokio::test]
async fn huge_and_invalid_answers_are_faults() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        scene.server.fail("/user", 1, ForgeServerFault::Huge(33 * 1024 * 1024));
        let failure = scene.api.own_account().await.unwrap_err();
        assert_eq!(failure.fault, ForgeFault::TooLarge(32 * 1024 * 1024), "{id}");
        let nested = format!("{{\"x\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
        for body in ["", "{", "[]", "{}", "\"text\"", "{\"id\": \"one\"}", &nested] {
            scene.server.fail("/user", 1, limited(200, &[], body));
            let failure = scene.api.own_account().await.unwrap_err();
            assert!(
                matches!(failure.fault, ForgeFault::InvalidAnswer(_)),
                "{id} {body:.20} {failure}"
            );
        }
    }
}

#[tokio::test]
async fn token_is_in_no_error_and_no_debug_output() {
    for id in FORGES {
        let scene = ApiScene::new(id);
        let body = format!("{{\"message\":\"bad token {TOKEN}\\u001b[31m\"}}");
        scene.server.fail("/user", 1, limited(422, &[], &body));
        let failure = scene.api.own_account().await.unwrap_err();
        assert_eq!(
            failure.fault,
            ForgeFault::Rejected(422, "bad token [token] [31m".into()),
            "{id}"
        );
        let shown = format!("{:?} {failure} {failure:?}", scene.api);
        assert!(!shown.contains(TOKEN), "{shown}");
        let requests = scene.server.requests();
        assert!(requests.iter().all(|it| !it.path.contains(TOKEN) && !it.query.contains(TOKEN)));
    }
}

#[test]
fn unusable_url_or_token_is_a_configuration_error() {
    let access = |url: &str, token: &str| ForgeAccess {
        url: url.to_owned(),
        token: SecretText::new(token),
        timeout: Duration::from_secs(1),
        clock: Arc::new(FakeClock::default()),
        pace: None,
    };
    for id in FORGES {
        for (url, token) in [
            ("http://git.example.org", TOKEN),
            ("https://hush@git.example.org", TOKEN),
            ("git.example.org", TOKEN),
            ("https://git.example.org", "hush\nhush"),
            ("https://git.example.org", ""),
        ] {
            let error = forge(id).api(&access(url, token)).unwrap_err();
            assert_eq!(error.kind, Kind::Config, "{id} {url}");
            assert!(!format!("{error:?}").contains("hush"), "{error:?}");
        }
        assert!(forge(id).api(&access("https://git.example.org", TOKEN)).is_ok(), "{id}");
    }
}
