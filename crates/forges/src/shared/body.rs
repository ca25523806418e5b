//! The body of a delivery: JSON, or a form with the field `payload`.

use std::borrow::Cow;

use segue_core::model::{DeliveryHeaders, DeliveryRequest, MAX_DELIVERY_BYTES};
use segue_core::{Error, Result};
use serde::Deserialize;

use super::json;

/// Returns the JSON of a delivery, byte for byte as the forge made it. `None` if the body is a form
/// without the field `payload`.
pub(crate) fn json_bytes<'a>(headers: &DeliveryHeaders, body: &'a [u8]) -> Option<Cow<'a, [u8]>> {
    if !is_form(headers) {
        return Some(Cow::Borrowed(body));
    }
    // Decoded as bytes: bytes that are not UTF-8 stay as they are, so that the signature matches.
    let field = body.split(|byte| *byte == b'&').find_map(|it| it.strip_prefix(b"payload="))?;
    Some(Cow::Owned(form_decoded(field)))
}

fn is_form(headers: &DeliveryHeaders) -> bool {
    let kind = headers.only("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

fn form_decoded(field: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let (mut decoded, mut at) = (Vec::with_capacity(field.len()), 0);
    while let Some(byte) = field.get(at) {
        let escaped = digit(field.get(at + 1)).zip(digit(field.get(at + 2)));
        match (byte, escaped) {
            (b'%', Some((high, low))) => {
                decoded.extend(u8::try_from(high * 16 + low));
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            _ => decoded.push(*byte),
        }
        at += 1;
    }
    decoded
}

/// The JSON object of a delivery. It is valid, and not nested too deeply.
pub(crate) struct Payload<'a>(Cow<'a, [u8]>);

impl<'a> Payload<'a> {
    /// Takes the JSON out of a delivery, and checks it.
    pub(crate) fn of(request: &DeliveryRequest<'a>) -> Result<Self> {
        let bytes = request.body.len();
        if bytes > MAX_DELIVERY_BYTES {
            let reason = format!("it has {bytes} bytes, and the limit is {MAX_DELIVERY_BYTES}");
            return Err(unreadable(reason));
        }
        let json = json_bytes(request.headers, request.body);
        let json = json.ok_or_else(|| unreadable("the form has no field `payload`"))?;
        json::check(&json).map_err(unreadable)?;
        Ok(Self(json))
    }

    pub(crate) fn parse<'b, T: Deserialize<'b>>(&'b self) -> Result<T> {
        json::parse(&self.0).map_err(unreadable)
    }
}

/// Returns the error for a delivery that cannot be read.
pub(crate) fn unreadable(reason: impl std::fmt::Display) -> Error {
    Error::usage("the delivery cannot be read")
        .caused_by(reason)
        .hint("check that the source has the right `forge`, and that the webhook sends JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_of_a_form_is_decoded_byte_for_byte() {
        let headers =
            |kind: &'static str| DeliveryHeaders::new([("content-type", kind.as_bytes())]);
        let form = headers("application/x-www-form-urlencoded; charset=utf-8");
        let table: [(&[u8], Option<&[u8]>); 7] = [
            (b"payload=%7B%22a%22%3A+1%7D", Some(b"{\"a\": 1}")),
            (b"x=1&payload=%7b%7d&y=2", Some(b"{}")),
            (b"payload=%ff", Some(b"\xff")),
            (b"payload=100%", Some(b"100%")),
            (b"payload=", Some(b"")),
            (b"x=payload=1", None),
            (b"", None),
        ];
        for (body, expected) in table {
            assert_eq!(json_bytes(&form, body).as_deref(), expected, "{body:?}");
        }
        let json = headers("application/json");
        assert_eq!(json_bytes(&json, b"payload=1").as_deref(), Some(&b"payload=1"[..]));
    }
}
