//! Signatures and tokens of deliveries, compared in constant time.

use hmac::{Hmac, KeyInit as _, Mac as _};
use segue_core::model::{DeliveryHeaders, DeliveryRefusal, SecretText};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The number of hexadecimal digits of a SHA-256 digest.
const DIGEST_DIGITS: usize = 64;

/// Returns the key for signatures. An empty secret is refused.
pub(crate) fn key(secret: &SecretText) -> Result<&[u8], DeliveryRefusal> {
    match secret.expose() {
        "" => Err(DeliveryRefusal::EmptySecret),
        secret => Ok(secret.as_bytes()),
    }
}

/// Checks an HMAC of SHA-256 that is written in hexadecimal digits.
pub(crate) fn check_hexadecimal(
    digits: &str,
    key: &[u8],
    signed: &[u8],
) -> Result<(), DeliveryRefusal> {
    if digits.is_empty() {
        return Err(DeliveryRefusal::EmptySignature);
    }
    let digest = decoded(digits).ok_or(DeliveryRefusal::MalformedSignature)?;
    check_digest(&digest, key, &[signed])
}

/// Checks an HMAC of SHA-256 over several parts.
pub(crate) fn check_digest(
    digest: &[u8],
    key: &[u8],
    parts: &[&[u8]],
) -> Result<(), DeliveryRefusal> {
    // A key of any length is valid for HMAC.
    let mac = Hmac::<Sha256>::new_from_slice(key);
    let mut mac = mac.map_err(|_| DeliveryRefusal::EmptySecret)?;
    parts.iter().for_each(|part| mac.update(part));
    mac.verify_slice(digest).map_err(|_| DeliveryRefusal::WrongSignature)
}

/// Compares a token with the secret. Compares digests, so that the time does not depend on the
/// length of the secret.
pub(crate) fn check_token(token: &str, secret: &[u8]) -> Result<(), DeliveryRefusal> {
    let (ours, theirs) = (Sha256::digest(secret), Sha256::digest(token));
    match bool::from(ours.as_slice().ct_eq(theirs.as_slice())) {
        true => Ok(()),
        false => Err(DeliveryRefusal::WrongSignature),
    }
}

/// Returns the refusal for a delivery without a SHA-256 signature.
pub(crate) fn absent(headers: &DeliveryHeaders) -> DeliveryRefusal {
    match headers.has("x-hub-signature") {
        true => DeliveryRefusal::OnlySha1,
        false => DeliveryRefusal::MissingSignature,
    }
}

fn decoded(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    if digits.len() != DIGEST_DIGITS {
        return None;
    }
    let pairs = digits.as_bytes().chunks_exact(2);
    pairs.map(|pair| Some(digit(pair[0])? * 16 + digit(pair[1])?)).collect()
}
