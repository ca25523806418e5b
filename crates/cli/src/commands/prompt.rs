//! Reads a prompt or a message from the command line or from standard input.

use std::io::{self, Read};

use segue_core::{Error, Result};

/// The maximum length of a text in bytes. It is far more than any vendor accepts, and keeps a
/// mistyped redirection from filling the memory.
const LONGEST_BYTES: u64 = 16 * 1024 * 1024;

/// The kind of a text: the first message of a session, the prompt of a task, or a message to a
/// running agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    Prompt,
    TaskPrompt,
    Message,
}

impl TextKind {
    fn word(self) -> &'static str {
        match self {
            Self::Prompt | Self::TaskPrompt => "prompt",
            Self::Message => "message",
        }
    }

    fn empty(self) -> Error {
        let error = Error::usage(format!("the {} is empty", self.word()));
        error.hint(match self {
            Self::Prompt => "leave it out to start an agent without a first message",
            Self::TaskPrompt | Self::Message => "give a text, or `-` for standard input",
        })
    }
}

/// Returns the text that was given as an argument, or the text from standard input if the argument
/// is `-`. `None` if there is no argument.
pub(crate) fn read(argument: Option<String>, kind: TextKind) -> Result<Option<String>> {
    match argument {
        None => Ok(None),
        Some(dash) if dash == "-" => from(io::stdin().lock(), kind).map(Some),
        Some(text) => checked(text, kind).map(Some),
    }
}

fn from(input: impl Read, kind: TextKind) -> Result<String> {
    let word = kind.word();
    let mut bytes = Vec::new();
    input.take(LONGEST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| {
        Error::internal(format!("cannot read the {word} from standard input")).caused_by(error)
    })?;
    if bytes.len() as u64 > LONGEST_BYTES {
        return Err(Error::usage(format!("the {word} is longer than 16 MiB"))
            .hint("put it into a file and ask the agent to read that file"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        Error::usage(format!("the {word} on standard input is not UTF-8"))
            .caused_by(error.utf8_error())
    })?;
    // The line break that `echo` adds is not part of the text.
    checked(text.trim_end_matches(['\n', '\r']).to_owned(), kind)
}

/// Rejects an empty text and a text with a zero byte, which no program can get as an argument.
/// Other control characters are allowed, because they can be intended.
fn checked(text: String, kind: TextKind) -> Result<String> {
    if text.trim().is_empty() {
        return Err(kind.empty());
    }
    let word = kind.word();
    match text.find('\0') {
        Some(place) => Err(Error::usage(format!("the {word} has a zero byte at offset {place}"))
            .caused_by("a program cannot get a zero byte in an argument")
            .hint("remove it, for example with `tr -d '\\0'`")),
        None => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_text_is_returned_unchanged() {
        let long = "x".repeat(1 << 20);
        for text in ["hello", "- a list\n- of things", "tab\tbell\u{7}escape\u{1b}[31m", &long] {
            assert_eq!(
                read(Some(text.to_owned()), TextKind::Prompt).unwrap().as_deref(),
                Some(text)
            );
            assert_eq!(from(text.as_bytes(), TextKind::Prompt).unwrap(), text);
        }
        assert_eq!(read(None, TextKind::Prompt).unwrap(), None);
    }

    #[test]
    fn line_breaks_at_the_end_of_standard_input_are_removed() {
        assert_eq!(from("hello\n".as_bytes(), TextKind::Prompt).unwrap(), "hello");
        assert_eq!(from("two\n\nlines\r\n".as_bytes(), TextKind::Prompt).unwrap(), "two\n\nlines");
    }

    #[test]
    fn text_that_is_empty_too_long_not_utf8_or_has_a_zero_byte_is_an_error() {
        let table: [(&[u8], &str); 4] = [
            (b"a\0b", "the prompt has a zero byte at offset 1"),
            (b"", "the prompt is empty"),
            (b" \n\t\n", "the prompt is empty"),
            (b"caf\xe9", "the prompt on standard input is not UTF-8"),
        ];
        for (bytes, message) in table {
            let error = from(bytes, TextKind::Prompt).unwrap_err();
            assert_eq!(error.message, message);
            assert_eq!(error.kind.exit_status(), 2);
        }
        let endless = io::repeat(b'x');
        assert_eq!(
            from(endless, TextKind::Message).unwrap_err().message,
            "the message is longer than 16 MiB"
        );
    }
}
