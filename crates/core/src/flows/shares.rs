//! Links that show one session to other people, read-only, until they expire or are revoked.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::SignedDuration;

use crate::api::{ShareCreateReport, ShareCreateRequest, ShareList, ShareView};
use crate::error::{Error, Result};
use crate::flows::select;
use crate::flows::tokens::{add, remove};
use crate::model::{
    AccessToken, AccessTokenKind, Principal, SecretText, Session, StoredToken, TokenId, TokenScope,
};
use crate::ports::Ports;
use crate::rules::scope::RestrictedAction;
use crate::rules::tokens;

/// Creates a link from random bytes. Its code is in the answer and nowhere else.
pub async fn create(
    ports: &Ports,
    principal: &Principal,
    request: &ShareCreateRequest,
    random: [u8; tokens::SECRET_BYTES],
) -> Result<ShareCreateReport> {
    principal.allow(RestrictedAction::Network)?;
    let lifetime = SignedDuration::from_secs(request.expires_in_seconds.into());
    let longest = tokens::MAX_SHARE_LIFETIME;
    if lifetime.is_zero() || lifetime > longest {
        let (seconds, longest) = (request.expires_in_seconds, longest.as_secs());
        return Err(Error::usage(format!(
            "`expires_in_seconds` must be between 1 and {longest}, got {seconds}"
        )));
    }
    let summary = select::find(ports, principal, &request.session, Path::new("/")).await?;
    let (now, code) = (ports.clock.now(), tokens::text(random));
    let id = TokenId::new(ports.clock.new_id());
    let token = AccessToken {
        id,
        name: tokens::name_of(AccessTokenKind::Share, id),
        kind: AccessTokenKind::Share,
        scopes: BTreeSet::from([TokenScope::Read]),
        only_session: Some(summary.session.id),
    };
    let stored = StoredToken {
        token,
        digest: tokens::digest(&code),
        created_at: now,
        expires_at: now.checked_add(lifetime).ok(),
        last_used_at: None,
        made_from: None,
    };
    let view = view(&stored, Some(&summary.session));
    add(ports, stored, Vec::new()).await?;
    let url_path = SecretText::new(format!("/share#{}", code.expose()));
    Ok(ShareCreateReport { view, url_path })
}

/// Returns all links, oldest first.
pub async fn list(ports: &Ports, principal: &Principal) -> Result<ShareList> {
    principal.allow(RestrictedAction::Network)?;
    let mut shares = Vec::new();
    for stored in all(ports).await? {
        let session = match stored.token.only_session {
            Some(session) => ports.store.session(session).await?,
            None => None,
        };
        shares.push(view(&stored, session.as_ref()));
    }
    Ok(ShareList { shares })
}

/// Revokes a link. The browsers that logged in with it are logged out.
pub async fn revoke(ports: &Ports, principal: &Principal, id: TokenId) -> Result<()> {
    principal.allow(RestrictedAction::Network)?;
    let unknown = || {
        Error::not_found(format!("there is no link with the id `{id}`"))
            .hint("run `segue token ls` to see all links")
    };
    let found = all(ports).await?.into_iter().find(|it| it.token.id == id).ok_or_else(unknown)?;
    remove(ports, &found.token).await
}

async fn all(ports: &Ports) -> Result<Vec<StoredToken>> {
    let mut stored = ports.store.tokens().await?;
    stored.retain(|it| it.token.kind == AccessTokenKind::Share);
    Ok(stored)
}

fn view(stored: &StoredToken, session: Option<&Session>) -> ShareView {
    ShareView {
        id: stored.token.id,
        name: stored.token.name.clone(),
        session: stored.token.only_session,
        address: session.map(Session::address),
        created_at: stored.created_at,
        expires_at: stored.expires_at,
        last_used_at: stored.last_used_at,
    }
}
