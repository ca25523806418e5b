//! Deliveries of GitHub.

use segue_core::Result;
use segue_core::model::{
    CiLogSource, DeliveryHeaders, DeliveryReading, DeliveryRefusal, DeliveryRequest, SecretText,
    TriggerKind,
};
use segue_core::ports::Webhooks;

use crate::shared::body::{Payload, unreadable};
use crate::shared::payload::HubPayload;
use crate::shared::{headers, signature};

const EVENT: &str = "x-github-event";
const SIGNATURE: &str = "x-hub-signature-256";

/// The app whose suites `workflow_run` reports, too.
const ACTIONS_APP: &str = "github-actions";

#[derive(Clone, Copy, Debug)]
pub(crate) struct GithubWebhooks;

impl Webhooks for GithubWebhooks {
    fn delivery_id(&self, headers: &DeliveryHeaders) -> Option<String> {
        headers::word(headers, "x-github-delivery")
    }

    fn event_name(&self, headers: &DeliveryHeaders) -> Option<String> {
        headers::word(headers, EVENT)
    }

    fn test_headers(&self, event: &str) -> DeliveryHeaders {
        let json = ("content-type", &b"application/json"[..]);
        DeliveryHeaders::new([json, ("x-github-event", event.as_bytes())])
    }

    fn verify(
        &self,
        request: &DeliveryRequest<'_>,
        secret: &SecretText,
    ) -> Result<(), DeliveryRefusal> {
        let key = signature::key(secret)?;
        let header = request.headers.only(SIGNATURE);
        let header = header.ok_or_else(|| signature::absent(request.headers))?;
        let digits = header.strip_prefix("sha256=").ok_or(DeliveryRefusal::MalformedSignature)?;
        signature::check_hexadecimal(digits, key, request.body)
    }

    fn storable_headers(&self, headers: &DeliveryHeaders) -> DeliveryHeaders {
        headers::storable(headers, &[])
    }

    fn read(&self, request: &DeliveryRequest<'_>) -> Result<DeliveryReading> {
        let event = self.event_name(request.headers);
        let event = event.ok_or_else(|| unreadable("the header `X-GitHub-Event` is missing"))?;
        let body = Payload::of(request)?;
        match event.as_str() {
            "issues"
            | "issue_comment"
            | "pull_request"
            | "pull_request_review"
            | "pull_request_review_comment"
            | "workflow_run"
            | "check_suite"
            | "status"
            | "delete"
            | "push" => read(&event, body.parse()?),
            "ping" => Ok(DeliveryReading::Ping),
            other @ ("check_run" | "workflow_job") => Ok(DeliveryReading::Ignored(format!(
                "the event `{other}` has no trigger; `workflow_run` and `check_suite` report the \
                 whole run"
            ))),
            other => Ok(DeliveryReading::Ignored(format!("the event `{other}` has no trigger"))),
        }
    }
}

fn read(event: &str, payload: HubPayload) -> Result<DeliveryReading> {
    let action = payload.action.clone().unwrap_or_default();
    match (event, action.as_str()) {
        ("issues", "assigned") => payload.issue_event(TriggerKind::IssueAssigned),
        ("issues", "labeled") => payload.issue_event(TriggerKind::IssueLabeled),
        ("issues", "closed") => payload.issue_event(TriggerKind::IssueClosed),
        ("issues", "reopened") => payload.issue_event(TriggerKind::IssueReopened),
        ("issue_comment" | "pull_request_review_comment", "created") => payload.comment_event(),
        ("pull_request", "opened" | "ready_for_review") => {
            payload.pull_event(TriggerKind::PullOpened)
        }
        ("pull_request", "review_requested") => {
            payload.pull_event(TriggerKind::PullReviewRequested)
        }
        ("pull_request", "synchronize") => payload.pull_event(TriggerKind::PullSynchronized),
        ("pull_request", "closed") => payload.pull_event(TriggerKind::PullClosed),
        ("pull_request_review", "submitted") => payload.review_event(),
        ("workflow_run" | "check_suite", "completed") => finished_run(payload),
        ("status", _) => payload.status_event(),
        ("delete", _) => payload.delete_event(),
        ("push", _) => payload.push_event(),
        _ => {
            let action: String = action.chars().take(64).collect();
            let action = action.escape_debug();
            Ok(DeliveryReading::Ignored(format!(
                "the action `{action}` of the event `{event}` has no trigger"
            )))
        }
    }
}

fn finished_run(mut payload: HubPayload) -> Result<DeliveryReading> {
    if let Some(run) = payload.workflow_run.take() {
        return payload.ci_event(run.report(CiLogSource::Run));
    }
    let suite = payload.check_suite.take();
    let suite = suite
        .ok_or_else(|| unreadable("the fields `workflow_run` and `check_suite` are missing"))?;
    if suite.app_slug() == Some(ACTIONS_APP) {
        let reason = "the event `workflow_run` reports this run";
        return Ok(DeliveryReading::Ignored(reason.to_owned()));
    }
    payload.ci_event(suite.report(CiLogSource::Suite))
}
