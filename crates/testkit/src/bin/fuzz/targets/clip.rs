//! Lines that are too long to keep in memory. Clipping keeps them valid JSON, and removes only the
//! middle of long strings.

use std::fs;
use std::path::Path;

use segue_host::LocalFiles;
use serde_json::Value;

use super::transcripts;

/// Strings that take fewer bytes than this in JSON are never cut.
const SHORT: usize = 512 * 1024;

/// Returns single lines, some of them with a long string.
pub(super) fn samples() -> Vec<Vec<u8>> {
    let transcripts_of_all = transcripts::of_all_vendors();
    let lines = transcripts_of_all.iter().flat_map(|text| text.split(|byte| *byte == b'\n'));
    let lines: Vec<&[u8]> = lines.filter(|line| line.len() > 200).step_by(7).collect();
    let long = |(number, line): (usize, &&[u8])| {
        let unit = ["a", "\u{fc}", "\\\\", "\\u00fc", "\\ud83d\\ude00", "\\\""][number % 6];
        let text = unit.repeat(SHORT * 5 / 4 / unit.len());
        [b"{\"long\":\"", text.as_bytes(), b"\",\"rest\":", line, b"}"].concat()
    };
    let short = lines.iter().map(|line| line.to_vec());
    short.clone().chain(lines.iter().take(12).enumerate().map(long)).collect()
}

pub(super) fn check(bytes: &[u8], folder: &Path) {
    let path = folder.join("line");
    fs::write(&path, bytes).expect("a line");
    let clipped = segue_vendors::clipped(&LocalFiles, &path).expect("a file");
    let clipped = clipped.expect("no line here is too long");
    assert!(clipped.len() <= bytes.len() + 64 * (1 + bytes.len() / SHORT), "the line grew");
    if let Ok(before) = serde_json::from_slice::<Value>(bytes) {
        let after = serde_json::from_slice(&clipped).expect("what was JSON stays JSON");
        assert!(is_same(&before, &after), "more than the middle of long strings was removed");
    }
}

fn is_same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::String(before), Value::String(after)) if before.len() > SHORT / 12 => {
            before == after || is_cut(before, after)
        }
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(it, to)| is_same(it, to))
        }
        (Value::Object(before), Value::Object(after)) => {
            let is_there = |(key, value): (&String, &Value)| {
                key.len() > SHORT / 12 || after.get(key).is_some_and(|it| is_same(value, it))
            };
            before.len() == after.len() && before.iter().all(is_there)
        }
        (before, after) => before == after,
    }
}

/// Returns `true` if `after` is the beginning and the end of `before`, with the marker for omitted
/// bytes between them.
fn is_cut(before: &str, after: &str) -> bool {
    let Some((head, rest)) = after.split_once("\n[… ") else { return false };
    let tail = rest.split_once(" bytes left out …]\n").map(|(_, tail)| tail);
    before.starts_with(head) && tail.is_some_and(|tail| before.ends_with(tail))
}
