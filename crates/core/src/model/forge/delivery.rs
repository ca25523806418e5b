//! Deliveries: the requests with which a forge reports events.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ForgeEvent;
use crate::word_enum::word_enum;

/// The headers of a delivery. The names are in lower case.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryHeaders(Vec<(String, String)>);

impl DeliveryHeaders {
    /// Creates headers from names and values. Leaves out values that are not UTF-8.
    pub fn new<'a>(headers: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let text = |(name, value): (&str, &[u8])| {
            let value = std::str::from_utf8(value).ok()?.trim().to_owned();
            Some((name.to_ascii_lowercase(), value))
        };
        Self(headers.into_iter().filter_map(text).collect())
    }

    /// Returns the value of a header that occurs exactly once. `None` if it is missing, or if there
    /// are several, because a proxy and the receiver could choose different ones.
    pub fn only(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(it, _)| it == name).map(|(_, value)| value);
        let first = values.next()?;
        values.next().is_none().then_some(first)
    }

    /// Returns whether a header occurs at least once.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(it, _)| it == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the headers without those that have one of these names.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let kept = self.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        Self(kept.cloned().collect())
    }
}

impl fmt::Debug for DeliveryHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A header may contain the secret of the webhook.
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// A delivery as it was received.
#[derive(Clone, Copy)]
pub struct DeliveryRequest<'a> {
    pub headers: &'a DeliveryHeaders,
    /// The body, byte for byte: the signature covers these bytes.
    pub body: &'a [u8],
    pub received_at: Timestamp,
}

impl fmt::Debug for DeliveryRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveryRequest")
            .field("headers", self.headers)
            .field("bytes", &self.body.len())
            .field("received_at", &self.received_at)
            .finish()
    }
}

/// What a delivery reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryReading {
    /// Usually one event. Some forges report several changes in one delivery.
    Events(Vec<ForgeEvent>),
    /// The delivery is valid, and no rule can be about it. The text is the reason.
    Ignored(String),
    /// The forge tests whether the webhook can be reached.
    Ping,
}

word_enum! {
    /// Why a delivery is not accepted as genuine.
    pub enum DeliveryRefusal {
        /// The settings have an empty secret, which protects nothing.
        EmptySecret = "empty_secret",
        /// The header with the signature or the token is missing, or occurs more than once.
        MissingSignature = "missing_signature",
        /// The forge has no secret for this webhook: it sends a signature without digits.
        EmptySignature = "empty_signature",
        /// The delivery has only a SHA-1 signature, which can be forged.
        OnlySha1 = "only_sha1",
        /// The signature is not in the format of the forge.
        MalformedSignature = "malformed_signature",
        /// The signature or the token does not match the secret and the body.
        WrongSignature = "wrong_signature",
        /// The signed time is too far from the time of receipt.
        Expired = "expired",
        /// The signed text cannot be found in the body.
        UnreadableBody = "unreadable_body",
    }
}

impl fmt::Display for DeliveryRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EmptySecret => {
                "the secret of this source is empty; set the same secret here and in the webhook"
            }
            Self::MissingSignature => {
                "the signature is missing; set the secret of the webhook on the forge"
            }
            Self::EmptySignature => {
                "the signature is empty; set the secret of the webhook on the forge"
            }
            Self::OnlySha1 => {
                "the delivery has only a SHA-1 signature; update the forge, so that it signs with \
                 SHA-256"
            }
            Self::MalformedSignature => {
                "the signature is not in the format of the forge; check the forge of this source"
            }
            Self::WrongSignature => {
                "the signature does not match; set the same secret here and in the webhook"
            }
            Self::Expired => {
                "the signed time and the time of receipt differ by more than five minutes; check \
                 the clocks"
            }
            Self::UnreadableBody => {
                "the body is a form without the field `payload`; set the content type of the \
                 webhook to JSON"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_that_occurs_twice_has_no_value() {
        let headers = DeliveryHeaders::new([
            ("X-Event", &b" push "[..]),
            ("x-twice", b"1"),
            ("X-Twice", b"2"),
            ("x-bytes", b"\xff"),
        ]);
        let found = ["x-event", "x-twice", "x-bytes", "x-none"].map(|name| headers.only(name));
        assert_eq!(found, [Some("push"), None, None, None]);
        assert!(headers.has("x-twice") && !headers.has("x-bytes"));
        assert_eq!(headers.without(&["x-twice"]).iter().collect::<Vec<_>>(), [("x-event", "push")]);
    }

    #[test]
    fn debug_output_of_a_delivery_has_no_values_of_headers() {
        let headers = DeliveryHeaders::new([("x-token", &b"hush"[..])]);
        let received_at = Timestamp::UNIX_EPOCH;
        let shown = format!("{:?}", DeliveryRequest { headers: &headers, body: b"", received_at });
        assert!(shown.contains("x-token") && !shown.contains("hush"), "{shown}");
    }
}
