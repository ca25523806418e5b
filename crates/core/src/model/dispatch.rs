//! Dispatch rules: which events of a forge become tasks, and of which agent.

use std::path::PathBuf;

use crate::model::{AgentName, RepositoryUrl, SourceName, TriggerKind};

/// A rule of the user's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchRule {
    /// The number of the rule in the settings. The first one is 1.
    pub number: usize,
    pub on: TriggerKind,
    pub source: SourceName,
    /// The folder of the project that defines the agent.
    pub folder: PathBuf,
    pub when: DispatchConditions,
    pub agent: AgentName,
    /// A template for the prompt. `None` for the default prompt of the trigger.
    pub prompt: Option<String>,
    /// A shell command that must succeed after the work.
    pub verify: Option<String>,
    /// Whether the result is written as a comment.
    pub reply: bool,
    pub who: AllowedActors,
    /// The URL with which git reaches the repository. `None` for the URL that the forge sends.
    pub repo: Option<RepositoryUrl>,
}

/// What an event must be about. A missing condition is met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DispatchConditions {
    /// The issue or pull request has this label; for `issue.labeled`, this label was added.
    pub label: Option<String>,
    /// The branch of the push, of the CI run, or of the pull request. `*` stands for any characters.
    pub branch: Option<String>,
    /// The author of the comment, the review, the pull request or the issue.
    pub author: Option<String>,
    /// The name of the repository with its owner. `*` stands for any characters.
    pub repository: Option<String>,
    /// The user who was assigned, or asked for a review. Without it, the account of the token.
    pub assignee: Option<String>,
}

/// Whose events start work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedActors {
    /// People who may push commits to the repository.
    Write,
    /// Every person.
    Anyone,
    /// The people with these logins.
    Listed(Vec<String>),
}
