//! Copies the data that were read from a damaged store into a new store.

use std::collections::BTreeSet;

use crate::api::{Finding, Severity};
use crate::error::{Error, Kind, Result};
use crate::failpoint;
use crate::flows::{SessionState, messages};
use crate::model::{
    ChildReport, EventKind, IssueKey, Message, MessageId, MessageState, NewEvent, RequestRecord,
    SessionId, Task,
};
use crate::ports::{Change, Commit, Ports, Salvaged, SalvagedSession, SessionQuery};
use crate::rules::delivery::TranscriptEvidence;
use crate::rules::salvage::{TypingProcess, message_state};

/// At most this many changes or events are committed together.
const MAX_BATCH: usize = 500;

/// Adds all data that the store does not have yet. The caller must add the launch folders first.
/// Returns findings for the user, or an error if the store cannot be written.
pub async fn restore(ports: &Ports, salvaged: Salvaged) -> Result<Vec<Finding>> {
    let mut not_restored = NotRestored::default();
    let removed = removed(&salvaged.events);
    put(ports, "fleets", salvaged.fleets.into_iter().map(Change::PutFleet), &mut not_restored)
        .await?;
    for session in salvaged.sessions.into_iter().filter(|it| !removed.contains(&it.session.id)) {
        insert_session(ports, session, &mut not_restored).await?;
    }
    let counts = salvaged.counts.into_iter();
    let counts = counts.map(|(fleet, agent, count)| Change::SetCount { fleet, agent, count });
    put(ports, "counts", counts, &mut not_restored).await?;
    put(
        ports,
        "trusted folders",
        salvaged.trusts.into_iter().map(Change::PutTrust),
        &mut not_restored,
    )
    .await?;
    let known = known(ports).await?;
    let timers = salvaged.timers.into_iter().filter(|(session, _)| known.contains(session));
    let timers = timers.map(|(session, timers)| Change::SetTimers { session, timers });
    put(ports, "timers", timers, &mut not_restored).await?;
    let handoffs = salvaged.handoffs.into_iter();
    let handoffs = handoffs.filter(|it| known.contains(&it.from) && known.contains(&it.to));
    put(ports, "handoffs", handoffs.map(|it| Change::AddHandoff(Box::new(it))), &mut not_restored)
        .await?;
    let worktrees = salvaged.worktrees.into_iter().map(|mut worktree| {
        worktree.session = worktree.session.filter(|session| known.contains(session));
        Change::AddWorktree(Box::new(worktree))
    });
    put(ports, "worktrees", worktrees, &mut not_restored).await?;
    let sent: BTreeSet<MessageId> = salvaged.messages.iter().map(|it| it.id).collect();
    let messages_to_keep =
        salvaged.messages.into_iter().filter(|it| !removed.contains(&it.session));
    let uncertain = put_messages(ports, messages_to_keep, &known, &mut not_restored).await?;
    let unsent = salvaged.child_reports.into_iter().filter(|it| !sent.contains(&it.message));
    let tasks = (salvaged.tasks, salvaged.issue_sessions, unsent.collect());
    put_tasks(ports, tasks, &known, &mut not_restored).await?;
    let reports = salvaged.agent_reports.into_iter().map(|it| Change::AddAgentReport(Box::new(it)));
    put(ports, "reports of agents", reports, &mut not_restored).await?;
    let plans = salvaged.plans.into_iter();
    let plans = plans.map(|plan| Change::PutPlan { plan: Box::new(plan), from: None });
    put(ports, "plans", plans, &mut not_restored).await?;
    let tasks_of_plans =
        salvaged.plan_tasks.into_iter().map(|task| Change::PutPlanTask(Box::new(task)));
    put(ports, "tasks of plans", tasks_of_plans, &mut not_restored).await?;
    let requests = salvaged.requests.into_iter();
    let requests = requests.map(|it: RequestRecord| Change::RecordRequest(Box::new(it)));
    put(ports, "requests", requests, &mut not_restored).await?;
    for events in salvaged.events.chunks(MAX_BATCH) {
        let commit = Commit { changes: Vec::new(), events: events.to_vec() };
        ports.store.commit(commit).await?;
    }
    let read = (salvaged.unreadable.as_slice(), salvaged.from_backup.as_slice());
    Ok(report(read, uncertain, not_restored))
}

/// Data that could be read but not added to the new store.
#[derive(Debug, Default)]
struct NotRestored(Vec<String>);

impl NotRestored {
    /// Adds data that the store refuses. An error of a store that cannot be written ends the
    /// restoration, so that it can be repeated without a loss.
    fn add(&mut self, what: &str, error: Error) -> Result<()> {
        if error.kind == Kind::Unavailable {
            return Err(error);
        }
        self.0.push(format!("{what}: {error}"));
        Ok(())
    }
}

fn removed(events: &[NewEvent]) -> BTreeSet<SessionId> {
    let removed = events.iter().filter(|event| event.payload.kind() == EventKind::SessionRemoved);
    removed.filter_map(|event| event.session).collect()
}

async fn known(ports: &Ports) -> Result<BTreeSet<SessionId>> {
    let sessions = ports.store.sessions(&SessionQuery::default()).await?;
    Ok(sessions.iter().map(|it| it.session.id).collect())
}

/// Commits independent changes. If the store refuses one of them, the others are still committed.
async fn put(
    ports: &Ports,
    what: &str,
    changes: impl Iterator<Item = Change>,
    not_restored: &mut NotRestored,
) -> Result<()> {
    let changes: Vec<Change> = changes.collect();
    for batch in changes.chunks(MAX_BATCH) {
        failpoint::hit("salvage.commit.before");
        let commit = Commit { changes: batch.to_vec(), events: Vec::new() };
        if ports.store.commit(commit).await.is_err() {
            for change in batch {
                let commit = Commit { changes: vec![change.clone()], events: Vec::new() };
                if let Err(error) = ports.store.commit(commit).await {
                    not_restored.add(what, error)?;
                }
            }
        }
        failpoint::hit("salvage.commit.after");
    }
    Ok(())
}

/// Creates a session unless it was already created from its launch folders.
async fn insert_session(
    ports: &Ports,
    salvaged: SalvagedSession,
    not_restored: &mut NotRestored,
) -> Result<()> {
    let SalvagedSession { session, launches, bindings } = salvaged;
    if ports.store.session(session.id).await?.is_some() {
        return Ok(());
    }
    let (id, address, has_content) = (session.id, session.address(), session.has_content);
    let mut changes = vec![Change::CreateSession(Box::new(session))];
    for mut launch in launches {
        let (launch_id, end) = (launch.id, launch.end.take());
        changes.push(Change::CreateLaunch(Box::new(launch)));
        changes.extend(end.map(|end| Change::EndLaunch { launch: launch_id, end }));
    }
    changes.extend(bindings.into_iter().map(Change::AddBinding));
    changes.extend(has_content.then_some(Change::MarkHasContent { session: id }));
    failpoint::hit("salvage.session.before");
    if let Err(error) = ports.store.commit(Commit { changes, events: Vec::new() }).await {
        not_restored.add(&format!("session `{address}`"), error)?;
    }
    failpoint::hit("salvage.session.after");
    Ok(())
}

/// Adds the tasks in the order of the queue, the conversations about issues, and the reports to
/// parents that are not sent.
async fn put_tasks(
    ports: &Ports,
    (tasks, issues, reports): (Vec<Task>, Vec<(IssueKey, SessionId)>, Vec<ChildReport>),
    known: &BTreeSet<SessionId>,
    not_restored: &mut NotRestored,
) -> Result<()> {
    let is_known = |session: &SessionId| known.contains(session);
    let tasks = tasks.into_iter().map(|task| {
        let session = task.session.filter(is_known);
        Change::AddTask(Box::new(Task { session, ..task }))
    });
    put(ports, "tasks", tasks, not_restored).await?;
    let issues = issues.into_iter().filter(|(_, session)| is_known(session));
    let issues =
        issues.map(|(key, session)| Change::SetIssueSession { key, session: Some(session) });
    put(ports, "sessions of issues", issues, not_restored).await?;
    let reports = reports.into_iter().map(|it| Change::AddChildReport(Box::new(it)));
    put(ports, "reports of tasks", reports, not_restored).await
}

/// Adds the messages in their order. Returns how many became uncertain.
async fn put_messages(
    ports: &Ports,
    salvaged: impl Iterator<Item = Message>,
    known: &BTreeSet<SessionId>,
    not_restored: &mut NotRestored,
) -> Result<usize> {
    let mut uncertain = 0;
    let mut changes = Vec::new();
    for mut message in salvaged {
        if !known.contains(&message.session) {
            if !message.state.is_settled() {
                not_restored
                    .0
                    .push(format!("message {}: its session is not known any more", message.id));
            }
            continue;
        }
        if ports.store.message(message.id).await?.is_some() {
            continue;
        }
        let state = state_of(ports, &message).await?;
        let became_uncertain = !message.state.is_settled() && state == MessageState::Uncertain;
        uncertain += usize::from(became_uncertain);
        message.state = state;
        changes.push(Change::AddMessage(Box::new(message)));
    }
    put(ports, "messages", changes.into_iter(), not_restored).await?;
    Ok(uncertain)
}

async fn state_of(ports: &Ports, message: &Message) -> Result<MessageState> {
    if message.state.is_settled() {
        return Ok(message.state.clone());
    }
    let state = SessionState::load(ports, message.session).await?;
    let process = match state.launches.last() {
        None => TypingProcess::None,
        Some(launch) => match ports.holders.find(launch.id).await {
            Ok(Some(held)) if held.end.is_none() => TypingProcess::Alive,
            _ => TypingProcess::Gone,
        },
    };
    let transcript = match process {
        TypingProcess::None => TranscriptEvidence::Unknown,
        _ => messages::find_in_all_conversations(ports, &state, message)?,
    };
    Ok(message_state(&message.state, process, transcript))
}

fn report(
    (unreadable, from_backup): (&[&str], &[&str]),
    uncertain: usize,
    not_restored: NotRestored,
) -> Vec<Finding> {
    let note = |what: String, cure: Option<&str>| Finding {
        severity: Severity::Note,
        what,
        cure: cure.map(str::to_owned),
        curable: false,
        fixed: false,
    };
    let mut findings = Vec::new();
    if !from_backup.is_empty() {
        let what = format!("taken from the backup: {}", from_backup.join(", "));
        findings.push(note(what, None));
    }
    if !unreadable.is_empty() {
        let what = format!("not all of these could be read: {}", unreadable.join(", "));
        let cure = "look at `segue messages` and `segue log`, and send missing messages again";
        findings.push(note(what, Some(cure)));
    }
    if uncertain > 0 {
        let what = format!("{uncertain} messages may have been typed, and are not typed again");
        findings.push(note(what, Some("run `segue messages` to see which")));
    }
    findings.extend(not_restored.0.into_iter().map(|what| note(format!("lost: {what}"), None)));
    findings
}
