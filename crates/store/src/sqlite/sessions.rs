//! Lists of sessions: builds the statement for a query, and lists the places of sessions.

use std::path::PathBuf;

use rusqlite::{Connection, params_from_iter};
use segue_core::model::{Status, VendorId};
use segue_core::ports::{SessionActivity, SessionQuery, SessionSummary, VendorPlace};

use crate::sqlite::conditions::Conditions;
use crate::sqlite::read::all;
use crate::sqlite::rows;
use crate::sqlite::values::{Json, Location, Time, Word};

/// Reads launches only through their indexes, except for the short columns of an open launch.
const SELECT: &str = concat!(
    "SELECT ",
    rows::summary_columns!(),
    " FROM sessions s
      LEFT JOIN bindings b ON b.seq = (SELECT max(seq) FROM bindings WHERE session = s.id)
      LEFT JOIN launches o ON o.session = s.id AND o.ended IS NULL
      LEFT JOIN worktrees w ON w.session = s.id
      LEFT JOIN usage_totals u ON u.session = s.id"
);

const COUNT: &str = "SELECT count(*) FROM sessions s";

const OPEN: &str = "SELECT session FROM launches WHERE ended IS NULL";

const UNSETTLED: &str = "
    SELECT id FROM sessions WHERE settled = 0
    UNION ALL SELECT session FROM launches WHERE ended IS NULL
    UNION ALL SELECT session FROM messages WHERE state IN ('queued', 'typing')";

const CHANGED_SINCE: &str = "UNION ALL SELECT id FROM sessions WHERE updated_at >= ?";

const CLAIMING: &str =
    "SELECT session FROM claims WHERE vendor_session IN (SELECT value FROM json_each(?))";

fn conditions(query: &SessionQuery) -> rusqlite::Result<Conditions> {
    let mut conditions = Conditions::default();
    add_identity(&mut conditions, query)?;
    add_place(&mut conditions, query)?;
    if query.has_agent {
        conditions.add_plain("s.agent IS NOT NULL");
    }
    match query.activity {
        None => {}
        Some(SessionActivity::Open) => conditions.add_plain(&format!("s.id IN ({OPEN})")),
        Some(SessionActivity::Unsettled) => {
            conditions.add_plain(&format!("s.id IN ({UNSETTLED})"));
        }
        Some(SessionActivity::UnsettledOrChangedSince(time)) => {
            let sql = format!("s.id IN ({UNSETTLED} {CHANGED_SINCE})");
            conditions.add(&sql, &Time(time))?;
        }
    }
    if let Some((created_at, id)) = query.page.and_then(|page| page.after) {
        conditions.add("(s.created_at, s.id) > (?, ?)", &Time(created_at))?;
        conditions.add_parameter(&Word(&id))?;
    }
    Ok(conditions)
}

fn add_identity(conditions: &mut Conditions, query: &SessionQuery) -> rusqlite::Result<()> {
    let ids = query.ids.as_ref().map(Json);
    conditions.add_if("s.id IN (SELECT value FROM json_each(?))", ids)?;
    conditions.add_if("s.fleet = ?", query.fleet.as_ref().map(Word))?;
    conditions.add_if("s.name = ?", query.name.as_ref().map(Word))?;
    if let Some(id) = &query.reachable_from {
        conditions.add("(s.id = ? OR s.parent = ?)", &Word(id))?;
        conditions.add_parameter(&Word(id))?;
    }
    let claimed = query.vendor_sessions.as_ref().map(Json);
    conditions.add_if(&format!("s.id IN ({CLAIMING})"), claimed)
}

fn add_place(conditions: &mut Conditions, query: &SessionQuery) -> rusqlite::Result<()> {
    conditions.add_if("s.vendor = ?", query.vendor.as_ref().map(Word))?;
    conditions.add_if("s.config_dir = ?", query.config_dir.as_deref().map(Location))?;
    conditions.add_if("s.cwd = ?", query.cwd.as_deref().map(Location))
}

pub(crate) fn list(
    connection: &Connection,
    query: &SessionQuery,
) -> rusqlite::Result<Vec<SessionSummary>> {
    let conditions = conditions(query)?;
    let limit = query.page.map(|page| format!(" LIMIT {}", page.size)).unwrap_or_default();
    let sql = conditions.statement(SELECT, &format!("ORDER BY s.created_at, s.id{limit}"));
    all(connection, &sql, params_from_iter(conditions.parameters), rows::summary)
}

pub(crate) fn count(connection: &Connection, query: &SessionQuery) -> rusqlite::Result<u32> {
    let conditions = conditions(query)?;
    let sql = conditions.statement(COUNT, "");
    let parameters = params_from_iter(conditions.parameters);
    connection.prepare_cached(&sql)?.query_row(parameters, |row| row.get(0))
}

pub(crate) fn count_statuses(connection: &Connection) -> rusqlite::Result<Vec<(Status, u64)>> {
    // The details of a status are few, so that there are few groups.
    let sql = "SELECT status, count(*) FROM sessions GROUP BY status";
    all(connection, sql, [], rows::counted_status)
}

const RESTING_PLACES: &str = "
    SELECT vendor, config_dir, cwd FROM places p
    WHERE EXISTS (
        SELECT 1 FROM sessions s
        WHERE s.cwd = p.cwd AND s.vendor = p.vendor AND s.config_dir = p.config_dir
          AND NOT EXISTS (SELECT 1 FROM launches WHERE session = s.id AND ended IS NULL)
    )
    ORDER BY used_at DESC LIMIT ?1";

pub(crate) fn resting_places(
    connection: &Connection,
    limit: u32,
) -> rusqlite::Result<Vec<VendorPlace>> {
    all(connection, RESTING_PLACES, [limit], rows::vendor_place)
}

pub(crate) fn vendor_ids(connection: &Connection) -> rusqlite::Result<Vec<VendorId>> {
    all(connection, "SELECT DISTINCT vendor FROM places ORDER BY vendor", [], rows::word)
}

pub(crate) fn config_dirs(
    connection: &Connection,
    vendor: &VendorId,
) -> rusqlite::Result<Vec<PathBuf>> {
    let sql = "SELECT DISTINCT config_dir FROM places WHERE vendor = ?1";
    all(connection, sql, [Word(vendor)], rows::path)
}

const MODELS: &str = "
    SELECT model FROM sessions WHERE vendor = ?1 AND model IS NOT NULL
    GROUP BY model ORDER BY max(created_at) DESC, max(id) DESC LIMIT ?2";

pub(crate) fn models(
    connection: &Connection,
    vendor: &VendorId,
    limit: u32,
) -> rusqlite::Result<Vec<String>> {
    all(connection, MODELS, (Word(vendor), limit), |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use segue_core::model::{FleetName, SessionId, SessionName, VendorSessionId};
    use segue_core::ports::SessionPage;

    use super::*;
    use crate::sqlite::migrations;

    fn plan(query: &SessionQuery, select: &str, end: &str) -> String {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::apply(&mut connection, migrations::ALL).unwrap();
        let conditions = conditions(query).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {}", conditions.statement(select, end));
        let mut statement = connection.prepare(&sql).unwrap();
        let parameters = params_from_iter(conditions.parameters);
        let lines = statement.query_map(parameters, |row| row.get::<_, String>(3)).unwrap();
        lines.map(|line| line.unwrap() + "\n").collect()
    }

    fn list_plan(query: &SessionQuery) -> String {
        plan(query, SELECT, "ORDER BY s.created_at, s.id")
    }

    #[test]
    fn list_of_all_sessions_scans_only_the_sessions_in_their_order() {
        let plan = list_plan(&SessionQuery::default());
        let scans: Vec<_> = plan.lines().filter(|line| line.starts_with("SCAN")).collect();
        assert_eq!(scans, ["SCAN s USING INDEX sessions_by_age"], "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        assert!(plan.contains("USING COVERING INDEX launches_by_number"), "{plan}");
        assert!(plan.contains("USING INDEX launches_one_open"), "{plan}");
        assert!(plan.contains("INDEX messages_open"), "{plan}");
    }

    #[test]
    fn query_with_a_condition_scans_no_sessions() {
        let id: SessionId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let (fleet, vendor) = (FleetName::parse("shop").unwrap(), VendorId::new("tool"));
        let default = SessionQuery::default;
        let since = SessionActivity::UnsettledOrChangedSince(Timestamp::UNIX_EPOCH);
        let queries = [
            SessionQuery::id(id),
            SessionQuery::address(&fleet, &SessionName::parse("coder").unwrap()),
            SessionQuery::fleet(&fleet),
            SessionQuery { has_agent: true, ..SessionQuery::fleet(&fleet) },
            SessionQuery::vendor_session(&vendor, &VendorSessionId::new("1")),
            SessionQuery::activity(SessionActivity::Open),
            SessionQuery::activity(SessionActivity::Unsettled),
            SessionQuery::activity(since),
            SessionQuery { reachable_from: Some(id), ..default() },
            SessionQuery { name: Some(SessionName::parse("coder").unwrap()), ..default() },
            SessionQuery {
                page: Some(SessionPage { after: Some((Timestamp::UNIX_EPOCH, id)), size: 9 }),
                ..default()
            },
            SessionQuery { cwd: Some("/src".into()), ..default() },
            SessionQuery { cwd: Some("/src".into()), vendor: Some(vendor), ..default() },
        ];
        for query in queries {
            for plan in [list_plan(&query), plan(&query, COUNT, "")] {
                assert!(!plan.contains("SCAN s\n"), "{query:?}: {plan}");
                assert!(!plan.contains("SCAN s USING"), "{query:?}: {plan}");
                let scans_all = |line: &&str| {
                    let own_index = ["sessions_unsettled", "launches_one_open", "messages_open"];
                    line.trim_start().starts_with("SCAN")
                        && !line.contains("json_each")
                        && !line.contains("(subquery")
                        && own_index.iter().all(|index| !line.contains(index))
                };
                assert_eq!(plan.lines().find(scans_all), None, "{query:?}: {plan}");
            }
        }
    }
}
