//! Writes changes and events in a single transaction. All writes use this module.

use std::slice;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use segue_core::Result;
use segue_core::failpoint::hit;
use segue_core::model::NewEvent;
use segue_core::ports::Commit;

use crate::sqlite::change;
use crate::sqlite::database::Database;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::values::{Json, Time, Word};

/// Why commits were not applied.
enum CommitFault {
    /// One of the changes cannot be made. The others perhaps can.
    Change(SqliteFault),
    /// Nothing can be written.
    Write(SqliteFault),
}

/// Applies commits in one transaction, because each transaction waits for the disk. They are on disk
/// when this returns. Returns for each commit the sequence number of the last event in the log after
/// it. A commit that fails changes nothing, and does not affect the others.
pub(crate) fn commit_all(database: &mut Database, commits: &[Commit]) -> Vec<Result<i64>> {
    match (commit_together(database, commits), commits) {
        (Ok(last_events), _) => last_events.into_iter().map(Ok).collect(),
        (Err(CommitFault::Change(_)), [_, _, ..]) => {
            let alone = |it| commit_all(database, slice::from_ref(it));
            commits.iter().flat_map(alone).collect()
        }
        (Err(CommitFault::Change(fault) | CommitFault::Write(fault)), _) => {
            let error = fault.into_error(database.path());
            commits.iter().map(|_| Err(error.clone())).collect()
        }
    }
}

/// Applies all of the commits or none.
fn commit_together(database: &mut Database, commits: &[Commit]) -> Result<Vec<i64>, CommitFault> {
    database.check_files().map_err(|error| CommitFault::Write(error.into()))?;
    hit("store.commit.before");
    // An immediate transaction takes the write lock now. So the data that is read to find a conflict
    // cannot change before the write.
    let begun = database.connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = begun.map_err(|error| CommitFault::Write(error.into()))?;
    let applied = commits.iter().map(|commit| apply(&transaction, commit));
    let last_events = applied.collect::<Result<_, _>>().map_err(CommitFault::Change)?;
    transaction.commit().map_err(|error| CommitFault::Write(error.into()))?;
    // If the files were deleted meanwhile, the commits are lost with them.
    database.check_files().map_err(|error| CommitFault::Write(error.into()))?;
    hit("store.commit.after");
    Ok(last_events)
}

/// Applies a commit. Returns the sequence number of the last event in the log.
fn apply(transaction: &Transaction<'_>, commit: &Commit) -> Result<i64, SqliteFault> {
    for change in &commit.changes {
        change::apply(transaction, change)?;
    }
    for event in &commit.events {
        append(transaction, event)?;
    }
    Ok(last_event(transaction)?)
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
    use segue_core::model::{EventKind, EventPayload, SessionId};
    use segue_core::ports::Change;

    use super::*;
    use crate::sqlite::opening;

    fn event_of_length(length: usize) -> Commit {
        let text = "x".repeat(length);
        let payload = EventPayload::Recorded { kind: EventKind::StatusChanged, text };
        let event =
            NewEvent { at: jiff::Timestamp::UNIX_EPOCH, session: None, launch: None, payload };
        Commit { changes: Vec::new(), events: vec![event] }
    }

    /// Applies commits. Returns the sequence numbers, or the messages of the errors.
    fn commit(database: &mut Database, commits: &[Commit]) -> Vec<Result<i64, String>> {
        let all = commit_all(database, commits).into_iter();
        all.map(|it| it.map_err(|error| error.message)).collect()
    }

    #[test]
    fn commit_without_space_writes_nothing_and_the_next_one_works() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = opening::open(&folder.path().join("segue.db")).unwrap();
        let full = || Err("the disk is full".to_owned());
        assert_eq!(commit(&mut database, &[event_of_length(1)]), [Ok(1)]);
        // SQLite reports a database at its size limit like a full disk.
        database.connection.pragma_update(None, "max_page_count", 1).unwrap();
        assert_eq!(commit(&mut database, &[event_of_length(100_000)]), [full()]);
        let together = [event_of_length(1), event_of_length(100_000), event_of_length(1)];
        assert_eq!(commit(&mut database, &together), [Ok(2), full(), Ok(3)]);
        database.connection.pragma_update(None, "max_page_count", 1_000_000).unwrap();
        assert_eq!(commit(&mut database, &[event_of_length(100_000)]), [Ok(4)]);
    }

    #[test]
    fn commit_with_a_conflict_fails_alone_among_commits_of_one_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = opening::open(&folder.path().join("segue.db")).unwrap();
        let unknown: SessionId = "0198f9d2-0000-7000-8000-000000000001".parse().unwrap();
        let change = Change::MarkHasContent { session: unknown };
        let failing = Commit { changes: vec![change], ..event_of_length(1) };
        let commits = [event_of_length(1), failing, event_of_length(1), Commit::default()];
        let [first, second, third, fourth] = &commit(&mut database, &commits)[..] else {
            panic!("a result for each commit")
        };
        assert_eq!([first, third, fourth], [&Ok(1), &Ok(2), &Ok(2)]);
        assert!(second.is_err(), "{second:?}");
        assert_eq!(commit(&mut database, &commits[2..]), [Ok(3), Ok(3)]);
    }
}
