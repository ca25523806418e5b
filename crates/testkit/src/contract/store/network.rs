//! Tokens, and where the daemon listens.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use segue_core::Kind;
use segue_core::model::{
    AccessToken, AccessTokenKind, ListenSettings, SecretText, SessionId, StoredToken, TokenId,
    TokenScope, Transport,
};
use segue_core::ports::Change;
use segue_core::rules::tokens::digest;
use uuid::Uuid;

use super::{Backend, assert_conflict, assert_refused, commit};

fn token(number: u8, name: &str) -> StoredToken {
    let created_at = Timestamp::from_second(number.into()).unwrap();
    StoredToken {
        token: AccessToken {
            id: TokenId::new(Uuid::from_u128(number.into())),
            name: name.to_owned(),
            kind: AccessTokenKind::Program,
            scopes: BTreeSet::from([TokenScope::Read, TokenScope::Send]),
            only_session: None,
        },
        digest: digest(&SecretText::new(name)),
        created_at,
        expires_at: (number > 1).then(|| created_at + SignedDuration::from_hours(1)),
        last_used_at: None,
        made_from: None,
    }
}

pub async fn tokens_are_listed_oldest_first_until_they_are_removed(backend: &impl Backend) {
    let store = backend.open().await;
    let (mut first, second) = (token(1, "ci"), token(2, "phone"));
    let add = |token: &StoredToken| Change::AddToken(Box::new(token.clone()));
    store.commit(commit([add(&second), add(&first)])).await.unwrap();
    assert_eq!(store.tokens().await.unwrap(), [first.clone(), second.clone()]);
    let again = store.commit(commit([add(&token(3, "ci"))])).await;
    assert_conflict(again, &["`ci`"]);

    let at = Timestamp::from_second(100).unwrap();
    store.commit(commit([Change::UseToken { token: first.token.id, at }])).await.unwrap();
    first.last_used_at = Some(at);
    assert_eq!(store.tokens().await.unwrap(), [first, second.clone()]);

    let remove = || commit([Change::RemoveToken(TokenId::new(Uuid::from_u128(1)))]);
    store.commit(remove()).await.unwrap();
    assert_eq!(backend.open().await.tokens().await.unwrap(), [second]);
    assert_refused(store.commit(remove()).await, Kind::NotFound, &[]);
    let used = Change::UseToken { token: TokenId::new(Uuid::from_u128(1)), at };
    assert_refused(store.commit(commit([used])).await, Kind::NotFound, &[]);
}

pub async fn a_browser_is_removed_with_the_link_that_it_logged_in_with(backend: &impl Backend) {
    let store = backend.open().await;
    let mut share = token(1, "share");
    share.token.kind = AccessTokenKind::Share;
    share.token.only_session = Some(SessionId::new(Uuid::from_u128(5)));
    let mut guest = token(2, "guest");
    guest.token.kind = AccessTokenKind::Browser;
    guest.token.only_session = share.token.only_session;
    guest.made_from = Some(share.token.id);
    let mut own = token(3, "own");
    own.token.kind = AccessTokenKind::Browser;
    let all = [share.clone(), guest, own.clone()];
    let added = all.clone().map(|token| Change::AddToken(Box::new(token)));
    store.commit(commit(added)).await.unwrap();
    assert_eq!(backend.open().await.tokens().await.unwrap(), all);
    store.commit(commit([Change::RemoveToken(share.token.id)])).await.unwrap();
    assert_eq!(store.tokens().await.unwrap(), [own]);
}

pub async fn the_newest_listener_is_kept_until_it_is_switched_off(backend: &impl Backend) {
    let store = backend.open().await;
    assert_eq!(store.listener().await.unwrap(), None);
    let plain = ListenSettings {
        address: "127.0.0.1:4747".parse().unwrap(),
        transport: Transport::Plain,
        hosts: Vec::new(),
    };
    let tls = Transport::Tls { certificate: "/c.pem".into(), key: "/k.pem".into() };
    let public = ListenSettings {
        address: "[::]:443".parse().unwrap(),
        transport: tls,
        hosts: vec!["agents.example.org".to_owned()],
    };
    for settings in [plain, public] {
        let change = Change::SetListener(Some(Box::new(settings.clone())));
        store.commit(commit([change])).await.unwrap();
        assert_eq!(backend.open().await.listener().await.unwrap(), Some(settings));
    }
    store.commit(commit([Change::SetListener(None)])).await.unwrap();
    assert_eq!(store.listener().await.unwrap(), None);
}
