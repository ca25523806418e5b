//! An event on a forge.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    CiRun, ForgeComment, ForgeIssue, ForgePull, ForgeRepository, ForgeReview, ForgeUser,
    TriggerKind,
};
use crate::model::CommitId;

/// An event on a forge, in the same form for every forge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeEvent {
    pub trigger: TriggerKind,
    pub repository: ForgeRepository,
    /// The user who caused the event. `None` if the delivery does not name the user.
    pub actor: Option<ForgeUser>,
    pub issue: Option<ForgeIssue>,
    pub pull: Option<ForgePull>,
    pub comment: Option<ForgeComment>,
    pub review: Option<ForgeReview>,
    pub ci: Option<CiRun>,
    #[serde(default)]
    pub changes: EventChanges,
    /// The branch of a push, of a deletion or of a CI run.
    pub branch: Option<String>,
    pub push: Option<PushedCommits>,
    /// The time at which the forge last changed the object of the event.
    pub updated_at: Option<Timestamp>,
}

/// Names that an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventChanges {
    /// The labels that were added. If the forge does not name them, all labels.
    pub labels: Vec<String>,
    /// The users who were assigned. If the forge does not name them, all assignees.
    pub assignees: Vec<ForgeUser>,
    /// The users who were asked for a review.
    pub reviewers: Vec<ForgeUser>,
    /// The teams that were asked for a review.
    pub teams: Vec<String>,
}

/// The commits of a push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushedCommits {
    /// The head of the branch before the push. `None` if the branch is new.
    pub before: Option<CommitId>,
    pub after: Option<CommitId>,
    /// Whether commits were removed from the branch. `None` if the forge does not report this.
    pub is_forced: Option<bool>,
}

impl ForgeEvent {
    /// Creates an event about nothing but a repository.
    pub fn new(trigger: TriggerKind, repository: ForgeRepository) -> Self {
        Self {
            trigger,
            repository,
            actor: None,
            issue: None,
            pull: None,
            comment: None,
            review: None,
            ci: None,
            changes: EventChanges::default(),
            branch: None,
            push: None,
            updated_at: None,
        }
    }

    /// Returns a key that is the same if a forge delivers the event several times with different
    /// delivery ids: once for each webhook of the repository, of its owner and of the server. It is
    /// made from the object, the trigger, the changed names and the time of the change. `None` if
    /// the event has neither a time nor a commit nor a comment that distinguishes it from a later
    /// event.
    pub fn dedupe_key(&self) -> Option<String> {
        let comment = self.comment.as_ref().map(|it| it.id.to_string());
        let review = self.review.as_ref().and_then(|it| it.id).map(|id| id.to_string());
        let push = self.push.as_ref().and_then(|it| it.after.as_ref()).map(ToString::to_string);
        let time = self.updated_at.map(|it| it.to_string());
        let distinguishing = [comment, review, push, time];
        if distinguishing.iter().all(Option::is_none) {
            return None;
        }
        let mut hash = Sha256::new();
        let mut add = |part: &str| {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        };
        add(self.trigger.word());
        add(&self.repository.id.to_string());
        add(&self.object());
        for part in distinguishing {
            add(part.as_deref().unwrap_or_default());
        }
        for name in self.changed_names() {
            add(&name);
        }
        Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn object(&self) -> String {
        let number = |kind: &str, number: u64| format!("{kind} {number}");
        let issue = self.issue.as_ref().map(|it| number("issue", it.number));
        let pull = self.pull.as_ref().map(|it| number("pull", it.number));
        let ci = self.ci.as_ref().map(|it| {
            format!("ci {} {:?} {:?} {:?}", it.name, it.log, it.sha, it.conclusion.word())
        });
        let branch = self.branch.as_ref().map(|it| format!("branch {it}"));
        ci.or(pull).or(issue).or(branch).unwrap_or_default()
    }

    fn changed_names(&self) -> Vec<String> {
        let changes = &self.changes;
        let users = changes.assignees.iter().chain(&changes.reviewers).map(|it| &it.login);
        let mut names: Vec<String> =
            changes.labels.iter().chain(&changes.teams).chain(users).cloned().collect();
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UserKind;

    fn event(trigger: TriggerKind) -> ForgeEvent {
        let repository = ForgeRepository {
            id: 1,
            full_name: "team/app".into(),
            clone_url: None,
            web_url: String::new(),
            default_branch: None,
        };
        ForgeEvent::new(trigger, repository)
    }

    fn assigned(login: &str, second: i64) -> ForgeEvent {
        let user = ForgeUser { id: 0, login: login.into(), kind: UserKind::Person };
        let changes = EventChanges { assignees: vec![user], ..EventChanges::default() };
        let updated_at = Some(Timestamp::from_second(second).unwrap());
        ForgeEvent { changes, updated_at, ..event(TriggerKind::IssueAssigned) }
    }

    #[test]
    fn dedupe_keys_differ_if_trigger_names_or_time_differ() {
        let first = assigned("ada", 10).dedupe_key();
        assert!(first.is_some());
        assert_eq!(first, assigned("ada", 10).dedupe_key());
        assert_ne!(first, assigned("ada", 11).dedupe_key());
        assert_ne!(first, assigned("bob", 10).dedupe_key());
        let closed = ForgeEvent { trigger: TriggerKind::IssueClosed, ..assigned("ada", 10) };
        assert_ne!(first, closed.dedupe_key());
    }

    #[test]
    fn event_without_time_commit_or_comment_has_no_dedupe_key() {
        assert_eq!(event(TriggerKind::BranchDeleted).dedupe_key(), None);
    }
}
