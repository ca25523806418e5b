//! Base64, percent encoding and JSON strings.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Decodes base64 with either alphabet. `None` if the text is not base64.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in digits.bytes() {
        let digit = match byte {
            b'-' => 62,
            b'_' => 63,
            _ => u32::try_from(ALPHABET.iter().position(|it| *it == byte)?).ok()?,
        };
        bits = bits << 6 | digit;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count).to_le_bytes()[0]);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

/// Encodes bytes in base64, without padding.
pub(super) fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for three in bytes.chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..=three.len() {
            let digit = bits >> (18 - 6 * place) & 63;
            text.push(char::from(ALPHABET[digit as usize]));
        }
    }
    text
}

/// Encodes a text as in URLs.
pub(super) fn to_percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend([byte >> 4, byte & 15].map(|digit| char::from(HEX[usize::from(digit)])));
        }
    }
    out
}

/// Encodes a text as the contents of a JSON string.
pub(super) fn to_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
