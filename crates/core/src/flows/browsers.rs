//! Logs browsers in and out. The login of a browser is a token. Half of its text is the cookie, the
//! other half is in the storage of the page.

use std::collections::BTreeSet;

use crate::api::WebSessionView;
use crate::error::Result;
use crate::flows::tokens::{add, remove};
use crate::model::{
    AccessToken, AccessTokenKind, SecretText, SessionId, StoredToken, TokenId, TokenScope,
};
use crate::ports::{Change, Ports};
use crate::rules::tokens::{self, BrowserSecrets};

/// What a browser gets that logs in.
struct BrowserRights {
    scopes: BTreeSet<TokenScope>,
    only_session: Option<SessionId>,
    /// The link to a session that the browser used.
    share: Option<StoredToken>,
}

/// Logs a browser in. `own` are the scopes of the login link that the code has used up; without
/// them, the code must be that of a link to a session. Only a digest of the secrets is stored.
pub async fn log_in(
    ports: &Ports,
    code: &SecretText,
    own: Option<BTreeSet<TokenScope>>,
    secrets: &BrowserSecrets,
) -> Result<()> {
    let (known, now) = (ports.store.tokens().await?, ports.clock.now());
    let rights = match own {
        Some(scopes) => BrowserRights { scopes, only_session: None, share: None },
        None => {
            let share = tokens::find(code, AccessTokenKind::Share, &known, now)?;
            let AccessToken { scopes, only_session, .. } = share.token.clone();
            BrowserRights { scopes, only_session, share: Some(share.clone()) }
        }
    };
    let id = TokenId::new(ports.clock.new_id());
    let (name, kind) = (tokens::name_of(AccessTokenKind::Browser, id), AccessTokenKind::Browser);
    let BrowserRights { scopes, only_session, share } = rights;
    let lifetime_end = now.checked_add(tokens::BROWSER_LIFETIME).ok();
    let stored = StoredToken {
        token: AccessToken { id, name, kind, scopes, only_session },
        digest: tokens::digest(&secrets.text()),
        created_at: now,
        expires_at: share.iter().filter_map(|it| it.expires_at).chain(lifetime_end).min(),
        last_used_at: None,
        made_from: share.as_ref().map(|it| it.token.id),
    };
    let used = share.map(|it| Change::UseToken { token: it.token.id, at: now });
    let changes = expired(&known, now).into_iter().chain(used).collect();
    add(ports, stored, changes).await
}

/// Returns the changes that remove expired logins and links. Only people create tokens of programs,
/// so those stay until they are revoked.
fn expired(known: &[StoredToken], now: jiff::Timestamp) -> Vec<Change> {
    let is_expired = |it: &&StoredToken| {
        it.token.kind != AccessTokenKind::Program && tokens::end(it).is_some_and(|end| end <= now)
    };
    let ids: BTreeSet<TokenId> = known.iter().filter(is_expired).map(|it| it.token.id).collect();
    // A login is removed with its link.
    let is_alone = |it: &&StoredToken| it.made_from.is_none_or(|link| !ids.contains(&link));
    let removed = known.iter().filter(is_expired).filter(is_alone);
    removed.map(|it| Change::RemoveToken(it.token.id)).collect()
}

/// Describes the login of a browser.
pub async fn describe(ports: &Ports, token: &AccessToken) -> Result<WebSessionView> {
    let known = ports.store.tokens().await?;
    let found = known.iter().find(|it| it.token.id == token.id).ok_or_else(tokens::missing)?;
    Ok(WebSessionView {
        scopes: token.scopes.clone(),
        expires_at: tokens::end(found),
        session: token.only_session,
    })
}

/// Logs a browser out.
pub async fn log_out(ports: &Ports, token: &AccessToken) -> Result<()> {
    remove(ports, token).await
}
