//! Reads patches in the format `*** Begin Patch`, which has no line numbers.

use std::borrow::Cow;

use super::{TextEdit, edit};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";

/// Returns the edits of a patch: one for each added file, and one for each changed part of a file.
/// Empty if the text has no patch.
pub(super) fn edits(text: &str) -> Vec<TextEdit> {
    let Some(begin) = text.find(BEGIN) else { return Vec::new() };
    let text = unescaped(&text[begin..]);
    let mut reader = ToolPatchReader::default();
    for line in text.lines().skip(1) {
        reader.read(line);
    }
    reader.end_part();
    reader.edits
}

/// Returns a patch without escape sequences. It has them if it is a string of a program that the
/// agent writes.
fn unescaped(patch: &str) -> Cow<'_, str> {
    if !patch[BEGIN.len()..].starts_with("\\n") {
        return Cow::Borrowed(patch);
    }
    let end = patch.find(END).map_or(patch.len(), |end| end + END.len());
    let quoted = json_escapes(&patch[..end]);
    serde_json::from_str(&format!("\"{quoted}\"")).map_or(Cow::Borrowed(patch), Cow::Owned)
}

/// Returns the content of a string of JavaScript with the escapes of JSON, which has none for an
/// apostrophe.
fn json_escapes(content: &str) -> String {
    let (mut escaped, mut characters) = (String::new(), content.chars());
    while let Some(character) = characters.next() {
        match (character, if character == '\\' { characters.next() } else { None }) {
            ('\\', Some('\'')) => escaped.push('\''),
            ('\\', Some(other)) => escaped.extend(['\\', other]),
            (other, _) => escaped.push(other),
        }
    }
    escaped
}

/// The state of a reader after a line of a patch.
#[derive(Debug, Default)]
struct ToolPatchReader {
    edits: Vec<TextEdit>,
    /// The file of the current part, and whether it is added.
    file: Option<(String, bool)>,
    old: String,
    new: String,
}

impl ToolPatchReader {
    fn read(&mut self, line: &str) {
        if let Some(path) = line.strip_prefix(ADD) {
            self.begin_file(path, true);
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            self.begin_file(path, false);
        } else if line.starts_with("***") {
            self.end_part();
            self.file = None;
        } else if line.starts_with("@@") {
            self.end_part();
        } else if let Some(text) = line.strip_prefix('-') {
            push(&mut self.old, text);
        } else if let Some(text) = line.strip_prefix('+') {
            push(&mut self.new, text);
        } else {
            let text = line.strip_prefix(' ').unwrap_or(line);
            push(&mut self.old, text);
            push(&mut self.new, text);
        }
    }

    fn begin_file(&mut self, path: &str, is_added: bool) {
        self.end_part();
        self.file = Some((path.trim().to_owned(), is_added));
    }

    fn end_part(&mut self) {
        let (old, new) = (std::mem::take(&mut self.old), std::mem::take(&mut self.new));
        let Some((path, is_added)) = &self.file else { return };
        if old != new {
            self.edits.push(edit(path, (!is_added).then_some(old.as_str()), &new));
        }
    }
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
