//! Operating system commands: titles, colours, links, the clipboard, notifications.

use super::{Effects, VirtualTerminal, queries};

/// The maximum length of a title. Some agents put a whole prompt there.
const MAX_TITLE_CHARS: usize = 512;

impl VirtualTerminal {
    /// Executes `ESC ] …`.
    pub(super) fn command(&mut self, bytes: &[u8], effects: &mut Effects) {
        let (body, terminator) = split(bytes);
        let (number, rest) = match body.iter().position(|byte| *byte == b';') {
            Some(at) => (&body[..at], &body[at + 1..]),
            None => (body, &[][..]),
        };
        match number {
            b"0" | b"2" => self.set_title(readable(rest), effects),
            b"4" => queries::answer_palette(rest, terminator, effects),
            b"10" | b"11" | b"12" => queries::answer_colours(number, rest, terminator, effects),
            // A progress bar would stay on the user's terminal after a detach. So it is not shown.
            b"9" if rest.starts_with(b"4;") => {}
            // An agent may not read the user's clipboard.
            b"52" if rest.ends_with(b";?") => {}
            b"8" | b"9" | b"52" | b"99" | b"777" => effects.show(&passed_on(bytes)),
            _ => {}
        }
    }

    pub(super) fn set_title(&mut self, title: String, effects: &mut Effects) {
        effects.show(format!("\x1b]2;{title}\x1b\\").as_bytes());
        if self.title != title {
            effects.retitle(&title);
            self.title = title;
        }
    }
}

/// Returns the text between `ESC ]` and the terminator, and the terminator.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let body = bytes.get(2..).unwrap_or_default();
    match body {
        [rest @ .., 0x1b, b'\\'] => (rest, b"\x1b\\"),
        [rest @ .., 0x07] => (rest, b"\x07"),
        _ => (body, b"\x07"),
    }
}

/// Returns text without control characters, cut to the maximum length of a title.
fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .filter(|character| !character.is_control())
        .take(MAX_TITLE_CHARS)
        .collect()
}

/// Returns the command without control characters, because some terminals execute them even there.
fn passed_on(bytes: &[u8]) -> Vec<u8> {
    let (body, _) = split(bytes);
    let text = String::from_utf8_lossy(body);
    let text: String = text.chars().filter(|character| !character.is_control()).collect();
    format!("\x1b]{text}\x1b\\").into_bytes()
}
