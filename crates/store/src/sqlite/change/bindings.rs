//! The ledger of bindings: which vendor session id belongs to which session. It only grows.

use rusqlite::Transaction;
use segue_core::model::{Binding, LaunchId, SessionId, VendorId};
use segue_core::ports::{Conflict, Missing};

use super::address;
use super::launches::session_of;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::rows;
use crate::sqlite::values::{Time, Word};

pub(super) fn add(transaction: &Transaction<'_>, binding: &Binding) -> Result<(), SqliteFault> {
    let vendor = vendor_of(transaction, binding.session)?;
    if let Some(launch) = binding.launch {
        check_launch(transaction, binding.session, launch)?;
    }
    claim(transaction, &vendor, binding)?;
    reset_has_content(transaction, binding)?;
    transaction
        .prepare_cached(
            "INSERT INTO bindings (session, launch, vendor_session, evidence, at)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((
            Word(&binding.session),
            Word(&binding.launch),
            Word(&binding.vendor_session),
            Word(&binding.evidence),
            Time(binding.at),
        ))?;
    Ok(())
}

/// Resets `Session::has_content` (column `spoke`) if the conversation of the binding differs from
/// that of the newest binding: a new conversation has no content yet.
fn reset_has_content(transaction: &Transaction<'_>, binding: &Binding) -> Result<(), SqliteFault> {
    let sql = "UPDATE sessions SET spoke = 0 WHERE id = ?1 AND ?2 IS NOT (
                   SELECT vendor_session FROM bindings WHERE session = ?1 ORDER BY seq DESC LIMIT 1
               )";
    let parameters = (Word(&binding.session), Word(&binding.vendor_session));
    transaction.prepare_cached(sql)?.execute(parameters)?;
    Ok(())
}

fn vendor_of(transaction: &Transaction<'_>, session: SessionId) -> Result<VendorId, SqliteFault> {
    let sql = "SELECT vendor FROM sessions WHERE id = ?1";
    let found = read::one(transaction, sql, [Word(&session)], rows::word)?;
    found.ok_or_else(|| Missing::Session(session).into())
}

fn check_launch(
    transaction: &Transaction<'_>,
    session: SessionId,
    launch: LaunchId,
) -> Result<(), SqliteFault> {
    let owner = session_of(transaction, launch)?;
    if owner == session {
        return Ok(());
    }
    let (owner, address) = (address(transaction, owner)?, address(transaction, session)?);
    Err(Conflict::LaunchOfAnotherSession { id: launch, owner, session: address }.into())
}

/// Claims the vendor session id for the session. Does nothing if the session has it already.
fn claim(
    transaction: &Transaction<'_>,
    vendor: &VendorId,
    binding: &Binding,
) -> Result<(), SqliteFault> {
    let id = &binding.vendor_session;
    let sql = "SELECT session FROM claims WHERE vendor = ?1 AND vendor_session = ?2";
    let owner = read::one(transaction, sql, (Word(vendor), Word(id)), rows::word::<SessionId>)?;
    match owner {
        Some(owner) if owner == binding.session => Ok(()),
        Some(owner) => {
            let owner = address(transaction, owner)?;
            let (vendor, id) = (vendor.clone(), id.clone());
            Err(Conflict::ConversationTaken { vendor, id, owner }.into())
        }
        None => {
            let sql = "INSERT INTO claims (vendor, vendor_session, session) VALUES (?1, ?2, ?3)";
            let parameters = (Word(vendor), Word(id), Word(&binding.session));
            transaction.prepare_cached(sql)?.execute(parameters)?;
            Ok(())
        }
    }
}
