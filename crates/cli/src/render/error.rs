//! Renders errors: as text for people, and as JSON for programs.

use segue_core::api::ErrorAnswer;
use segue_core::{Error, Result};

use super::json;
use super::plain::plain;
use super::style::{Colour, TextTone};

/// Returns the message, the causes and the hints as text, each on its own line.
pub(crate) fn text(error: &Error, colour: Colour) -> String {
    let mut text = entry(&colour.paint(TextTone::Bad, "error:"), &error.message);
    for cause in &error.causes {
        text.push_str(&entry(&format!("  {}", colour.paint(TextTone::Faint, "caused by:")), cause));
    }
    for hint in &error.hints {
        text.push_str(&entry(&colour.paint(TextTone::Help, "hint:"), hint));
    }
    text
}

/// Returns `{"error": …}`.
pub(crate) fn json(error: &Error) -> Result<String> {
    json::line(&ErrorAnswer { error })
}

/// Returns a text with a label in front. Further lines of the text are indented, so that no line
/// looks like another label.
fn entry(label: &str, text: &str) -> String {
    let harmless = plain(text);
    format!("{label} {}\n", harmless.trim_end().replace('\n', "\n    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> Error {
        Error::conflict("session `shop/coder` is held")
            .caused_by("process 4711 has it open")
            .caused_by("it was started by hand")
            .hint("run `segue ls` to see it")
            .hint("run `segue stop shop/coder` first")
    }

    #[test]
    fn causes_and_hints_follow_the_message() {
        let expected = "\
error: session `shop/coder` is held
  caused by: process 4711 has it open
  caused by: it was started by hand
hint: run `segue ls` to see it
hint: run `segue stop shop/coder` first
";
        assert_eq!(text(&error(), Colour::Off), expected);
    }

    #[test]
    fn labels_are_coloured_if_colours_are_on() {
        let coloured = text(&error(), Colour::On);
        assert!(coloured.starts_with("\u{1b}[1;31merror:\u{1b}[0m session"), "{coloured:?}");
        assert_eq!(plain(&coloured), text(&error(), Colour::Off));
    }

    #[test]
    fn a_message_cannot_forge_a_hint_or_move_the_cursor() {
        let forged = Error::vendor("it said\nhint: run `rm -rf ~`\u{1b}[1A\u{1b}]0;x\u{7}");
        assert_eq!(text(&forged, Colour::Off), "error: it said\n    hint: run `rm -rf ~`\n",);
    }

    #[test]
    fn json_error_has_kind_message_causes_and_hints() {
        assert_eq!(
            json(&Error::not_found("no session `x`").hint("run `segue ls`")).unwrap(),
            "{\"error\":{\"kind\":\"not_found\",\"message\":\"no session `x`\",\
             \"causes\":[],\"hints\":[\"run `segue ls`\"]}}\n",
        );
    }
}
