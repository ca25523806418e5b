//! Usage: added to the sums of its session together with the next cursor of its source.

use rusqlite::Transaction;
use segue_core::model::{CountedUsage, SessionId, Usage, UsageIncrement};
use segue_core::ports::Conflict;

use super::address;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::rows;
use crate::sqlite::values::{Json, Time, Word};

const CURSOR: &str = "
    SELECT cursor FROM usage_cursors WHERE session = ?1 AND conversation = ?2 AND source = ?3";

const SET_CURSOR: &str = "
    INSERT INTO usage_cursors (session, conversation, source, cursor) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (session, conversation, source) DO UPDATE SET cursor = ?4";

/// A cost is NULL only if neither the stored nor the added one is known.
const ADD: &str = "
    INSERT INTO usage (session, at, fleet, agent, vendor, input, cached, output, cost)
    SELECT id, ?2, fleet, agent, vendor, ?3, ?4, ?5, ?6 FROM sessions WHERE id = ?1
    ON CONFLICT (session, at) DO UPDATE SET
        input = input + ?3, cached = cached + ?4, output = output + ?5,
        cost = coalesce(cost + ?6, cost, ?6)";

const ADD_TO_TOTAL: &str = "
    INSERT INTO usage_totals (session, input, cached, output, cost) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (session) DO UPDATE SET
        input = input + ?2, cached = cached + ?3, output = output + ?4,
        cost = coalesce(cost + ?5, cost, ?5)";

pub(super) fn add(
    transaction: &Transaction<'_>,
    increment: &UsageIncrement,
) -> Result<(), SqliteFault> {
    let UsageIncrement { session, source, from, to, counted } = increment;
    let owner = address(transaction, *session)?;
    let key = || (Word(session), Word(&source.conversation), source.name.as_str());
    let known = read::one(transaction, CURSOR, key(), rows::json)?;
    if known != *from {
        return Err(Conflict::UsageIsCounted { session: owner }.into());
    }
    let (session_word, conversation, name) = key();
    let parameters = (session_word, conversation, name, Json(to));
    transaction.prepare_cached(SET_CURSOR)?.execute(parameters)?;
    counted.iter().try_for_each(|counted| add_counted(transaction, *session, counted))
}

fn add_counted(
    transaction: &Transaction<'_>,
    session: SessionId,
    CountedUsage { at, usage }: &CountedUsage,
) -> Result<(), SqliteFault> {
    let Usage { input, cached, output, cost_usd } = *usage;
    let cost = cost_usd.map(|cost| number(cost.billionths()));
    let (input, cached, output) = (number(input), number(cached), number(output));
    let id = Word(&session);
    let parameters = (&id, Time(*at), input, cached, output, cost);
    transaction.prepare_cached(ADD)?.execute(parameters)?;
    let parameters = (&id, input, cached, output, cost);
    transaction.prepare_cached(ADD_TO_TOTAL)?.execute(parameters)?;
    Ok(())
}

/// The largest number of tokens that is stored. Sums of such numbers fit into a column.
const MAX_TOKENS: u64 = 1 << 50;

fn number(value: u64) -> i64 {
    i64::try_from(value.min(MAX_TOKENS)).unwrap_or_default()
}
