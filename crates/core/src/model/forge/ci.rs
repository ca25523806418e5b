//! Runs of continuous integration.

use serde::{Deserialize, Serialize};

use crate::model::CommitId;
use crate::word_enum::word_enum;

/// A finished run of continuous integration for one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CiRun {
    /// The name of the workflow, the pipeline or the check.
    pub name: String,
    pub sha: Option<CommitId>,
    pub branch: Option<String>,
    pub conclusion: CiConclusion,
    /// The forge's word for the conclusion, or the description of the check.
    pub detail: String,
    pub log: CiLogSource,
    /// The numbers of the pull requests that the forge names. Often empty for forks.
    pub pulls: Vec<u64>,
    pub web_url: String,
}

word_enum! {
    /// How a run ended.
    pub enum CiConclusion {
        Failed = "failed",
        Succeeded = "succeeded",
    }
}

/// Where the log of a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub enum CiLogSource {
    /// The jobs of this run or pipeline have the logs.
    Run(u64),
    /// The checks of this suite have summaries instead of logs.
    Suite(u64),
    /// The forge has no log.
    None,
}

/// The end of the log of a failed job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiLog {
    /// The name of the job.
    pub job: String,
    /// The end of its log. It may contain control characters and secrets.
    pub tail: String,
    /// Whether the log is longer than the tail.
    pub is_cut: bool,
    /// The number of other failed jobs of the run.
    pub other_failed_jobs: usize,
}
