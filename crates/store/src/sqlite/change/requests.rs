//! Steps of requests. They are recorded so that a repeated request is carried out only once.

use jiff::SignedDuration;
use rusqlite::Transaction;
use segue_core::model::{RequestRecord, SessionId};
use segue_core::ports::Conflict;

use crate::sqlite::fault::SqliteFault;
use crate::sqlite::values::{self, Json, Time, Word};

/// How long a step is kept. Clients repeat a request within minutes.
const KEPT_HOURS: i64 = 24;

/// How many of the newest steps of each caller are kept. The limit applies to each caller alone, so
/// that no caller can displace the steps of another.
const KEPT_PER_CALLER: u32 = 512;

const INSERT: &str = "
    INSERT INTO requests (caller, id, step, at, detail) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT DO NOTHING";

const DELETE_SURPLUS: &str = "
    DELETE FROM requests WHERE caller = ?1 AND seq <= (
        SELECT seq FROM requests WHERE caller = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2
    )";

/// Each new step checks only the oldest steps for expiry, so that each commit costs the same.
const DELETE_EXPIRED: &str = "
    DELETE FROM requests
    WHERE seq IN (SELECT seq FROM requests ORDER BY seq LIMIT 8) AND at < ?1";

const DELETE_OF_CALLER: &str = "DELETE FROM requests WHERE caller = ?1";

pub(super) fn record(
    transaction: &Transaction<'_>,
    record: &RequestRecord,
) -> Result<(), SqliteFault> {
    let RequestRecord { key, step, at } = record;
    let caller = values::caller(key.caller);
    let parameters = (&caller, Word(&key.id), step.name(), Time(*at), Json(step));
    if transaction.prepare_cached(INSERT)?.execute(parameters)? == 0 {
        return Err(Conflict::RequestRepeated { id: key.id }.into());
    }
    transaction.prepare_cached(DELETE_SURPLUS)?.execute((&caller, KEPT_PER_CALLER))?;
    if let Ok(expired) = at.checked_sub(SignedDuration::from_hours(KEPT_HOURS)) {
        transaction.prepare_cached(DELETE_EXPIRED)?.execute([Time(expired)])?;
    }
    Ok(())
}

/// Deletes the requests of an agent whose session is removed.
pub(super) fn delete_of_agent(
    transaction: &Transaction<'_>,
    session: SessionId,
) -> Result<(), SqliteFault> {
    let caller = values::caller(Some(session));
    transaction.prepare_cached(DELETE_OF_CALLER)?.execute([caller])?;
    Ok(())
}
