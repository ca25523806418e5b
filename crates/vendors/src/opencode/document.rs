//! Reads a conversation that is one JSON document. `OpenCode` exports and imports such documents:
//! `{"info": …, "messages": […]}`.

use std::io;
use std::path::Path;

use segue_core::ports::Files;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::part::OpencodePart;
use crate::shared::reading::read_clipped;

/// How many bytes are read at once.
const READ_BYTES: usize = 1024 * 1024;

/// A longer message is read without the middle of its long strings.
const MESSAGE_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// How many bytes of a property name are stored. The known names are shorter.
const NAME_LIMIT_BYTES: usize = 16;

/// The byte ranges in a document. The end of a range is the offset after its last byte.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The range of the object that describes the conversation.
    pub(super) info: Option<(u64, u64)>,
    /// The ranges of the messages, in the order of the conversation.
    pub(super) messages: Vec<(u64, u64)>,
}

impl Document {
    /// Finds the byte ranges. Skips truncated objects.
    pub(super) fn find_ranges(files: &dyn Files, path: &Path) -> io::Result<Self> {
        let (mut offset, mut scanner) = (0, DocumentScanner::default());
        loop {
            let piece = files.read_at(path, offset, READ_BYTES)?;
            if piece.is_empty() {
                return Ok(scanner.ranges);
            }
            for byte in &piece {
                scanner.scan(*byte, offset);
                offset += 1;
            }
        }
    }
}

/// Parses a byte range as JSON. Invalid JSON becomes null.
pub(super) fn read(files: &dyn Files, path: &Path, range: (u64, u64)) -> io::Result<Value> {
    Ok(serde_json::from_str(&text(files, path, range)?).unwrap_or_default())
}

/// A message of a document.
#[derive(Debug, Default)]
pub(super) struct DocumentItem {
    pub(super) info: Value,
    pub(super) parts: Vec<OpencodePart>,
}

#[derive(Deserialize)]
struct DocumentMessage<'a> {
    info: Value,
    #[serde(borrow)]
    parts: Vec<&'a RawValue>,
}

impl DocumentItem {
    /// Reads the message in this range. An invalid message becomes an empty message.
    pub(super) fn read(files: &dyn Files, path: &Path, range: (u64, u64)) -> io::Result<Self> {
        let text = text(files, path, range)?;
        let read = |message: DocumentMessage<'_>| Self {
            info: message.info,
            parts: message.parts.into_iter().map(|part| OpencodePart::read(part.get())).collect(),
        };
        Ok(serde_json::from_str(&text).map(read).unwrap_or_default())
    }
}

fn text(files: &dyn Files, path: &Path, range: (u64, u64)) -> io::Result<String> {
    let (start, end) = range;
    let bytes = if end - start > MESSAGE_LIMIT_BYTES {
        read_clipped(files, path, range)?.unwrap_or_default()
    } else {
        files.read_at(path, start, usize::try_from(end - start).unwrap_or(0))?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The position of the scanner relative to a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum InString {
    #[default]
    Outside,
    Inside,
    /// Inside a string, after a backslash.
    Escaped,
}

/// Scans a document byte by byte.
#[derive(Debug, Default)]
struct DocumentScanner {
    ranges: Document,
    depth: u64,
    in_string: InString,
    /// The last string at the top level of the document, which is the name of the next value.
    name: Vec<u8>,
    in_messages: bool,
    /// The offset at which the current object begins.
    start: u64,
}

impl DocumentScanner {
    fn scan(&mut self, byte: u8, at: u64) {
        if self.in_string != InString::Outside {
            self.scan_string(byte);
            return;
        }
        match byte {
            b'"' => {
                self.in_string = InString::Inside;
                if self.depth == 1 {
                    self.name.clear();
                }
            }
            b'{' | b'[' => self.open(byte, at),
            b'}' | b']' => self.close(at),
            _ => {}
        }
    }

    fn scan_string(&mut self, byte: u8) {
        self.in_string = match (self.in_string, byte) {
            (InString::Inside, b'\\') => InString::Escaped,
            (InString::Inside, b'"') => {
                self.in_string = InString::Outside;
                return;
            }
            _ => InString::Inside,
        };
        if self.depth == 1 && self.name.len() < NAME_LIMIT_BYTES {
            self.name.push(byte);
        }
    }

    fn open(&mut self, byte: u8, at: u64) {
        match (self.depth, byte) {
            (1, b'{') => self.start = at,
            (1, _) => self.in_messages = self.name == b"messages",
            (2, b'{') if self.in_messages => self.start = at,
            _ => {}
        }
        self.depth += 1;
    }

    fn close(&mut self, at: u64) {
        self.depth = self.depth.saturating_sub(1);
        let range = (self.start, at + 1);
        match self.depth {
            1 if self.in_messages => self.in_messages = false,
            1 if self.name == b"info" => self.ranges.info = Some(range),
            2 if self.in_messages => self.ranges.messages.push(range),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::Home;

    fn find_and_read(home: &Home, text: impl AsRef<[u8]>) -> (Value, Vec<Value>) {
        let path = home.write("document.json", text);
        let document = Document::find_ranges(&home.disk, &path).unwrap();
        let messages = document.messages.iter();
        let messages = messages.map(|range| read(&home.disk, &path, *range).unwrap()).collect();
        let info = document.info.map(|range| read(&home.disk, &path, range).unwrap());
        (info.unwrap_or_default(), messages)
    }

    #[test]
    fn find_ranges_accepts_any_order_and_layout() {
        let home = Home::new();
        let info = json!({"id": "ses_1", "x": [{"messages": [{}]}], "t": "{[\"]}\\"});
        let messages = vec![json!({"parts": [{"a": "]}\\\""}]}), json!({}), json!({"info": {}})];
        let document = json!({"info": info, "messages": messages});
        for text in [document.to_string(), serde_json::to_string_pretty(&document).unwrap()] {
            assert_eq!(find_and_read(&home, &text), (info.clone(), messages.clone()));
        }
        let reordered = format!("{{\"messages\": {}, \"info\": {info}}}", json!(messages));
        assert_eq!(find_and_read(&home, reordered), (info, messages));
    }

    #[test]
    fn find_ranges_skips_truncated_and_invalid_parts() {
        let home = Home::new();
        for (text, count) in [
            (&b"{\"info\":{},\"messages\":[{\"a\":1},{\"b\""[..], 1),
            (b"{\"messages\":[{\"a\":1}", 1),
            (b"]]}}{\"messages\":[{\"\xff\":1}]}", 1),
            (b"", 0),
            (b"[{}]", 0),
            (b"\"\\", 0),
            (b"\xff\xfe{[\"", 0),
        ] {
            assert_eq!(find_and_read(&home, text).1.len(), count, "{text:?}");
        }
    }
}
