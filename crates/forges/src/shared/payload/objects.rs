//! Users, repositories, issues, pull requests, comments and reviews.

use segue_core::model::{
    CommentPlace, DiffSide, ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeReview,
    ForgeUser, ListedIssue, ListedPull, PullState, RefName, RepositoryAddress, ReviewVerdict,
    UserKind,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::shared::list::FirstItems;
use crate::shared::text;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct UserJson {
    id: Option<i64>,
    login: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// The id of the account that runs workflows on Gitea and Forgejo.
const ACTIONS_ID: i64 = -2;

/// The logins of that account.
const ACTIONS_LOGINS: [&str; 2] = ["gitea-actions", "forgejo-actions"];

impl UserJson {
    /// Returns the user. `None` without a login.
    pub(crate) fn user(self) -> Option<ForgeUser> {
        let id = self.id.unwrap_or_default();
        let login = text::optional_name(self.login)?;
        let is_bot = self.kind.as_deref() == Some("Bot")
            || login.ends_with("[bot]")
            || id == ACTIONS_ID
            || ACTIONS_LOGINS.contains(&login.as_str());
        let kind = if is_bot { UserKind::Bot } else { UserKind::Person };
        Some(ForgeUser { id, login, kind })
    }
}

/// Returns the users of a list.
fn users(list: FirstItems<UserJson>) -> Vec<ForgeUser> {
    list.0.into_iter().filter_map(UserJson::user).collect()
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RepositoryJson {
    pub(crate) id: Option<u64>,
    pub(crate) full_name: Option<String>,
    clone_url: Option<String>,
    ssh_url: Option<String>,
    html_url: Option<String>,
    default_branch: Option<String>,
}

impl RepositoryJson {
    /// Returns the repository. `None` without an id or a name.
    pub(crate) fn repository(self) -> Option<ForgeRepository> {
        Some(ForgeRepository {
            id: self.id?,
            full_name: text::optional_name(self.full_name)?,
            clone_url: text::clone_url([self.clone_url, self.ssh_url]),
            web_url: text::url(self.html_url),
            default_branch: text::optional_name(self.default_branch),
        })
    }

    /// Returns the data with which the API finds the repository. `None` without an id or a name.
    pub(crate) fn address(self) -> Option<RepositoryAddress> {
        Some(RepositoryAddress { id: self.id?, full_name: text::optional_name(self.full_name)? })
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self.id, other.id) {
            (Some(one), Some(other)) => one == other,
            _ => self.full_name.is_some() && self.full_name == other.full_name,
        }
    }
}

/// A label. Some answers of GitHub have only its name.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum LabelJson {
    Name(String),
    Object {
        #[serde(default)]
        name: Option<String>,
    },
}

impl LabelJson {
    pub(crate) fn name(self) -> Option<String> {
        match self {
            Self::Name(name) => text::optional_name(Some(name)),
            Self::Object { name } => text::optional_name(name),
        }
    }
}

fn labels(list: FirstItems<LabelJson>) -> Vec<String> {
    list.0.into_iter().filter_map(LabelJson::name).collect()
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct IssueJson {
    id: Option<u64>,
    number: Option<u64>,
    title: Option<String>,
    body: Option<String>,
    html_url: Option<String>,
    state: Option<String>,
    user: Option<UserJson>,
    labels: FirstItems<LabelJson>,
    assignees: FirstItems<UserJson>,
    created_at: Option<String>,
    updated_at: Option<String>,
    closed_at: Option<String>,
    /// Present if the issue is a pull request.
    pull_request: Option<IgnoredAny>,
    /// Only in lists of issues of several repositories.
    pub(crate) repository: Option<RepositoryJson>,
}

impl IssueJson {
    pub(crate) fn is_pull(&self) -> bool {
        self.pull_request.is_some()
    }

    pub(crate) fn has_labels(&self) -> bool {
        !self.labels.0.is_empty()
    }

    /// Returns the issue. `None` without a number.
    pub(crate) fn issue(self) -> Option<ForgeIssue> {
        Some(ForgeIssue {
            id: self.id.unwrap_or_default(),
            number: self.number?,
            title: text::title(self.title),
            body: text::body(self.body),
            web_url: text::url(self.html_url),
            is_open: self.state.as_deref() != Some("closed"),
            author: self.user.and_then(UserJson::user),
            labels: labels(self.labels),
            assignees: users(self.assignees),
            updated_at: text::time(self.updated_at.as_deref()),
        })
    }

    /// Returns the issue of a list. `None` if it is a pull request.
    pub(crate) fn listed(self) -> Option<ListedIssue> {
        if self.is_pull() {
            return None;
        }
        let created_at = text::time(self.created_at.as_deref());
        let closed_at = text::time(self.closed_at.as_deref());
        Some(ListedIssue { created_at, closed_at, issue: self.issue()? })
    }

    /// Returns the pull request of which this is the issue. Its branches are unknown.
    pub(crate) fn pull(self) -> Option<ForgePull> {
        let issue = self.issue()?;
        Some(ForgePull {
            id: issue.id,
            number: issue.number,
            title: issue.title,
            body: issue.body,
            web_url: issue.web_url,
            state: if issue.is_open { PullState::Open } else { PullState::Closed },
            is_draft: false,
            author: issue.author,
            labels: issue.labels,
            assignees: issue.assignees,
            head_branch: String::new(),
            base_branch: String::new(),
            head_sha: None,
            is_fork: false,
            head_ref: head_ref(issue.number),
            updated_at: issue.updated_at,
        })
    }
}

fn head_ref(number: u64) -> Option<RefName> {
    RefName::parse(&format!("refs/pull/{number}/head")).ok()
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PullJson {
    id: Option<u64>,
    number: Option<u64>,
    title: Option<String>,
    body: Option<String>,
    html_url: Option<String>,
    state: Option<String>,
    draft: Option<bool>,
    merged: Option<bool>,
    merged_at: Option<String>,
    user: Option<UserJson>,
    labels: FirstItems<LabelJson>,
    assignees: FirstItems<UserJson>,
    head: PullBranchJson,
    base: PullBranchJson,
    requested_reviewers: FirstItems<UserJson>,
    created_at: Option<String>,
    updated_at: Option<String>,
    closed_at: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct PullBranchJson {
    #[serde(rename = "ref")]
    name: Option<String>,
    sha: Option<String>,
    /// `None` if the repository was deleted.
    repo: Option<RepositoryJson>,
}

impl PullJson {
    /// Returns the pull request of a list.
    pub(crate) fn listed(mut self) -> Option<ListedPull> {
        let created_at = text::time(self.created_at.as_deref());
        let closed_at = text::time(self.closed_at.as_deref());
        let closed_at = closed_at.or_else(|| text::time(self.merged_at.as_deref()));
        let reviewers = users(std::mem::take(&mut self.requested_reviewers));
        Some(ListedPull { created_at, closed_at, reviewers, pull: self.pull()? })
    }

    /// Returns the pull request. `None` without a number.
    pub(crate) fn pull(self) -> Option<ForgePull> {
        let number = self.number?;
        let is_same =
            |head: &RepositoryJson| self.base.repo.as_ref().is_some_and(|base| head.is_same(base));
        let is_fork = !self.head.repo.as_ref().is_some_and(is_same);
        let is_merged =
            self.merged.unwrap_or(false) || text::time(self.merged_at.as_deref()).is_some();
        let state = match self.state.as_deref() {
            _ if is_merged => PullState::Merged,
            Some("closed") => PullState::Closed,
            _ => PullState::Open,
        };
        Some(ForgePull {
            id: self.id.unwrap_or_default(),
            number,
            title: text::title(self.title),
            body: text::body(self.body),
            web_url: text::url(self.html_url),
            state,
            is_draft: self.draft.unwrap_or(false),
            author: self.user.and_then(UserJson::user),
            labels: labels(self.labels),
            assignees: users(self.assignees),
            head_branch: text::name(self.head.name),
            base_branch: text::name(self.base.name),
            head_sha: text::commit(self.head.sha.as_deref()),
            is_fork,
            head_ref: head_ref(number),
            updated_at: text::time(self.updated_at.as_deref()),
        })
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CommentJson {
    id: Option<u64>,
    body: Option<String>,
    user: Option<UserJson>,
    html_url: Option<String>,
    path: Option<String>,
    line: Option<u32>,
    original_line: Option<u32>,
    start_line: Option<u32>,
    side: Option<String>,
    pull_request_review_id: Option<u64>,
    created_at: Option<String>,
    updated_at: Option<String>,
}

impl CommentJson {
    /// Returns the comment. `None` without an id.
    pub(crate) fn comment(self) -> Option<ForgeComment> {
        let place = text::optional_name(self.path).map(|path| CommentPlace {
            path,
            line: self.line.or(self.original_line),
            start_line: self.start_line,
            side: if self.side.as_deref() == Some("LEFT") { DiffSide::Old } else { DiffSide::New },
        });
        Some(ForgeComment {
            id: self.id?,
            body: text::body(self.body),
            author: self.user.and_then(UserJson::user),
            place,
            review_id: self.pull_request_review_id,
            thread: None,
            web_url: text::url(self.html_url),
            created_at: text::time(self.created_at.as_deref()),
            updated_at: text::time(self.updated_at.as_deref()),
        })
    }
}

/// A review. Deliveries of Gitea and Forgejo have only `type` and `content`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReviewJson {
    pub(crate) id: Option<u64>,
    state: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    body: Option<String>,
    content: Option<String>,
    user: Option<UserJson>,
    commit_id: Option<String>,
    html_url: Option<String>,
    submitted_at: Option<String>,
    dismissed: Option<bool>,
    pub(crate) comments_count: Option<u64>,
}

impl ReviewJson {
    /// Returns the review, without its comments. `None` without a known verdict.
    pub(crate) fn review(self) -> Option<ForgeReview> {
        let verdict = verdict(self.state.or(self.kind)?.as_str())?;
        let is_dismissed = self.dismissed.unwrap_or(false);
        Some(ForgeReview {
            id: self.id,
            verdict: if is_dismissed { ReviewVerdict::Dismissed } else { verdict },
            body: text::body(self.body.or(self.content)),
            author: self.user.and_then(UserJson::user),
            commit: text::commit(self.commit_id.as_deref()),
            comments: Vec::new(),
            web_url: text::url(self.html_url),
            submitted_at: text::time(self.submitted_at.as_deref()),
        })
    }
}

fn verdict(word: &str) -> Option<ReviewVerdict> {
    match word.to_ascii_lowercase().as_str() {
        "approved" | "pull_request_review_approved" => Some(ReviewVerdict::Approved),
        "changes_requested" | "request_changes" | "pull_request_review_rejected" => {
            Some(ReviewVerdict::ChangesRequested)
        }
        "commented" | "comment" | "pull_request_review_comment" => Some(ReviewVerdict::Commented),
        "dismissed" => Some(ReviewVerdict::Dismissed),
        "pending" => Some(ReviewVerdict::Pending),
        _ => None,
    }
}
