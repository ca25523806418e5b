//! A forge in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use segue_core::model::{
    CiLog, CiRun, DeliveryHeaders, DeliveryReading, DeliveryRefusal, DeliveryRequest, ForgeComment,
    ForgeId, ForgeIssue, ForgePull, ForgeRepository, ForgeReview, ForgeSubject, ForgeUser,
    ListedIssue, ListedPull, ListedRun, PullState, RepositoryAddress, RepositoryPermission,
    RepositoryUrl, SecretText, SubjectChange, UserKind,
};
use segue_core::ports::{
    AssignedIssue, CommentSearch, Forge, ForgeAccess, ForgeApi, ForgeFailure, ForgeFault,
    ForgeResult, Forges, ListPage, ListQuery, ListScope, Webhooks,
};
use segue_core::{Error, Result};

use crate::Calls;

/// The id of the forge.
const ID: &str = "hub";

/// The only forge of a world: `hub`. All of its servers have the same data.
///
/// The header `x-secret` of a delivery has the secret, `x-delivery` its id, and `x-event` the name
/// of its event. A test says what a body means.
#[derive(Clone, Debug)]
pub struct FakeForges {
    calls: Calls,
    state: Arc<Mutex<FakeForgeState>>,
}

/// The data of the forge. Objects of a repository are found by its name.
#[derive(Debug)]
pub struct FakeForgeState {
    /// The account of every token.
    pub account: ForgeUser,
    pub permissions: BTreeMap<(String, String), RepositoryPermission>,
    pub issues: BTreeMap<(String, u64), ForgeIssue>,
    pub pulls: BTreeMap<(String, u64), ForgePull>,
    pub comments: BTreeMap<(String, ForgeSubject), Vec<ForgeComment>>,
    pub reviews: BTreeMap<(String, u64), Vec<ForgeReview>>,
    pub assigned: Vec<AssignedIssue>,
    pub closed_by: BTreeMap<(String, u64), Vec<u64>>,
    /// The issues that repositories list, in any order.
    pub listed_issues: Vec<ListedIssue>,
    /// The pull requests that repositories list, in any order.
    pub listed_pulls: Vec<ListedPull>,
    /// The finished CI runs, by branch.
    pub runs: BTreeMap<String, Vec<ListedRun>>,
    /// Who has changed issues and pull requests.
    pub changers: BTreeMap<ForgeSubject, ForgeUser>,
    /// The logs of failed runs, by the names of the runs.
    pub logs: BTreeMap<String, CiLog>,
    /// What the bodies of deliveries mean.
    pub readings: BTreeMap<Vec<u8>, DeliveryReading>,
    /// The fault of every request, if there is one.
    pub fault: Option<ForgeFault>,
    /// The time of new comments.
    pub now: Timestamp,
}

impl FakeForges {
    pub(crate) fn new(calls: Calls) -> Self {
        let account = ForgeUser { id: 1, login: "segue-bot".into(), kind: UserKind::Person };
        let state = FakeForgeState {
            account,
            permissions: BTreeMap::new(),
            issues: BTreeMap::new(),
            pulls: BTreeMap::new(),
            comments: BTreeMap::new(),
            reviews: BTreeMap::new(),
            assigned: Vec::new(),
            closed_by: BTreeMap::new(),
            listed_issues: Vec::new(),
            listed_pulls: Vec::new(),
            runs: BTreeMap::new(),
            changers: BTreeMap::new(),
            logs: BTreeMap::new(),
            readings: BTreeMap::new(),
            fault: None,
            now: Timestamp::from_second(1_790_000_000).unwrap(),
        };
        Self { calls, state: Arc::new(Mutex::new(state)) }
    }

    /// Reads or changes the data.
    pub fn change<T>(&self, change: impl FnOnce(&mut FakeForgeState) -> T) -> T {
        change(&mut self.state.lock().unwrap())
    }

    /// Records a request, and fails if the test wants it to.
    fn request<T>(
        &self,
        call: &'static str,
        object: String,
        answer: impl FnOnce(&mut FakeForgeState) -> Option<T>,
    ) -> ForgeResult<T> {
        let failure = |fault| ForgeFailure {
            forge: ForgeId::new(ID),
            host: "hub.example.org".into(),
            object,
            fault,
        };
        if self.calls.enter(call).is_err() {
            return Err(failure(ForgeFault::ServerError(503)));
        }
        let mut state = self.state.lock().unwrap();
        if let Some(fault) = state.fault.clone() {
            return Err(failure(fault));
        }
        answer(&mut state).ok_or_else(|| failure(ForgeFault::NotFound))
    }
}

impl Forges for FakeForges {
    fn get(&self, id: &ForgeId) -> Result<Arc<dyn Forge>> {
        match id.as_str() {
            ID => Ok(Arc::new(self.clone())),
            _ => Err(Error::usage(format!("there is no forge `{id}`"))),
        }
    }

    fn all(&self) -> Vec<Arc<dyn Forge>> {
        vec![Arc::new(self.clone())]
    }
}

impl Forge for FakeForges {
    fn id(&self) -> ForgeId {
        ForgeId::new(ID)
    }

    fn webhooks(&self) -> &dyn Webhooks {
        self
    }

    fn api(&self, _access: &ForgeAccess) -> Result<Arc<dyn ForgeApi>> {
        self.calls.enter("forges.api")?;
        Ok(Arc::new(self.clone()))
    }
}

impl Webhooks for FakeForges {
    fn delivery_id(&self, headers: &DeliveryHeaders) -> Option<String> {
        headers.only("x-delivery").map(str::to_owned)
    }

    fn event_name(&self, headers: &DeliveryHeaders) -> Option<String> {
        headers.only("x-event").map(str::to_owned)
    }

    fn test_headers(&self, event: &str) -> DeliveryHeaders {
        DeliveryHeaders::new([("x-event", event.as_bytes())])
    }

    fn verify(
        &self,
        request: &DeliveryRequest<'_>,
        secret: &SecretText,
    ) -> Result<(), DeliveryRefusal> {
        match request.headers.only("x-secret") {
            None => Err(DeliveryRefusal::MissingSignature),
            Some(sent) if sent == secret.expose() => Ok(()),
            Some(_) => Err(DeliveryRefusal::WrongSignature),
        }
    }

    fn storable_headers(&self, headers: &DeliveryHeaders) -> DeliveryHeaders {
        headers.without(&["x-secret"])
    }

    fn read(&self, request: &DeliveryRequest<'_>) -> Result<DeliveryReading> {
        self.calls.enter("forges.read")?;
        let reading = self.state.lock().unwrap().readings.get(request.body).cloned();
        Ok(reading.unwrap_or_else(|| DeliveryReading::Ignored("the test set no meaning".into())))
    }
}

fn key(repository: &RepositoryAddress, number: u64) -> (String, u64) {
    (repository.full_name.clone(), number)
}

#[async_trait]
impl ForgeApi for FakeForges {
    async fn own_account(&self) -> ForgeResult<ForgeUser> {
        self.request("forges.own_account", "the account".into(), |it| Some(it.account.clone()))
    }

    async fn permission(
        &self,
        repository: &RepositoryAddress,
        user: &ForgeUser,
    ) -> ForgeResult<RepositoryPermission> {
        let key = (repository.full_name.clone(), user.login.clone());
        self.request("forges.permission", format!("the permission of {}", user.login), |state| {
            Some(state.permissions.get(&key).copied().unwrap_or(RepositoryPermission::None))
        })
    }

    async fn repository(&self, repository: &RepositoryAddress) -> ForgeResult<ForgeRepository> {
        let name = &repository.full_name;
        self.request("forges.repository", format!("the repository {name}"), |_| {
            Some(ForgeRepository {
                id: repository.id,
                full_name: name.clone(),
                clone_url: RepositoryUrl::parse(&format!("https://hub.example.org/{name}")).ok(),
                web_url: format!("https://hub.example.org/{name}"),
                default_branch: Some("main".into()),
            })
        })
    }

    async fn repository_named(&self, full_name: &str) -> ForgeResult<ForgeRepository> {
        self.repository(&RepositoryAddress { id: 9, full_name: full_name.to_owned() }).await
    }

    async fn issue(&self, repository: &RepositoryAddress, number: u64) -> ForgeResult<ForgeIssue> {
        let key = key(repository, number);
        let object = format!("issue #{number}");
        self.request("forges.issue", object, |state| state.issues.get(&key).cloned())
    }

    async fn comments(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        since: Option<Timestamp>,
    ) -> ForgeResult<Vec<ForgeComment>> {
        let key = (repository.full_name.clone(), subject);
        self.request("forges.comments", format!("the comments on {subject}"), |state| {
            let mut comments = state.comments.get(&key).cloned().unwrap_or_default();
            comments.retain(|it| since.is_none_or(|since| it.updated_at >= Some(since)));
            Some(comments)
        })
    }

    async fn pull(&self, repository: &RepositoryAddress, number: u64) -> ForgeResult<ForgePull> {
        let key = key(repository, number);
        let object = format!("pull request #{number}");
        self.request("forges.pull", object, |state| state.pulls.get(&key).cloned())
    }

    async fn reviews(
        &self,
        repository: &RepositoryAddress,
        number: u64,
        since: Option<Timestamp>,
    ) -> ForgeResult<Vec<ForgeReview>> {
        let key = key(repository, number);
        self.request("forges.reviews", format!("the reviews of #{number}"), |state| {
            let mut reviews = state.reviews.get(&key).cloned().unwrap_or_default();
            reviews.retain(|it| since.is_none_or(|since| it.submitted_at >= Some(since)));
            Some(reviews)
        })
    }

    async fn assigned_issues(&self, query: &ListQuery) -> ForgeResult<ListPage<AssignedIssue>> {
        self.request("forges.assigned_issues", "the assigned issues".into(), |state| {
            let is_new = |it: &&AssignedIssue| {
                query.since.is_none_or(|since| it.issue.updated_at >= Some(since))
            };
            let items = state.assigned.iter().filter(is_new).cloned().collect();
            Some(ListPage::Page { items, next: None, etag: None })
        })
    }

    async fn changed_issues(
        &self,
        _repository: &RepositoryAddress,
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedIssue>> {
        self.request("forges.changed_issues", "the issues".into(), |state| {
            let mut items = state.listed_issues.clone();
            items.retain(|it| scope == ListScope::All || it.issue.is_open);
            items.retain(|it| query.since.is_none() || it.issue.updated_at >= query.since);
            Some(ListPage::Page { items, next: None, etag: None })
        })
    }

    async fn changed_pulls(
        &self,
        _repository: &RepositoryAddress,
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedPull>> {
        self.request("forges.changed_pulls", "the pull requests".into(), |state| {
            let mut items = state.listed_pulls.clone();
            items.retain(|it| scope == ListScope::All || it.pull.state == PullState::Open);
            items.retain(|it| query.since.is_none() || it.pull.updated_at >= query.since);
            Some(ListPage::Page { items, next: None, etag: None })
        })
    }

    async fn finished_runs(
        &self,
        _repository: &RepositoryAddress,
        branch: &str,
    ) -> ForgeResult<Vec<ListedRun>> {
        self.request("forges.finished_runs", format!("the CI runs of {branch}"), |state| {
            Some(state.runs.get(branch).cloned().unwrap_or_default())
        })
    }

    async fn author_of_change(
        &self,
        _repository: &RepositoryAddress,
        subject: ForgeSubject,
        _change: &SubjectChange,
        _since: Option<Timestamp>,
    ) -> ForgeResult<Option<ForgeUser>> {
        self.request("forges.author_of_change", format!("the history of {subject}"), |state| {
            Some(state.changers.get(&subject).cloned())
        })
    }

    async fn failed_log(
        &self,
        _repository: &RepositoryAddress,
        run: &CiRun,
        _bytes: usize,
    ) -> ForgeResult<Option<CiLog>> {
        self.request("forges.failed_log", format!("the log of {}", run.name), |state| {
            Some(state.logs.get(&run.name).cloned())
        })
    }

    async fn post_comment(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        body: &str,
    ) -> ForgeResult<ForgeComment> {
        let key = (repository.full_name.clone(), subject);
        self.request("forges.post_comment", format!("a new comment on {subject}"), |state| {
            let count: usize = state.comments.values().map(Vec::len).sum();
            let comment = ForgeComment {
                id: u64::try_from(count).unwrap() + 1,
                body: body.to_owned(),
                author: Some(state.account.clone()),
                place: None,
                review_id: None,
                thread: None,
                web_url: String::new(),
                created_at: Some(state.now),
                updated_at: Some(state.now),
            };
            state.comments.entry(key).or_default().push(comment.clone());
            Some(comment)
        })
    }

    async fn find_comment(
        &self,
        repository: &RepositoryAddress,
        subject: ForgeSubject,
        search: &CommentSearch<'_>,
    ) -> ForgeResult<Option<ForgeComment>> {
        let key = (repository.full_name.clone(), subject);
        self.request("forges.find_comment", format!("the comments on {subject}"), |state| {
            let is_by_author = |it: &ForgeComment| {
                it.author.as_ref().is_some_and(|author| author.is_same(search.author))
            };
            let mut comments = state.comments.get(&key).into_iter().flatten();
            Some(comments.find(|it| is_by_author(it) && it.body.contains(search.marker)).cloned())
        })
    }

    async fn closed_by(
        &self,
        repository: &RepositoryAddress,
        number: u64,
    ) -> ForgeResult<Vec<u64>> {
        let key = key(repository, number);
        self.request("forges.closed_by", format!("the issues that #{number} closes"), |state| {
            Some(state.closed_by.get(&key).cloned().unwrap_or_default())
        })
    }
}
