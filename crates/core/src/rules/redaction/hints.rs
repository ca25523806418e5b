//! Finds the hints to secrets in one pass over the text, and checks each of them.

use std::ops::Range;
use std::sync::LazyLock;

use super::literals::{LetterCase, Literals};
use super::{Secret, addresses, blocks, commands, headers, lines, named, phrases, values};
use crate::rules::shapes::{self, BLOCK_BEGIN, INFIXES, SHAPES};

/// Parts of names that may be names of secrets.
const NAME_PARTS: [&str; 26] = [
    "authorization",
    "bearer",
    "cookie",
    "pass",
    "pwd",
    "psw",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "rootpw",
    "_pw",
    "sessionid",
    "jwt",
    "psk",
    "sig=",
    "sid=",
    "_pat",
    "pat=",
    "pat:",
    "_pin",
    "pin=",
    "otp",
    "salt",
    "bindpw",
];
/// The text after the password in connection strings of Go's MySQL driver.
const DSNS: [&str; 4] = ["@tcp(", "@tcp6(", "@unix(", "@cloudsql("];
/// Ports of databases as in lines of `.pgpass`.
const PORTS: [&str; 4] = [":5432:", ":5433:", ":6432:", ":*:"];
const COOKIE_FILE_FIELDS: [&str; 6] =
    ["\tTRUE\t", "\tFALSE\t", "\\tTRUE\\t", "\\tFALSE\\t", "\\tTRUE\\\\t", "\\tFALSE\\\\t"];
const HASH_PREFIXES: [&str; 11] = [
    "$1$",
    "$5$",
    "$6$",
    "$y$",
    "$2a$",
    "$2b$",
    "$2y$",
    "$apr1$",
    "$argon2id$",
    "$argon2i$",
    "$argon2d$",
];

/// The kind of a hint. It determines how the hint is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Shape,
    Infix,
    Begin,
    End,
    Address,
    Dsn,
    Oracle,
    Bearer,
    Authorization,
    Cookie,
    Name,
    Program,
    Reader,
    Port,
    Tab,
    Hash,
    Phrase,
}

static HINTS: LazyLock<Literals<About>> = LazyLock::new(|| {
    let mut hints = Literals::default();
    SHAPES.iter().for_each(|shape| hints.add(shape.start, LetterCase::Exact, About::Shape));
    INFIXES.iter().for_each(|infix| hints.add(infix.middle, LetterCase::Exact, About::Infix));
    hints.add(BLOCK_BEGIN, LetterCase::Exact, About::Begin);
    hints.add(blocks::END, LetterCase::Exact, About::End);
    hints.add("://", LetterCase::Exact, About::Address);
    DSNS.iter().for_each(|it| hints.add(it, LetterCase::Exact, About::Dsn));
    hints.add("jdbc:oracle:", LetterCase::Exact, About::Oracle);
    commands::names().for_each(|name| hints.add(name, LetterCase::Exact, About::Program));
    commands::PASSWORD_READERS
        .iter()
        .for_each(|it| hints.add(it, LetterCase::Exact, About::Reader));
    PORTS.iter().for_each(|it| hints.add(it, LetterCase::Exact, About::Port));
    COOKIE_FILE_FIELDS.iter().for_each(|it| hints.add(it, LetterCase::Exact, About::Tab));
    HASH_PREFIXES.iter().for_each(|it| hints.add(it, LetterCase::Exact, About::Hash));
    phrases::all().for_each(|it| hints.add(&it, LetterCase::Any, About::Phrase));
    hints.add("bearer", LetterCase::Any, About::Bearer);
    hints.add("authorization", LetterCase::Any, About::Authorization);
    hints.add("cookie", LetterCase::Any, About::Cookie);
    NAME_PARTS.iter().for_each(|it| hints.add(it, LetterCase::Any, About::Name));
    hints
});

/// Finds secrets by the text around them and by their prefixes.
pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    let mut from = 0;
    while let Some(at) = HINTS.next(text, from) {
        let floor = found.last().map_or(0, |secret| secret.range.end);
        let count = found.len();
        for (length, about) in HINTS.at(text, at) {
            check_hint(text, at..at + length, *about, (floor, found));
            if found.len() > count {
                break;
            }
        }
        let end = found.last().filter(|_| found.len() > count).map(|secret| secret.range.end);
        from = end.unwrap_or(at + 1).max(at + 1);
    }
}

/// Checks a hint. A secret that begins before `floor` is not reported again.
fn check_hint(
    text: &str,
    hint: Range<usize>,
    about: About,
    (floor, found): (usize, &mut Vec<Secret>),
) {
    let (start, end) = (hint.start, hint.end);
    let secret = match about {
        About::Shape => find_shape(text, start),
        About::Infix => {
            shapes::around(text, start, floor).map(|(range, kind)| Secret { range, kind })
        }
        About::Begin => Secret::of("private-key", blocks::private_key(text, start)),
        About::End => Secret::of("private-key", blocks::rest_of_key(text, start, floor)),
        About::Address => Secret::of("password-in-url", addresses::password_of_url(text, end)),
        About::Dsn => Secret::of("password-in-url", addresses::password_of_dsn(text, start, floor)),
        About::Oracle => Secret::of("password-in-url", addresses::password_of_oracle(text, end)),
        About::Bearer => Secret::of("bearer-token", headers::bearer(text, hint)),
        About::Authorization => {
            Secret::of("authorization-header", headers::authorization(text, end))
        }
        About::Cookie => Secret::of("cookie", headers::cookies(text, end)),
        About::Name => {
            let name = text[hint].trim_end_matches(['=', ':']).len();
            named::value(text, start..start + name, floor)
        }
        About::Program => return find_in_command(text, &hint, (floor, found)),
        About::Reader => {
            Secret::of("password-in-command", commands::printed_password(text, start, floor))
        }
        About::Port => Secret::of("password", lines::password_of_database(text, start, floor)),
        About::Tab => Secret::of("cookie", lines::cookie_of_jar(text, start, floor)),
        About::Hash => Secret::of("password-hash", lines::hash_of_password(text, start)),
        About::Phrase => phrases::find(text, hint),
    };
    found.extend(secret.filter(|secret| secret.range.start >= floor));
}

fn find_in_command(text: &str, name: &Range<usize>, (floor, found): (usize, &mut Vec<Secret>)) {
    if is_start_of_program(text, name.start) {
        let passwords = commands::passwords(text, name).into_iter();
        let passwords = passwords.filter(|range| range.start >= floor);
        found.extend(passwords.map(|range| Secret { range, kind: "password-in-command" }));
    }
}

fn find_shape(text: &str, at: usize) -> Option<Secret> {
    let (length, kind) = is_start_of_word(text, at).then(|| shapes::at_start(&text[at..]))??;
    Some(Secret { range: at..at + length, kind })
}

/// Returns whether a word begins at `at`: a separator comes before it, or an escape sequence as in
/// strings of programs, in URLs and on terminals.
pub(super) fn is_start_of_word(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    !before.last().is_some_and(is_inside)
        || values::ends_with_escape(before)
        || ends_with_code(before)
}

/// Returns whether the text ends with a code such as `%3D` or `\u003d`, or with a color sequence of
/// a terminal.
fn ends_with_code(before: &[u8]) -> bool {
    let hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    if let [.., b'%', high, low] = before
        && hex(&[*high, *low])
    {
        return true;
    }
    if let [.., b'\\', b'u', b'0', b'0', high, low] = before
        && hex(&[*high, *low])
    {
        return true;
    }
    let Some((letter, rest)) = before.split_last() else { return false };
    let digits =
        rest.iter().rev().take(12).take_while(|byte| byte.is_ascii_digit() || **byte == b';');
    let rest = &rest[..rest.len() - digits.count()];
    b"mK".contains(letter)
        && (rest.ends_with(b"\x1b[") || rest.ends_with(b"\\u001b[") || rest.ends_with(b"\\x1b["))
}

/// Returns whether the name of a program begins at `at`.
fn is_start_of_program(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    !before.last().is_some_and(is_inside) || values::ends_with_escape(before)
}
