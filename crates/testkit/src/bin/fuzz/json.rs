//! Finds keys and values in text that is JSON, contains JSON, or is damaged JSON.

use std::ops::Range;

/// The position of a key or a value.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) kind: JsonPartKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonPartKind {
    Key,
    Text,
    /// A number, or a word like `null`.
    Plain,
    /// A list or an object.
    Group,
}

/// Scans for keys and values. The text need not be valid JSON.
pub(crate) fn spans(bytes: &[u8]) -> Vec<Span> {
    let (mut spans, mut open, mut at) = (Vec::new(), Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                at = end_of_text(bytes, at);
                let is_key = bytes[at..].trim_ascii_start().first() == Some(&b':');
                let kind = if is_key { JsonPartKind::Key } else { JsonPartKind::Text };
                spans.push(Span { range: start..at, kind });
            }
            b'{' | b'[' => {
                open.push(at);
                at += 1;
            }
            b'}' | b']' => {
                at += 1;
                let range = open.pop().map(|start| start..at);
                spans.extend(range.map(|range| Span { range, kind: JsonPartKind::Group }));
            }
            b'0'..=b'9' | b'a'..=b'z' | b'-' => {
                let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                at += bytes[at..].iter().take_while(|byte| is_inside(byte)).count();
                spans.push(Span { range: start..at, kind: JsonPartKind::Plain });
            }
            _ => at += 1,
        }
    }
    spans
}

fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            b'\n' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}
