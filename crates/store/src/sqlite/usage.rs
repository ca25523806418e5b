//! Reads what sessions have used, and how far it is counted.

use rusqlite::{Connection, params_from_iter};
use segue_core::model::{DailyUsage, SessionId, StoredUsageCursor};
use segue_core::ports::UsageQuery;

use crate::sqlite::conditions::Conditions;
use crate::sqlite::read::all;
use crate::sqlite::rows;
use crate::sqlite::values::{Json, Time};

/// A timestamp begins with its day.
const SELECT: &str = "
    SELECT session, fleet, agent, vendor, substr(at, 1, 10),
           sum(input), sum(cached), sum(output), sum(cost)
    FROM usage";

/// Without statistics, SQLite prefers to scan the table.
const BY_TIME: &str = "INDEXED BY usage_by_time";

const GROUPS: &str =
    "GROUP BY session, fleet, agent, vendor, substr(at, 1, 10) ORDER BY session, 5";

const CURSORS: &str = "
    SELECT session, conversation, source, cursor FROM usage_cursors
    WHERE session IN (SELECT value FROM json_each(?1)) ORDER BY session, conversation, source";

fn conditions(query: &UsageQuery) -> rusqlite::Result<Conditions> {
    let mut conditions = Conditions::default();
    let sessions = query.sessions.as_ref().map(Json);
    conditions.add_if("session IN (SELECT value FROM json_each(?))", sessions)?;
    conditions.add_if("at >= ?", query.since.map(Time))?;
    conditions.add_if("at <= ?", query.until.map(Time))?;
    Ok(conditions)
}

/// Returns the statement of a query.
fn statement(query: &UsageQuery, conditions: &Conditions) -> String {
    let is_by_time = query.sessions.is_none() && query.since.is_some();
    let index = if is_by_time { BY_TIME } else { "" };
    conditions.statement(&format!("{SELECT} {index}"), GROUPS)
}

pub(crate) fn list(
    connection: &Connection,
    query: &UsageQuery,
) -> rusqlite::Result<Vec<DailyUsage>> {
    let conditions = conditions(query)?;
    let sql = statement(query, &conditions);
    all(connection, &sql, params_from_iter(conditions.parameters), rows::daily_usage)
}

pub(crate) fn cursors(
    connection: &Connection,
    sessions: &[SessionId],
) -> rusqlite::Result<Vec<StoredUsageCursor>> {
    all(connection, CURSORS, [Json(&sessions)], rows::usage_cursor)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::sqlite::migrations;

    #[test]
    fn query_with_a_condition_scans_no_usage() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::apply(&mut connection, migrations::ALL).unwrap();
        let id: SessionId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let now = Some(Timestamp::UNIX_EPOCH);
        let queries = [
            UsageQuery { sessions: Some(vec![id]), ..UsageQuery::default() },
            UsageQuery { sessions: Some(vec![id]), since: now, until: now },
            UsageQuery { since: now, ..UsageQuery::default() },
        ];
        for query in queries {
            let conditions = conditions(&query).unwrap();
            let sql = format!("EXPLAIN QUERY PLAN {}", statement(&query, &conditions));
            let mut statement = connection.prepare(&sql).unwrap();
            let parameters = params_from_iter(conditions.parameters);
            let lines = statement.query_map(parameters, |row| row.get::<_, String>(3)).unwrap();
            let plan: String = lines.map(|line| line.unwrap() + "\n").collect();
            assert!(!plan.contains("SCAN usage"), "{query:?}: {plan}");
        }
    }
}
