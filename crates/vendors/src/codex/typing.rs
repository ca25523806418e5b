//! How a message is typed so that it arrives as the text it is.

use segue_core::ports::Typing;

/// Something that is there and not seen. Spaces do not help where Codex takes them away first.
const UNSEEN: char = '\u{200b}';

/// A longer paste is shown as a mark, and read as if nothing had been before it.
const LONGEST_SHOWN: usize = 1000;

/// Says how a message is typed, and as what it will be found in the rollout.
pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normal(message);
    let guard = guard(&recorded_as);
    // The space at the end closes the list of files or skills that the last word may have opened:
    // Enter would choose from it.
    let text = format!("{guard}{recorded_as} ");
    Typing { text, recorded_as }
}

/// Returns what keeps the beginning of a text from being a command of Codex or of the shell.
fn guard(text: &str) -> String {
    match text.chars().next() {
        Some('!') => UNSEEN.to_string(),
        Some('/') if text.chars().count() + 2 > LONGEST_SHOWN => UNSEEN.to_string(),
        Some('/') => " ".to_owned(),
        _ => String::new(),
    }
}

/// Returns a text as both a message and what became of it in a rollout are compared: Codex takes
/// away what is around it, and what no keyboard can type.
pub(super) fn normal(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines = lines.trim().trim_start_matches(UNSEEN);
    let typed = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    lines.chars().filter(typed).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_command_is_typed_as_text() {
        let typed = |text: &str| typing(text).text;
        assert_eq!(typed("hello"), "hello ");
        assert_eq!(typed("/quit"), " /quit ");
        assert_eq!(typed("!ls"), "\u{200b}!ls ");
        assert_eq!(typed("  !ls"), "\u{200b}!ls ");
        for plain in ["#tag", "?", "-x", "@file", "$skill", "a\tb\n\tc", "ünï 🎉"] {
            assert_eq!(typed(plain), format!("{plain} "));
        }
        let long = format!("/{}", "x".repeat(1500));
        assert!(typed(&long).starts_with("\u{200b}/x"));
    }

    #[test]
    fn a_message_is_found_again_as_codex_records_it() {
        for (message, recorded) in [
            ("  lead and trail  ", "lead and trail"),
            ("\n\nlines around\n\n", "lines around"),
            ("crlf\r\nhere", "crlf\nhere"),
            ("a\rb", "a\nb"),
            ("/status", "/status"),
            ("!ls", "\u{200b}!ls"),
            ("bell\u{7}", "bell"),
        ] {
            assert_eq!(typing(message).recorded_as, normal(recorded), "{message:?}");
        }
    }
}
