//! How a message is typed so that it arrives as the text it is, and stays.

use segue_core::ports::Typing;

use super::records;

/// Something that is there and not seen. Spaces do not help: Gemini takes them away first.
const UNSEEN: char = '\u{200b}';

/// Says how a message is typed, and as what it will be found in the transcript.
pub(super) fn typing(message: &str) -> Typing {
    let recorded_as = normal(message);
    // The space at the end closes the list of files that the last word may have opened, and keeps a
    // backslash from making a new line of Enter.
    let text = format!("{} ", guarded(&recorded_as));
    Typing { text, recorded_as }
}

/// Puts something before a text that would not be taken as one: `/` begins a command, `!` one of
/// the shell, and what begins with `/` or `?` is forgotten at the next resume.
pub(super) fn guarded(text: &str) -> String {
    let text = text.trim();
    let guard = if text.starts_with(['/', '?', '!']) { UNSEEN.to_string() } else { String::new() };
    guard + text
}

/// Puts something before a text of a user that would be forgotten at a resume, or taken for an
/// addition.
pub(super) fn kept(text: &str) -> String {
    let begin = text.trim_start();
    let is_lost = begin.starts_with(['/', '?', UNSEEN]) || records::is_addition(begin);
    if is_lost { format!("{UNSEEN}{text}") } else { text.to_owned() }
}

/// Returns a text without what was put before it.
pub(super) fn seen(text: &str) -> &str {
    text.strip_prefix(UNSEEN).unwrap_or(text)
}

/// Returns a text as both a message and what became of it in a transcript are compared: Gemini
/// takes away what is around it, and what no keyboard can type.
pub(super) fn normal(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    let lines = lines.trim().trim_start_matches(UNSEEN);
    let typed = |c: &char| !c.is_control() || *c == '\n';
    lines.chars().filter(typed).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_command_or_forgotten_is_typed_as_text() {
        let typed = |text: &str| typing(text).text;
        assert_eq!(typed("hello"), "hello ");
        for begin in ["/quit", "!ls", "?what"] {
            assert_eq!(typed(begin), format!("\u{200b}{begin} "));
            assert_eq!(typed(&format!("  {begin}")), format!("\u{200b}{begin} "));
        }
        for plain in ["#tag", "-x", "@file", "ünï 🎉", "a\nb"] {
            assert_eq!(typed(plain), format!("{plain} "));
        }
    }

    #[test]
    fn a_message_is_found_again_as_gemini_records_it() {
        for (message, recorded) in [
            ("  lead and trail  ", "lead and trail"),
            ("crlf\r\nhere", "crlf\nhere"),
            ("/status", "\u{200b}/status"),
            ("?", "\u{200b}?"),
            ("bell\u{7}", "bell"),
        ] {
            assert_eq!(typing(message).recorded_as, normal(recorded), "{message:?}");
        }
    }
}
