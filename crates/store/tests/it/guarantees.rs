//! Tests of what the database itself refuses, whichever program writes to it.

use rusqlite::Connection;

use crate::fixture::{OLD_SESSION_ID, StoreFixture, database_of_version, newest_version};

fn connection(fixture: &StoreFixture) -> Connection {
    database_of_version(&fixture.store, newest_version());
    let connection = Connection::open(&fixture.store).unwrap();
    connection
        .execute_batch(&format!(
            "INSERT INTO launches (
                 id, session, number, mode, created_at, ended, program, cwd, environment, argv
             ) VALUES ('ended', '{OLD_SESSION_ID}', 1, 'fresh', 't', '{{}}', '/p', '/c', '[]', '[]'),
                      ('open', '{OLD_SESSION_ID}', 2, 'fresh', 't', NULL, '/p', '/c', '[]', '[]');
             INSERT INTO events (at, kind, text) VALUES ('t', 'bound', 'fact');
             INSERT INTO messages
             VALUES ('m', '{OLD_SESSION_ID}', 'x', 'delivered', '{{}}', 't', 't', NULL, NULL);"
        ))
        .unwrap();
    connection
}

#[test]
fn database_refuses_changes_that_break_a_guarantee() {
    let fixture = StoreFixture::new();
    let connection = connection(&fixture);
    let refused = [
        ("UPDATE bindings SET vendor_session = 'id-9'", "append-only"),
        ("UPDATE bindings SET at = 'earlier'", "append-only"),
        ("DELETE FROM bindings", "append-only"),
        ("UPDATE claims SET session = 'other'", "stays with its session"),
        ("DELETE FROM claims", "stays with its session"),
        ("INSERT INTO claims SELECT vendor, vendor_session, 'other' FROM claims", "UNIQUE"),
        ("UPDATE events SET text = 'another'", "append-only"),
        ("DELETE FROM events", "append-only"),
        ("UPDATE messages SET state = 'queued'", "settled"),
        ("UPDATE messages SET text = 'other'", "keeps its text"),
        ("UPDATE sessions SET id = 'other'", "keeps its id"),
        ("UPDATE sessions SET vendor = 'other'", "keeps its id"),
        ("UPDATE launches SET ended = NULL WHERE id = 'ended'", "first end"),
        ("UPDATE launches SET ended = '[]' WHERE id = 'ended'", "first end"),
        (
            "INSERT INTO launches SELECT 'second', session, number, mode, created_at, machine, holder, agent,
             ended, planned, vendor_version, git_commit, program, cwd, environment, argv, message
             FROM launches WHERE id = 'open'",
            "UNIQUE",
        ),
        (
            "INSERT INTO sessions SELECT 'second', fleet, name, agent, vendor, cwd, config_dir,
             model, permission, headless, restart, parent, status, spoke, created_at, updated_at,
             args, env, instructions, NULL, archive, settled, up_name,
             mcp, repetition, NULL FROM sessions",
            "UNIQUE",
        ),
        (
            "INSERT INTO bindings (session, vendor_session, evidence, at)
             SELECT session, 'unclaimed', evidence, at FROM bindings",
            "FOREIGN KEY",
        ),
        ("DELETE FROM launches WHERE id = 'open'; DELETE FROM bindings", "append-only"),
    ];
    for (sql, reason) in refused {
        let error = connection.execute_batch(sql).unwrap_err().to_string();
        assert!(error.contains(reason), "{sql}: {error}");
    }
}

#[test]
fn deleting_a_session_deletes_its_launches_claims_and_bindings() {
    let fixture = StoreFixture::new();
    let connection = connection(&fixture);
    connection.execute("DELETE FROM sessions", []).unwrap();
    for (table, left) in
        [("launches", 0), ("claims", 0), ("bindings", 0), ("messages", 0), ("events", 1)]
    {
        let count = format!("SELECT count(*) FROM {table}");
        let found: u32 = connection.query_row(&count, [], |row| row.get(0)).unwrap();
        assert_eq!(found, left, "{table}");
    }
}
