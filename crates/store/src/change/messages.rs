//! Messages to agents: taken in once, moved on until they are settled.

use jiff::Timestamp;
use rusqlite::Transaction;
use segue_core::Error;
use segue_core::model::{Message, MessageId, MessageState};

use super::address;
use crate::fault::Fault;
use crate::read;
use crate::values::{Json, Time, Word};

const INSERT: &str = "
    INSERT INTO messages (id, session, text, state, detail, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

const UPDATE: &str = "
    UPDATE messages SET state = ?2, detail = ?3, updated_at = ?4 WHERE id = ?1";

pub(super) fn add(transaction: &Transaction<'_>, message: &Message) -> Result<(), Fault> {
    address(transaction, message.session)?;
    transaction.prepare_cached(INSERT)?.execute((
        Word(&message.id),
        Word(&message.session),
        &message.text,
        message.state.word(),
        Json(&message.state),
        Time(message.created_at),
        Time(message.updated_at),
    ))?;
    Ok(())
}

pub(super) fn set(
    transaction: &Transaction<'_>,
    id: MessageId,
    state: &MessageState,
    at: Timestamp,
) -> Result<(), Fault> {
    let known = read::message(transaction, id)?;
    let known = known.ok_or_else(|| {
        Error::not_found(format!("no message has the id `{id}`"))
            .hint("run `segue messages` to see all messages")
    })?;
    if known.state.is_settled() {
        let word = known.state.word();
        return Err(Error::conflict(format!("message `{id}` is {word} already"))
            .hint("run `segue messages` to see all messages")
            .into());
    }
    let parameters = (Word(&id), state.word(), Json(state), Time(at));
    transaction.prepare_cached(UPDATE)?.execute(parameters)?;
    Ok(())
}
