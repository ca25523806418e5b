//! Reads a line of JSON that is too long to hold in memory. The middle of its long strings is left
//! out.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use segue_core::ports::Files;

const READ_BYTES: usize = 1024 * 1024;

/// How many bytes are kept at the beginning of a long string, and at its end.
const KEPT_BYTES: usize = 256 * 1024;

/// Maximum length of a line after its long strings were cut. A longer line is skipped.
const LONGEST_LINE_BYTES: usize = 64 * 1024 * 1024;

/// Reads the line between two byte offsets of a file and cuts its long strings. Returns `None` if
/// the line is still too long.
pub(crate) fn read(
    files: &dyn Files,
    path: &Path,
    (mut start, end): (u64, u64),
) -> io::Result<Option<Vec<u8>>> {
    let mut clipper = Clipper::default();
    while start < end {
        let size = usize::try_from(end - start).unwrap_or(usize::MAX).min(READ_BYTES);
        let bytes = files.read_at(path, start, size)?;
        if bytes.is_empty() {
            break;
        }
        start += bytes.len() as u64;
        bytes.iter().for_each(|byte| clipper.take(*byte));
        if clipper.out.len() > LONGEST_LINE_BYTES {
            return Ok(None);
        }
    }
    Ok(Some(clipper.out))
}

/// Copies a line byte by byte, and leaves out the middle of its long strings.
#[derive(Default)]
struct Clipper {
    out: Vec<u8>,
    /// The string that contains the next byte. `None` between strings.
    string: Option<JsonString>,
}

impl Clipper {
    fn take(&mut self, byte: u8) {
        let Some(string) = &mut self.string else {
            self.out.push(byte);
            self.string = (byte == b'"').then(JsonString::default);
            return;
        };
        if byte == b'"' && !string.is_inside_unit() {
            string.finish(&mut self.out);
            self.out.push(byte);
            self.string = None;
        } else {
            string.take(byte, &mut self.out);
        }
    }
}

/// The inside of a JSON string. It is split into units that must not be cut: a character, or a
/// complete escape sequence.
#[derive(Default)]
struct JsonString {
    /// How many bytes of the beginning were written.
    written: usize,
    /// How many bytes of the middle were omitted.
    left_out: u64,
    /// The unit that is being read.
    unit: Vec<u8>,
    /// The newest units after the beginning.
    end: VecDeque<u8>,
    /// The length of each unit in `end`.
    end_lengths: VecDeque<u8>,
}

impl JsonString {
    fn is_inside_unit(&self) -> bool {
        self.unit.first() == Some(&b'\\') && !is_whole(&self.unit)
    }

    fn take(&mut self, byte: u8, out: &mut Vec<u8>) {
        let continues_utf8 = byte & 0b1100_0000 == 0b1000_0000 && self.unit.len() < 4;
        let continues_pair =
            lacks_low_surrogate(&self.unit) && (self.unit.len() > 6 || byte == b'\\');
        let continues_unit = continues_utf8 || continues_pair || !is_whole(&self.unit);
        if !self.unit.is_empty() && !continues_unit {
            self.finish_unit(out);
        }
        self.unit.push(byte);
    }

    fn finish_unit(&mut self, out: &mut Vec<u8>) {
        if self.left_out == 0 && self.end.is_empty() && self.written < KEPT_BYTES {
            self.written += self.unit.len();
            out.append(&mut self.unit);
            return;
        }
        self.end_lengths.push_back(u8::try_from(self.unit.len()).unwrap_or(u8::MAX));
        self.end.extend(self.unit.drain(..));
        while self.end.len() > KEPT_BYTES {
            let Some(length) = self.end_lengths.pop_front() else { break };
            self.end.drain(..usize::from(length));
            self.left_out += u64::from(length);
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.unit.is_empty() {
            self.finish_unit(out);
        }
        if self.left_out > 0 {
            out.extend(format!("\\n[… {} bytes left out …]\\n", self.left_out).bytes());
        }
        out.extend(self.end.drain(..));
    }
}

/// Returns whether an escape sequence is complete. Any other unit counts as complete from its first
/// byte on.
fn is_whole(unit: &[u8]) -> bool {
    match unit {
        [b'\\'] => false,
        [b'\\', b'u', ..] => unit.len() == 6 || unit.len() == 12,
        _ => true,
    }
}

/// Returns whether a unit begins with an escaped high surrogate, and the escaped low surrogate that
/// must follow is not complete.
fn lacks_low_surrogate(unit: &[u8]) -> bool {
    matches!(unit, [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..])
        && unit.len() < 12
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::Home;

    fn clipped(line: &str) -> Value {
        let home = Home::new();
        let path = home.write("line", line);
        let bytes = read(&home.disk, &path, (0, line.len() as u64)).unwrap().unwrap();
        assert!(bytes.len() < 3 * KEPT_BYTES, "{}", bytes.len());
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn short_strings_stay_unchanged() {
        let line = json!({"a": "x\"y\\", "b": ["\u{1f600}", 1, {"c": null}], "d": "ü\n"});
        assert_eq!(clipped(&line.to_string()), line);
        assert_eq!(clipped(r#"{"a":"\ud83d\ude00\\\"","b":""}"#), json!({"a": "😀\\\"", "b": ""}));
    }

    #[test]
    fn long_string_loses_only_its_middle_for_every_kind_of_character() {
        for unit in ["x", "ü", "日", "😀", "\\n", "\\\"", "\\\\", "\\u00fc", "\\ud83d\\ude00"] {
            for shift in 0..13 {
                let inside = format!("{}{}", "a".repeat(shift), unit.repeat(200_000));
                let line = format!(r#"{{"begin":"{inside}END","uuid":"1"}}"#);
                let value = clipped(&line);
                let text = value["begin"].as_str().unwrap();
                assert!(text.ends_with("END"), "{unit} {shift}");
                assert_eq!(text.contains("left out"), line.len() > 2 * KEPT_BYTES + 100, "{unit}");
                assert_eq!(value["uuid"], "1", "{unit}");
            }
        }
    }

    #[test]
    fn invalid_json_does_not_panic() {
        let home = Home::new();
        for bytes in
            [&b"\"\\"[..], b"\"\xff\xfe", b"\"\\ud83d", b"{\"a\":\"\\u12", b"\x80\x80\"\x80"]
        {
            let path = home.write("line", bytes);
            assert!(read(&home.disk, &path, (0, 99)).unwrap().is_some());
        }
    }
}
