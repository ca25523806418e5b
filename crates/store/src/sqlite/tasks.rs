//! Lists of tasks, and the sessions in which agents work on issues.

use rusqlite::{Connection, params_from_iter};
use segue_core::model::{AgentReport, ChildReport, IssueKey, SessionId, WorkRef};
use segue_core::ports::{AgentReportQuery, IssueFilter, PlacedTask, TaskQuery, TaskSummary};

use crate::sqlite::conditions::Conditions;
use crate::sqlite::read::{all, one};
use crate::sqlite::rows;
use crate::sqlite::values::{Json, Word};

const SELECT: &str = concat!("SELECT ", rows::task_columns!(), " FROM tasks");

const SELECT_SHOWN: &str =
    "SELECT place, id, agent, state, session, created_at, beginning FROM tasks";

const COUNT: &str = "SELECT count(*) FROM tasks";

const ISSUE_SESSION: &str = "
    SELECT session FROM issue_sessions
    WHERE fleet = ?1 AND agent = ?2 AND repository = ?3 AND issue = ?4";

const REPORTS: &str = "
    SELECT message, child_kind, child, parent_kind, parent, text, created_at FROM child_reports";

fn conditions(query: &TaskQuery) -> rusqlite::Result<Conditions> {
    let mut conditions = Conditions::default();
    let ids = query.ids.as_ref().map(Json);
    conditions.add_if("id IN (SELECT value FROM json_each(?))", ids)?;
    if let Some(prefix) = &query.id_prefix {
        // `~` is greater than every character of an id.
        conditions.add("id BETWEEN ? AND ?", prefix)?;
        conditions.add_parameter(&format!("{prefix}~"))?;
    }
    conditions.add_if("key = ?", query.key.as_ref().map(Word))?;
    if let Some(states) = &query.states {
        // A list of words, so that SQLite sees which states are asked for and uses its index.
        let words: Vec<String> = states.iter().map(|it| format!("'{}'", it.word())).collect();
        conditions.add_plain(&format!("state IN ({})", words.join(", ")));
    }
    conditions.add_if("agent = ?", query.agent.as_ref().map(Word))?;
    conditions.add_if("session = ?", query.session.as_ref().map(Word))?;
    conditions.add_if("parent = ?", query.parent.as_ref().map(Word))?;
    conditions.add_if("spawner = ?", query.spawner.as_ref().map(Word))?;
    if let Some(key) = &query.issue {
        conditions.add("fleet = ?", &Word(&key.fleet))?;
        conditions.add("agent = ?", &Word(&key.agent))?;
        conditions.add("repository = ?", &Word(&key.repository))?;
        conditions.add("issue = ?", &Word(&key.issue))?;
    }
    if let Some(IssueFilter { issue, repository }) = &query.about {
        conditions.add("issue = ?", &Word(issue))?;
        conditions.add_if("repository = ?", repository.as_ref())?;
    }
    conditions.add_if("place > ?", query.page.and_then(|page| page.after))?;
    Ok(conditions)
}

pub(crate) fn list(
    connection: &Connection,
    query: &TaskQuery,
) -> rusqlite::Result<Vec<PlacedTask>> {
    let conditions = conditions(query)?;
    let sql = conditions.statement(SELECT, &order(query));
    let mut tasks = all(connection, &sql, params_from_iter(conditions.parameters), rows::task)?;
    tasks.sort_by_key(|it| it.place);
    Ok(tasks)
}

pub(crate) fn summaries(
    connection: &Connection,
    query: &TaskQuery,
) -> rusqlite::Result<Vec<TaskSummary>> {
    let conditions = conditions(query)?;
    let sql = with_sessions(&conditions.statement(SELECT_SHOWN, &order(query)));
    let parameters = params_from_iter(conditions.parameters);
    let mut placed = all(connection, &sql, parameters, rows::task_summary)?;
    placed.sort_by_key(|(place, _)| *place);
    Ok(placed.into_iter().map(|(_, summary)| summary).collect())
}

/// Returns a statement that adds the names of the sessions to tasks. A join, because a nested
/// statement for each task takes time even for tasks without a session.
fn with_sessions(tasks: &str) -> String {
    format!(
        "SELECT t.place, t.id, t.agent, t.state, s.fleet, s.name, t.created_at, t.beginning
         FROM ({tasks}) t LEFT JOIN sessions s ON s.id = t.session"
    )
}

/// Returns the order in which rows are read. They are sorted afterwards: SQLite would copy whole rows
/// to sort tasks of several states, but the tasks of each state are read in order.
fn order(query: &TaskQuery) -> String {
    match (query.newest, query.page) {
        (Some(limit), _) => format!("ORDER BY place DESC LIMIT {limit}"),
        (None, Some(page)) => format!("ORDER BY place LIMIT {}", page.size),
        (None, None) => String::new(),
    }
}

pub(crate) fn count(connection: &Connection, query: &TaskQuery) -> rusqlite::Result<u32> {
    let conditions = conditions(query)?;
    let sql = conditions.statement(COUNT, "");
    let parameters = params_from_iter(conditions.parameters);
    connection.prepare_cached(&sql)?.query_row(parameters, |row| row.get(0))
}

pub(crate) fn child_reports(
    connection: &Connection,
    parent: Option<WorkRef>,
) -> rusqlite::Result<Vec<ChildReport>> {
    let mut conditions = Conditions::default();
    if let Some(parent) = parent {
        let (kind, id) = work_ref(parent);
        conditions.add("parent = ?", &id)?;
        conditions.add("parent_kind = ?", &kind)?;
    }
    let sql = conditions.statement(REPORTS, "ORDER BY number");
    all(connection, &sql, params_from_iter(conditions.parameters), rows::child_report)
}

/// Returns the kind and the id of a task or a session, as they are stored.
pub(crate) fn work_ref(work: WorkRef) -> (&'static str, String) {
    match work {
        WorkRef::Task(task) => ("task", task.to_string()),
        WorkRef::Session(session) => ("session", session.to_string()),
    }
}

pub(crate) fn agent_reports(
    connection: &Connection,
    query: &AgentReportQuery,
) -> rusqlite::Result<Vec<AgentReport>> {
    let mut conditions = Conditions::default();
    conditions.add_if("task = ?", query.task.as_ref().map(Word))?;
    conditions.add_if("session = ?", query.session.as_ref().map(Word))?;
    let sql = conditions.statement("SELECT detail FROM agent_reports", "ORDER BY number");
    all(connection, &sql, params_from_iter(conditions.parameters), rows::json)
}

pub(crate) fn issue_session(
    connection: &Connection,
    key: &IssueKey,
) -> rusqlite::Result<Option<SessionId>> {
    let IssueKey { fleet, agent, repository, issue } = key;
    let parameters = (Word(fleet), Word(agent), Word(repository), Word(issue));
    one(connection, ISSUE_SESSION, parameters, rows::word)
}

#[cfg(test)]
mod tests {
    use segue_core::model::{TaskId, TaskKey, TaskStateKind};

    use super::*;
    use crate::sqlite::migrations;

    fn plan(query: &TaskQuery) -> String {
        let mut connection = Connection::open_in_memory().unwrap();
        migrations::apply(&mut connection, migrations::ALL).unwrap();
        let conditions = conditions(query).unwrap();
        let statement = conditions.statement(SELECT, &order(query));
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        let parameters = params_from_iter(conditions.parameters);
        let lines = statement.query_map(parameters, |row| row.get::<_, String>(3)).unwrap();
        lines.map(|line| line.unwrap() + "\n").collect()
    }

    #[test]
    fn query_with_a_condition_scans_no_tasks() {
        let id: TaskId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let session: SessionId = "00000000-0000-7000-8000-000000000002".parse().unwrap();
        let default = TaskQuery::default;
        let queries = [
            TaskQuery::id(id),
            TaskQuery { id_prefix: Some("0000".to_owned()), ..default() },
            TaskQuery::key(&TaskKey::parse("k").unwrap()),
            TaskQuery::open(),
            TaskQuery { states: Some(vec![TaskStateKind::Running]), ..default() },
            TaskQuery { session: Some(session), ..default() },
            TaskQuery { parent: Some(id), ..default() },
            TaskQuery { spawner: Some(session), ..default() },
        ];
        for query in queries {
            let plan = plan(&query).replace("SCAN json_each", "");
            assert!(!plan.contains("SCAN"), "{query:?}: {plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{query:?}: {plan}");
        }
    }
}
