//! How a message is given so that it arrives as text, and as what it is recorded.

use segue_core::ports::Typing;

/// Something that is there and not seen, before what would be a command, or be sent to Cursor's cloud.
const UNSEEN: char = '\u{200b}';

const SPECIAL: [char; 3] = ['/', '&', '!'];

pub(super) fn typing(message: &str) -> Typing {
    Typing { text: argument(message), recorded_as: normal(message) }
}

/// Returns a message as a word of the command line.
pub(super) fn argument(message: &str) -> String {
    let guard = message.trim_start().starts_with(SPECIAL).then_some(UNSEEN);
    guard.into_iter().chain(message.chars()).collect()
}

/// Returns a message as it was before it became a word of the command line.
pub(super) fn given(text: &str) -> String {
    text.strip_prefix(UNSEEN).unwrap_or(text).to_owned()
}

/// Returns a text in the form in which what was given and what was recorded are the same.
pub(super) fn normal(text: &str) -> String {
    given(&text.replace("\r\n", "\n").replace('\r', "\n")).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_command_is_given_so_that_it_is_none() {
        for (message, wanted) in [
            ("hello", "hello"),
            ("/clear", "\u{200b}/clear"),
            ("& do it in the cloud", "\u{200b}& do it in the cloud"),
            (" !ls", "\u{200b} !ls"),
        ] {
            let typed = typing(message);
            assert_eq!(typed.text, wanted);
            assert_eq!(normal(&typed.text), typed.recorded_as);
            assert_eq!(given(&typed.text), message);
        }
    }
}
