//! Deliveries of GitLab.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use segue_core::Result;
use segue_core::model::{
    CiLogSource, DeliveryHeaders, DeliveryReading, DeliveryRefusal, DeliveryRequest, EventChanges,
    ForgeEvent, ForgeReview, PushedCommits, ReviewVerdict, SecretText, TriggerKind,
};
use segue_core::ports::Webhooks;
use serde::Deserialize;

use super::payload::{GitlabPayload, ReviewersJson, missing};
use crate::shared::body::Payload;
use crate::shared::lenient::LenientField;
use crate::shared::payload::CiReport;
use crate::shared::{headers, signature, text};

/// The header that contains the secret itself.
const TOKEN: &str = "x-gitlab-token";

/// The beginning of a signing token. A webhook has a signing token, a secret, or both.
const SIGNING_TOKEN: &str = "whsec_";

/// The largest difference between the signed time and the time of receipt.
const TOLERANCE: SignedDuration = SignedDuration::from_mins(5);

#[derive(Clone, Copy, Debug)]
pub(crate) struct GitlabWebhooks;

/// The kind of an event. It is read first, because other kinds have fields of other types.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KindJson {
    object_kind: Option<String>,
}

impl Webhooks for GitlabWebhooks {
    fn delivery_id(&self, headers: &DeliveryHeaders) -> Option<String> {
        let names = ["idempotency-key", "webhook-id", "x-gitlab-webhook-uuid"];
        headers::first_word(headers, &names)
    }

    fn event_name(&self, headers: &DeliveryHeaders) -> Option<String> {
        headers::word(headers, "x-gitlab-event")
    }

    fn test_headers(&self, event: &str) -> DeliveryHeaders {
        let json = ("content-type", &b"application/json"[..]);
        DeliveryHeaders::new([json, ("x-gitlab-event", event.as_bytes())])
    }

    fn verify(
        &self,
        request: &DeliveryRequest<'_>,
        secret: &SecretText,
    ) -> Result<(), DeliveryRefusal> {
        let key = signature::key(secret)?;
        match secret.expose().strip_prefix(SIGNING_TOKEN) {
            Some(encoded) => verify_signature(request, encoded),
            None => {
                let token = request.headers.only(TOKEN);
                let token = token.ok_or(DeliveryRefusal::MissingSignature)?;
                signature::check_token(token, key)
            }
        }
    }

    fn storable_headers(&self, headers: &DeliveryHeaders) -> DeliveryHeaders {
        headers::storable(headers, &[TOKEN])
    }

    fn read(&self, request: &DeliveryRequest<'_>) -> Result<DeliveryReading> {
        let body = Payload::of(request)?;
        let kind: KindJson = body.parse()?;
        match kind.object_kind.as_deref() {
            Some("issue" | "work_item") => issue_events(body.parse()?),
            Some("note") => comment_event(body.parse()?),
            Some("merge_request") => pull_events(body.parse()?),
            Some("pipeline") => pipeline_event(body.parse()?),
            Some("push") => push_event(body.parse()?),
            Some(other) => {
                let shown: String = other.chars().take(64).collect();
                let shown = shown.escape_debug();
                Ok(ignored(format!("the event `{shown}` has no trigger")))
            }
            None => Ok(ignored("the delivery has no `object_kind`")),
        }
    }
}

/// Checks the signature over the id, the time and the body.
fn verify_signature(request: &DeliveryRequest<'_>, key: &str) -> Result<(), DeliveryRefusal> {
    let key = STANDARD.decode(key).map_err(|_| DeliveryRefusal::EmptySecret)?;
    if key.is_empty() {
        return Err(DeliveryRefusal::EmptySecret);
    }
    let header = |name| request.headers.only(name).ok_or(DeliveryRefusal::MissingSignature);
    let (id, time) = (header("webhook-id")?, header("webhook-timestamp")?);
    let signatures = header("webhook-signature")?;
    let parts = [id.as_bytes(), b".", time.as_bytes(), b".", request.body];
    let mut refusal = DeliveryRefusal::MalformedSignature;
    // There may be several signatures while the token is being changed.
    for encoded in signatures.split(' ').filter_map(|it| it.strip_prefix("v1,")) {
        if encoded.is_empty() {
            refusal = DeliveryRefusal::EmptySignature;
            continue;
        }
        let Ok(digest) = STANDARD.decode(encoded) else { continue };
        match signature::check_digest(&digest, &key, &parts) {
            Ok(()) => return check_time(time, request.received_at),
            Err(wrong) => refusal = wrong,
        }
    }
    Err(refusal)
}

fn check_time(text: &str, received_at: Timestamp) -> Result<(), DeliveryRefusal> {
    let seconds = text.parse().map_err(|_| DeliveryRefusal::MalformedSignature)?;
    let signed = Timestamp::from_second(seconds);
    let signed = signed.map_err(|_| DeliveryRefusal::MalformedSignature)?;
    match received_at.duration_since(signed).abs() <= TOLERANCE {
        true => Ok(()),
        false => Err(DeliveryRefusal::Expired),
    }
}

fn ignored(reason: impl Into<String>) -> DeliveryReading {
    DeliveryReading::Ignored(reason.into())
}

/// Reads an event about an issue. One delivery may report several changes.
fn issue_events(mut payload: GitlabPayload) -> Result<DeliveryReading> {
    let action = payload.object_attributes.action.clone().unwrap_or_default();
    let mut changes = payload.changes.take().unwrap_or_default();
    let (mut assignees, mut labels) = (changes.assigned(), changes.labeled());
    let issue = payload.take_issue()?;
    // A new issue has no changes.
    if action == "open" {
        assignees.clone_from(&issue.assignees);
        labels.clone_from(&issue.labels);
    }
    let event = payload.event(TriggerKind::IssueAssigned)?;
    let event = ForgeEvent { updated_at: issue.updated_at, issue: Some(issue), ..event };
    let of = |trigger, changes| ForgeEvent { trigger, changes, ..event.clone() };
    let mut events = Vec::new();
    match action.as_str() {
        "close" => events.push(of(TriggerKind::IssueClosed, EventChanges::default())),
        "reopen" => events.push(of(TriggerKind::IssueReopened, EventChanges::default())),
        _ => {}
    }
    if !assignees.is_empty() {
        let changes = EventChanges { assignees, ..EventChanges::default() };
        events.push(of(TriggerKind::IssueAssigned, changes));
    }
    if !labels.is_empty() {
        let changes = EventChanges { labels, ..EventChanges::default() };
        events.push(of(TriggerKind::IssueLabeled, changes));
    }
    Ok(reading(events, &action, "issue"))
}

fn reading(events: Vec<ForgeEvent>, action: &str, kind: &str) -> DeliveryReading {
    let action: String = action.chars().take(64).collect();
    let action = action.escape_debug();
    match events.is_empty() {
        true => ignored(format!("the action `{action}` of the event `{kind}` has no trigger")),
        false => DeliveryReading::Events(events),
    }
}

fn comment_event(mut payload: GitlabPayload) -> Result<DeliveryReading> {
    let note = &payload.object_attributes;
    if note.system.unwrap_or(false) {
        return Ok(ignored("the forge itself wrote the comment"));
    }
    // Old releases send only new comments, without an action.
    let action = note.action.clone().unwrap_or_else(|| "create".to_owned());
    let trigger = match (action.as_str(), note.noteable_type.as_deref()) {
        ("create", Some("Issue" | "WorkItem")) => TriggerKind::IssueCommented,
        ("create", Some("MergeRequest")) => TriggerKind::PullCommented,
        _ => return Ok(reading(Vec::new(), &action, "note")),
    };
    let is_pull = trigger == TriggerKind::PullCommented;
    let object = if is_pull { payload.merge_request.is_some() } else { payload.has_issue() };
    if !object {
        return Err(missing(if is_pull { "merge_request" } else { "issue" }));
    }
    let actor = payload.actor();
    let comment = payload.comment(actor.clone())?;
    let issue = if is_pull { None } else { Some(payload.take_issue()?) };
    let pull = if is_pull { Some(payload.take_pull()?) } else { None };
    let event = payload.event(trigger)?;
    let updated_at = comment.updated_at;
    let comment = Some(comment);
    let event = ForgeEvent { actor, issue, pull, comment, updated_at, ..event };
    Ok(DeliveryReading::Events(vec![event]))
}

/// Reads an event about a merge request. One delivery may report several changes.
fn pull_events(mut payload: GitlabPayload) -> Result<DeliveryReading> {
    let attributes = &payload.object_attributes;
    let action = attributes.action.clone().unwrap_or_default();
    if attributes.system.unwrap_or(false) {
        return Ok(ignored("the forge itself made the change"));
    }
    let has_new_commits = attributes.oldrev.is_some();
    let changes = payload.changes.take().unwrap_or_default();
    let is_ready = changes.draft.as_ref().is_some_and(|it| it.current == Some(false));
    let pull = payload.take_pull()?;
    let is_draft = pull.is_draft;
    let event = payload.event(TriggerKind::PullOpened)?;
    let branch = Some(pull.head_branch.clone()).filter(|branch| !branch.is_empty());
    let event = ForgeEvent { updated_at: pull.updated_at, pull: Some(pull), branch, ..event };
    let of = |trigger| ForgeEvent { trigger, ..event.clone() };
    let mut events = Vec::new();
    match action.as_str() {
        "open" if is_draft => return Ok(ignored("the pull request is a draft")),
        "open" => events.push(of(TriggerKind::PullOpened)),
        "close" => events.push(of(TriggerKind::PullClosed)),
        "merge" => events.push(of(TriggerKind::PullMerged)),
        "approved" | "approval" => events.push(reviewed(&event, ReviewVerdict::Approved)),
        "update" => {
            let new_commits = has_new_commits.then(|| of(TriggerKind::PullSynchronized));
            let ready = (is_ready && !is_draft).then(|| of(TriggerKind::PullOpened));
            events.extend(new_commits.into_iter().chain(ready));
            events.extend(reviewer_events(&event, changes.reviewers.unwrap_or_default()));
        }
        _ => {}
    }
    Ok(reading(events, &action, "merge_request"))
}

/// Returns the events of changed reviewers: new requests, and requests for changes.
fn reviewer_events(event: &ForgeEvent, change: ReviewersJson) -> Vec<ForgeEvent> {
    let before = change.previous.0;
    let mut requested = Vec::new();
    let mut events = Vec::new();
    for reviewer in change.current.0 {
        let earlier = before.iter().find(|it| it.id == reviewer.id);
        let asks_for_changes = |state: Option<&str>| state == Some("requested_changes");
        let is_new = earlier.is_none() || reviewer.re_requested.unwrap_or(false);
        let was_asking = earlier.is_some_and(|it| asks_for_changes(it.state.as_deref()));
        if asks_for_changes(reviewer.state.as_deref()) && !was_asking && earlier.is_some() {
            events.push(reviewed(event, ReviewVerdict::ChangesRequested));
        } else if is_new {
            requested.extend(reviewer.user());
        }
    }
    if !requested.is_empty() {
        let changes = EventChanges { reviewers: requested, ..EventChanges::default() };
        let trigger = TriggerKind::PullReviewRequested;
        events.push(ForgeEvent { trigger, changes, ..event.clone() });
    }
    events
}

fn reviewed(event: &ForgeEvent, verdict: ReviewVerdict) -> ForgeEvent {
    let review = ForgeReview {
        id: None,
        verdict,
        body: String::new(),
        author: event.actor.clone(),
        commit: event.pull.as_ref().and_then(|pull| pull.head_sha.clone()),
        comments: Vec::new(),
        web_url: String::new(),
        submitted_at: event.updated_at,
    };
    let trigger = TriggerKind::PullReviewSubmitted;
    ForgeEvent { trigger, review: Some(review), ..event.clone() }
}

fn pipeline_event(mut payload: GitlabPayload) -> Result<DeliveryReading> {
    let pulls = payload.merge_request.as_ref().and_then(|it| it.iid).into_iter().collect();
    let pipeline = payload.object_attributes.clone();
    let report = CiReport {
        name: pipeline.name.or_else(|| Some("pipeline".to_owned())),
        sha: pipeline.sha,
        branch: pipeline.ref_name,
        conclusion: pipeline.status.and_then(LenientField::known).unwrap_or_default(),
        detail: None,
        log: pipeline.id.map_or(CiLogSource::None, CiLogSource::Run),
        pulls,
        web_url: pipeline.url,
        updated_at: pipeline.finished_at,
    };
    report.reading(|trigger| payload.event(trigger))
}

fn push_event(mut payload: GitlabPayload) -> Result<DeliveryReading> {
    let name = payload.ref_name.take().ok_or_else(|| missing("ref"))?;
    let Some(branch) = text::branch_of_ref(&name).map(|it| text::name(Some(it.to_owned()))) else {
        return Ok(ignored("only pushes to branches have a trigger"));
    };
    let is_deleted = payload.after.as_deref().is_some_and(text::is_zero);
    let push = PushedCommits {
        before: text::commit(payload.before.as_deref()),
        after: text::commit(payload.after.as_deref()),
        is_forced: None,
    };
    let trigger = if is_deleted { TriggerKind::BranchDeleted } else { TriggerKind::Push };
    let event = payload.event(trigger)?;
    let event = ForgeEvent { branch: Some(branch), push: Some(push), ..event };
    Ok(DeliveryReading::Events(vec![event]))
}
