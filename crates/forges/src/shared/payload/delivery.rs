//! The body of a delivery.

use segue_core::Result;
use segue_core::model::{
    CiConclusion, CiLogSource, CiRun, DeliveryReading, EventChanges, ForgeEvent, ListedRun,
    PullState, PushedCommits, TriggerKind,
};
use serde::Deserialize;

use super::objects::{
    CommentJson, IssueJson, LabelJson, PullJson, RepositoryJson, ReviewJson, UserJson,
};
use crate::shared::body::unreadable;
use crate::shared::list::FirstItems;
use crate::shared::text;

/// The fields of all events that have a trigger.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HubPayload {
    pub(crate) action: Option<String>,
    repository: Option<RepositoryJson>,
    sender: Option<UserJson>,
    issue: Option<IssueJson>,
    comment: Option<CommentJson>,
    pull_request: Option<PullJson>,
    review: Option<ReviewJson>,
    label: Option<LabelJson>,
    assignee: Option<UserJson>,
    requested_reviewer: Option<UserJson>,
    requested_team: Option<LabelJson>,
    is_pull: Option<bool>,
    #[serde(rename = "ref")]
    ref_name: Option<String>,
    ref_type: Option<String>,
    before: Option<String>,
    after: Option<String>,
    forced: Option<bool>,
    deleted: Option<bool>,
    pub(crate) workflow_run: Option<CiJson>,
    pub(crate) check_suite: Option<CiJson>,
    pub(crate) run: Option<ActionRunJson>,
    sha: Option<String>,
    state: Option<String>,
    context: Option<String>,
    description: Option<String>,
    target_url: Option<String>,
    branches: FirstItems<LabelJson>,
    updated_at: Option<String>,
}

/// A workflow run, or a suite of checks.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CiJson {
    id: Option<u64>,
    name: Option<String>,
    head_branch: Option<String>,
    head_sha: Option<String>,
    conclusion: Option<String>,
    html_url: Option<String>,
    updated_at: Option<String>,
    pull_requests: FirstItems<NumberJson>,
    app: Option<AppJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AppJson {
    slug: Option<String>,
    name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NumberJson {
    number: Option<u64>,
}

/// A workflow run in a delivery of Forgejo.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ActionRunJson {
    id: Option<u64>,
    title: Option<String>,
    repository: Option<RepositoryJson>,
    trigger_user: Option<UserJson>,
    workflow_id: Option<String>,
    prettyref: Option<String>,
    commit_sha: Option<String>,
    status: Option<String>,
    html_url: Option<String>,
    updated: Option<String>,
}

/// A finished CI run, with the forge's word for its conclusion.
pub(crate) struct CiReport {
    pub(crate) name: Option<String>,
    pub(crate) sha: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) conclusion: String,
    pub(crate) detail: Option<String>,
    pub(crate) log: CiLogSource,
    pub(crate) pulls: Vec<u64>,
    pub(crate) web_url: Option<String>,
    pub(crate) updated_at: Option<String>,
}

impl CiReport {
    /// Returns the events of the run: none if it neither failed nor succeeded.
    pub(crate) fn reading(
        self,
        event: impl FnOnce(TriggerKind) -> Result<ForgeEvent>,
    ) -> Result<DeliveryReading> {
        let Some(ListedRun { run, updated_at }) = self.run() else {
            return Ok(ignored("the CI run neither failed nor succeeded"));
        };
        let trigger = match run.conclusion {
            CiConclusion::Failed => TriggerKind::CiFailed,
            CiConclusion::Succeeded => TriggerKind::CiSucceeded,
        };
        let branch = run.branch.clone();
        Ok(one(ForgeEvent { ci: Some(run), branch, updated_at, ..event(trigger)? }))
    }

    /// Returns the run. `None` if it neither failed nor succeeded.
    pub(crate) fn run(self) -> Option<ListedRun> {
        let conclusion = match self.conclusion.as_str() {
            "failure" | "failed" | "error" | "timed_out" | "startup_failure" => {
                CiConclusion::Failed
            }
            "success" => CiConclusion::Succeeded,
            _ => return None,
        };
        let run = CiRun {
            name: text::name(self.name),
            sha: text::commit(self.sha.as_deref()),
            branch: text::optional_name(self.branch),
            conclusion,
            detail: text::title(self.detail.or(Some(self.conclusion))),
            log: self.log,
            pulls: self.pulls,
            web_url: text::url(self.web_url),
        };
        Some(ListedRun { run, updated_at: text::time(self.updated_at.as_deref()) })
    }
}

impl CiJson {
    /// Returns the name of the app that made the suite.
    pub(crate) fn app_slug(&self) -> Option<&str> {
        self.app.as_ref().and_then(|app| app.slug.as_deref())
    }

    pub(crate) fn report(self, log: impl FnOnce(u64) -> CiLogSource) -> CiReport {
        let app_name = self.app.and_then(|app| app.name);
        CiReport {
            name: self.name.or(app_name),
            sha: self.head_sha,
            branch: self.head_branch,
            conclusion: self.conclusion.unwrap_or_default(),
            detail: None,
            log: self.id.map_or(CiLogSource::None, log),
            pulls: self.pull_requests.0.into_iter().filter_map(|it| it.number).collect(),
            web_url: self.html_url,
            updated_at: self.updated_at,
        }
    }
}

impl ActionRunJson {
    fn report(self) -> CiReport {
        CiReport {
            name: self.workflow_id.or(self.title),
            sha: self.commit_sha,
            branch: self.prettyref,
            conclusion: self.status.unwrap_or_default(),
            detail: None,
            log: self.id.map_or(CiLogSource::None, CiLogSource::Run),
            pulls: Vec::new(),
            web_url: self.html_url,
            updated_at: self.updated,
        }
    }
}

/// Returns the reading of a delivery with one event.
fn one(event: ForgeEvent) -> DeliveryReading {
    DeliveryReading::Events(vec![event])
}

fn ignored(reason: impl Into<String>) -> DeliveryReading {
    DeliveryReading::Ignored(reason.into())
}

impl HubPayload {
    /// Returns an event about the repository and the sender.
    fn event(&mut self, trigger: TriggerKind) -> Result<ForgeEvent> {
        let repository = self.repository.take().and_then(RepositoryJson::repository);
        let repository = repository.ok_or_else(|| missing("repository"))?;
        let actor = self.sender.take().and_then(UserJson::user);
        Ok(ForgeEvent { actor, ..ForgeEvent::new(trigger, repository) })
    }

    /// Reads an event about an issue: its trigger is one of `issue.*`.
    pub(crate) fn issue_event(mut self, trigger: TriggerKind) -> Result<DeliveryReading> {
        let issue = self.issue.take().and_then(IssueJson::issue).ok_or_else(|| missing("issue"))?;
        let changes = match trigger {
            TriggerKind::IssueAssigned => {
                let named = self.assignee.take().and_then(UserJson::user);
                let assignees = named.map_or_else(|| issue.assignees.clone(), |user| vec![user]);
                EventChanges { assignees, ..EventChanges::default() }
            }
            TriggerKind::IssueLabeled => {
                let named = self.label.take().and_then(LabelJson::name);
                let labels = named.map_or_else(|| issue.labels.clone(), |label| vec![label]);
                EventChanges { labels, ..EventChanges::default() }
            }
            _ => EventChanges::default(),
        };
        let updated_at = issue.updated_at;
        let event = self.event(trigger)?;
        Ok(one(ForgeEvent { issue: Some(issue), changes, updated_at, ..event }))
    }

    /// Returns whether the issue has labels.
    pub(crate) fn has_labels(&self) -> bool {
        self.issue.as_ref().is_some_and(IssueJson::has_labels)
    }

    /// Reads a new comment on an issue or a pull request.
    pub(crate) fn comment_event(mut self) -> Result<DeliveryReading> {
        let comment = self.comment.take().and_then(CommentJson::comment);
        let comment = comment.ok_or_else(|| missing("comment"))?;
        let pull = self.pull_request.take().and_then(PullJson::pull);
        let issue = self.issue.take();
        let is_pull = self.is_pull.unwrap_or(false)
            || pull.is_some()
            || issue.as_ref().is_some_and(IssueJson::is_pull);
        let updated_at = comment.updated_at;
        let comment = Some(comment);
        if is_pull {
            let pull = pull.or_else(|| issue.and_then(IssueJson::pull));
            let pull = Some(pull.ok_or_else(|| missing("pull_request"))?);
            let event = self.event(TriggerKind::PullCommented)?;
            return Ok(one(ForgeEvent { pull, comment, updated_at, ..event }));
        }
        let issue = Some(issue.and_then(IssueJson::issue).ok_or_else(|| missing("issue"))?);
        let event = self.event(TriggerKind::IssueCommented)?;
        Ok(one(ForgeEvent { issue, comment, updated_at, ..event }))
    }

    /// Reads an event about a pull request: its trigger is one of `pull.*`.
    pub(crate) fn pull_event(mut self, trigger: TriggerKind) -> Result<DeliveryReading> {
        let pull = self.pull_request.take().and_then(PullJson::pull);
        let pull = pull.ok_or_else(|| missing("pull_request"))?;
        if trigger == TriggerKind::PullOpened && pull.is_draft {
            return Ok(ignored("the pull request is a draft"));
        }
        let trigger = match (trigger, pull.state) {
            (TriggerKind::PullClosed, PullState::Merged) => TriggerKind::PullMerged,
            _ => trigger,
        };
        let reviewer = self.requested_reviewer.take().and_then(UserJson::user);
        let team = self.requested_team.take().and_then(LabelJson::name);
        let changes = match trigger {
            TriggerKind::PullReviewRequested => EventChanges {
                reviewers: reviewer.into_iter().collect(),
                teams: team.into_iter().collect(),
                ..EventChanges::default()
            },
            _ => EventChanges::default(),
        };
        let updated_at = pull.updated_at;
        let branch = Some(pull.head_branch.clone()).filter(|branch| !branch.is_empty());
        let event = self.event(trigger)?;
        Ok(one(ForgeEvent { pull: Some(pull), changes, branch, updated_at, ..event }))
    }

    /// Reads a submitted review.
    pub(crate) fn review_event(mut self) -> Result<DeliveryReading> {
        let review = self.review.take().and_then(ReviewJson::review);
        let mut review = review.ok_or_else(|| missing("review"))?;
        let pull = self.pull_request.take().and_then(PullJson::pull);
        let pull = pull.ok_or_else(|| missing("pull_request"))?;
        let event = self.event(TriggerKind::PullReviewSubmitted)?;
        review.author = review.author.or_else(|| event.actor.clone());
        let updated_at = review.submitted_at.or(pull.updated_at);
        Ok(one(ForgeEvent { pull: Some(pull), review: Some(review), updated_at, ..event }))
    }

    /// Reads a finished workflow run or suite of checks.
    pub(crate) fn ci_event(mut self, report: CiReport) -> Result<DeliveryReading> {
        report.reading(|trigger| self.event(trigger))
    }

    /// Reads a finished workflow run in a delivery of Forgejo, which has no sender of its own.
    pub(crate) fn action_run_event(mut self) -> Result<DeliveryReading> {
        let mut run = self.run.take().ok_or_else(|| missing("run"))?;
        self.repository = run.repository.take().or(self.repository);
        self.sender = self.sender.or_else(|| run.trigger_user.take());
        run.report().reading(|trigger| self.event(trigger))
    }

    /// Reads the status of a commit, which a CI system has set.
    pub(crate) fn status_event(mut self) -> Result<DeliveryReading> {
        // Gitea reports the runs of its own workflows twice. `workflow_run` has the log.
        let is_own = self.target_url.as_deref().is_some_and(|url| url.contains("/actions/runs/"));
        if is_own {
            return Ok(ignored("the event `workflow_run` reports this run"));
        }
        let branches = std::mem::take(&mut self.branches).0;
        let report = CiReport {
            name: self.context.take(),
            sha: self.sha.take(),
            branch: branches.into_iter().find_map(LabelJson::name),
            conclusion: self.state.take().unwrap_or_default(),
            detail: self.description.take(),
            log: CiLogSource::None,
            pulls: Vec::new(),
            web_url: self.target_url.take(),
            updated_at: self.updated_at.take(),
        };
        report.reading(|trigger| self.event(trigger))
    }

    /// Reads the deletion of a branch.
    pub(crate) fn delete_event(mut self) -> Result<DeliveryReading> {
        if self.ref_type.as_deref() != Some("branch") {
            return Ok(ignored("only branches have a trigger for deletions"));
        }
        let name = self.ref_name.take().ok_or_else(|| missing("ref"))?;
        let branch = text::branch_of_ref(&name).map(|it| text::name(Some(it.to_owned())));
        let event = self.event(TriggerKind::BranchDeleted)?;
        Ok(one(ForgeEvent { branch, ..event }))
    }

    /// Reads a push to a branch.
    pub(crate) fn push_event(mut self) -> Result<DeliveryReading> {
        let name = self.ref_name.take().ok_or_else(|| missing("ref"))?;
        let Some(branch) = text::branch_of_ref(&name).map(|it| text::name(Some(it.to_owned())))
        else {
            return Ok(ignored("only pushes to branches have a trigger"));
        };
        let is_deleted =
            self.deleted.unwrap_or(false) || self.after.as_deref().is_some_and(text::is_zero);
        if is_deleted {
            return Ok(ignored("the event `delete` reports the deletion of a branch"));
        }
        let push = PushedCommits {
            before: text::commit(self.before.as_deref()),
            after: text::commit(self.after.as_deref()),
            is_forced: self.forced,
        };
        let event = self.event(TriggerKind::Push)?;
        Ok(one(ForgeEvent { branch: Some(branch), push: Some(push), ..event }))
    }

    /// Returns whether a push has no commits, because the forge tests the webhook.
    pub(crate) fn is_test_push(&self) -> bool {
        self.before.is_some() && self.before == self.after
    }
}

/// Returns the error for a delivery that lacks the object of its event.
fn missing(field: &str) -> segue_core::Error {
    unreadable(format!("the field `{field}` is missing or incomplete"))
}
