//! What stands around a name.

use std::sync::LazyLock;

use regex::Regex;

/// At most this many bytes before a name are looked at.
const REACH: usize = 320;

/// Words beside which a short name means a password.
#[expect(clippy::unwrap_used, reason = "the pattern is the same every time, and tests compile it")]
static USER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u)(?i:user|login|\buid\b|e-?mail|\bhost|account|\bname)[A-Za-z_]*\\*[\x22']?[ \t]*[:=]")
        .unwrap()
});

/// What comes before the password in a file of logins.
#[expect(clippy::unwrap_used, reason = "the pattern is the same every time, and tests compile it")]
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    let blank = r"(?:[ \t\r\n]|\\+[nrt])+";
    let word = r"[^\s\\]+";
    let more = format!("(?:(?:login|account|port){blank}{word}{blank})*");
    Regex::new(&format!(r"(?:machine{blank}{word}|default){blank}{more}$")).unwrap()
});

fn before(text: &str, at: usize) -> &str {
    let from = text.floor_char_boundary(at.saturating_sub(REACH));
    &text[from..at]
}

/// Tells whether a user is named shortly before this place.
pub(super) fn has_user(text: &str, at: usize) -> bool {
    let before = before(text, at);
    let near = before.floor_char_boundary(before.len().saturating_sub(REACH / 2));
    USER.is_match(&before[near..])
}

/// Tells whether the password of a file of logins comes next.
pub(super) fn is_login(text: &str, at: usize) -> bool {
    LOGIN.is_match(before(text, at))
}

/// Tells whether the name is the first word of its line but for marks of lists and changes.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    let before = before(text, at);
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    line.bytes().all(|byte| b" \t-+#>\x22'".contains(&byte))
}

/// Tells whether a statement that sets a variable comes before the name: `ENV NAME value`.
pub(super) fn is_variable_statement(text: &str, at: usize) -> bool {
    let before = before(text, at);
    let words =
        ["ENV ", "ARG ", "SetEnv ", "setenv ", "setx ", "set -gx ", "set -x ", "config set "];
    words.iter().any(|word| before.ends_with(word))
        || before.rsplit('\n').next().is_some_and(|line| line.contains("config set "))
}

/// Tells whether the name is the first argument of a call that reads or sets a variable.
pub(super) fn is_lookup(text: &str, at: usize) -> bool {
    let before = before(text, at).trim_end_matches(['"', '\'', '\\']);
    let calls = ["env(", "Env(", "environ.get(", "environ.setdefault(", "ENV.fetch(", "define("];
    calls.iter().any(|call| before.ends_with(call))
}

/// Tells whether this is a line of a section of a file of settings: above it are only such lines
/// up to the section's heading.
pub(super) fn is_in_section(text: &str, at: usize) -> bool {
    let lines = before(text, at).replace("\\\\n", "\n").replace("\\n", "\n");
    let mut lines = lines.rsplit('\n').map(str::trim);
    let own = lines.next().unwrap_or_default();
    if !own.is_empty() {
        return false;
    }
    for line in lines {
        let is_heading = line.starts_with('[') && line.ends_with(']');
        let is_setting = line.is_empty()
            || line.starts_with(['#', ';'])
            || line.contains('=') && !line.ends_with([';', '{', '(', ','])
            || line.contains(": ");
        if is_heading {
            return true;
        }
        if !is_setting {
            return false;
        }
    }
    false
}
