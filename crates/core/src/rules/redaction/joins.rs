//! The separator between a name and its value.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::values::{opening_quote, quoted_length};

/// Blanks around the separator between a name and its value.
const BLANKS: [char; 2] = [' ', '\t'];
/// The value begins at most this many bytes after its name.
const MAX_GAP_BYTES: usize = 96;

/// The separator between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// `NAME=value`.
    Tight,
    /// `name: value`.
    Colon,
    /// `name = value`.
    Loose,
    /// `--name value`.
    Flag,
    /// `<name>value</name>`.
    Element,
    /// `"name", "value"`.
    Comma,
    /// `name || "value"`.
    Or,
    /// `name("value")`.
    Call,
}

/// Where the value of a name begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    pub(super) join: Join,
    pub(super) start: usize,
    pub(super) is_name_quoted: bool,
}

/// Matches a name and its value in two fields, such as `name: X` and `value: Y` in the next line,
/// or in two XML elements.
#[expect(clippy::unwrap_used, reason = "the pattern is constant, and tests compile it")]
static FIELDS: LazyLock<Regex> = LazyLock::new(|| {
    let quote = r"(?:\\*[\x22'])?";
    let blank = r"(?:[ \t\r\n]|\\+[nrt])*";
    let field = format!(r"{quote},?{blank}(?:- )?{quote}(?i:value|val|content|default){quote}");
    let value = format!(r"{field}[ \t]*[:=][ \t]*");
    let element = format!(r"</(?i:key|name)>{blank}<(?i:string|value)>");
    Regex::new(&format!("(?-u)^(?:({value})|({element}))")).unwrap()
});

/// Matches the words between a name and its value in prose.
#[expect(clippy::unwrap_used, reason = "the pattern is constant, and tests compile it")]
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let verb = r"(?:(?:is|was|has been|will be|should be)(?: now| set to| changed to| reset to)?|to|=|:|as|set to|changed to|reset to)";
    Regex::new(&format!(r"(?-u)^[\x60\x22']?[ \t]+(?i:({verb}):?[ \t]+)?\(?")).unwrap()
});

/// Returns the separator after a name and where the value begins. `None` if there is no separator.
pub(super) fn joined(text: &str, name: &Range<usize>) -> Option<Joined> {
    let after = &text[name.end..];
    let mut rest = after;
    // A name in backticks is only mentioned.
    let is_mentioned = rest.starts_with('`');
    rest = opening_quote(rest).map_or(rest, |quote| &rest[quote.len()..]);
    let is_name_quoted = rest.len() < after.len() && !is_mentioned;
    rest = rest.strip_prefix(']').unwrap_or(rest);
    let trimmed = rest.trim_start_matches(BLANKS);
    let blanks = rest.len() - trimmed.len();
    let at = |rest: &str| text.len() - rest.len();
    let found = |join, start| Some(Joined { join, start, is_name_quoted });
    if trimmed.starts_with("==") || trimmed.starts_with("::") || trimmed.starts_with("=~") {
        return None;
    }
    for sign in [":=", "=>", "=", ":"] {
        let Some(value) = trimmed.strip_prefix(sign) else {
            continue;
        };
        let start = value.trim_start_matches(BLANKS);
        let is_tight = sign == "=" && blanks == 0 && start.len() == value.len();
        let typed = after_type(start).filter(|_| sign == ":");
        let is_flag = is_tight && text[name.clone()].starts_with('-');
        let join = match typed {
            None if is_flag => Join::Flag,
            None if is_tight => Join::Tight,
            None if sign == ":" && !is_mentioned => Join::Colon,
            None | Some(_) => Join::Loose,
        };
        let start = typed.or_else(|| after_line_break(start, sign)).unwrap_or(start);
        return found(join, at(start));
    }
    for (sign, join) in [("||", Join::Or), ("??", Join::Or), ("(", Join::Call)] {
        let value = trimmed.strip_prefix(sign).map(|value| value.trim_start_matches(BLANKS));
        if let Some(value) = value.filter(|value| opening_quote(value).is_some()) {
            return found(join, at(value));
        }
    }
    if text[name.clone()].starts_with('-') && blanks > 0 {
        return found(Join::Flag, at(trimmed));
    }
    if rest.starts_with('>') && is_element(text, name.start) {
        return found(Join::Element, at(&rest[1..]));
    }
    if let Some(fields) = FIELDS.captures(&after[..after.floor_char_boundary(MAX_GAP_BYTES)]) {
        let join = if fields.get(2).is_some() { Join::Element } else { Join::Colon };
        return Some(Joined { join, start: name.end + fields[0].len(), is_name_quoted: true });
    }
    let value = trimmed.strip_prefix(',').map(|value| value.trim_start_matches(BLANKS));
    let value = value.filter(|value| is_name_quoted && opening_quote(value).is_some())?;
    found(Join::Comma, at(value))
}

fn is_element(text: &str, at: usize) -> bool {
    let from = text.floor_char_boundary(at.saturating_sub(MAX_GAP_BYTES));
    let before = &text[from..at];
    before.ends_with('<')
        || before.rsplit_once('<').is_some_and(|(_, inside)| {
            inside.len() < 64 && !inside.contains('>') && inside.contains(['=', ':'])
        })
}

/// Returns the text after the type of a variable, as in `password: &str = "…"`.
fn after_type(value: &str) -> Option<&str> {
    let is_of_type = |letter: char| letter.is_ascii_alphanumeric() || "_&':<>? ".contains(letter);
    let length = value.bytes().take(48).take_while(|byte| is_of_type(char::from(*byte))).count();
    let (kind, rest) = value.split_at(length);
    rest.strip_prefix("= ").filter(|_| kind.len() > 1 && kind.ends_with(' '))
}

/// Returns a value that begins on the next line: a block of YAML, or a string.
fn after_line_break<'a>(value: &'a str, sign: &str) -> Option<&'a str> {
    let folded = value.strip_prefix(['|', '>']).filter(|_| sign == ":");
    let rest = folded.unwrap_or(value).trim_start_matches(['-', '+']);
    let line = after_line_end(rest)?;
    let start = line.trim_start_matches(BLANKS);
    let is_inside = start.len() < line.len();
    (is_inside && (folded.is_some() || opening_quote(start).is_some())).then_some(start)
}

/// Returns the text after a line break, which can be escaped as in strings of programs.
fn after_line_end(text: &str) -> Option<&str> {
    let plain = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'));
    plain.or_else(|| {
        let rest = text.trim_start_matches('\\');
        let escaped = rest.strip_prefix('r').map_or(rest, |rest| rest.trim_start_matches('\\'));
        escaped.strip_prefix('n').filter(|_| rest.len() < text.len())
    })
}

/// Where a value begins that follows its name without a separator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    pub(super) at: usize,
    /// Whether a word such as `is` is between them.
    pub(super) is_verb: bool,
}

/// Returns where the value begins after a blank, or after words such as `is`.
pub(super) fn after_words(text: &str, at: usize) -> Option<Beside> {
    let rest = &text[at..];
    let found = WORDS.captures(&rest[..rest.floor_char_boundary(MAX_GAP_BYTES)])?;
    Some(Beside { at: at + found[0].len(), is_verb: found.get(1).is_some() })
}

/// Returns the opening quote of a string and its length. Three quotes count as one.
pub(super) fn opening<'a>(text: &'a str, quote: &'a str) -> (&'a str, usize) {
    let triple = quote.repeat(3);
    let is_triple = text.starts_with(&triple);
    if is_triple { (&text[..triple.len()], triple.len()) } else { (quote, quote.len()) }
}

/// Returns the length of the text between this opening quote and its end.
pub(super) fn closing(text: &str, quote: &str) -> usize {
    let is_triple = quote.len() >= 3 && !quote.starts_with('\\');
    let end = text.find(quote).filter(|_| is_triple);
    let single = if is_triple { &quote[..1] } else { quote };
    end.unwrap_or_else(|| quoted_length(text, single))
}
