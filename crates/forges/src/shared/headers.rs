//! Headers of deliveries.

use segue_core::model::DeliveryHeaders;

/// The most characters of an id or of the name of an event.
const LONGEST_VALUE: usize = 200;

/// Headers that contain secrets on every forge. Proxies may add them.
const SECRET_HEADERS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// Returns the value of a header that is an id or a name: 1 to 200 visible ASCII characters.
pub(crate) fn word(headers: &DeliveryHeaders, name: &str) -> Option<String> {
    let value = headers.only(name)?;
    let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    (is_plain && (1..=LONGEST_VALUE).contains(&value.len())).then(|| value.to_owned())
}

/// Returns the first of several headers that is an id or a name.
pub(crate) fn first_word(headers: &DeliveryHeaders, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| word(headers, name))
}

/// Returns the headers without those that contain secrets, on every forge or on this one.
pub(crate) fn storable(headers: &DeliveryHeaders, secret: &[&str]) -> DeliveryHeaders {
    headers.without(&SECRET_HEADERS).without(secret)
}
