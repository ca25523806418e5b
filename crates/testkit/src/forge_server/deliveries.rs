//! Deliveries that the forge sends to a webhook, in the form of GitHub.

use hmac::{Hmac, KeyInit as _, Mac as _};
use segue_core::model::{ForgeComment, ForgeReview, ForgeSubject};
use serde_json::json;
use sha2::Sha256;

use super::ServedForge;
use super::hub::{self, HubKind};

/// A delivery: the headers and the body of a `POST` request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedDelivery {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// An object of an event besides its issue or pull request.
#[derive(Clone, Copy, Debug)]
pub enum DeliveredDetail<'a> {
    None,
    Assignee(&'a str),
    Label(&'a str),
    Comment(&'a ForgeComment),
    Review(&'a ForgeReview),
}

impl ServedForge {
    /// Returns the delivery of an event, such as `issues` with the action `assigned`, about an issue
    /// or a pull request as it is now. The actor caused the event. Each delivery has an id of its
    /// own.
    pub fn delivery(
        &mut self,
        (repository, subject): (&str, ForgeSubject),
        (event, action, actor): (&str, &str, &str),
        detail: DeliveredDetail<'_>,
        secret: &str,
    ) -> ServedDelivery {
        let id = self.new_id();
        let mut body = json!({ "action": action, "sender": hub::user(&self.user(actor)) });
        match detail {
            DeliveredDetail::None => {}
            DeliveredDetail::Assignee(login) => {
                body["assignee"] = hub::user(&self.user(login));
            }
            DeliveredDetail::Label(name) => body["label"] = json!({ "name": name }),
            DeliveredDetail::Comment(comment) => {
                body["comment"] = hub::line_comment(comment, HubKind::Github);
            }
            DeliveredDetail::Review(review) => {
                body["review"] = hub::review(review, HubKind::Github);
            }
        }
        let served = self.repository(repository);
        body["repository"] = hub::repository_json(&served.repository);
        match subject {
            ForgeSubject::Issue(number) => body["issue"] = hub::issue(&served.issues[&number]),
            ForgeSubject::Pull(number) if event == "issue_comment" => {
                body["issue"] = json!({ "number": number, "pull_request": {} });
            }
            ForgeSubject::Pull(number) => {
                body["pull_request"] = hub::pull(&served.pulls[&number], &served.repository);
            }
        }
        let body = body.to_string().into_bytes();
        ServedDelivery::signed((event, &format!("delivery-{id}")), body, secret)
    }
}

impl ServedDelivery {
    /// Signs any body as the delivery of an event with this id.
    pub fn signed((event, id): (&str, &str), body: Vec<u8>, secret: &str) -> Self {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
        mac.update(&body);
        let digest = mac.finalize().into_bytes();
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let headers = [
            ("content-type", "application/json".to_owned()),
            ("x-github-event", event.to_owned()),
            ("x-github-delivery", id.to_owned()),
            ("x-hub-signature-256", format!("sha256={digits}")),
        ];
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { headers, body }
    }
}
