//! The queries of the store. Each query is one SQL statement, so its result is consistent.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Params, Row};
use segue_core::model::{
    AgentWorktree, Binding, Counts, Event, ExchangedMessage, Fleet, FleetName, Handoff, Launch,
    MachineId, Message, MessageId, RequestKey, RequestStep, Session, SessionId, Timer, Trust,
    WorktreeId,
};
use segue_core::ports::{EventQuery, MessageQuery, WorktreeQuery};

use crate::sqlite::rows;
use crate::sqlite::values::{self, Json, Location, Word};

const SESSION: &str =
    concat!("SELECT ", rows::session_columns!(), " FROM sessions s WHERE s.id = ?1");

const LAUNCHES: &str = concat!(
    "SELECT ",
    rows::launch_columns!(),
    " FROM launches WHERE session = ?1 ORDER BY number, created_at, id"
);

const OPEN_LAUNCHES: &str = concat!(
    "SELECT ",
    rows::launch_columns!(),
    " FROM launches WHERE ended IS NULL
      AND (machine IS NULL OR machine IN (SELECT value FROM json_each(?1)))
      ORDER BY created_at, id"
);

const BINDINGS: &str = "
    SELECT session, launch, vendor_session, evidence, at FROM bindings
    WHERE session = ?1 ORDER BY seq";

macro_rules! events_where {
    ($condition:literal, $order:literal) => {
        concat!(
            "SELECT seq, at, session, launch, kind, text, data FROM events ",
            $condition,
            " AND seq > ?1 ORDER BY seq ",
            $order,
            " LIMIT ?2"
        )
    };
}

const EVENTS: &str = events_where!("WHERE 1", "ASC");
const NEWEST_EVENTS: &str = events_where!("WHERE 1", "DESC");
const EVENTS_OF_SESSION: &str = events_where!("WHERE session = ?3", "ASC");
const NEWEST_OF_SESSION: &str = events_where!("WHERE session = ?3", "DESC");
// Uses the index by session, because these sessions may have only a small part of a long log.
const EVENTS_OF_SESSIONS: &str = events_where!(
    "INDEXED BY events_by_session WHERE session IN (SELECT value FROM json_each(?3))",
    "ASC"
);
const NEWEST_OF_SESSIONS: &str = events_where!(
    "INDEXED BY events_by_session WHERE session IN (SELECT value FROM json_each(?3))",
    "DESC"
);

macro_rules! messages_where {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            $crate::sqlite::rows::message_columns!(),
            " FROM messages WHERE ",
            $condition,
            " ORDER BY rowid"
        )
    };
}

pub(crate) fn message(connection: &Connection, id: MessageId) -> rusqlite::Result<Option<Message>> {
    one(connection, messages_where!("id = ?1"), [Word(&id)], rows::message)
}

/// Returns who sent the newest messages to one of two sessions, the newest first.
pub(crate) fn exchanged_messages(
    connection: &Connection,
    (one, other): (SessionId, SessionId),
    limit: u32,
) -> rusqlite::Result<Vec<ExchangedMessage>> {
    // Two lists that each follow the index, so that old messages are not read.
    let sql = "
        SELECT session, sender FROM (
            SELECT * FROM (SELECT session, sender, created_at, rowid AS number FROM messages
                           WHERE session = ?1 ORDER BY created_at DESC, rowid DESC LIMIT ?3)
            UNION ALL
            SELECT * FROM (SELECT session, sender, created_at, rowid AS number FROM messages
                           WHERE session = ?2 ORDER BY created_at DESC, rowid DESC LIMIT ?3)
        ) ORDER BY created_at DESC, number DESC LIMIT ?3";
    all(connection, sql, (Word(&one), Word(&other), limit), rows::exchanged_message)
}

pub(crate) fn messages(
    connection: &Connection,
    query: &MessageQuery,
) -> rusqlite::Result<Vec<Message>> {
    const OPEN: &str = messages_where!("state IN ('queued', 'typing')");
    const ALL: &str = messages_where!("1");
    const OPEN_OF: &str = messages_where!("session = ?1 AND state IN ('queued', 'typing')");
    const ALL_OF: &str = messages_where!("session = ?1");
    match query.session {
        None => all(connection, if query.open { OPEN } else { ALL }, [], rows::message),
        Some(session) => {
            let sql = if query.open { OPEN_OF } else { ALL_OF };
            all(connection, sql, [Word(&session)], rows::message)
        }
    }
}

macro_rules! worktrees_where {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            rows::worktree_columns!(),
            " FROM worktrees WHERE ",
            $condition,
            " ORDER BY created_at, id"
        )
    };
}

pub(crate) fn worktree(
    connection: &Connection,
    id: WorktreeId,
) -> rusqlite::Result<Option<AgentWorktree>> {
    one(connection, worktrees_where!("id = ?1"), [Word(&id)], rows::worktree)
}

pub(crate) fn worktrees(
    connection: &Connection,
    query: &WorktreeQuery,
) -> rusqlite::Result<Vec<AgentWorktree>> {
    const OF: &str = worktrees_where!("session = ?1");
    const AT: &str = worktrees_where!("path = ?1");
    const OF_AT: &str = worktrees_where!("session = ?1 AND path = ?2");
    let read = rows::worktree;
    match (query.session, query.path.as_deref()) {
        (None, None) => all(connection, worktrees_where!("1"), [], read),
        (Some(session), None) => all(connection, OF, [Word(&session)], read),
        (None, Some(path)) => all(connection, AT, [Location(path)], read),
        (Some(session), Some(path)) => {
            all(connection, OF_AT, (Word(&session), Location(path)), read)
        }
    }
}

pub(crate) fn session(connection: &Connection, id: SessionId) -> rusqlite::Result<Option<Session>> {
    one(connection, SESSION, [Word(&id)], rows::session)
}

pub(crate) fn launches(
    connection: &Connection,
    session: SessionId,
) -> rusqlite::Result<Vec<Launch>> {
    all(connection, LAUNCHES, [Word(&session)], rows::launch)
}

pub(crate) fn open_launches(
    connection: &Connection,
    machines: &[MachineId],
) -> rusqlite::Result<Vec<Launch>> {
    all(connection, OPEN_LAUNCHES, [Json(&machines)], rows::launch)
}

pub(crate) fn bindings(
    connection: &Connection,
    session: SessionId,
) -> rusqlite::Result<Vec<Binding>> {
    all(connection, BINDINGS, [Word(&session)], rows::binding)
}

pub(crate) fn events(connection: &Connection, query: &EventQuery) -> rusqlite::Result<Vec<Event>> {
    let EventQuery { after, sessions, limit, newest } = query;
    let either = |oldest: &'static str, latest: &'static str| if *newest { latest } else { oldest };
    let mut events = match sessions.as_slice() {
        [] => all(connection, either(EVENTS, NEWEST_EVENTS), (after, limit), rows::event),
        [only] => {
            let sql = either(EVENTS_OF_SESSION, NEWEST_OF_SESSION);
            all(connection, sql, (after, limit, Word(only)), rows::event)
        }
        several => {
            let sql = either(EVENTS_OF_SESSIONS, NEWEST_OF_SESSIONS);
            all(connection, sql, (after, limit, Json(&several)), rows::event)
        }
    }?;
    if *newest {
        events.reverse();
    }
    Ok(events)
}

pub(crate) fn fleet(connection: &Connection, name: &FleetName) -> rusqlite::Result<Option<Fleet>> {
    let sql = "SELECT name, folder FROM fleets WHERE name = ?1";
    one(connection, sql, [Word(name)], rows::fleet)
}

pub(crate) fn fleet_names(connection: &Connection) -> rusqlite::Result<Vec<FleetName>> {
    all(connection, "SELECT name FROM fleets ORDER BY name", [], rows::word)
}

pub(crate) fn fleets_of(connection: &Connection, folder: &Path) -> rusqlite::Result<Vec<Fleet>> {
    let sql = "SELECT name, folder FROM fleets WHERE folder = ?1 ORDER BY seq";
    all(connection, sql, [Location(folder)], rows::fleet)
}

pub(crate) fn counts(connection: &Connection, fleet: &FleetName) -> rusqlite::Result<Counts> {
    let sql = "SELECT agent, count FROM counts WHERE fleet = ?1";
    Ok(all(connection, sql, [Word(fleet)], rows::count)?.into_iter().collect())
}

pub(crate) fn timers(connection: &Connection, session: SessionId) -> rusqlite::Result<Vec<Timer>> {
    let sql = "SELECT timers FROM timers WHERE session = ?1";
    Ok(one(connection, sql, [Word(&session)], rows::timers)?.unwrap_or_default())
}

pub(crate) fn handoffs(
    connection: &Connection,
    session: SessionId,
) -> rusqlite::Result<Vec<Handoff>> {
    let sql = "SELECT detail FROM handoffs WHERE from_session = ?1 OR to_session = ?1 ORDER BY seq";
    all(connection, sql, [Word(&session)], rows::handoff)
}

const HANDOFFS_OF: &str = "
    SELECT detail FROM handoffs
    WHERE from_session IN (SELECT value FROM json_each(?1))
       OR to_session IN (SELECT value FROM json_each(?1))
    ORDER BY seq";

pub(crate) fn handoffs_of(
    connection: &Connection,
    sessions: &[SessionId],
) -> rusqlite::Result<Vec<Handoff>> {
    all(connection, HANDOFFS_OF, [Json(&sessions)], rows::handoff)
}

const REQUEST: &str = "SELECT detail FROM requests WHERE caller = ?1 AND id = ?2 ORDER BY seq";

pub(crate) fn request(
    connection: &Connection,
    key: RequestKey,
) -> rusqlite::Result<Vec<RequestStep>> {
    let parameters = (values::caller(key.caller), Word(&key.id));
    all(connection, REQUEST, parameters, rows::json)
}

pub(crate) fn trust(connection: &Connection, folder: &Path) -> rusqlite::Result<Option<Trust>> {
    let sql = "SELECT folder, digest, at FROM trusts WHERE folder = ?1";
    one(connection, sql, [Location(folder)], rows::trust)
}

/// Returns the value of the first row of a statement. `None` if it has no rows.
pub(crate) fn one<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    connection.prepare_cached(sql)?.query_row(parameters, read).optional()
}

pub(crate) fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(parameters, read)?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrations;

    fn plan(sql: &str) -> String {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::apply(&mut connection, migrations::ALL).unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let parameters = vec![rusqlite::types::Null; statement.parameter_count()];
        let lines = statement
            .query_map(rusqlite::params_from_iter(parameters), |row| row.get::<_, String>(3))
            .unwrap();
        lines.map(|line| line.unwrap() + "\n").collect()
    }

    #[test]
    fn queries_scan_no_whole_table() {
        let events = [EVENTS, NEWEST_EVENTS, EVENTS_OF_SESSION, NEWEST_OF_SESSION];
        let others = [SESSION, LAUNCHES, BINDINGS, REQUEST, HANDOFFS_OF];
        for sql in others.into_iter().chain(events) {
            let plan = plan(sql).replace("SCAN json_each", "");
            assert!(!plan.contains("SCAN"), "{plan}");
        }
        for sql in [EVENTS_OF_SESSIONS, NEWEST_OF_SESSIONS] {
            assert!(!plan(sql).contains("SCAN events"), "{}", plan(sql));
        }
        assert!(plan(EVENTS_OF_SESSION).contains("events_by_session"));
        // The index has only open launches, so all of its rows are read.
        assert!(plan(OPEN_LAUNCHES).contains("launches_one_open"), "{}", plan(OPEN_LAUNCHES));
    }
}
