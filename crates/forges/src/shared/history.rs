//! Who changed an issue, and statuses of commits.

use std::collections::BTreeMap;

use jiff::Timestamp;
use segue_core::model::{CiLogSource, ForgeUser, ListedRun, RepositoryAddress, SubjectChange};
use segue_core::ports::ForgeResult;
use serde::Deserialize;

use super::list::FirstItems;
use super::payload::{CiReport, LabelJson, UserJson};
use super::text;
use crate::client::{ApiClient, ApiRequest, repository_path};

/// An entry of the history of an issue: GitHub has `event` and `actor`, the others `type` and `user`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HistoryJson {
    event: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    actor: Option<UserJson>,
    user: Option<UserJson>,
    label: Option<LabelJson>,
    assignee: Option<UserJson>,
    requested_reviewer: Option<UserJson>,
    created_at: Option<String>,
}

impl HistoryJson {
    fn is_of(&self, change: &SubjectChange) -> bool {
        let word = self.event.as_deref().or(self.kind.as_deref()).unwrap_or_default();
        let names = |known: Option<&UserJson>, wanted: &ForgeUser| {
            known.and_then(|it| it.clone().user()).is_none_or(|it| it.is_same(wanted))
        };
        match change {
            SubjectChange::Labeled(label) => {
                let name = self.label.clone().and_then(LabelJson::name);
                matches!(word, "labeled" | "label") && name.as_ref() == Some(label)
            }
            SubjectChange::Assigned(user) => {
                matches!(word, "assigned" | "assignees") && names(self.assignee.as_ref(), user)
            }
            SubjectChange::ReviewRequested(user) => {
                let named = self.requested_reviewer.as_ref().or(self.assignee.as_ref());
                matches!(word, "review_requested" | "review_request") && names(named, user)
            }
            SubjectChange::Closed => {
                matches!(word, "closed" | "merged" | "close" | "merge_pull")
            }
            SubjectChange::Reopened => matches!(word, "reopened" | "reopen"),
        }
    }
}

/// Returns the author of the newest entry about a change since a time.
pub(crate) fn author(
    entries: Vec<HistoryJson>,
    change: &SubjectChange,
    since: Option<Timestamp>,
) -> Option<ForgeUser> {
    let at = |entry: &HistoryJson| text::time(entry.created_at.as_deref());
    let is_meant =
        |entry: &HistoryJson| entry.is_of(change) && (since.is_none() || at(entry) >= since);
    let newest = entries.into_iter().filter(is_meant).max_by_key(at)?;
    newest.actor.or(newest.user).and_then(UserJson::user)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CommitStatusesJson {
    sha: Option<String>,
    statuses: FirstItems<CommitStatusJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CommitStatusJson {
    context: Option<String>,
    state: Option<String>,
    /// Another name for `state`.
    status: Option<String>,
    description: Option<String>,
    target_url: Option<String>,
    updated_at: Option<String>,
}

/// Returns the finished statuses of the head of a branch, which CI systems have set.
pub(super) async fn statuses(
    client: &ApiClient,
    repository: &RepositoryAddress,
    branch: &str,
) -> ForgeResult<Vec<ListedRun>> {
    let path = format!("{}/commits", repository_path(repository));
    let object = format!("the statuses of branch {branch} of {}", repository.full_name);
    let request = ApiRequest::get(&path, object).below(branch).below("status");
    let found: Option<CommitStatusesJson> = client.optional(&request).await?;
    let CommitStatusesJson { sha, statuses } = found.unwrap_or_default();
    let run = |status: CommitStatusJson| {
        let report = CiReport {
            name: status.context,
            sha: sha.clone(),
            branch: Some(branch.to_owned()),
            conclusion: status.state.or(status.status).unwrap_or_default(),
            detail: status.description,
            log: CiLogSource::None,
            pulls: Vec::new(),
            web_url: status.target_url,
            updated_at: status.updated_at,
        };
        report.run()
    };
    Ok(statuses.0.into_iter().filter_map(run).collect())
}

/// Keeps the newest run of each name: an earlier failure is over.
pub(crate) fn newest_of_each_name(runs: Vec<ListedRun>) -> Vec<ListedRun> {
    let mut newest: BTreeMap<String, ListedRun> = BTreeMap::new();
    for run in runs {
        let known = newest.get(&run.run.name);
        if known.is_none_or(|known| known.updated_at < run.updated_at) {
            newest.insert(run.run.name.clone(), run);
        }
    }
    newest.into_values().collect()
}
