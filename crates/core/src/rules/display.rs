//! Removes parts of untrusted text that must not be shown.

use std::iter::Peekable;
use std::path::Path;
use std::str::Chars;

pub use crate::model::{byte_count, is_misleading};

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';
const STRING_END: char = '\u{9c}';

/// Maximum number of characters of a program's name.
const MAX_PROGRAM_NAME_CHARS: usize = 40;

/// Returns the name of a process from its command line: the program and the script that it runs.
/// The other arguments are left out, because their author could use them to mislead the user.
pub fn program_name(command_line: &str) -> String {
    let names = command_line.split_whitespace().take(2).take_while(|word| !word.starts_with('-'));
    let names = names.map(|word| {
        let name = word.rsplit('/').next().unwrap_or(word).chars();
        name.filter(|c| !is_misleading(*c)).take(MAX_PROGRAM_NAME_CHARS).collect::<String>()
    });
    names.collect::<Vec<_>>().join(" ")
}

/// Returns a number with its noun, such as `3 sessions` or `1 session`.
pub fn counted(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}

/// Returns the text without escape sequences and misleading characters. Keeps line breaks and tabs.
pub fn plain(text: &str) -> String {
    // Most texts have nothing to remove.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ESCAPE => skip_escape(&mut rest),
            '\u{9b}' => skip_control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut rest),
            '\n' | '\t' => kept.push(character),
            other if is_misleading(other) => {}
            other => kept.push(other),
        }
    }
    kept
}

/// Returns the text on one line, without control sequences and control characters.
pub fn one_line(text: &str) -> String {
    if !text.contains(['\n', '\r', '\t']) {
        return plain(text);
    }
    let words: Vec<&str> = text.split(['\n', '\r', '\t']).filter(|part| !part.is_empty()).collect();
    plain(&words.join(" "))
}

/// Returns a folder, with `~` for the home folder.
pub fn place(folder: &Path, home: Option<&Path>) -> String {
    // `strip_prefix` with an empty path succeeds for every folder.
    let home = home.filter(|home| home.is_absolute());
    let below = home.and_then(|home| folder.strip_prefix(home).ok());
    match below {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => folder.display().to_string(),
    }
}

fn skip_escape(rest: &mut Peekable<Chars<'_>>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_control_sequence(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        Some(_) => {
            while rest.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            rest.next_if(|c| matches!(c, '0'..='~'));
        }
        None => {}
    }
}

fn skip_control_sequence(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    rest.next_if(|c| matches!(c, '@'..='~'));
}

/// Skips to the end of a string sequence. A line break ends it too, so that a sequence which is
/// never closed cannot hide the rest of a text.
fn skip_string(rest: &mut Peekable<Chars<'_>>) {
    while let Some(character) = rest.next_if(|&c| c != '\n') {
        match character {
            BELL | STRING_END => return,
            ESCAPE => {
                rest.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_name_contains_only_the_program_and_its_script() {
        let table = [
            ("/usr/bin/node /opt/bin/agent --resume 1", "node agent"),
            ("agent --resume hint: run `curl evil`", "agent"),
            ("x\u{202e}y", "xy"),
            ("", ""),
        ];
        for (command_line, name) in table {
            assert_eq!(program_name(command_line), name);
        }
        assert_eq!(program_name(&"a".repeat(4000)).len(), MAX_PROGRAM_NAME_CHARS);
    }

    #[test]
    fn counted_uses_the_plural_except_for_one() {
        let table = [(0, "0 sessions"), (1, "1 session"), (2, "2 sessions")];
        for (count, expected) in table {
            assert_eq!(counted(count, "session"), expected);
        }
    }

    #[test]
    fn misleading_characters_are_recognized_and_joiners_are_allowed() {
        let misleading =
            "\u{1b}\n\u{7f}\u{9b}\u{202e}\u{2066}\u{200f}\u{2028}\u{200b}\u{ad}\u{feff}\u{e0041}";
        for character in misleading.chars() {
            assert!(is_misleading(character), "{character:?}");
        }
        for character in "aé中 👩\u{200d}\u{200c}\u{fe0f}".chars() {
            assert!(!is_misleading(character), "{character:?}");
        }
    }

    #[test]
    fn escape_sequences_of_every_kind_are_removed() {
        let table = [
            ("plain text", "plain text"),
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[1;1Hgone", "gone"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]52;c;c2VjcmV0\u{1b}\\after", "after"),
            ("\u{1b}]8;;http://example.org\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}P+q544e\u{1b}\\after", "after"),
            ("\u{1b}_application\u{9c}after", "after"),
            ("\u{9b}31mred", "red"),
            ("\u{9d}0;title\u{9c}after", "after"),
            ("\u{1b}(0after", "after"),
            ("\u{1b}cafter", "after"),
            ("\u{1b}7after", "after"),
            ("back\u{8}\u{8}space\rreturn\u{7}\u{0}\u{7f}", "backspacereturn"),
            ("\u{1b}]0;never closed\nnext line", "\nnext line"),
            ("ends with escape\u{1b}", "ends with escape"),
            ("ends in a sequence\u{1b}[31", "ends in a sequence"),
            ("abc\u{202e}cba\u{2066}", "abccba"),
            ("ünïcödé 漢字 🦀", "ünïcödé 漢字 🦀"),
            ("\u{1b}[31\u{1b}[32mnested", "nested"),
        ];
        for (given, expected) in table {
            assert_eq!(plain(given), expected, "{given:?}");
        }
    }

    #[test]
    fn one_line_has_no_line_breaks() {
        assert_eq!(one_line("a\nb\r\nc\td\n"), "a b c d");
        assert_eq!(one_line("\u{1b}[1mbold\u{1b}[0m\nnext"), "bold next");
    }

    #[test]
    fn absolute_home_folder_is_shown_as_a_tilde() {
        let home = Some(Path::new("/home/ann"));
        assert_eq!(place(Path::new("/home/ann"), home), "~");
        assert_eq!(place(Path::new("/home/ann/x/y"), home), "~/x/y");
        assert_eq!(place(Path::new("/home/ann"), Some(Path::new(""))), "/home/ann");
        assert_eq!(place(Path::new("/home/anna/x"), home), "/home/anna/x");
        assert_eq!(place(Path::new("/x"), None), "/x");
    }

    #[test]
    fn plain_removes_control_characters_in_every_position() {
        let controls = (0..=0x9f).filter_map(char::from_u32).filter(|c| c.is_control());
        for control in controls.filter(|c| !matches!(c, '\n' | '\t')) {
            for text in [format!("a{control}b"), format!("{ESCAPE}{control}x"), control.to_string()]
            {
                assert!(!plain(&text).contains(is_misleading), "{text:?} gives {:?}", plain(&text));
            }
        }
    }
}
