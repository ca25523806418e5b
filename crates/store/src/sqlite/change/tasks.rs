//! Tasks: added at the end of the queue, then replaced whenever their state changes.

use rusqlite::Transaction;
use segue_core::model::{
    AgentReport, ChildReport, IssueKey, MessageId, SessionId, Task, TaskStateKind, WorkRef,
};
use segue_core::ports::{Conflict, MAX_AGENT_REPORTS, Missing};

use super::{address, plans};
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::rows;
use crate::sqlite::tasks::work_ref;
use crate::sqlite::values::{Json, Time, Word};

const INSERT: &str = "
    INSERT INTO tasks (id, key, created_at, fleet, agent, repository, issue, parent, session, state,
                       detail, task_order, progress, attempts, started_at, ended_at, result,
                       spawner)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

const UPDATE: &str = "
    UPDATE tasks SET fleet = ?2, agent = ?3, session = ?4, state = ?5, detail = ?6,
                     task_order = ?7, progress = ?8, attempts = ?9, started_at = ?10,
                     ended_at = ?11, result = ?12
    WHERE id = ?1";

pub(super) fn add(transaction: &Transaction<'_>, task: &Task) -> Result<(), SqliteFault> {
    if let Some(key) = &task.key {
        let sql = "SELECT id FROM tasks WHERE key = ?1";
        if let Some(owner) = read::one(transaction, sql, [Word(key)], rows::word)? {
            return Err(Conflict::TaskKeyTaken { key: key.clone(), owner }.into());
        }
    }
    check_session(transaction, task)?;
    let order = &task.order;
    transaction.prepare_cached(INSERT)?.execute(rusqlite::params![
        Word(&task.id),
        Word(&task.key),
        Time(task.created_at),
        Word(&order.fleet),
        Word(&order.agent),
        Word(&order.repository),
        Word(&order.issue),
        Word(&order.parent),
        Word(&task.session),
        task.state.word(),
        Json(&task.state),
        Json(order),
        Json(&task.progress),
        task.attempts,
        task.started_at.map(Time),
        task.ended_at.map(Time),
        task.result.as_ref().map(Json),
        order.spawner.as_ref().map(|spawner| spawner.session.to_string()),
    ])?;
    Ok(())
}

/// The children of a session: tasks, and sessions that belong to no task. `?2` is left out.
const OPEN_CHILDREN: &str = "
    SELECT (SELECT count(*) FROM tasks
            WHERE spawner = ?1 AND state IN ('queued', 'running', 'waiting') AND id <> ?2)
         + (SELECT count(*) FROM sessions s
            WHERE s.parent = ?1 AND s.id <> ?2
              AND EXISTS (SELECT 1 FROM launches WHERE session = s.id AND ended IS NULL)
              AND NOT EXISTS (SELECT 1 FROM tasks WHERE spawner = ?1 AND session = s.id))";

pub(super) fn check_children(
    transaction: &Transaction<'_>,
    parent: SessionId,
    child: WorkRef,
    limit: u32,
) -> Result<(), SqliteFault> {
    let session = address(transaction, parent)?;
    let child = match child {
        WorkRef::Task(task) => task.to_string(),
        WorkRef::Session(session) => session.to_string(),
    };
    let mut statement = transaction.prepare_cached(OPEN_CHILDREN)?;
    let open: u32 = statement.query_row((Word(&parent), child), |row| row.get(0))?;
    if open >= limit {
        return Err(Conflict::TooManyChildren { session, limit }.into());
    }
    Ok(())
}

pub(super) fn set(
    transaction: &Transaction<'_>,
    task: &Task,
    from: TaskStateKind,
) -> Result<(), SqliteFault> {
    let sql = "SELECT state FROM tasks WHERE id = ?1";
    let state: Option<TaskStateKind> = read::one(transaction, sql, [Word(&task.id)], rows::word)?;
    let state = state.ok_or(Missing::Task(task.id))?;
    if state != from {
        return Err(Conflict::TaskHasMoved { id: task.id, state }.into());
    }
    if from == TaskStateKind::Queued {
        plans::check_start(transaction, task)?;
    }
    check_session(transaction, task)?;
    transaction.prepare_cached(UPDATE)?.execute(rusqlite::params![
        Word(&task.id),
        Word(&task.order.fleet),
        Word(&task.order.agent),
        Word(&task.session),
        task.state.word(),
        Json(&task.state),
        Json(&task.order),
        Json(&task.progress),
        task.attempts,
        task.started_at.map(Time),
        task.ended_at.map(Time),
        task.result.as_ref().map(Json),
    ])?;
    Ok(())
}

/// Fails if the session of a task does not exist.
fn check_session(transaction: &Transaction<'_>, task: &Task) -> Result<(), SqliteFault> {
    task.session.map_or(Ok(()), |session| address(transaction, session).map(drop))
}

pub(super) fn add_report(
    transaction: &Transaction<'_>,
    ChildReport { message, child, parent, text, created_at }: &ChildReport,
) -> Result<(), SqliteFault> {
    let sql = "INSERT INTO child_reports (message, child_kind, child, parent_kind, parent, text,
                                          created_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let ((child_kind, child), (parent_kind, parent)) = (work_ref(*child), work_ref(*parent));
    let row = (Word(message), child_kind, child, parent_kind, parent, text, Time(*created_at));
    transaction.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

pub(super) fn add_agent_report(
    transaction: &Transaction<'_>,
    report: &AgentReport,
) -> Result<(), SqliteFault> {
    let sql = "INSERT INTO agent_reports (session, task, detail) VALUES (?1, ?2, ?3)";
    let row = (Word(&report.session), Word(&report.task), Json(report));
    transaction.prepare_cached(sql)?.execute(row)?;
    let sql = "
        DELETE FROM agent_reports WHERE session = ?1 AND number NOT IN (
            SELECT number FROM agent_reports WHERE session = ?1 ORDER BY number DESC LIMIT ?2)";
    transaction.prepare_cached(sql)?.execute((Word(&report.session), MAX_AGENT_REPORTS))?;
    Ok(())
}

pub(super) fn send_report(
    transaction: &Transaction<'_>,
    message: MessageId,
) -> Result<(), SqliteFault> {
    let sql = "DELETE FROM child_reports WHERE message = ?1";
    match transaction.prepare_cached(sql)?.execute([Word(&message)])? {
        0 => Err(Conflict::ChildReportSent { message }.into()),
        _ => Ok(()),
    }
}

pub(super) fn set_issue_session(
    transaction: &Transaction<'_>,
    IssueKey { fleet, agent, repository, issue }: &IssueKey,
    session: Option<SessionId>,
) -> Result<(), SqliteFault> {
    let key = (Word(fleet), Word(agent), Word(repository), Word(issue));
    let Some(session) = session else {
        let sql = "DELETE FROM issue_sessions
                   WHERE fleet = ?1 AND agent = ?2 AND repository = ?3 AND issue = ?4";
        transaction.prepare_cached(sql)?.execute(key)?;
        return Ok(());
    };
    address(transaction, session)?;
    let sql = "INSERT INTO issue_sessions (fleet, agent, repository, issue, session)
               VALUES (?1, ?2, ?3, ?4, ?5)
               ON CONFLICT (fleet, agent, repository, issue) DO UPDATE SET session = ?5";
    transaction.prepare_cached(sql)?.execute((key.0, key.1, key.2, key.3, Word(&session)))?;
    Ok(())
}
