//! Logs of failed jobs in the API of GitHub and its copies.

use segue_core::model::{CiLog, RepositoryAddress, shortened_text};
use segue_core::ports::{ForgeFault, ForgeResult};
use serde::Deserialize;

use super::list::FirstItems;
use super::text;
use crate::client::{ApiClient, ApiRequest, repository_path};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JobsJson {
    jobs: FirstItems<JobJson>,
    check_runs: FirstItems<JobJson>,
}

/// A job of a run, or a check of a suite.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct JobJson {
    id: Option<u64>,
    name: Option<String>,
    conclusion: Option<String>,
    output: Option<CheckOutputJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CheckOutputJson {
    title: Option<String>,
    summary: Option<String>,
    text: Option<String>,
}

impl JobJson {
    fn has_failed(&self) -> bool {
        matches!(self.conclusion.as_deref(), Some("failure" | "timed_out" | "startup_failure"))
    }
}

/// Returns the end of the log of the first failed job of a run.
pub(crate) async fn of_run(
    client: &ApiClient,
    repository: &RepositoryAddress,
    id: u64,
    bytes: usize,
) -> ForgeResult<Option<CiLog>> {
    let (path, name) = (repository_path(repository), &repository.full_name);
    let jobs = format!("{path}/actions/runs/{id}/jobs");
    let request = ApiRequest::get(&jobs, format!("the jobs of CI run {id} of {name}"));
    let jobs: Option<JobsJson> = client.optional(&request.with("per_page", "100")).await?;
    let mut failed: Vec<JobJson> = jobs.unwrap_or_default().jobs.0;
    failed.retain(JobJson::has_failed);
    let other_failed_jobs = failed.len().saturating_sub(1);
    let Some(job) = failed.into_iter().next() else { return Ok(None) };
    let Some(job_id) = job.id else { return Ok(None) };
    let log = format!("{path}/actions/jobs/{job_id}/logs");
    let request = ApiRequest::get(&log, format!("the log of CI job {job_id} of {name}"));
    tail(client, &request.leaving(), bytes, (text::name(job.name), other_failed_jobs)).await
}

/// Downloads the end of a log. `None` if the server does not have it.
pub(crate) async fn tail(
    client: &ApiClient,
    request: &ApiRequest,
    bytes: usize,
    (job, other_failed_jobs): (String, usize),
) -> ForgeResult<Option<CiLog>> {
    match client.tail(request, bytes).await {
        Ok(log) => Ok(Some(CiLog { job, tail: log.text, is_cut: log.is_cut, other_failed_jobs })),
        Err(failure) if failure.fault == ForgeFault::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Returns the summary of the first failed check of a suite. Checks have no log.
pub(crate) async fn of_suite(
    client: &ApiClient,
    repository: &RepositoryAddress,
    id: u64,
    bytes: usize,
) -> ForgeResult<Option<CiLog>> {
    let path = format!("{}/check-suites/{id}/check-runs", repository_path(repository));
    let object = format!("the checks of suite {id} of {}", repository.full_name);
    let request = ApiRequest::get(&path, object).with("per_page", "100");
    let checks: Option<JobsJson> = client.optional(&request).await?;
    let mut failed: Vec<JobJson> = checks.unwrap_or_default().check_runs.0;
    failed.retain(JobJson::has_failed);
    let other_failed_jobs = failed.len().saturating_sub(1);
    let Some(check) = failed.into_iter().next() else { return Ok(None) };
    let output = check.output.unwrap_or_default();
    let parts = [output.title, output.summary, output.text];
    let whole = parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    let length = whole.len();
    let tail = shortened_text(whole, bytes);
    let is_cut = tail.len() < length;
    Ok(Some(CiLog { job: text::name(check.name), tail, is_cut, other_failed_jobs }))
}
