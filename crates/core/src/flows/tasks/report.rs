//! Reports of tasks and agents to the sessions of their parents.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use crate::error::{Error, Kind, Result};
use crate::failpoint;
use crate::model::{
    AgentReport, ChildReport, EventPayload, MessageId, NewEvent, Principal, ReportedState, Session,
    SessionId, Task, TaskId, WorkRef,
};
use crate::ports::{AgentReportQuery, Change, Commit, Conflict, Ports, SessionQuery, TaskQuery};
use crate::rules::tasks::{MAX_REPORT_BYTES, agent_report_text, report_text};

use super::children::current_task;

/// An agent may report this often within a minute.
const REPORTS_PER_MINUTE: usize = 20;

/// Returns the change that records the report of a task that has ended. `None` if the task has no
/// parent. It belongs into the commit of the end.
pub(super) fn due(ports: &Ports, ended: &Task) -> Option<Change> {
    let parent = receiver(ended)?;
    Some(Change::AddChildReport(Box::new(ChildReport {
        message: MessageId::new(ports.clock.new_id()),
        child: WorkRef::Task(ended.id),
        parent,
        text: report_text(ended),
        created_at: ports.clock.now(),
    })))
}

/// Returns who gets the reports of a task: the session of the agent that added it, or the task that
/// it is a part of.
fn receiver(task: &Task) -> Option<WorkRef> {
    let spawner = task.order.spawner.as_ref().map(|spawner| WorkRef::Session(spawner.session));
    spawner.or_else(|| task.order.parent.map(WorkRef::Task))
}

/// Records what an agent reports about its work, and returns who gets it. `same_commit` returns
/// changes that are recorded in the same commit. Only an agent can report, and only about its own work.
pub async fn report(
    ports: &Ports,
    principal: &Principal,
    (state, text): (ReportedState, &str),
    same_commit: impl FnOnce(&AgentReport) -> Result<Vec<Change>>,
) -> Result<(AgentReport, WorkRef)> {
    let Principal::Agent(own) = principal else {
        return Err(Error::usage("only an agent can report about its work")
            .caused_by("this command was not called from inside an agent"));
    };
    check_text(text)?;
    check_rate(ports, own).await?;
    let task = current_task(ports, own.id).await?;
    let parent = task.as_ref().and_then(receiver).or_else(|| own.parent.map(WorkRef::Session));
    let parent = parent.ok_or_else(|| {
        Error::new(Kind::Conflict, format!("`{}` has no parent", own.address()))
            .caused_by("neither an agent nor a task started it, so nobody gets the report")
    })?;
    let record = AgentReport {
        session: own.id,
        task: task.as_ref().map(|task| task.id),
        state,
        text: text.to_owned(),
        at: ports.clock.now(),
    };
    let message = ChildReport {
        message: MessageId::new(ports.clock.new_id()),
        child: record.task.map_or(WorkRef::Session(own.id), WorkRef::Task),
        parent,
        text: agent_report_text(&own.address(), &record),
        created_at: record.at,
    };
    let mut changes = vec![
        Change::AddAgentReport(Box::new(record.clone())),
        Change::AddChildReport(Box::new(message)),
    ];
    changes.extend(same_commit(&record)?);
    failpoint::hit("task.report.before");
    ports.store.commit(Commit { changes, events: Vec::new() }).await?;
    failpoint::hit("task.report.after");
    Ok((record, parent))
}

fn check_text(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::usage("the report is empty").hint("write a text, or `-` for stdin"));
    }
    if text.len() > MAX_REPORT_BYTES {
        let length = text.len();
        let message = format!("the report has {length} bytes, more than {MAX_REPORT_BYTES}");
        return Err(Error::usage(message).hint("put the rest into a file, and name the file"));
    }
    Ok(())
}

async fn check_rate(ports: &Ports, own: &Session) -> Result<()> {
    let query = AgentReportQuery { session: Some(own.id), task: None };
    let since = ports.clock.now() - SignedDuration::from_mins(1);
    let recent = ports.store.agent_reports(&query).await?;
    if recent.iter().filter(|report| report.at >= since).count() < REPORTS_PER_MINUTE {
        return Ok(());
    }
    Err(Error::new(Kind::Conflict, format!("`{}` reports too often", own.address()))
        .caused_by(format!("it has reported {REPORTS_PER_MINUTE} times within a minute")))
}

/// Returns why the work of a task has failed, if its agent has reported that last.
pub async fn reported_failure(ports: &Ports, task: &Task) -> Result<Option<String>> {
    let query = AgentReportQuery { task: Some(task.id), session: None };
    let mut reports = ports.store.agent_reports(&query).await?;
    // A report of an earlier attempt does not count.
    reports.retain(|report| task.started_at.is_none_or(|started| report.at >= started));
    let last = reports.into_iter().rfind(|report| report.state != ReportedState::Progress);
    Ok(last.filter(|it| it.state == ReportedState::Failed).map(|report| report.text))
}

/// Returns the reports that can be sent now, with the sessions that get them. The reports to a
/// parent without a session are left out. Reports to a session that was removed are dropped: they
/// cannot arrive, and the task keeps its result. `parent` is the only parent to look for.
pub async fn due_reports(
    ports: &Ports,
    parent: Option<WorkRef>,
) -> Result<Vec<(SessionId, ChildReport)>> {
    let reports = ports.store.child_reports(parent).await?;
    if reports.is_empty() {
        return Ok(Vec::new());
    }
    let task_of = |report: &ChildReport| match report.parent {
        WorkRef::Task(task) => Some(task),
        WorkRef::Session(_) => None,
    };
    let parents: BTreeSet<TaskId> = reports.iter().filter_map(task_of).collect();
    let query = TaskQuery { ids: Some(parents.into_iter().collect()), ..TaskQuery::default() };
    let parents = ports.store.tasks(&query).await?.into_iter();
    let sessions: BTreeMap<TaskId, SessionId> =
        parents.filter_map(|it| Some((it.task.id, it.task.session?))).collect();
    let with_session = |report: ChildReport| match report.parent {
        WorkRef::Task(task) => Some((*sessions.get(&task)?, report)),
        WorkRef::Session(session) => Some((session, report)),
    };
    let due: Vec<(SessionId, ChildReport)> = reports.into_iter().filter_map(with_session).collect();
    let ids: BTreeSet<SessionId> = due.iter().map(|(session, _)| *session).collect();
    let query = SessionQuery::ids(ids.into_iter().collect());
    let known = ports.store.sessions(&query).await?.into_iter().map(|it| it.session.id);
    let known: BTreeSet<SessionId> = known.collect();
    let (due, lost): (Vec<_>, Vec<_>) = due.into_iter().partition(|(id, _)| known.contains(id));
    for (session, report) in lost {
        drop_report(ports, session, &report).await?;
    }
    Ok(due)
}

/// Deletes the record of a report whose receiver was removed, and records that in the log.
async fn drop_report(ports: &Ports, parent: SessionId, report: &ChildReport) -> Result<()> {
    let child = match report.child {
        WorkRef::Task(task) => format!("task {task}"),
        WorkRef::Session(session) => format!("session {session}"),
    };
    let payload = EventPayload::ReportDropped { child, parent };
    let event = NewEvent { at: ports.clock.now(), session: None, launch: None, payload };
    let changes = vec![Change::SendChildReport(report.message)];
    match ports.store.commit(Commit { changes, events: vec![event] }).await {
        Err(error) if is_report_sent(&error) => Ok(()),
        result => result.map(drop),
    }
}

/// Returns the commit that records that a report is sent. It belongs into the commit that queues the
/// message.
pub fn report_sent(report: &ChildReport) -> Commit {
    let changes = vec![Change::SendChildReport(report.message)];
    Commit { changes, events: Vec::new() }
}

/// Returns whether a commit failed because the report was sent already.
pub fn is_report_sent(error: &Error) -> bool {
    matches!(error.conflict.as_deref(), Some(Conflict::ChildReportSent { .. }))
}
