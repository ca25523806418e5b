//! The task that an event starts.

use sha2::{Digest as _, Sha256};

use super::subject::WorkSubject;
use crate::api::{Caller, TaskAddRequest};
use crate::error::{Error, Result};
use crate::model::{
    CiConclusion, CiLog, DispatchRule, Environment, ForgeEvent, ForgeReview, ForgeSubject, RefName,
    ReplyTarget, RepositoryId, RepositoryUrl, ReviewVerdict, TaskMode, TrackedIssue, TriggerKind,
};
use crate::ports::ForgeApi;
use crate::rules::forge_prompts::{self, ForgePromptFacts};

/// The most bytes of the log of a failed CI run.
const MAX_LOG_BYTES: usize = 16 * 1024;

/// A task that is to be added, and the record of its issue.
#[derive(Clone, Debug)]
pub struct PlannedTask {
    pub request: TaskAddRequest,
    pub tracked: TrackedIssue,
}

/// Plans the task of a rule for an event.
pub(super) async fn plan(
    (rule, event): (&DispatchRule, &ForgeEvent),
    work: &WorkSubject,
    (api, environment): (Option<&dyn ForgeApi>, &Environment),
    known: Option<&TrackedIssue>,
) -> Result<PlannedTask> {
    let url = repository(rule, event)?;
    let issue = work.issue()?;
    let tracked = tracked(rule, event, work, (known, url.id()))?;
    let request = TaskAddRequest {
        caller: Caller { cwd: rule.folder.clone(), environment: environment.clone() },
        prompt: prompt(rule, event, work, api).await?,
        agent: rule.agent.to_string(),
        repo: Some(url.to_string()),
        issue: Some(issue.as_str().to_owned()),
        branch: branch(rule, event, work),
        from_fork: fork(event, work).map(ToString::to_string),
        setup_fork: false,
        key: Some(key(rule, event)),
        priority: 0,
        verify: rule.verify.clone(),
        parent: None,
        mode: TaskMode::Headless,
        session: None,
        reply: rule.reply.then(|| target(rule, event, work)),
    };
    Ok(PlannedTask { request, tracked })
}

fn repository(rule: &DispatchRule, event: &ForgeEvent) -> Result<RepositoryUrl> {
    rule.repo.clone().or_else(|| event.repository.clone_url.clone()).ok_or_else(|| {
        Error::config(format!("the forge sends no URL of `{}`", event.repository.full_name))
            .hint("add `repo = \"https://…\"` to the rule")
    })
}

/// Returns the branch of a pull request that belongs to no issue. An issue has a branch of its own. The
/// pull request of a fork gets a branch of the agent, because another branch may have its name.
fn branch(rule: &DispatchRule, event: &ForgeEvent, work: &WorkSubject) -> Option<String> {
    let ForgeSubject::Pull(number) = work.subject else { return None };
    if fork(event, work).is_some() {
        return Some(format!("{}/pull-{number}", rule.agent));
    }
    let pull = event.pull.as_ref().filter(|pull| !pull.is_fork && !pull.head_branch.is_empty())?;
    Some(pull.head_branch.clone())
}

/// Returns the ref with the changes of a fork's pull request that belongs to no issue.
fn fork<'a>(event: &'a ForgeEvent, work: &WorkSubject) -> Option<&'a RefName> {
    let pull = event.pull.as_ref().filter(|pull| pull.is_fork)?;
    pull.head_ref.as_ref().filter(|_| matches!(work.subject, ForgeSubject::Pull(_)))
}

/// Returns a key that is the same if the event is delivered several times.
fn key(rule: &DispatchRule, event: &ForgeEvent) -> String {
    let mut hash = Sha256::new();
    let event_key = event.dedupe_key().unwrap_or_else(|| format!("{event:?}"));
    let folder = rule.folder.display().to_string();
    for part in [rule.source.as_str(), &event_key, rule.agent.as_str(), &folder] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}/{digits}", rule.source)
}

fn target(rule: &DispatchRule, event: &ForgeEvent, work: &WorkSubject) -> ReplyTarget {
    let subject = match (&event.pull, &event.issue) {
        (Some(pull), _) => ForgeSubject::Pull(pull.number),
        (None, Some(issue)) => ForgeSubject::Issue(issue.number),
        (None, None) => work.pull.map_or(work.subject, ForgeSubject::Pull),
    };
    ReplyTarget { source: rule.source.clone(), repository: event.repository.address(), subject }
}

fn tracked(
    rule: &DispatchRule,
    event: &ForgeEvent,
    work: &WorkSubject,
    (known, repository): (Option<&TrackedIssue>, RepositoryId),
) -> Result<TrackedIssue> {
    let mut tracked = match known {
        Some(known) => known.clone(),
        None => TrackedIssue {
            source: rule.source.clone(),
            address: event.repository.address(),
            subject: work.subject,
            repository,
            issue: work.issue()?,
            closed_at: None,
            needs_cleanup: false,
            // What people write later is new.
            seen_until: event.updated_at,
            pulls: Vec::new(),
        },
    };
    (tracked.closed_at, tracked.needs_cleanup) = (None, false);
    if let Some(pull) = work.pull.filter(|pull| !tracked.pulls.contains(pull)) {
        tracked.pulls.push(pull);
    }
    Ok(tracked)
}

async fn prompt(
    rule: &DispatchRule,
    event: &ForgeEvent,
    work: &WorkSubject,
    api: Option<&dyn ForgeApi>,
) -> Result<String> {
    let review = whole_review(event, api).await?;
    let log = failed_log(event, api).await?;
    let facts = ForgePromptFacts {
        event,
        issue: match work.subject {
            ForgeSubject::Issue(number) => Some(number),
            ForgeSubject::Pull(_) => None,
        },
        review: review.as_ref(),
        log: log.as_ref(),
    };
    forge_prompts::render(rule.prompt.as_deref(), facts)
}

/// Returns the review of an event with its comments on lines, which deliveries do not have.
async fn whole_review(
    event: &ForgeEvent,
    api: Option<&dyn ForgeApi>,
) -> Result<Option<ForgeReview>> {
    let (Some(review), Some(pull), Some(api)) = (&event.review, &event.pull, api) else {
        return Ok(None);
    };
    let reviews = api.reviews(&event.repository.address(), pull.number, None).await?;
    let is_same = |it: &ForgeReview| match review.id {
        Some(id) => it.id == Some(id),
        None => it.author == review.author && it.verdict != ReviewVerdict::Pending,
    };
    Ok(reviews.into_iter().rev().find(is_same))
}

async fn failed_log(event: &ForgeEvent, api: Option<&dyn ForgeApi>) -> Result<Option<CiLog>> {
    let (Some(run), Some(api)) = (&event.ci, api) else { return Ok(None) };
    if event.trigger != TriggerKind::CiFailed || run.conclusion != CiConclusion::Failed {
        return Ok(None);
    }
    Ok(api.failed_log(&event.repository.address(), run, MAX_LOG_BYTES).await?)
}
