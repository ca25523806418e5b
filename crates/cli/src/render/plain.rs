//! Takes the power over a terminal out of text that somebody else wrote.

use std::iter::Peekable;
use std::str::Chars;

use segue_core::rules::display::is_misleading;

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';
const STRING_END: char = '\u{9c}';

/// Returns the text without control sequences and control characters; line breaks and tabs stay.
pub(crate) fn plain(text: &str) -> String {
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
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(['\n', '\r', '\t']).filter(|part| !part.is_empty()).collect();
    plain(&words.join(" "))
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
    fn sequences_of_every_kind_are_taken_out() {
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
    fn no_control_character_survives_in_any_place() {
        let controls = (0..=0x9f).filter_map(char::from_u32).filter(|c| c.is_control());
        for control in controls.filter(|c| !matches!(c, '\n' | '\t')) {
            for text in [format!("a{control}b"), format!("{ESCAPE}{control}x"), control.to_string()]
            {
                assert!(!plain(&text).contains(is_misleading), "{text:?} gives {:?}", plain(&text));
            }
        }
    }

    #[test]
    fn one_line_has_no_line_breaks() {
        assert_eq!(one_line("a\nb\r\nc\td\n"), "a b c d");
        assert_eq!(one_line("\u{1b}[1mbold\u{1b}[0m\nnext"), "bold next");
    }
}
