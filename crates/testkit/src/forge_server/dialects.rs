//! Deliveries in the dialect of each forge: its names of events, its headers, its signature and its
//! objects.
//!
//! Bodies are recordings of real deliveries in which the objects of this forge replace the recorded
//! ones. If no recording exists, they have the fields of the forge's documentation.

mod gitea;
mod github;
mod gitlab;
mod recordings;

use hmac::{Hmac, KeyInit as _, Mac as _};
use segue_core::model::{ForgeComment, ForgeReview, ForgeSubject};
use serde_json::Value;
use sha2::Sha256;

use super::{ServedDelivery, ServedForge};
use crate::git_server::base64;

/// A forge, and how it proves that a delivery is genuine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgeDialect {
    Github,
    Forgejo,
    Gitea,
    /// With the secret itself in a header.
    Gitlab,
    /// With a signature over id, time and body.
    GitlabSigned,
}

/// An event about an issue or a pull request as it is now.
#[derive(Clone, Copy, Debug)]
pub enum ServedEvent<'a> {
    /// The issue was assigned to the account of the token.
    Assigned,
    Closed,
    Reopened,
    Commented(&'a ForgeComment),
    Reviewed(&'a ForgeReview),
    Merged,
    /// A CI run of the pull request's branch failed.
    CiFailed {
        run: u64,
    },
}

/// A delivery without its signature.
struct DeliveredBody {
    /// The header with the name of the event.
    event: &'static str,
    /// The exact name, on forges with a second header.
    exact: &'static str,
    body: Value,
}

impl ForgeDialect {
    /// Returns the name of the forge in the settings.
    pub fn forge(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Forgejo => "forgejo",
            Self::Gitea => "gitea",
            Self::Gitlab | Self::GitlabSigned => "gitlab",
        }
    }

    /// Returns a secret for webhooks of this forge.
    pub fn secret(self) -> String {
        match self {
            Self::GitlabSigned => format!("whsec_{}", base64(SIGNING_KEY)),
            _ => crate::dispatch_scene::SECRET.to_owned(),
        }
    }

    fn sign(self, delivery: &DeliveredBody, id: &str, secret: &str) -> ServedDelivery {
        let body = delivery.body.to_string().into_bytes();
        let mut headers = match self {
            Self::Github => return ServedDelivery::signed((delivery.event, id), body, secret),
            Self::Forgejo => {
                let prefixes = ["x-forgejo", "x-gitea", "x-gogs", "x-github"];
                gitea_headers(&prefixes, delivery, id, &digest(secret.as_bytes(), &[&body]))
            }
            Self::Gitea => {
                let prefixes = ["x-gitea", "x-gogs", "x-github"];
                gitea_headers(&prefixes, delivery, id, &digest(secret.as_bytes(), &[&body]))
            }
            Self::Gitlab => gitlab_headers(delivery.event, id, [("x-gitlab-token", secret)]),
            Self::GitlabSigned => {
                let signed = signed_headers(id, &body);
                let signed = signed.iter().map(|(name, value)| (*name, value.as_str()));
                gitlab_headers(delivery.event, id, signed)
            }
        };
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        ServedDelivery { headers, body }
    }
}

/// Returns the headers of Gitea and Forgejo, which they send once for each prefix.
fn gitea_headers(
    prefixes: &[&str],
    DeliveredBody { event, exact, .. }: &DeliveredBody,
    id: &str,
    digest: &[u8],
) -> Vec<(String, String)> {
    let signature = hexadecimal(digest);
    let mut headers = vec![("x-hub-signature-256".to_owned(), format!("sha256={signature}"))];
    for prefix in prefixes {
        for (ending, value) in [("delivery", id), ("event", event), ("event-type", exact)] {
            headers.push((format!("{prefix}-{ending}"), value.to_owned()));
        }
        if *prefix != "x-github" {
            headers.push((format!("{prefix}-signature"), signature.clone()));
        }
    }
    headers
}

/// Returns the headers of GitLab, with those that show that the delivery is genuine.
fn gitlab_headers<'a>(
    event: &'a str,
    id: &'a str,
    genuine: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<(String, String)> {
    let usual = [
        ("x-gitlab-event", event),
        ("x-gitlab-instance", "https://forge.example.org"),
        ("idempotency-key", id),
    ];
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let random = ("x-gitlab-webhook-uuid".to_owned(), format!("random-{id}"));
    usual.into_iter().chain(genuine).map(owned).chain([random]).collect()
}

/// The bytes that a signing token of GitLab stands for.
const SIGNING_KEY: &[u8; 32] = b"a key of thirty-two bytes, no le";

/// Returns the headers with which GitLab signs the id, the time and the body.
fn signed_headers(id: &str, body: &[u8]) -> [(&'static str, String); 3] {
    let time = jiff::Timestamp::now().as_second().to_string();
    let parts = [id.as_bytes(), b".", time.as_bytes(), b".", body];
    let signature = format!("v1,{}", base64(&digest(SIGNING_KEY, &parts)));
    [("webhook-id", id.to_owned()), ("webhook-timestamp", time), ("webhook-signature", signature)]
}

impl ServedForge {
    /// Returns the delivery of an event about an issue or a pull request, which the actor caused.
    /// Each delivery has an id of its own.
    pub fn event_delivery(
        &mut self,
        dialect: ForgeDialect,
        (repository, subject): (&str, ForgeSubject),
        (event, actor): (ServedEvent<'_>, &str),
    ) -> ServedDelivery {
        let id = format!("delivery-{}", self.new_id());
        let at = (repository, subject);
        let delivery = match dialect {
            ForgeDialect::Github => github::delivery(self, at, (event, actor)),
            ForgeDialect::Forgejo => gitea::delivery(self, at, (event, actor), true),
            ForgeDialect::Gitea => gitea::delivery(self, at, (event, actor), false),
            ForgeDialect::Gitlab | ForgeDialect::GitlabSigned => {
                gitlab::delivery(self, at, (event, actor))
            }
        };
        dialect.sign(&delivery, &id, &dialect.secret())
    }
}

fn digest(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
