//! Creates, lists, revokes and recognizes tokens. `browsers` and `shares` make those that are not for
//! programs.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::api::{TokenCreateReport, TokenCreateRequest, TokenList, TokenRevokeRequest, TokenView};
use crate::error::{Error, Result};
use crate::model::{
    AccessToken, AccessTokenKind, EventPayload, NewEvent, SecretText, StoredToken, TokenId,
    TokenScope,
};
use crate::ports::{Change, Commit, Ports};
use crate::rules::tokens;

/// Creates a token from random bytes. Its text is in the answer and nowhere else.
pub async fn create(
    ports: &Ports,
    request: TokenCreateRequest,
    random: [u8; tokens::SECRET_BYTES],
) -> Result<TokenCreateReport> {
    let TokenCreateRequest { name, scopes, expires_at } = request;
    tokens::check_name(&name)?;
    let now = ports.clock.now();
    if expires_at.is_some_and(|end| end <= now) {
        return Err(Error::usage("the token would have expired already")
            .hint("use a time such as `--expires 90d`"));
    }
    check_scopes(&scopes)?;
    let text = tokens::text(random);
    let id = TokenId::new(ports.clock.new_id());
    let token =
        AccessToken { id, name, kind: AccessTokenKind::Program, scopes, only_session: None };
    let stored = StoredToken {
        token,
        digest: tokens::digest(&text),
        created_at: now,
        expires_at,
        last_used_at: None,
        made_from: None,
    };
    let view = TokenView::from(&stored);
    add(ports, stored, Vec::new()).await?;
    Ok(TokenCreateReport { view, token: text })
}

/// Checks the scopes of a new token.
pub fn check_scopes(scopes: &BTreeSet<TokenScope>) -> Result<()> {
    if !scopes.is_empty() {
        return Ok(());
    }
    let words: Vec<&str> = TokenScope::ALL.iter().map(|scope| scope.word()).collect();
    Err(Error::usage("a token needs at least one scope")
        .hint(format!("the scopes are {}", words.join(", "))))
}

/// Records a new token, together with further changes.
pub(super) async fn add(ports: &Ports, stored: StoredToken, changes: Vec<Change>) -> Result<()> {
    let payload = EventPayload::TokenCreated { name: stored.token.name.clone() };
    let added = Change::AddToken(Box::new(stored));
    commit(ports, changes.into_iter().chain([added]).collect(), payload).await
}

pub async fn list(ports: &Ports) -> Result<TokenList> {
    let stored = ports.store.tokens().await?;
    Ok(TokenList { tokens: stored.iter().map(TokenView::from).collect() })
}

/// Deletes a token. Requests with it are refused from now on.
pub async fn revoke(ports: &Ports, request: &TokenRevokeRequest) -> Result<TokenView> {
    let known = ports.store.tokens().await?;
    let unknown = || {
        Error::not_found(format!("there is no token with the name `{}`", request.name))
            .hint("run `segue token ls` to see all tokens")
    };
    let found = known.iter().find(|it| it.token.name == request.name).ok_or_else(unknown)?;
    remove(ports, &found.token).await?;
    Ok(found.into())
}

/// Deletes a token, and the logins of browsers that were made with it.
pub(super) async fn remove(ports: &Ports, token: &AccessToken) -> Result<()> {
    let payload = EventPayload::TokenRevoked { name: token.name.clone() };
    commit(ports, vec![Change::RemoveToken(token.id)], payload).await
}

/// Returns the token of this kind with this text, and records that it was used. Fails if no valid
/// token of this kind has this text.
pub async fn recognize(
    ports: &Ports,
    text: &SecretText,
    kind: AccessTokenKind,
) -> Result<AccessToken> {
    let (known, now) = (ports.store.tokens().await?, ports.clock.now());
    let found = tokens::find(text, kind, &known, now)?;
    if tokens::is_use_to_record(found, now) {
        let used = Change::UseToken { token: found.token.id, at: now };
        let recorded = Commit { changes: vec![used], events: Vec::new() };
        // A token that was revoked meanwhile is refused.
        ports.store.commit(recorded).await.map_err(|_| tokens::missing())?;
    }
    Ok(found.token.clone())
}

/// Returns how long a token is still valid. `None` if it never expires. Fails if it was revoked or
/// has expired.
pub async fn time_left(ports: &Ports, id: TokenId) -> Result<Option<Duration>> {
    let (known, now) = (ports.store.tokens().await?, ports.clock.now());
    let found = known.iter().find(|it| it.token.id == id).ok_or_else(tokens::missing)?;
    let Some(end) = tokens::end(found) else { return Ok(None) };
    let left = Duration::try_from(end.duration_since(now)).unwrap_or_default();
    if left.is_zero() { Err(tokens::missing()) } else { Ok(Some(left)) }
}

async fn commit(ports: &Ports, changes: Vec<Change>, payload: EventPayload) -> Result<()> {
    let event = NewEvent { at: ports.clock.now(), session: None, launch: None, payload };
    ports.store.commit(Commit { changes, events: vec![event] }).await.map(drop)
}
