//! Writes changes and events in a single transaction. All writes use this function.

use rusqlite::{Connection, Transaction, TransactionBehavior};
use segue_core::failpoint::hit;
use segue_core::model::NewEvent;
use segue_core::ports::Commit;

use crate::sqlite::change;
use crate::sqlite::database::Database;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::values::{Json, Time, Word};

/// Applies a commit. It is on disk when this returns. Returns the sequence number of the last event
/// in the log.
pub(crate) fn commit(database: &mut Database, commit: &Commit) -> Result<i64, SqliteFault> {
    database.check_files()?;
    hit("store.commit.before");
    // An immediate transaction takes the write lock now. So the data that is read to find a conflict
    // cannot change before the write.
    let transaction =
        database.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for change in &commit.changes {
        change::apply(&transaction, change)?;
    }
    for event in &commit.events {
        append(&transaction, event)?;
    }
    let last = last_event(&transaction)?;
    transaction.commit()?;
    // If the files were deleted meanwhile, the commit is lost with them.
    database.check_files()?;
    hit("store.commit.after");
    Ok(last)
}

fn append(transaction: &Transaction<'_>, event: &NewEvent) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO events (at, session, launch, kind, text, data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            Time(event.at),
            Word(&event.session),
            Word(&event.launch),
            Word(&event.payload.kind()),
            event.payload.to_string(),
            event.payload.data().as_ref().map(Json),
        ))?;
    Ok(())
}

/// Returns the sequence number of the newest event. 0 if there is no event.
pub(crate) fn last_event(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM events")?
        .query_row([], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use segue_core::Kind;
    use segue_core::model::{EventKind, EventPayload};

    use super::*;
    use crate::sqlite::opening;

    fn event_of_length(length: usize) -> Commit {
        let text = "x".repeat(length);
        let payload = EventPayload::Recorded { kind: EventKind::StatusChanged, text };
        let event =
            NewEvent { at: jiff::Timestamp::UNIX_EPOCH, session: None, launch: None, payload };
        Commit { changes: Vec::new(), events: vec![event] }
    }

    #[test]
    fn commit_without_space_writes_nothing_and_the_next_one_works() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = opening::open(&folder.path().join("segue.db")).unwrap();
        let first = commit(&mut database, &event_of_length(1)).unwrap();
        // SQLite reports a database at its size limit like a full disk.
        database.connection.pragma_update(None, "max_page_count", 1).unwrap();
        let error = commit(&mut database, &event_of_length(100_000))
            .unwrap_err()
            .into_error(database.path());
        assert_eq!((error.kind, error.message.as_str()), (Kind::Unavailable, "the disk is full"));
        database.connection.pragma_update(None, "max_page_count", 1_000_000).unwrap();
        assert_eq!(commit(&mut database, &event_of_length(100_000)).unwrap(), first + 1);
    }
}
