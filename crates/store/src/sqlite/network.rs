//! Reads tokens, and where the daemon listens.

use rusqlite::Connection;
use segue_core::model::{ListenSettings, StoredToken};

use crate::sqlite::read::{all, one};
use crate::sqlite::rows;

const TOKENS: &str = "
    SELECT id, name, kind, scopes, session, digest, created_at, expires_at, last_used_at, made_from
    FROM tokens
    ORDER BY created_at, id";

const LISTENER: &str = "SELECT settings FROM listener";

pub(crate) fn tokens(connection: &Connection) -> rusqlite::Result<Vec<StoredToken>> {
    all(connection, TOKENS, [], rows::token)
}

pub(crate) fn listener(connection: &Connection) -> rusqlite::Result<Option<ListenSettings>> {
    one(connection, LISTENER, [], rows::json)
}
