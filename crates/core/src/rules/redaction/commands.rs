//! Passwords on command lines, after flags whose names do not indicate a password.

use std::ops::Range;

use super::headers;
use super::values::{is_placeholder, opening_quote, quoted_length};

/// At most this many bytes of a command line are checked.
const MAX_COMMAND_BYTES: usize = 2 * 1024;
/// At most this many bytes of a word are checked, if the word begins within [`MAX_COMMAND_BYTES`].
/// Some passwords are tokens of several kilobytes.
const MAX_WORD_BYTES: usize = 16 * 1024;
/// At most this many words of a command line are checked.
const MAX_WORDS: usize = 64;

/// How a password follows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `-u user:password`.
    Pair,
    /// `-p password`.
    Word,
    /// `-ppassword`.
    Attached,
    /// `-U user%password`.
    Percent,
    /// `-u user,password`.
    Comma,
    /// `-b name=value`.
    Cookie,
    /// `-passin pass:password`.
    Prefixed,
    /// `user/password` or `user/password@place`, without a flag.
    Slash,
    /// The word with this number, counted from 1, among the words that are not flags.
    Nth(usize),
}

/// A program and its flags that take a password.
struct PasswordProgram {
    name: &'static str,
    flags: &'static [(&'static str, Form)],
}

const fn program(name: &'static str, flags: &'static [(&'static str, Form)]) -> PasswordProgram {
    PasswordProgram { name, flags }
}

const PROGRAMS: &[PasswordProgram] = &[
    program(
        "curl",
        &[
            ("-u", Form::Pair),
            ("--user", Form::Pair),
            ("-U", Form::Pair),
            ("--proxy-user", Form::Pair),
            ("-b", Form::Cookie),
            ("--cookie", Form::Cookie),
        ],
    ),
    program("xh", &[("-a", Form::Pair), ("--auth", Form::Pair)]),
    program("http", &[("-a", Form::Pair), ("--auth", Form::Pair)]),
    program("https", &[("-a", Form::Pair), ("--auth", Form::Pair)]),
    program("mysql", &[("-p", Form::Attached)]),
    program("mysqldump", &[("-p", Form::Attached)]),
    program("mysqladmin", &[("-p", Form::Attached)]),
    program("mysqlimport", &[("-p", Form::Attached)]),
    program("mariadb", &[("-p", Form::Attached)]),
    program("mariadb-dump", &[("-p", Form::Attached)]),
    program("mongo", &[("-p", Form::Word)]),
    program("mongosh", &[("-p", Form::Word)]),
    program("mongodump", &[("-p", Form::Word)]),
    program("mongorestore", &[("-p", Form::Word)]),
    program("redis-cli", &[("-a", Form::Word), ("--pass", Form::Word)]),
    program("valkey-cli", &[("-a", Form::Word), ("--pass", Form::Word)]),
    program("sshpass", &[("-p", Form::Word), ("-p", Form::Attached)]),
    program("docker login", &[("-p", Form::Word)]),
    program("podman login", &[("-p", Form::Word)]),
    program("helm registry login", &[("-p", Form::Word)]),
    program("oc login", &[("-p", Form::Word)]),
    program("az login", &[("-p", Form::Word)]),
    program("cqlsh", &[("-p", Form::Word)]),
    program("clickhouse-client", &[("--password", Form::Word)]),
    program("sqlcmd", &[("-P", Form::Word), ("-P", Form::Attached)]),
    program("bcp", &[("-P", Form::Word), ("-P", Form::Attached)]),
    program("mosquitto_pub", &[("-P", Form::Word)]),
    program("mosquitto_sub", &[("-P", Form::Word)]),
    program("ipmitool", &[("-P", Form::Word)]),
    program("ldapsearch", &[("-w", Form::Word)]),
    program("ldapadd", &[("-w", Form::Word)]),
    program("ldapmodify", &[("-w", Form::Word)]),
    program("smbclient", &[("-U", Form::Percent)]),
    program("rpcclient", &[("-U", Form::Percent)]),
    program("7z", &[("-p", Form::Attached)]),
    program("7za", &[("-p", Form::Attached)]),
    program("unrar", &[("-p", Form::Attached)]),
    program("zip", &[("-P", Form::Word)]),
    program("unzip", &[("-P", Form::Word)]),
    program(
        "openssl",
        &[
            ("-passin", Form::Prefixed),
            ("-passout", Form::Prefixed),
            ("-pass", Form::Prefixed),
            ("-k", Form::Word),
            ("-K", Form::Word),
        ],
    ),
    program("ssh-keygen", &[("-N", Form::Word), ("-P", Form::Word)]),
    program("keytool", &[("-storepass", Form::Word), ("-keypass", Form::Word)]),
    program("jarsigner", &[("-storepass", Form::Word), ("-keypass", Form::Word)]),
    program("lftp", &[("-u", Form::Comma), ("-u", Form::Pair)]),
    program("plink", &[("-pw", Form::Word)]),
    program("pscp", &[("-pw", Form::Word)]),
    program("psftp", &[("-pw", Form::Word)]),
    program("twine upload", &[("-p", Form::Word)]),
    program("az acr login", &[("-p", Form::Word)]),
    program("sqlplus", &[("", Form::Slash)]),
    program("htpasswd", &[("", Form::Nth(3))]),
    program("add_user", &[("", Form::Nth(2))]),
    program("change_password", &[("", Form::Nth(2))]),
    program("xfreerdp", &[("/p:", Form::Attached)]),
    program("snmpwalk", &[("-A", Form::Word), ("-X", Form::Word)]),
    program("nmcli", &[("password", Form::Word)]),
    program("wpa_passphrase", &[("", Form::Nth(2))]),
    program("influx", &[("-password", Form::Word), ("-t", Form::Word)]),
    program("vault login", &[("", Form::Nth(1))]),
    program("fly auth token", &[("", Form::Nth(1))]),
];

/// Programs that read a password from a pipe.
pub(super) const PASSWORD_READERS: [&str; 4] =
    ["sudo -S", "--password-stdin", "chpasswd", "passwd --stdin"];

/// Returns the names of all programs.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|program| program.name)
}

/// Returns the passwords of the command whose program name is at `name`.
pub(super) fn passwords(text: &str, name: &Range<usize>) -> Vec<Range<usize>> {
    let Some(program) = PROGRAMS.iter().find(|it| it.name == &text[name.clone()]) else {
        return Vec::new();
    };
    let words = words(text, name.end);
    let mut found: Vec<Range<usize>> = Vec::new();
    for (number, word) in words.iter().enumerate() {
        for (flag, form) in program.flags {
            found.extend(value_after_flag(text, (flag, *form), word, words.get(number + 1)));
        }
    }
    for (_, form) in program.flags {
        found.extend(value_without_flag(text, *form, &words));
    }
    found.retain(|range| !is_placeholder(&text[range.clone()], "") && range.len() >= 3);
    found.sort_by_key(|range| range.start);
    found.dedup_by(|next, previous| next.start < previous.end);
    found
}

/// Returns the password that follows this flag in the same word or in the next word.
fn value_after_flag(
    text: &str,
    (flag, form): (&str, Form),
    word: &Range<usize>,
    next: Option<&Range<usize>>,
) -> Option<Range<usize>> {
    let rest = text[word.clone()].strip_prefix(flag).filter(|_| !flag.is_empty())?;
    let attached = word.end - rest.len()..word.end;
    let value = match form {
        Form::Attached if rest.is_empty() || rest.starts_with('-') => return None,
        Form::Attached => return Some(inside_quotes(text, attached)),
        _ if rest.is_empty() => next?.clone(),
        _ if flag.starts_with("--") => {
            attached.start + usize::from(rest.starts_with('='))..word.end
        }
        Form::Pair => attached,
        _ => return None,
    };
    let value = inside_quotes(text, value);
    let word = &text[value.clone()];
    match form {
        Form::Pair => after_separator(&value, word, ':'),
        Form::Percent => after_separator(&value, word, '%'),
        Form::Comma => after_separator(&value, word, ','),
        Form::Prefixed => word.starts_with("pass:").then(|| value.start + 5..value.end),
        Form::Cookie => headers::secret_cookies(text, value.start),
        _ if word.starts_with('-') => None,
        _ => Some(value),
    }
}

/// Returns the password of a command that takes it without a flag.
fn value_without_flag(text: &str, form: Form, words: &[Range<usize>]) -> Option<Range<usize>> {
    let mut plain = words.iter().filter(|word| !text[(*word).clone()].starts_with('-'));
    match form {
        Form::Slash => plain.find_map(|word| {
            let word = inside_quotes(text, word.clone());
            let (user, rest) = text[word.clone()].split_once('/')?;
            // `/nolog` and `@folder/script.sql` contain no user.
            let is_user = !user.is_empty() && !user.contains(['@', '.', '~', '$']);
            let password = rest.split('@').next().unwrap_or(rest);
            let start = word.start + user.len() + 1;
            is_user.then_some(start..start + password.len())
        }),
        Form::Nth(count) => plain.nth(count - 1).map(|word| inside_quotes(text, word.clone())),
        _ => None,
    }
}

fn after_separator(value: &Range<usize>, word: &str, separator: char) -> Option<Range<usize>> {
    let (user, password) = word.split_once(separator)?;
    let start = value.start + user.len() + 1;
    // An empty password and the rest of a URL, such as `//host`, are no passwords.
    let is_password = !password.is_empty() && !password.starts_with("//");
    is_password.then_some(start..value.end)
}

fn inside_quotes(text: &str, word: Range<usize>) -> Range<usize> {
    let Some(quote) = opening_quote(&text[word.clone()]) else { return word };
    let start = word.start + quote.len();
    start..start + quoted_length(&text[start..word.end.max(start)], quote)
}

/// Returns the words of the command up to its end. A backslash at the end of a line continues it.
fn words(text: &str, at: usize) -> Vec<Range<usize>> {
    let limit = text.floor_char_boundary((at + MAX_COMMAND_BYTES).min(text.len()));
    let bytes = text.as_bytes();
    let (mut words, mut at) = (Vec::new(), at);
    if bytes.get(at).is_none_or(|byte| !b" \t\\".contains(byte)) {
        return words;
    }
    while at < limit && words.len() < MAX_WORDS {
        let blank = blank_length(&text[at..limit]);
        at += blank;
        let is_end = |byte: &u8| b"\n\r|;&)`".contains(byte);
        if at >= limit || is_end(&bytes[at]) || text[at..].starts_with("\\n") || blank == 0 {
            break;
        }
        let length =
            word_length(&text[at..text.floor_char_boundary((at + MAX_WORD_BYTES).min(text.len()))]);
        if length == 0 {
            break;
        }
        words.push(at..at + length);
        at += length;
    }
    words
}

/// Returns the length of the blanks at the start, including escaped line breaks.
fn blank_length(text: &str) -> usize {
    let breaks = [" ", "\t", "\\\r\n", "\\\n", "\\\\\\r\\n", "\\\\\\n"];
    let mut length = 0;
    while let Some(sign) = breaks.iter().find(|sign| text[length..].starts_with(**sign)) {
        length += sign.len();
    }
    length
}

/// Returns the length of a shell word, including its quoted parts.
fn word_length(text: &str) -> usize {
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if letter.is_ascii_whitespace()
            || "|;&)<>".contains(letter)
            || blank_length(&text[at..]) > 0
        {
            break;
        }
        if let Some(quote) = opening_quote(&text[at..]) {
            let inside = quoted_length(&text[at + quote.len()..], quote);
            let end = at + quote.len() + inside;
            // A quote without an end is the end of the string that contains the command.
            if !text[end..].starts_with(quote) {
                break;
            }
            at = end + quote.len();
            continue;
        }
        if letter == '\\' {
            let is_break = text[at..].starts_with("\\n") || text[at..].starts_with("\\r");
            if is_break {
                break;
            }
        }
        at += letter.len_utf8();
    }
    at
}

/// Returns the text that is printed into a program that reads a password from a pipe. The name of
/// that program is at `at`.
pub(super) fn printed_password(text: &str, at: usize, floor: usize) -> Option<Range<usize>> {
    let from = text.floor_char_boundary(at.saturating_sub(2 * MAX_COMMAND_BYTES).max(floor));
    let line = &text[from.max(floor)..at];
    let line = &line[line.rfind('\n').map_or(0, |place| place + 1)..];
    let pipe = line.rfind('|')?;
    let (place, program) = ["echo ", "printf "]
        .iter()
        .find_map(|program| Some((line[..pipe].rfind(program)?, program)))?;
    let start = at - line.len() + place + program.len();
    let words = words(text, start - 1);
    let value = words.into_iter().find(|word| !text[word.clone()].starts_with(['-', '%']))?;
    let value = inside_quotes(text, value);
    let word = &text[value.clone()];
    let start = word.find(':').map_or(value.start, |colon| value.start + colon + 1);
    (start < value.end && !is_placeholder(&text[start..value.end], "")).then_some(start..value.end)
}
