//! Remembers for a while what users may do, so that a busy repository does not cost a request for
//! each event.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::error::Result;
use crate::model::{ForgeUser, RepositoryAddress, RepositoryPermission};
use crate::ports::{Clock, ForgeApi};

/// How long an answer of the forge is used. A user who lost the right to push can start work for this
/// long.
const LIFETIME: SignedDuration = SignedDuration::from_mins(5);

/// At most this many answers are remembered.
const MAX_ENTRIES: usize = 1000;

type UserKey = (u64, i64, String);

/// What users may do in repositories of one source.
#[derive(Debug, Default)]
pub struct PermissionCache {
    known: Mutex<HashMap<UserKey, (Timestamp, RepositoryPermission)>>,
}

impl PermissionCache {
    /// Returns what a user may do. Asks the forge if that is not known or too old.
    pub async fn permission(
        &self,
        (api, clock): (&dyn ForgeApi, &dyn Clock),
        repository: &RepositoryAddress,
        user: &ForgeUser,
    ) -> Result<RepositoryPermission> {
        let (key, now) = ((repository.id, user.id, user.login.clone()), clock.now());
        if let Some(known) = self.fresh(&key, now) {
            return Ok(known);
        }
        let asked = api.permission(repository, user).await?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_ENTRIES {
            known.clear();
        }
        known.insert(key, (now, asked));
        drop(known);
        Ok(asked)
    }

    fn fresh(&self, key: &UserKey, now: Timestamp) -> Option<RepositoryPermission> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, permission) = known.get(key).copied()?;
        drop(known);
        (at.duration_until(now) < LIFETIME).then_some(permission)
    }
}
