//! Messages to agents: added once, then updated until they are settled.

use jiff::Timestamp;
use rusqlite::Transaction;
use segue_core::model::{Message, MessageId, MessageState};
use segue_core::ports::{Conflict, Missing};

use super::address;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::values::{Json, Time, Word};

const INSERT: &str = "
    INSERT INTO messages (
        id, session, text, state, detail, created_at, updated_at, sender, is_command
    ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

const UPDATE: &str = "
    UPDATE messages SET state = ?2, detail = ?3, updated_at = ?4 WHERE id = ?1";

pub(super) fn add(transaction: &Transaction<'_>, message: &Message) -> Result<(), SqliteFault> {
    address(transaction, message.session)?;
    transaction.prepare_cached(INSERT)?.execute((
        Word(&message.id),
        Word(&message.session),
        &message.text,
        message.state.word(),
        Json(&message.state),
        Time(message.created_at),
        Time(message.updated_at),
        message.sender.as_ref().map(Json),
        message.is_command,
    ))?;
    Ok(())
}

pub(super) fn set(
    transaction: &Transaction<'_>,
    id: MessageId,
    state: &MessageState,
    at: Timestamp,
) -> Result<(), SqliteFault> {
    let known = read::message(transaction, id)?;
    let known = known.ok_or(Missing::Message(id))?;
    if known.state.is_settled() {
        return Err(Conflict::MessageIsSettled { id, state: known.state }.into());
    }
    let parameters = (Word(&id), state.word(), Json(state), Time(at));
    transaction.prepare_cached(UPDATE)?.execute(parameters)?;
    Ok(())
}
