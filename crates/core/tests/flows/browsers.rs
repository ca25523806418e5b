//! Logins of browsers, and links to one session.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use segue_core::Kind;
use segue_core::api::{ShareCreateRequest, TokenRevokeRequest};
use segue_core::flows::{browsers, shares, tokens};
use segue_core::model::{AccessToken, AccessTokenKind, Principal, SecretText, TokenScope};
use segue_core::ports::Ports;
use segue_core::rules::login_codes::LoginCodes;
use segue_core::rules::tokens::BrowserSecrets;

use crate::scene::FlowScene;

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

fn admin() -> BTreeSet<TokenScope> {
    BTreeSet::from([TokenScope::Admin])
}

fn secrets(number: u8) -> BrowserSecrets {
    BrowserSecrets::new([number; 32], [number + 100; 32])
}

async fn log_in(ports: &Ports, number: u8) -> BrowserSecrets {
    let (code, secrets) = (SecretText::new("unused"), secrets(number));
    browsers::log_in(ports, &code, Some(admin()), &secrets).await.unwrap();
    secrets
}

async fn recognize(ports: &Ports, secrets: &BrowserSecrets) -> Option<AccessToken> {
    tokens::recognize(ports, &secrets.text(), AccessTokenKind::Browser).await.ok()
}

/// Shares the session of the scene for an hour. Returns the code and the name of the link.
async fn share(scene: &FlowScene) -> (SecretText, String) {
    let session = scene.state.session.id.to_string();
    let request = ShareCreateRequest { session, expires_in_seconds: 3600 };
    let made = shares::create(&scene.ports, &Principal::User, &request, [9; 32]).await.unwrap();
    let code = made.url_path.expose().strip_prefix("/share#").unwrap();
    (SecretText::new(code), made.view.name)
}

#[tokio::test]
async fn code_is_refused_after_one_minute() {
    let scene = FlowScene::new();
    let (mut codes, code) = (LoginCodes::default(), SecretText::new("code"));
    codes.add(&code, admin(), scene.ports.clock.now());
    scene.world.clock.advance(MINUTE);
    let own = codes.redeem(&code, scene.ports.clock.now());
    let error = browsers::log_in(&scene.ports, &code, own, &secrets(1)).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unauthorized);
    assert!(scene.ports.store.tokens().await.unwrap().is_empty());
}

#[tokio::test]
async fn use_renews_a_login_until_the_end_of_its_whole_life() {
    let scene = FlowScene::new();
    let (idle, used) = (log_in(&scene.ports, 1).await, log_in(&scene.ports, 2).await);
    let hours = |count| SignedDuration::from_hours(count);
    scene.world.clock.advance(hours(11));
    assert!(recognize(&scene.ports, &used).await.is_some());
    scene.world.clock.advance(hours(1));
    assert!(recognize(&scene.ports, &idle).await.is_none());
    for _ in 0..70 {
        assert!(recognize(&scene.ports, &used).await.is_some());
        scene.world.clock.advance(hours(10));
    }
    scene.world.clock.advance(hours(8));
    assert!(recognize(&scene.ports, &used).await.is_none(), "30 days are over");
    log_in(&scene.ports, 3).await;
    assert_eq!(scene.ports.store.tokens().await.unwrap().len(), 1, "expired logins are removed");
}

#[tokio::test]
async fn link_logs_several_browsers_in_and_all_of_them_out_when_it_is_revoked() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let (code, name) = share(&scene).await;
    let ports = &scene.ports;
    let own = log_in(ports, 1).await;
    let mut guests = Vec::new();
    for number in [2, 3] {
        let guest = secrets(number);
        browsers::log_in(ports, &code, None, &guest).await.unwrap();
        let token = recognize(ports, &guest).await.unwrap();
        assert_eq!(token.only_session, Some(scene.state.session.id));
        assert_eq!(token.scopes, BTreeSet::from([TokenScope::Read]));
        let view = browsers::describe(ports, &token).await.unwrap();
        assert_eq!(view.session, Some(scene.state.session.id));
        guests.push(guest);
    }
    tokens::revoke(ports, &TokenRevokeRequest { name }).await.unwrap();
    for guest in &guests {
        assert!(recognize(ports, guest).await.is_none());
    }
    assert!(browsers::log_in(ports, &code, None, &secrets(4)).await.is_err());
    assert!(recognize(ports, &own).await.is_some());
}

#[tokio::test]
async fn guests_are_logged_out_when_their_link_expires() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let (code, _) = share(&scene).await;
    let guest = secrets(2);
    browsers::log_in(&scene.ports, &code, None, &guest).await.unwrap();
    scene.world.clock.advance(SignedDuration::from_mins(59));
    assert!(recognize(&scene.ports, &guest).await.is_some());
    scene.world.clock.advance(MINUTE);
    assert!(recognize(&scene.ports, &guest).await.is_none());
    assert!(browsers::log_in(&scene.ports, &code, None, &secrets(3)).await.is_err());
    log_in(&scene.ports, 4).await;
    assert_eq!(scene.ports.store.tokens().await.unwrap().len(), 1);
}

#[tokio::test]
async fn link_needs_a_session_a_time_limit_and_a_person() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let session = scene.state.session.id.to_string();
    let table = [
        ("nothing", 3600, Kind::NotFound),
        (session.as_str(), 0, Kind::Usage),
        (session.as_str(), 31 * 24 * 3600, Kind::Usage),
    ];
    for (session, expires_in_seconds, kind) in table {
        let request = ShareCreateRequest { session: session.to_owned(), expires_in_seconds };
        let made = shares::create(&scene.ports, &Principal::User, &request, [9; 32]).await;
        assert_eq!(made.unwrap_err().kind, kind, "{session} {expires_in_seconds}");
    }
    let agent = Principal::Agent(Box::new(scene.state.session.clone()));
    let request = ShareCreateRequest { session, expires_in_seconds: 60 };
    assert!(shares::create(&scene.ports, &agent, &request, [9; 32]).await.is_err());
    assert!(shares::list(&scene.ports, &agent).await.is_err());
}
