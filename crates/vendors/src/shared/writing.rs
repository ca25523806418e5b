//! Writes records of a transcript.

use serde::Serialize;

/// Appends a record as one line of JSON.
pub(crate) fn write_line(record: &impl Serialize, out: &mut Vec<u8>) {
    // Serializing into memory fails only for a record that JSON cannot represent, such as a map whose
    // keys are not strings.
    if serde_json::to_writer(&mut *out, record).is_ok() {
        out.push(b'\n');
    }
}
