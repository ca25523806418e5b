//! The schema of the database, as numbered migrations. The statements of a migration never change.

use rusqlite::{Connection, Transaction, TransactionBehavior};
use segue_core::Error;
use segue_core::failpoint::hit;

use crate::sqlite::fault::SqliteFault;

/// One migration, from the previous version to this one.
#[derive(Debug)]
pub(crate) struct Migration {
    pub(crate) number: i64,
    pub(crate) sql: &'static str,
}

/// All migrations, in order.
pub(crate) const ALL: &[Migration] = &[
    Migration { number: 1, sql: include_str!("../../migrations/sqlite/0001_sessions.sql") },
    Migration { number: 2, sql: include_str!("../../migrations/sqlite/0002_trusts.sql") },
    Migration { number: 3, sql: include_str!("../../migrations/sqlite/0003_messages.sql") },
    Migration { number: 4, sql: include_str!("../../migrations/sqlite/0004_fleets.sql") },
    Migration { number: 5, sql: include_str!("../../migrations/sqlite/0005_archive.sql") },
    Migration { number: 6, sql: include_str!("../../migrations/sqlite/0006_handoffs.sql") },
    Migration { number: 7, sql: include_str!("../../migrations/sqlite/0007_requests.sql") },
    Migration { number: 8, sql: include_str!("../../migrations/sqlite/0008_queries.sql") },
    Migration { number: 9, sql: include_str!("../../migrations/sqlite/0009_machines.sql") },
    Migration { number: 10, sql: include_str!("../../migrations/sqlite/0010_event_data.sql") },
    Migration { number: 11, sql: include_str!("../../migrations/sqlite/0011_worktrees.sql") },
    Migration { number: 12, sql: include_str!("../../migrations/sqlite/0012_tasks.sql") },
    Migration { number: 13, sql: include_str!("../../migrations/sqlite/0013_usage.sql") },
    Migration { number: 14, sql: include_str!("../../migrations/sqlite/0014_worktree_setup.sql") },
    Migration { number: 15, sql: include_str!("../../migrations/sqlite/0015_task_pages.sql") },
    Migration { number: 16, sql: include_str!("../../migrations/sqlite/0016_network.sql") },
    Migration { number: 17, sql: include_str!("../../migrations/sqlite/0017_deliveries.sql") },
    Migration { number: 18, sql: include_str!("../../migrations/sqlite/0018_housekeeping.sql") },
    Migration {
        number: 19,
        sql: include_str!("../../migrations/sqlite/0019_polled_repositories.sql"),
    },
    Migration { number: 20, sql: include_str!("../../migrations/sqlite/0020_browsers.sql") },
    Migration { number: 21, sql: include_str!("../../migrations/sqlite/0021_up_names.sql") },
    Migration { number: 22, sql: include_str!("../../migrations/sqlite/0022_plans.sql") },
    Migration { number: 23, sql: include_str!("../../migrations/sqlite/0023_children.sql") },
    Migration { number: 24, sql: include_str!("../../migrations/sqlite/0024_session_mcp.sql") },
    Migration { number: 25, sql: include_str!("../../migrations/sqlite/0025_repetitions.sql") },
    Migration {
        number: 26,
        sql: include_str!("../../migrations/sqlite/0026_settings_changed.sql"),
    },
    Migration {
        number: 27,
        sql: include_str!("../../migrations/sqlite/0027_message_commands.sql"),
    },
];

/// Returns the version after these migrations.
pub(crate) fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |migration| migration.number)
}

/// Returns the version of a database. 0 before the first migration.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Migrates a database to the newest version. Each migration has its own transaction.
pub(crate) fn apply(
    connection: &mut Connection,
    migrations: &[Migration],
) -> Result<(), SqliteFault> {
    // A migration may rebuild a table that other tables refer to. So references are checked only
    // after the whole migration.
    connection.pragma_update(None, "foreign_keys", false)?;
    let from = version(connection)?;
    for migration in migrations.iter().filter(|migration| migration.number > from) {
        hit("store.migrate.before");
        run_migration(connection, migration)?;
        hit("store.migrate.after");
    }
    Ok(connection.pragma_update(None, "foreign_keys", true)?)
}

fn run_migration(connection: &mut Connection, migration: &Migration) -> Result<(), SqliteFault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(migration.sql)?;
    check_references(&transaction, migration)?;
    transaction.pragma_update(None, "user_version", migration.number)?;
    Ok(transaction.commit()?)
}

fn check_references(
    transaction: &Transaction<'_>,
    migration: &Migration,
) -> Result<(), SqliteFault> {
    let mut check = transaction.prepare("PRAGMA foreign_key_check")?;
    if check.exists([])? {
        let message = format!("migration {} of the store would break references", migration.number);
        return Err(Error::internal(message).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_in_the_folder_is_a_migration_and_numbers_have_no_gaps() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert_eq!(files.len(), ALL.len());
        for ((file, migration), number) in files.iter().zip(ALL).zip(1..) {
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(name.starts_with(&format!("{number:04}_")), "{name}");
            assert_eq!(migration.number, number);
            assert_eq!(migration.sql, std::fs::read_to_string(file).unwrap());
        }
    }

    #[test]
    fn failed_migration_keeps_the_earlier_version_and_data() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = [
            Migration {
                number: 1,
                sql: "CREATE TABLE things (name TEXT); INSERT INTO things VALUES ('kept');",
            },
            Migration { number: 2, sql: "DELETE FROM things; CREATE TABLE things (name TEXT);" },
        ];
        assert!(apply(&mut connection, &steps).is_err());
        assert_eq!(version(&connection).unwrap(), 1);
        let kept: String =
            connection.query_row("SELECT name FROM things", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, "kept");
    }

    #[test]
    fn migration_that_breaks_references_is_rolled_back() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = [
            Migration {
                number: 1,
                sql: "CREATE TABLE mothers (id INTEGER PRIMARY KEY);
                      CREATE TABLE children (mother INTEGER REFERENCES mothers (id));
                      INSERT INTO mothers VALUES (1); INSERT INTO children VALUES (1);",
            },
            Migration { number: 2, sql: "DELETE FROM mothers;" },
        ];
        assert!(apply(&mut connection, &steps).is_err());
        assert_eq!(version(&connection).unwrap(), 1);
        assert!(connection.prepare("SELECT 1 FROM mothers").unwrap().exists([]).unwrap());
    }

    #[test]
    fn database_at_the_newest_version_is_not_changed() {
        let mut connection = Connection::open_in_memory().unwrap();
        apply(&mut connection, ALL).unwrap();
        apply(&mut connection, ALL).unwrap();
        assert_eq!(version(&connection).unwrap(), newest(ALL));
    }
}
