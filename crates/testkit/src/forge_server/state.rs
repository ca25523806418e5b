//! The data of the forge.

use std::collections::BTreeMap;

use axum::http::Method;
use jiff::{SignedDuration, Timestamp};
use segue_core::model::{
    CommentPlace, DiffSide, ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeReview,
    ForgeSubject, ForgeUser, PullState, RefName, RepositoryPermission, RepositoryUrl,
    ReviewVerdict, UserKind,
};

use super::answers::ServedAnswer;
use super::{ForgeRequest, ForgeServerFault, ServedRequest};

/// The login of the account that has the token.
const ACCOUNT: &str = "segue-bot";

/// The data of the forge.
#[derive(Debug)]
pub struct ServedForge {
    pub token: String,
    /// The account of the token.
    pub account: ForgeUser,
    pub users: Vec<ForgeUser>,
    pub repositories: Vec<ServedRepository>,
    /// Old names of repositories, with their new names.
    pub renamed: BTreeMap<String, String>,
    /// The most items of a page, whatever the client asks for.
    pub page_items: usize,
    /// The time of the last change. Each change takes a second.
    pub now: Timestamp,
    pub(super) requests: Vec<ForgeRequest>,
    pub(super) faults: Vec<(String, usize, ForgeServerFault)>,
    last_id: u64,
}

/// A repository, and everything in it.
#[derive(Debug)]
pub struct ServedRepository {
    pub repository: ForgeRepository,
    /// The permissions of users, by their logins.
    pub permissions: BTreeMap<String, RepositoryPermission>,
    pub issues: BTreeMap<u64, ForgeIssue>,
    pub pulls: BTreeMap<u64, ForgePull>,
    pub comments: BTreeMap<ForgeSubject, Vec<ForgeComment>>,
    /// The reviews of each pull request.
    pub reviews: BTreeMap<u64, Vec<ForgeReview>>,
    /// The jobs of each CI run.
    pub jobs: BTreeMap<u64, Vec<ServedJob>>,
    /// The users whose review of a pull request is requested.
    pub reviewers: BTreeMap<u64, Vec<ForgeUser>>,
    /// When issues and pull requests were created, by number.
    pub created: BTreeMap<u64, Timestamp>,
    /// When they were closed.
    pub closed: BTreeMap<u64, Timestamp>,
    pub history: Vec<ServedChange>,
    pub runs: Vec<ServedRun>,
}

/// A change of an issue or a pull request.
#[derive(Clone, Debug)]
pub struct ServedChange {
    pub number: u64,
    /// GitHub's word, such as `labeled`.
    pub word: &'static str,
    pub by: ForgeUser,
    /// The label, or the login of the requested reviewer.
    pub name: String,
    pub at: Timestamp,
}

/// A finished CI run of a branch.
#[derive(Clone, Debug)]
pub struct ServedRun {
    pub id: u64,
    pub branch: String,
    pub name: String,
    pub has_failed: bool,
    pub at: Timestamp,
}

/// A finished job of a CI run.
#[derive(Clone, Debug)]
pub struct ServedJob {
    pub id: u64,
    pub name: String,
    pub has_failed: bool,
    pub log: Vec<u8>,
}

impl ServedForge {
    pub(super) fn new(token: &str) -> Self {
        let account = ForgeUser { id: 1, login: ACCOUNT.to_owned(), kind: UserKind::Person };
        Self {
            token: token.to_owned(),
            users: vec![account.clone()],
            account,
            repositories: Vec::new(),
            renamed: BTreeMap::new(),
            page_items: 100,
            now: Timestamp::from_second(1_790_000_000).expect("a time"),
            requests: Vec::new(),
            faults: Vec::new(),
            last_id: 1000,
        }
    }

    /// Adds a user, and returns it.
    pub fn add_user(&mut self, login: &str) -> ForgeUser {
        let user = ForgeUser {
            id: i64::try_from(self.new_id()).expect("an id"),
            login: login.to_owned(),
            kind: UserKind::Person,
        };
        self.users.push(user.clone());
        user
    }

    pub fn user(&self, login: &str) -> ForgeUser {
        let found = self.users.iter().find(|user| user.login == login);
        found.unwrap_or_else(|| panic!("there is no user {login}")).clone()
    }

    /// Adds an empty repository that git reaches at this URL.
    pub fn add_repository(&mut self, full_name: &str, clone_url: &str) -> ForgeRepository {
        let repository = ForgeRepository {
            id: self.new_id(),
            full_name: full_name.to_owned(),
            clone_url: Some(RepositoryUrl::parse(clone_url).expect("a URL")),
            web_url: format!("https://forge.example.org/{full_name}"),
            default_branch: Some("main".to_owned()),
        };
        self.repositories.push(ServedRepository {
            repository: repository.clone(),
            permissions: BTreeMap::new(),
            issues: BTreeMap::new(),
            pulls: BTreeMap::new(),
            comments: BTreeMap::new(),
            reviews: BTreeMap::new(),
            jobs: BTreeMap::new(),
            reviewers: BTreeMap::new(),
            created: BTreeMap::new(),
            closed: BTreeMap::new(),
            history: Vec::new(),
            runs: Vec::new(),
        });
        repository
    }

    pub fn repository(&mut self, full_name: &str) -> &mut ServedRepository {
        let found = self.repositories.iter_mut().find(|it| it.repository.full_name == full_name);
        found.unwrap_or_else(|| panic!("there is no repository {full_name}"))
    }

    /// Adds an open issue, and returns its number.
    pub fn add_issue(&mut self, repository: &str, title: &str, assignees: &[&str]) -> u64 {
        let (id, updated_at) = (self.new_id(), Some(self.tick()));
        let author = Some(self.account.clone());
        let assignees = assignees.iter().map(|login| self.user(login)).collect();
        let repository = self.repository(repository);
        let number = repository.next_number();
        let web_url = format!("{}/issues/{number}", repository.repository.web_url);
        let (title, body, labels) = (title.to_owned(), format!("Text of {title}"), Vec::new());
        let is_open = true;
        let issue = ForgeIssue {
            id,
            number,
            title,
            body,
            web_url,
            is_open,
            author,
            labels,
            assignees,
            updated_at,
        };
        repository.created.extend(updated_at.map(|at| (number, at)));
        repository.issues.insert(number, issue);
        number
    }

    /// Adds an open pull request from a branch, and returns its number.
    pub fn add_pull(&mut self, repository: &str, branch: &str, body: &str) -> u64 {
        let (id, updated_at) = (self.new_id(), Some(self.tick()));
        let author = Some(self.account.clone());
        let repository = self.repository(repository);
        let number = repository.next_number();
        let pull = ForgePull {
            id,
            number,
            title: format!("Changes of {branch}"),
            body: body.to_owned(),
            web_url: format!("{}/pulls/{number}", repository.repository.web_url),
            state: PullState::Open,
            is_draft: false,
            author,
            labels: Vec::new(),
            assignees: Vec::new(),
            head_branch: branch.to_owned(),
            base_branch: "main".to_owned(),
            head_sha: None,
            is_fork: false,
            head_ref: RefName::parse(&format!("refs/pull/{number}/head")).ok(),
            updated_at,
        };
        repository.created.extend(updated_at.map(|at| (number, at)));
        repository.pulls.insert(number, pull);
        number
    }

    /// Changes an issue or a pull request as a user does it: `labeled` or `review_requested` with a
    /// name, `closed`, `merged` or `reopened`.
    pub fn change_subject(
        &mut self,
        (repository, subject): (&str, ForgeSubject),
        (word, name): (&'static str, &str),
        by: &str,
    ) {
        let (by, at, number) = (self.user(by), self.tick(), subject.number());
        let named = self.users.iter().find(|user| user.login == name).cloned();
        let repository = self.repository(repository);
        repository.history.push(ServedChange { number, word, by, name: name.to_owned(), at });
        match word {
            "closed" | "merged" => drop(repository.closed.insert(number, at)),
            "reopened" => drop(repository.closed.remove(&number)),
            "review_requested" => repository.reviewers.entry(number).or_default().extend(named),
            _ => {}
        }
        if let Some(issue) = repository.issues.get_mut(&number) {
            issue.updated_at = Some(at);
            issue.is_open = !repository.closed.contains_key(&number);
            issue.labels.extend((word == "labeled").then(|| name.to_owned()));
        }
        if let Some(pull) = repository.pulls.get_mut(&number) {
            pull.updated_at = Some(at);
            pull.state = match word {
                "merged" => PullState::Merged,
                "closed" => PullState::Closed,
                _ => pull.state,
            };
        }
    }

    /// Adds a finished CI run of a branch.
    pub fn finish_run(&mut self, repository: &str, branch: &str, (name, has_failed): (&str, bool)) {
        let (id, at) = (self.new_id(), self.tick());
        let run =
            ServedRun { id, branch: branch.to_owned(), name: name.to_owned(), has_failed, at };
        self.repository(repository).runs.push(run);
    }

    /// Adds a comment, and returns it.
    pub fn add_comment(
        &mut self,
        repository: &str,
        subject: ForgeSubject,
        login: &str,
        body: &str,
    ) -> ForgeComment {
        let comment = self.new_comment(login, body);
        let list = self.repository(repository).comments.entry(subject).or_default();
        list.push(comment.clone());
        comment
    }

    /// Adds a review with comments on lines, each with its path, its line and its text.
    pub fn add_review(
        &mut self,
        repository: &str,
        number: u64,
        (login, verdict): (&str, ReviewVerdict),
        lines: &[(&str, u32, &str)],
    ) -> ForgeReview {
        let id = Some(self.new_id());
        let mut comments = Vec::new();
        for (path, line, body) in lines {
            let place = CommentPlace {
                path: (*path).to_owned(),
                line: Some(*line),
                start_line: None,
                side: DiffSide::New,
            };
            let comment = self.new_comment(login, body);
            let thread = Some(format!("thread-{}", comment.id));
            comments.push(ForgeComment { place: Some(place), review_id: id, thread, ..comment });
        }
        let review = ForgeReview {
            id,
            verdict,
            body: format!("Review by {login}"),
            author: Some(self.user(login)),
            commit: None,
            comments,
            web_url: String::new(),
            submitted_at: Some(self.tick()),
        };
        self.repository(repository).reviews.entry(number).or_default().push(review.clone());
        review
    }

    /// Adds a CI run with these jobs, and returns its id.
    pub fn add_run(&mut self, repository: &str, jobs: &[(&str, bool, &[u8])]) -> u64 {
        let id = self.new_id();
        let mut served = Vec::new();
        for (name, has_failed, log) in jobs {
            let (id, has_failed) = (self.new_id(), *has_failed);
            served.push(ServedJob { id, name: (*name).to_owned(), has_failed, log: log.to_vec() });
        }
        self.repository(repository).jobs.insert(id, served);
        id
    }

    fn new_comment(&mut self, login: &str, body: &str) -> ForgeComment {
        let now = Some(self.tick());
        ForgeComment {
            id: self.new_id(),
            body: body.to_owned(),
            author: Some(self.user(login)),
            place: None,
            review_id: None,
            thread: None,
            web_url: String::new(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Advances the time by a second, and returns it.
    pub fn tick(&mut self) -> Timestamp {
        self.now = self.now.checked_add(SignedDuration::from_secs(1)).expect("a time");
        self.now
    }

    pub(super) fn new_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Returns the fault for a request, and counts it.
    pub(super) fn fault(&mut self, method: &Method, path: &str) -> Option<ForgeServerFault> {
        let fault = self.faults.iter_mut().find(|(part, times, fault)| {
            let is_method =
                !matches!(fault, ForgeServerFault::LostAnswer) || method == Method::POST;
            *times > 0 && path.contains(part.as_str()) && is_method
        });
        let (_, times, fault) = fault?;
        *times -= 1;
        Some(fault.clone())
    }

    /// Answers with the log of a job.
    pub(super) fn log(&self, id: &str) -> ServedAnswer {
        let id: Option<u64> = id.parse().ok();
        let jobs = self.repositories.iter().flat_map(|it| it.jobs.values().flatten());
        let job = jobs.into_iter().find(|job| Some(job.id) == id);
        job.map_or_else(ServedAnswer::not_found, |job| ServedAnswer::text(job.log.clone()))
    }

    /// Adds the comment of a `POST` request by the account of the token.
    pub(super) fn post_comment(
        &mut self,
        request: &ServedRequest,
        repository: &str,
        subject: ForgeSubject,
    ) -> Option<ForgeComment> {
        let body = request.body.get("body")?.as_str()?.to_owned();
        let login = self.account.login.clone();
        Some(self.add_comment(repository, subject, &login, &body))
    }
}

impl ServedRepository {
    fn next_number(&self) -> u64 {
        let last = self.issues.keys().chain(self.pulls.keys()).max();
        last.map_or(1, |last| last + 1)
    }
}
