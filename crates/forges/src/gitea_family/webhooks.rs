//! Deliveries of Gitea and Forgejo.

use segue_core::Result;
use segue_core::model::{
    CiLogSource, DeliveryHeaders, DeliveryReading, DeliveryRefusal, DeliveryRequest, SecretText,
    TriggerKind,
};
use segue_core::ports::Webhooks;

use super::GiteaFamily;
use crate::shared::body::{self, Payload, unreadable};
use crate::shared::payload::HubPayload;
use crate::shared::{headers, signature};

impl GiteaFamily {
    /// Returns the value of the first header with this ending.
    fn header(self, headers: &DeliveryHeaders, ending: &str) -> Option<String> {
        let names = self.prefixes.iter().map(|prefix| format!("{prefix}-{ending}"));
        names.into_iter().find_map(|name| headers::word(headers, &name))
    }

    /// Returns the exact kind of the event. Old releases send only the group of the event, in which
    /// reviews have other names.
    fn kind(self, headers: &DeliveryHeaders) -> Option<String> {
        self.header(headers, "event-type").or_else(|| {
            let group = self.header(headers, "event")?;
            Some(match group.as_str() {
                "pull_request_approved" => "pull_request_review_approved".to_owned(),
                "pull_request_rejected" => "pull_request_review_rejected".to_owned(),
                "pull_request_comment" => "pull_request_review_comment".to_owned(),
                _ => group,
            })
        })
    }
}

impl Webhooks for GiteaFamily {
    fn delivery_id(&self, headers: &DeliveryHeaders) -> Option<String> {
        self.header(headers, "delivery")
    }

    fn event_name(&self, headers: &DeliveryHeaders) -> Option<String> {
        self.kind(headers)
    }

    fn test_headers(&self, event: &str) -> DeliveryHeaders {
        let json = ("content-type", &b"application/json"[..]);
        let names: Vec<String> =
            self.prefixes.iter().map(|prefix| format!("{prefix}-event-type")).collect();
        let event = names.iter().take(1).map(|name| (name.as_str(), event.as_bytes()));
        DeliveryHeaders::new(event.chain([json]))
    }

    /// The forges sign the JSON, also if they send it in a form.
    fn verify(
        &self,
        request: &DeliveryRequest<'_>,
        secret: &SecretText,
    ) -> Result<(), DeliveryRefusal> {
        let key = signature::key(secret)?;
        let names = self.prefixes.iter().map(|prefix| format!("{prefix}-signature"));
        let own = names.into_iter().find_map(|name| request.headers.only(&name));
        let copied = || request.headers.only("x-hub-signature-256")?.strip_prefix("sha256=");
        let digits = own.or_else(copied);
        let digits = digits.ok_or_else(|| signature::absent(request.headers))?;
        let json = body::json_bytes(request.headers, request.body);
        let json = json.ok_or(DeliveryRefusal::UnreadableBody)?;
        signature::check_hexadecimal(digits, key, &json)
    }

    fn storable_headers(&self, headers: &DeliveryHeaders) -> DeliveryHeaders {
        headers::storable(headers, &[])
    }

    fn read(&self, request: &DeliveryRequest<'_>) -> Result<DeliveryReading> {
        let body = Payload::of(request)?;
        let Some(kind) = self.kind(request.headers) else {
            // Forgejo sends packages without the name of an event.
            let reason = "the delivery does not name its event";
            return Ok(DeliveryReading::Ignored(reason.to_owned()));
        };
        if !has_trigger(&kind) {
            let reason = format!("the event `{kind}` has no trigger");
            return Ok(DeliveryReading::Ignored(reason));
        }
        read(&kind, body.parse()?)
    }
}

fn has_trigger(kind: &str) -> bool {
    let groups = ["issue_comment", "workflow_run", "status", "delete", "push"];
    groups.contains(&kind)
        || kind == "issues"
        || kind.starts_with("issue_")
        || kind.starts_with("pull_request")
        || kind.starts_with("action_run_")
}

fn read(kind: &str, payload: HubPayload) -> Result<DeliveryReading> {
    let action = payload.action.clone().unwrap_or_default();
    match (kind, action.as_str()) {
        ("issues" | "issue_assign", "assigned") => payload.issue_event(TriggerKind::IssueAssigned),
        ("issues" | "issue_label", "label_updated") if payload.has_labels() => {
            payload.issue_event(TriggerKind::IssueLabeled)
        }
        ("issues", "closed") => payload.issue_event(TriggerKind::IssueClosed),
        ("issues", "reopened") => payload.issue_event(TriggerKind::IssueReopened),
        ("issue_comment" | "pull_request_comment", "created") => payload.comment_event(),
        ("pull_request", "opened") => payload.pull_event(TriggerKind::PullOpened),
        ("pull_request", "closed") => payload.pull_event(TriggerKind::PullClosed),
        ("pull_request" | "pull_request_sync", "synchronized") => {
            payload.pull_event(TriggerKind::PullSynchronized)
        }
        ("pull_request" | "pull_request_review_request", "review_requested") => {
            payload.pull_event(TriggerKind::PullReviewRequested)
        }
        (
            "pull_request_review_approved"
            | "pull_request_review_rejected"
            | "pull_request_review_comment",
            "reviewed",
        ) => payload.review_event(),
        ("workflow_run", "completed") => finished_run(payload),
        ("action_run_failure" | "action_run_success", _) => payload.action_run_event(),
        ("action_run_recover", _) => Ok(DeliveryReading::Ignored(
            "the event `action_run_success` reports this run".to_owned(),
        )),
        ("status", _) => payload.status_event(),
        ("delete", _) => payload.delete_event(),
        ("push", _) if payload.is_test_push() => Ok(DeliveryReading::Ping),
        ("push", _) => payload.push_event(),
        _ => {
            let action: String = action.chars().take(64).collect();
            let action = action.escape_debug();
            Ok(DeliveryReading::Ignored(format!(
                "the action `{action}` of the event `{kind}` has no trigger"
            )))
        }
    }
}

fn finished_run(mut payload: HubPayload) -> Result<DeliveryReading> {
    let run = payload.workflow_run.take();
    let run = run.ok_or_else(|| unreadable("the field `workflow_run` is missing"))?;
    payload.ci_event(run.report(CiLogSource::Run))
}
