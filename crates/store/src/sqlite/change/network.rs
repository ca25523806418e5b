//! Tokens, and where the daemon listens.

use jiff::Timestamp;
use rusqlite::Transaction;
use segue_core::model::{ListenSettings, StoredToken, TokenId};
use segue_core::ports::{Conflict, Missing};

use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::values::{Json, Time, Word};

pub(super) fn add_token(
    transaction: &Transaction<'_>,
    stored: &StoredToken,
) -> Result<(), SqliteFault> {
    let StoredToken { token, digest, created_at, expires_at, last_used_at, made_from } = stored;
    let sql = "SELECT 1 FROM tokens WHERE name = ?1";
    if read::one(transaction, sql, [&token.name], |row| row.get::<_, i64>(0))?.is_some() {
        return Err(Conflict::TokenNameTaken { name: token.name.clone() }.into());
    }
    transaction
        .prepare_cached(
            "INSERT INTO tokens (id, name, kind, scopes, session, digest, created_at, expires_at,
                                 last_used_at, made_from)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute((
            Word(&token.id),
            &token.name,
            Word(&token.kind),
            Json(&token.scopes),
            token.only_session.as_ref().map(Word),
            Word(digest),
            Time(*created_at),
            expires_at.map(Time),
            last_used_at.map(Time),
            made_from.as_ref().map(Word),
        ))?;
    Ok(())
}

pub(super) fn remove_token(
    transaction: &Transaction<'_>,
    token: TokenId,
) -> Result<(), SqliteFault> {
    let sql = "DELETE FROM tokens WHERE made_from = ?1";
    transaction.prepare_cached(sql)?.execute([Word(&token)])?;
    let sql = "DELETE FROM tokens WHERE id = ?1";
    match transaction.prepare_cached(sql)?.execute([Word(&token)])? {
        0 => Err(Missing::Token(token).into()),
        _ => Ok(()),
    }
}

pub(super) fn use_token(
    transaction: &Transaction<'_>,
    token: TokenId,
    at: Timestamp,
) -> Result<(), SqliteFault> {
    let sql = "UPDATE tokens SET last_used_at = ?2 WHERE id = ?1";
    match transaction.prepare_cached(sql)?.execute((Word(&token), Time(at)))? {
        0 => Err(Missing::Token(token).into()),
        _ => Ok(()),
    }
}

pub(super) fn set_listener(
    transaction: &Transaction<'_>,
    settings: Option<&ListenSettings>,
) -> Result<(), SqliteFault> {
    match settings {
        None => transaction.execute("DELETE FROM listener", [])?,
        Some(settings) => transaction.execute(
            "INSERT OR REPLACE INTO listener (number, settings) VALUES (1, ?1)",
            [Json(settings)],
        )?,
    };
    Ok(())
}
