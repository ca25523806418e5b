//! Deliveries and clients of tests.

use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{
    DeliveryHeaders, DeliveryReading, DeliveryRefusal, DeliveryRequest, ForgeEvent, ForgeId,
    SecretText,
};
use segue_core::ports::{Forge, Forges as _};
use serde_json::Value;
use sha2::Sha256;

pub(crate) const FORGES: [&str; 4] = ["github", "forgejo", "gitea", "gitlab"];

pub(crate) const SECRET: &str = "It's a Secret to Everybody";

pub(crate) fn forge(id: &str) -> Arc<dyn Forge> {
    segue_forges::all().get(&ForgeId::new(id)).unwrap()
}

pub(crate) fn received_at() -> Timestamp {
    Timestamp::from_second(1_790_000_000).unwrap()
}

/// A delivery of a forge.
#[derive(Clone)]
pub(crate) struct TestDelivery {
    pub(crate) forge: &'static str,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl TestDelivery {
    /// Creates a delivery with the headers that the forge sends, and a valid signature.
    pub(crate) fn signed(forge: &'static str, event: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let signature = hexadecimal(SECRET.as_bytes(), &body);
        let both = format!("sha256={signature}");
        let headers: Vec<(&str, &str)> = match forge {
            "github" => vec![("X-GitHub-Event", event), ("X-Hub-Signature-256", &both)],
            "gitea" => vec![("X-Gitea-Event-Type", event), ("X-Gitea-Signature", &signature)],
            "forgejo" => vec![
                ("X-Forgejo-Event-Type", event),
                ("X-Gitea-Event-Type", event),
                ("X-GitHub-Event", event),
                ("X-Forgejo-Signature", &signature),
                ("X-Gitea-Signature", &signature),
                ("X-Hub-Signature-256", &both),
            ],
            _ => vec![("X-Gitlab-Event", event), ("X-Gitlab-Token", SECRET)],
        };
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let headers = headers.into_iter().map(owned).collect();
        Self { forge, headers, body }.with("Content-Type", "application/json")
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes a header.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(it, _)| !it.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn header_values(&self) -> DeliveryHeaders {
        DeliveryHeaders::new(
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())),
        )
    }

    pub(crate) fn verify(&self, secret: &str) -> Result<(), DeliveryRefusal> {
        let headers = self.header_values();
        let request =
            DeliveryRequest { headers: &headers, body: &self.body, received_at: received_at() };
        forge(self.forge).webhooks().verify(&request, &SecretText::new(secret))
    }

    pub(crate) fn read(&self) -> Result<DeliveryReading> {
        let headers = self.header_values();
        let request =
            DeliveryRequest { headers: &headers, body: &self.body, received_at: received_at() };
        forge(self.forge).webhooks().read(&request)
    }

    /// Reads the events. Panics if there are none.
    pub(crate) fn events(&self) -> Vec<ForgeEvent> {
        match self.read().unwrap() {
            DeliveryReading::Events(events) => events,
            other => panic!("no events: {other:?}"),
        }
    }

    /// Reads the only event.
    pub(crate) fn event(&self) -> ForgeEvent {
        let mut events = self.events();
        assert_eq!(events.len(), 1, "{events:?}");
        events.remove(0)
    }
}

/// Returns the HMAC of SHA-256 in hexadecimal digits.
pub(crate) fn hexadecimal(key: &[u8], bytes: &[u8]) -> String {
    digest(key, bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn digest(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(bytes);
    mac.finalize().into_bytes().to_vec()
}

/// Returns the words for the reading of a delivery: its triggers, `ping` or `ignored`.
pub(crate) fn words(reading: &DeliveryReading) -> String {
    match reading {
        DeliveryReading::Events(events) => {
            events.iter().map(|event| event.trigger.word()).collect::<Vec<_>>().join(" ")
        }
        DeliveryReading::Ignored(_) => "ignored".to_owned(),
        DeliveryReading::Ping => "ping".to_owned(),
    }
}

/// Encodes JSON as the field `payload` of a form.
pub(crate) fn form(json: &[u8]) -> Vec<u8> {
    let encoded: String = json.iter().map(|byte| format!("%{byte:02X}")).collect();
    format!("payload={encoded}").into_bytes()
}

pub(crate) fn bytes(json: &Value) -> Vec<u8> {
    json.to_string().into_bytes()
}
