//! Decides what one event starts.

use std::sync::Arc;

use jiff::SignedDuration;

use super::permissions::PermissionCache;
use super::request::{self, PlannedTask};
use super::subject::{self, WorkSubject};
use crate::error::{Error, Result};
use crate::model::{
    AgentName, DispatchRule, Environment, FleetName, ForgeEvent, ForgeUser, IssueKey, PullState,
    TrackedIssue, TriggerKind,
};
use crate::ports::{ForgeApi, Ports, TaskQuery};
use crate::rules::dispatch::{ActorCheck, brake, check_actor, ends_work, mismatch};

/// What is known about a source while its events are processed.
#[derive(Debug)]
pub struct DispatchContext {
    /// The rules of the source.
    pub rules: Vec<DispatchRule>,
    /// `None` if the settings have no token for the source.
    pub api: Option<Arc<dyn ForgeApi>>,
    /// The account of the token.
    pub account: Option<ForgeUser>,
    /// The environment for vendors' programs.
    pub environment: Environment,
    pub permissions: Arc<PermissionCache>,
    /// The issues of the source on which agents work or have worked.
    pub tracked: Vec<TrackedIssue>,
}

/// What one event starts.
#[derive(Clone, Debug)]
pub enum DispatchDecision {
    AddTask {
        agent: AgentName,
        task: Box<PlannedTask>,
    },
    /// A rule is about the event, but nothing may be started.
    Refuse {
        agent: AgentName,
        reason: String,
    },
    /// The work on the issue is over.
    Close(Box<TrackedIssue>),
    /// The issue is open again.
    Reopen(Box<TrackedIssue>),
    /// The last pull request of the issue is from the branch of an agent, and was not known.
    Link(Box<TrackedIssue>),
}

/// Why a rule does or does not start a task.
#[derive(Clone, Debug)]
pub struct RuleReport {
    pub rule: usize,
    pub agent: AgentName,
    /// The task, or why there is none.
    pub task: Result<Box<PlannedTask>, String>,
}

/// Decides what an event starts. Changes nothing. Fails if the forge cannot be asked.
pub async fn decide(
    ports: &Ports,
    context: &DispatchContext,
    event: &ForgeEvent,
) -> Result<Vec<DispatchDecision>> {
    let work = find_subject(ports, context, event).await?;
    let known = work.as_ref().and_then(|work| known(context, event, work));
    let linked = known.zip(work.as_ref()).and_then(|(known, work)| link(known, work));
    let known = linked.as_ref().or(known);
    let life = life(event, work.as_ref(), known);
    let linked = linked.filter(|_| life.is_none()).map(|it| DispatchDecision::Link(Box::new(it)));
    let mut decisions: Vec<DispatchDecision> = linked.into_iter().chain(life).collect();
    for rule in context.rules.iter().filter(|rule| mismatch_of(context, rule, event).is_none()) {
        let agent = rule.agent.clone();
        decisions.push(match plan(ports, context, (rule, event), work.as_ref()).await? {
            Ok(task) => DispatchDecision::AddTask { agent, task },
            Err(reason) => DispatchDecision::Refuse { agent, reason },
        });
    }
    Ok(decisions)
}

/// Returns for every rule of the source what it makes of an event. Changes nothing.
pub async fn explain(
    ports: &Ports,
    context: &DispatchContext,
    event: &ForgeEvent,
) -> Result<Vec<RuleReport>> {
    let work = find_subject(ports, context, event).await?;
    let mut reports = Vec::new();
    for rule in &context.rules {
        let task = match mismatch_of(context, rule, event) {
            Some(reason) => Err(reason),
            None => plan(ports, context, (rule, event), work.as_ref()).await?,
        };
        reports.push(RuleReport { rule: rule.number, agent: rule.agent.clone(), task });
    }
    Ok(reports)
}

async fn find_subject(
    ports: &Ports,
    context: &DispatchContext,
    event: &ForgeEvent,
) -> Result<Option<WorkSubject>> {
    subject::find(ports, event, context.api.as_deref(), &context.tracked).await
}

fn mismatch_of(
    context: &DispatchContext,
    rule: &DispatchRule,
    event: &ForgeEvent,
) -> Option<String> {
    mismatch(rule, event, context.account.as_ref())
}

fn known<'a>(
    context: &'a DispatchContext,
    event: &ForgeEvent,
    work: &WorkSubject,
) -> Option<&'a TrackedIssue> {
    let is_meant =
        |it: &&TrackedIssue| it.address.id == event.repository.id && it.subject == work.subject;
    context.tracked.iter().find(is_meant)
}

/// Returns the record of an issue with the pull request of an event. `None` if the record has it, or if
/// the pull request is not from the branch of an agent.
fn link(known: &TrackedIssue, work: &WorkSubject) -> Option<TrackedIssue> {
    let pull = work.pull.filter(|pull| work.is_own_branch && !known.pulls.contains(pull))?;
    let mut linked = known.clone();
    linked.pulls.push(pull);
    Some(linked)
}

/// Returns the record of the issue for whose agent the branch of a pull request was made, with that pull
/// request. `None` if the record has it already, or if the branch is not that of an agent.
pub async fn linked_pull(
    ports: &Ports,
    context: &DispatchContext,
    event: &ForgeEvent,
) -> Result<Option<TrackedIssue>> {
    let work = subject::find_own(ports, event, &context.tracked).await?;
    let known = work.as_ref().and_then(|work| known(context, event, work));
    Ok(known.zip(work.as_ref()).and_then(|(known, work)| link(known, work)))
}

/// Returns whether an event ends the work on an issue, or begins it again. A pull request or a branch
/// ends it only if the branch is that of an agent: anyone can open and close a pull request that names
/// an issue.
fn life(
    event: &ForgeEvent,
    work: Option<&WorkSubject>,
    known: Option<&TrackedIssue>,
) -> Option<DispatchDecision> {
    let (work, known) = (work?, known?.clone());
    let is_about_issue = event.trigger == TriggerKind::IssueClosed;
    if event.trigger == TriggerKind::IssueReopened {
        return Some(DispatchDecision::Reopen(Box::new(known)));
    }
    let is_over = ends_work(event.trigger) && (is_about_issue || work.is_own_branch);
    is_over.then(|| DispatchDecision::Close(Box::new(known)))
}

/// Plans the task of a rule that is about an event. The inner error is the reason why nothing is
/// started.
async fn plan(
    ports: &Ports,
    context: &DispatchContext,
    (rule, event): (&DispatchRule, &ForgeEvent),
    work: Option<&WorkSubject>,
) -> Result<Result<Box<PlannedTask>, String>> {
    let Some(work) = work else {
        return Ok(Err("the event is about no issue and no pull request".to_owned()));
    };
    let reason = match closed_object(event) {
        Some(reason) => Some(reason),
        None => refused_actor(ports, context, (rule, event), work).await?,
    };
    if let Some(reason) = reason {
        return Ok(Err(reason));
    }
    let (api, known) = (context.api.as_deref(), known(context, event, work));
    let planned = request::plan((rule, event), work, (api, &context.environment), known).await;
    let planned = match planned {
        Ok(planned) => planned,
        Err(error) if error.kind == crate::Kind::Unavailable => return Err(error),
        Err(error) => return Ok(Err(error.in_one_line())),
    };
    match braked(ports, rule, &planned).await? {
        Some(reason) => Ok(Err(reason)),
        None => Ok(Ok(Box::new(planned))),
    }
}

/// Returns why no work is started on an object that is closed. Events that report the end of an object
/// may start work, such as cleaning up after a merge.
fn closed_object(event: &ForgeEvent) -> Option<String> {
    if ends_work(event.trigger) {
        return None;
    }
    let is_closed_pull = event.pull.as_ref().is_some_and(|pull| pull.state != PullState::Open);
    let is_closed_issue =
        event.pull.is_none() && event.issue.as_ref().is_some_and(|issue| !issue.is_open);
    match (is_closed_pull, is_closed_issue) {
        (true, _) => Some("the pull request is closed".to_owned()),
        (_, true) => Some("the issue is closed".to_owned()),
        (false, false) => None,
    }
}

/// Returns why the actor of an event may not start work.
async fn refused_actor(
    ports: &Ports,
    context: &DispatchContext,
    (rule, event): (&DispatchRule, &ForgeEvent),
    work: &WorkSubject,
) -> Result<Option<String>> {
    if event.ci.is_some() && !work.is_own_branch {
        return Ok(Some("the CI run is not about the branch of an agent".to_owned()));
    }
    let user = match check_actor(rule, event, context.account.as_ref()) {
        ActorCheck::Allowed => return Ok(None),
        ActorCheck::Refused(reason) => return Ok(Some(reason)),
        ActorCheck::NeedsPermission(user) => user,
    };
    let Some(api) = &context.api else {
        let reason = "the source has no `token`, so the forge cannot be asked who has write access";
        return Ok(Some(reason.to_owned()));
    };
    let asked = (api.as_ref(), ports.clock.as_ref());
    let repository = event.repository.address();
    let permission = context.permissions.permission(asked, &repository, &user).await?;
    let login = &user.login;
    Ok((!permission.can_write()).then(|| format!("`{login}` has no write access")))
}

/// Returns why an agent gets no further task about an issue: there were too many within an hour.
async fn braked(
    ports: &Ports,
    rule: &DispatchRule,
    planned: &PlannedTask,
) -> Result<Option<String>> {
    let fleet = fleet(ports, rule)?;
    let key = IssueKey {
        fleet,
        agent: rule.agent.clone(),
        repository: planned.tracked.repository.clone(),
        issue: planned.tracked.issue.clone(),
    };
    let newest = Some(crate::rules::dispatch::MAX_TASKS_PER_HOUR);
    let query = TaskQuery { issue: Some(key), newest, ..TaskQuery::default() };
    let since = ports.clock.now() - SignedDuration::from_hours(1);
    let tasks = ports.store.tasks(&query).await?;
    let own = planned.request.key.as_deref();
    let is_recent = |it: &&crate::ports::PlacedTask| {
        it.task.created_at > since && it.task.key.as_ref().map(|key| key.as_str()) != own
    };
    let recent = tasks.iter().filter(is_recent).count();
    Ok(brake(u32::try_from(recent).unwrap_or(u32::MAX)))
}

/// Returns the fleet of the project in the folder of a rule.
fn fleet(ports: &Ports, rule: &DispatchRule) -> Result<FleetName> {
    let folder = &rule.folder;
    let missing = || Error::config(format!("no project file is in `{}`", folder.display()));
    Ok(ports.projects.around(folder)?.ok_or_else(missing)?.fleet)
}
