//! Reads what housekeeping needs.

use rusqlite::Connection;
use segue_core::model::{HousekeepingState, IssueKey, LaunchIndexEntry, SessionId};

use crate::sqlite::read::{all, one};
use crate::sqlite::rows;

const STATE: &str = "SELECT next_sweep, disk_level FROM housekeeping";

const LAUNCHES: &str = "
    SELECT id, session, number, json_extract(ended, '$.at') FROM launches
    ORDER BY session, number, created_at, id";

const ISSUE_SESSIONS: &str = "
    SELECT fleet, agent, repository, issue, session FROM issue_sessions
    ORDER BY fleet, agent, repository, issue";

pub(crate) fn state(connection: &Connection) -> rusqlite::Result<HousekeepingState> {
    Ok(one(connection, STATE, [], rows::housekeeping)?.unwrap_or_default())
}

pub(crate) fn launches(connection: &Connection) -> rusqlite::Result<Vec<LaunchIndexEntry>> {
    all(connection, LAUNCHES, [], rows::launch_index_entry)
}

pub(crate) fn issue_sessions(
    connection: &Connection,
) -> rusqlite::Result<Vec<(IssueKey, SessionId)>> {
    all(connection, ISSUE_SESSIONS, [], rows::issue_session)
}
