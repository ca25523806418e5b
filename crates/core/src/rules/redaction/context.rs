//! The text around a name.

use std::sync::LazyLock;

use regex::Regex;

/// At most this many bytes before a name are checked.
const MAX_CONTEXT_BYTES: usize = 320;

/// Matches the name of a user before a value. Near it, a short name such as `pass` is the name of a
/// password.
#[expect(clippy::unwrap_used, reason = "the pattern is constant, and tests compile it")]
static USER_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u)(?i:user|login|\buid\b|e-?mail|\bhost|account|\bname)[A-Za-z_]*\\*[\x22']?[ \t]*[:=]")
        .unwrap()
});

/// Matches the text before the password in a login file such as `.netrc`.
#[expect(clippy::unwrap_used, reason = "the pattern is constant, and tests compile it")]
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    let blank = r"(?:[ \t\r\n]|\\+[nrt])+";
    let word = r"[^\s\\]+";
    let more = format!("(?:(?:login|account|port){blank}{word}{blank})*");
    Regex::new(&format!(r"(?:machine{blank}{word}|default){blank}{more}$")).unwrap()
});

fn text_before(text: &str, at: usize) -> &str {
    let from = text.floor_char_boundary(at.saturating_sub(MAX_CONTEXT_BYTES));
    &text[from..at]
}

/// Returns whether a user is named shortly before this offset.
pub(super) fn has_user(text: &str, at: usize) -> bool {
    let before = text_before(text, at);
    let near = before.floor_char_boundary(before.len().saturating_sub(MAX_CONTEXT_BYTES / 2));
    USER_NAME.is_match(&before[near..])
}

/// Returns whether the password of a login file such as `.netrc` comes next.
pub(super) fn is_login(text: &str, at: usize) -> bool {
    LOGIN.is_match(text_before(text, at))
}

/// Returns whether the name is the first word of its line, apart from marks of lists and diffs.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    let before = text_before(text, at);
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    line.bytes().all(|byte| b" \t-+#>\x22'".contains(&byte))
}

/// Returns whether a statement that sets a variable comes before the name, as in `ENV NAME value`.
pub(super) fn is_variable_statement(text: &str, at: usize) -> bool {
    let before = text_before(text, at);
    let words =
        ["ENV ", "ARG ", "SetEnv ", "setenv ", "setx ", "set -gx ", "set -x ", "config set "];
    words.iter().any(|word| before.ends_with(word))
        || before.rsplit('\n').next().is_some_and(|line| line.contains("config set "))
}

/// Returns whether the name is the first argument of a call that reads or sets a variable.
pub(super) fn is_lookup(text: &str, at: usize) -> bool {
    let before = text_before(text, at).trim_end_matches(['"', '\'', '\\']);
    let calls = ["env(", "Env(", "environ.get(", "environ.setdefault(", "ENV.fetch(", "define("];
    calls.iter().any(|call| before.ends_with(call))
}

/// Returns whether this is a line in a section of a settings file: only settings are between it and
/// the heading of the section.
pub(super) fn is_in_section(text: &str, at: usize) -> bool {
    let lines = text_before(text, at).replace("\\\\n", "\n").replace("\\n", "\n");
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
