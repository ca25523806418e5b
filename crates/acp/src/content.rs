//! The text of a prompt, from the blocks that the editor sends.

use segue_core::{Error, Result};

use crate::protocol::{PromptBlock, PromptResource};

const FILE: &str = "file://";

/// Returns the message for the agent. Links become paths where they are in the text. Files that are
/// part of the prompt are named in the text, and follow it.
pub(crate) fn text(blocks: Vec<PromptBlock>) -> Result<String> {
    let (mut text, mut files) = (String::new(), String::new());
    for block in blocks {
        match block {
            PromptBlock::Text { text: part } => text.push_str(&part),
            PromptBlock::ResourceLink { uri } => mention(&mut text, &uri),
            PromptBlock::Resource { resource } => {
                mention(&mut text, &resource.uri);
                files.push_str(&file(resource)?);
            }
            PromptBlock::Unsupported => {
                return Err(Error::usage("the prompt has a part that is not text")
                    .hint("Segue accepts text, links and text files, as it has announced"));
            }
        }
    }
    Ok(text + &files)
}

/// Appends the path of a link, apart from the words around it.
fn mention(text: &mut String, uri: &str) {
    if !text.is_empty() && !text.ends_with(char::is_whitespace) {
        text.push(' ');
    }
    text.push_str(&path(uri));
    text.push(' ');
}

/// Returns the path of a file, or any other URI as it is.
fn path(uri: &str) -> String {
    match uri.strip_prefix(FILE) {
        Some(path) => decoded(path),
        None => uri.to_owned(),
    }
}

/// Replaces `%` and two hexadecimal digits with the byte that they mean.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let digits = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let escaped = byte.filter(|_| *first == b'%');
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &others[2..] } else { others };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

fn file(PromptResource { uri, text }: PromptResource) -> Result<String> {
    let path = path(&uri);
    let text = text.ok_or_else(|| {
        Error::usage(format!("`{}` is not a text file", path.escape_debug()))
            .hint("send a link to it, so that the agent can open it itself")
    })?;
    // Longer than any fence in the text, so that the text cannot end it.
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    Ok(format!("\n\n{path}:\n{fence}\n{text}{end}{fence}\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(blocks: Value) -> Result<String> {
        text(serde_json::from_value(blocks).unwrap())
    }

    #[test]
    fn links_become_paths_and_files_follow_the_text() {
        let blocks = json!([
            {"type": "text", "text": "compare"},
            {"type": "resource_link", "uri": "file:///a%20b/%C3%A4.rs", "name": "b"},
            {"type": "text", "text": "with"},
            {"type": "resource", "resource": {"uri": "file:///c.md", "text": "x ```` y"}},
            {"type": "resource_link", "uri": "https://a/%20", "name": "b"},
        ]);
        let expected =
            "compare /a b/ä.rs with /c.md https://a/%20 \n\n/c.md:\n`````\nx ```` y\n`````\n";
        assert_eq!(of(blocks).unwrap(), expected);
        let command = json!([{"type": "text", "text": "/compact now"}]);
        assert_eq!(of(command).unwrap(), "/compact now");
    }

    #[test]
    fn broken_escapes_in_a_link_stay_as_they_are() {
        for (uri, expected) in [("file:///%", "/% "), ("file:///%zz%2", "/%zz%2 ")] {
            assert_eq!(of(json!([{"type": "resource_link", "uri": uri}])).unwrap(), expected);
        }
        assert_eq!(of(json!([{"type": "resource_link", "uri": "file:///%ff"}])).unwrap(), "/%ff ");
    }

    #[test]
    fn images_and_files_without_text_are_usage_errors() {
        for blocks in [
            json!([{"type": "image", "data": "aaaa", "mimeType": "image/png"}]),
            json!([{"type": "resource", "resource": {"uri": "file:///a.png", "blob": "aaaa"}}]),
        ] {
            assert_eq!(of(blocks).unwrap_err().kind, segue_core::Kind::Usage);
        }
    }
}
