//! Deliveries of GitHub.

use segue_core::model::ForgeSubject;
use serde_json::json;

use super::super::hub::{self, HubKind};
use super::super::state::ServedForge;
use super::{DeliveredBody, ServedEvent};

pub(super) fn delivery(
    forge: &mut ServedForge,
    (repository, subject): (&str, ForgeSubject),
    (event, actor): (ServedEvent<'_>, &str),
) -> DeliveredBody {
    let (account, sender) = (hub::user(&forge.account), hub::user(&forge.user(actor)));
    let served = forge.repository(repository);
    let mut body = json!({
        "sender": sender,
        "repository": hub::repository_json(&served.repository),
    });
    match subject {
        ForgeSubject::Issue(number) => body["issue"] = hub::issue(&served.issues[&number]),
        ForgeSubject::Pull(number) => {
            body["pull_request"] = hub::pull(&served.pulls[&number], &served.repository);
        }
    }
    let (name, action) = match event {
        ServedEvent::Assigned => {
            body["assignee"] = account;
            ("issues", "assigned")
        }
        ServedEvent::Closed => ("issues", "closed"),
        ServedEvent::Reopened => ("issues", "reopened"),
        ServedEvent::Commented(comment) => {
            body["comment"] = hub::line_comment(comment, HubKind::Github);
            ("issue_comment", "created")
        }
        ServedEvent::Reviewed(review) => {
            body["review"] = hub::review(review, HubKind::Github);
            ("pull_request_review", "submitted")
        }
        ServedEvent::Merged => ("pull_request", "closed"),
        ServedEvent::CiFailed { run } => {
            let pull = &served.pulls[&subject.number()];
            body["workflow_run"] = json!({
                "id": run, "name": "tests", "conclusion": "failure",
                "head_branch": pull.head_branch, "head_sha": pull.head_sha,
                "pull_requests": [{ "number": pull.number }], "updated_at": pull.updated_at,
            });
            ("workflow_run", "completed")
        }
    };
    body["action"] = action.into();
    DeliveredBody { event: name, exact: name, body }
}
