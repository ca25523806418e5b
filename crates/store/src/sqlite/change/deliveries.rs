//! Deliveries, the issues on which agents work, and replies.

use rusqlite::Transaction;
use segue_core::model::{
    Delivery, DeliveryHeaders, DeliveryId, ForgeReply, PolledRepository, StoredDeliveryState,
    TrackedIssue, TrackedIssueKey,
};
use segue_core::ports::{Conflict, Missing};

use crate::sqlite::deliveries::known;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::values::{Json, Time, Word};

const INSERT: &str = "
    INSERT INTO deliveries (id, source, forge_id, digest, event, received_at, state, detail, bytes,
                            headers, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

pub(super) fn add(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), SqliteFault> {
    let Delivery { summary, headers, body, digest } = delivery;
    let forge_id = summary.forge_id.as_deref();
    if let Some(id) = known(transaction, &summary.source, forge_id, digest)? {
        return Err(Conflict::DeliveryKnown { id }.into());
    }
    transaction.prepare_cached(INSERT)?.execute(rusqlite::params![
        Word(&summary.id),
        Word(&summary.source),
        summary.forge_id,
        digest,
        summary.event,
        Time(summary.received_at),
        summary.state.kind().word(),
        Json(&summary.state),
        summary.bytes,
        Json(headers),
        body,
    ])?;
    Ok(())
}

pub(super) fn set(
    transaction: &Transaction<'_>,
    delivery: DeliveryId,
    state: &StoredDeliveryState,
) -> Result<(), SqliteFault> {
    let sql = "UPDATE deliveries SET state = ?2, detail = ?3 WHERE id = ?1";
    let row = (Word(&delivery), state.kind().word(), Json(state));
    match transaction.prepare_cached(sql)?.execute(row)? {
        0 => Err(Missing::Delivery(delivery).into()),
        _ => Ok(()),
    }
}

pub(super) fn remove(
    transaction: &Transaction<'_>,
    delivery: DeliveryId,
) -> Result<(), SqliteFault> {
    let sql = "DELETE FROM deliveries WHERE id = ?1";
    match transaction.prepare_cached(sql)?.execute([Word(&delivery)])? {
        0 => Err(Missing::Delivery(delivery).into()),
        _ => Ok(()),
    }
}

pub(super) fn remove_content(
    transaction: &Transaction<'_>,
    delivery: DeliveryId,
) -> Result<(), SqliteFault> {
    let sql = "UPDATE deliveries SET headers = ?2, body = x'', has_content = 0
               WHERE id = ?1 AND state IN ('processed', 'ignored')";
    let row = (Word(&delivery), Json(&DeliveryHeaders::default()));
    transaction.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

pub(super) fn put_polled(
    transaction: &Transaction<'_>,
    polled: &PolledRepository,
) -> Result<(), SqliteFault> {
    let sql = "INSERT OR REPLACE INTO polled_repositories (source, repository, record)
               VALUES (?1, ?2, ?3)";
    let row = (Word(&polled.source), polled.address.id.cast_signed(), Json(polled));
    transaction.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

pub(super) fn put_issue(
    transaction: &Transaction<'_>,
    issue: &TrackedIssue,
) -> Result<(), SqliteFault> {
    let TrackedIssueKey { source, repository, subject } = issue.key();
    let sql = "INSERT OR REPLACE INTO tracked_issues (source, repository, subject, record)
               VALUES (?1, ?2, ?3, ?4)";
    let row = (Word(&source), repository.cast_signed(), Json(&subject), Json(issue));
    transaction.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

pub(super) fn remove_issue(
    transaction: &Transaction<'_>,
    TrackedIssueKey { source, repository, subject }: &TrackedIssueKey,
) -> Result<(), SqliteFault> {
    let sql = "DELETE FROM tracked_issues WHERE source = ?1 AND repository = ?2 AND subject = ?3";
    let row = (Word(source), repository.cast_signed(), Json(subject));
    transaction.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

pub(super) fn add_reply(
    transaction: &Transaction<'_>,
    reply: &ForgeReply,
) -> Result<(), SqliteFault> {
    let sql = "INSERT INTO replies (id, state, record) VALUES (?1, ?2, ?3)";
    let row = (Word(&reply.id), reply.state.word(), Json(reply));
    transaction.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

pub(super) fn set_reply(
    transaction: &Transaction<'_>,
    reply: &ForgeReply,
) -> Result<(), SqliteFault> {
    let sql = "UPDATE replies SET state = ?2, record = ?3 WHERE id = ?1";
    let row = (Word(&reply.id), reply.state.word(), Json(reply));
    match transaction.prepare_cached(sql)?.execute(row)? {
        0 => Err(Missing::Reply(reply.id).into()),
        _ => Ok(()),
    }
}
