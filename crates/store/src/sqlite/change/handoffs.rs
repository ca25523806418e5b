//! Handoffs: which session continues the conversation of which other session.

use rusqlite::Transaction;
use segue_core::model::Handoff;

use super::address;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::values::{Json, Word};

pub(super) fn add(transaction: &Transaction<'_>, handoff: &Handoff) -> Result<(), SqliteFault> {
    address(transaction, handoff.from)?;
    address(transaction, handoff.to)?;
    transaction
        .prepare_cached(
            "INSERT INTO handoffs (from_session, to_session, detail) VALUES (?1, ?2, ?3)",
        )?
        .execute((Word(&handoff.from), Word(&handoff.to), Json(handoff)))?;
    Ok(())
}
