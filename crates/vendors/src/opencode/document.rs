//! A conversation as one JSON document, as `OpenCode` exports and imports it:
//! `{"info", "messages"}`.

use std::io;
use std::path::Path;

use segue_core::ports::Files;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::part::OpencodePart;
use crate::shared::reading::read_clipped;

const PIECE: usize = 1024 * 1024;

/// The longest message in bytes that is read as it is. Longer messages are read without the middle
/// of their long strings.
const LONG: u64 = 4 * 1024 * 1024;

/// How many bytes of a property name are kept. The names that are compared are shorter.
const LONGEST_NAME: usize = 16;

/// The byte ranges of the parts of a document, each from its first byte to the byte after its
/// last.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The range of the object that describes the conversation as a whole.
    pub(super) info: Option<(u64, u64)>,
    /// The ranges of the messages, the oldest first.
    pub(super) messages: Vec<(u64, u64)>,
}

impl Document {
    /// Finds the byte ranges. Objects that are cut off are left out.
    pub(super) fn survey(files: &dyn Files, path: &Path) -> io::Result<Self> {
        let (mut offset, mut scanner) = (0, DocumentScanner::default());
        loop {
            let piece = files.read_at(path, offset, PIECE)?;
            if piece.is_empty() {
                return Ok(scanner.found);
            }
            for byte in &piece {
                scanner.take(*byte, offset);
                offset += 1;
            }
        }
    }
}

/// Reads a byte range as JSON. Invalid JSON becomes null.
pub(super) fn read(files: &dyn Files, path: &Path, span: (u64, u64)) -> io::Result<Value> {
    Ok(serde_json::from_str(&text(files, path, span)?).unwrap_or_default())
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
    /// Reads one of the messages. An invalid message becomes an empty one.
    pub(super) fn read(files: &dyn Files, path: &Path, span: (u64, u64)) -> io::Result<Self> {
        let text = text(files, path, span)?;
        let read = |it: DocumentMessage<'_>| Self {
            info: it.info,
            parts: it.parts.into_iter().map(|part| OpencodePart::read(part.get())).collect(),
        };
        Ok(serde_json::from_str(&text).map(read).unwrap_or_default())
    }
}

fn text(files: &dyn Files, path: &Path, span: (u64, u64)) -> io::Result<String> {
    let (start, end) = span;
    let bytes = if end - start > LONG {
        read_clipped(files, path, span)?.unwrap_or_default()
    } else {
        files.read_at(path, start, usize::try_from(end - start).unwrap_or(0))?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a byte is inside a string.
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
    found: Document,
    depth: u64,
    text: InString,
    /// The last string at the top level of the document: the name of the value that follows.
    name: Vec<u8>,
    in_messages: bool,
    begin: u64,
}

impl DocumentScanner {
    fn take(&mut self, byte: u8, at: u64) {
        if self.text != InString::Outside {
            self.take_text(byte);
            return;
        }
        match byte {
            b'"' => {
                self.text = InString::Inside;
                if self.depth == 1 {
                    self.name.clear();
                }
            }
            b'{' | b'[' => self.open(byte, at),
            b'}' | b']' => self.close(at),
            _ => {}
        }
    }

    fn take_text(&mut self, byte: u8) {
        self.text = match (self.text, byte) {
            (InString::Inside, b'\\') => InString::Escaped,
            (InString::Inside, b'"') => {
                self.text = InString::Outside;
                return;
            }
            _ => InString::Inside,
        };
        if self.depth == 1 && self.name.len() < LONGEST_NAME {
            self.name.push(byte);
        }
    }

    fn open(&mut self, byte: u8, at: u64) {
        match (self.depth, byte) {
            (1, b'{') => self.begin = at,
            (1, _) => self.in_messages = self.name == b"messages",
            (2, b'{') if self.in_messages => self.begin = at,
            _ => {}
        }
        self.depth += 1;
    }

    fn close(&mut self, at: u64) {
        self.depth = self.depth.saturating_sub(1);
        let span = (self.begin, at + 1);
        match self.depth {
            1 if self.in_messages => self.in_messages = false,
            1 if self.name == b"info" => self.found.info = Some(span),
            2 if self.in_messages => self.found.messages.push(span),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::Home;

    fn surveyed(home: &Home, text: impl AsRef<[u8]>) -> (Value, Vec<Value>) {
        let path = home.write("document.json", text);
        let document = Document::survey(&home.disk, &path).unwrap();
        let messages = document.messages.iter();
        let messages = messages.map(|span| read(&home.disk, &path, *span).unwrap()).collect();
        let info = document.info.map(|span| read(&home.disk, &path, span).unwrap());
        (info.unwrap_or_default(), messages)
    }

    #[test]
    fn survey_finds_info_and_messages_in_any_order_and_layout() {
        let home = Home::new();
        let info = json!({"id": "ses_1", "x": [{"messages": [{}]}], "t": "{[\"]}\\"});
        let messages = vec![json!({"parts": [{"a": "]}\\\""}]}), json!({}), json!({"info": {}})];
        let document = json!({"info": info, "messages": messages});
        for text in [document.to_string(), serde_json::to_string_pretty(&document).unwrap()] {
            assert_eq!(surveyed(&home, &text), (info.clone(), messages.clone()));
        }
        let turned = format!("{{\"messages\": {}, \"info\": {info}}}", json!(messages));
        assert_eq!(surveyed(&home, turned), (info, messages));
    }

    #[test]
    fn survey_of_a_truncated_or_invalid_document_finds_the_complete_messages() {
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
            assert_eq!(surveyed(&home, text).1.len(), count, "{text:?}");
        }
    }
}
