//! Writes records of a transcript.

use serde::Serialize;

/// Appends a record as one line of JSON.
pub(crate) fn write_line(record: &impl Serialize, out: &mut Vec<u8>) {
    // Serializing into memory fails only for a record that is no JSON, such as a map with keys that
    // are no strings.
    if serde_json::to_writer(&mut *out, record).is_ok() {
        out.push(b'\n');
    }
}
