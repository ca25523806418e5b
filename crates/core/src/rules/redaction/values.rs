//! Where a value ends, and whether it looks like a secret, like code or like prose.

use super::encoding;
use super::names::kebab_case;
use crate::rules::shapes::{has_words, looks_random};

/// At most this many bytes of a value are checked to decide whether it is a secret.
pub(super) const CHECKED_BYTES: usize = 256;

/// Words that are placeholders for a value.
const PLACEHOLDERS: [&str; 36] = [
    "string",
    "str",
    "text",
    "bytes",
    "number",
    "integer",
    "int",
    "bool",
    "boolean",
    "any",
    "unknown",
    "null",
    "none",
    "nil",
    "true",
    "false",
    "undefined",
    "required",
    "optional",
    "hidden",
    "redacted",
    "example",
    "changeme",
    "password",
    "secret",
    "token",
    "key",
    "passwd",
    "value",
    "files",
    "compat",
    "systemd",
    "yes",
    "no",
    "placeholder",
    "todo",
];

/// Technical terms that contain digits.
const TERMS: [&str; 20] = [
    "sha1", "sha2", "sha256", "sha384", "sha512", "md5", "utf8", "utf-8", "utf16", "base64",
    "base32", "oauth2", "ed25519", "x25519", "argon2", "argon2id", "http2", "ipv4", "ipv6",
    "aes256",
];

/// Objects from which programs read values.
const OBJECTS: [&str; 14] = [
    "process", "os", "env", "config", "settings", "self", "this", "secrets", "import", "var",
    "local", "args", "options", "req",
];

/// Returns whether the bytes end with an escaped line break or tab, as in strings of programs.
pub(super) fn ends_with_escape(before: &[u8]) -> bool {
    matches!(before, [.., b'\\', b'n' | b'r' | b't'])
}

/// Returns the length of the unquoted value at the start of the text.
pub(super) fn unquoted_length(text: &str, stops: &[u8]) -> usize {
    let bytes = text.as_bytes();
    let stop = |at: usize| {
        let byte = bytes[at];
        let is_escape =
            byte == b'\\' && bytes.get(at + 1).is_none_or(|next| b"nrt\"'`\\".contains(next));
        byte.is_ascii_whitespace() || b"\"'`".contains(&byte) || is_escape || stops.contains(&byte)
    };
    let end = (0..bytes.len()).find(|at| stop(*at)).unwrap_or(bytes.len());
    text[..end].trim_end_matches([',', ';', ')', '}', '.']).len()
}

/// Returns the quote at the start of the text, with the backslashes of the strings that contain it.
pub(super) fn opening_quote(text: &str) -> Option<&str> {
    let backslashes = text.bytes().take_while(|byte| *byte == b'\\').count();
    let quote = text.as_bytes().get(backslashes)?;
    b"\"'`".contains(quote).then(|| &text[..=backslashes])
}

/// Returns the length of the text between an opening quote, which was just read, and the next quote
/// of the same kind. If the line has no such quote, it was cut off, and the text ends at the next
/// quote, backslash or line break.
pub(super) fn quoted_length(text: &str, quote: &str) -> usize {
    let depth = quote.len() - 1;
    let mark = quote.as_bytes()[depth];
    let mut backslashes = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' => backslashes += 1,
            b'\n' => break,
            _ if byte == mark && closes(backslashes, depth) => return at - depth,
            _ => backslashes = 0,
        }
    }
    text.find(['"', '\'', '`', '\\', '\n']).unwrap_or(text.len())
}

fn closes(backslashes: usize, depth: usize) -> bool {
    if depth == 0 { backslashes.is_multiple_of(2) } else { backslashes == depth }
}

/// Returns whether this is a placeholder for a value, or a reference to a value.
pub(super) fn is_placeholder(value: &str, name: &str) -> bool {
    let value = value.trim();
    let bytes = value.as_bytes();
    let begins = |starts: &[&str]| starts.iter().any(|start| value.starts_with(start));
    let is_reference = bytes.first() == Some(&b'$')
        && bytes.get(1).is_none_or(|next| next.is_ascii_alphabetic() || b"_{(".contains(next));
    let is_repeated_byte = bytes.len() > 2 && bytes.windows(2).all(|pair| pair[0] == pair[1]);
    value.is_empty()
        || is_reference
        || begins(&[
            "{{",
            "${",
            "%(",
            "%s",
            "<",
            "...",
            "…",
            "[redacted",
            "your-",
            "your_",
            "YOUR_",
        ])
        || (is_repeated_byte && !bytes[0].is_ascii_digit())
        || PLACEHOLDERS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || equals_name(value, name)
}

/// Returns whether a value is the name itself in any style, as `client_secret` for `clientSecret`.
fn equals_name(value: &str, name: &str) -> bool {
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(|letter| !matches!(letter, '_' | '-' | '.'));
        letters.map(|letter| letter.to_ascii_lowercase()).collect()
    };
    // Most values differ in length from their names, so no copy is needed.
    !name.is_empty() && value.len().abs_diff(name.len()) <= 8 && letters(value) == letters(name)
}

/// Returns whether this is an identifier in a program: at least two words without a digit.
pub(super) fn is_identifier(value: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let words = kebab_case(value);
    let words = || words.split('-').filter(|word| !word.is_empty());
    value.bytes().all(is_of_name)
        && words().count() >= 2
        && words().all(|word| (2..=14).contains(&word.len()))
        && has_words(value)
}

/// Returns whether this is an expression in a program.
pub(super) fn is_code(value: &str) -> bool {
    let word = value.bytes().take_while(|byte| is_name_byte(*byte) || b".:".contains(byte)).count();
    let (path, rest) = value.split_at(word);
    let is_path = path.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    let owner = path.split(['.', ':']).next().unwrap_or_default();
    // An unquoted value ends before a quote, as in `environ["NAME"]`.
    let has =
        |open: &str, close: char| rest == open || rest.starts_with(open) && rest.contains(close);
    let is_macro = ["!(", "![", "!{"].iter().any(|open| rest.starts_with(open));
    let is_call =
        rest.starts_with('(') || is_macro || has("[", ']') || has("<", '>') || has("{", '}');
    let is_owned = path.contains('.') && rest.is_empty() && OBJECTS.contains(&owner);
    is_path && (is_call || path.contains("::") || is_owned)
}

/// Returns whether this is a URL, a number or a dotted name, or contains punctuation of
/// expressions.
pub(super) fn has_code_punctuation(value: &str) -> bool {
    let is_number = value.starts_with("0x") && value.len() <= 18;
    is_number
        || value.contains("://")
        || value.bytes().any(|byte| b"()[]{}<>,;|&*".contains(&byte))
        || is_dotted(value)
}

/// Returns whether this is a name with its owner: dotted words, or a type at the end.
fn is_dotted(value: &str) -> bool {
    let is_word = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let is_type = value.bytes().all(|byte| is_name_byte(byte) || byte == b'.');
    value.rsplit_once('.').is_some_and(|(_, last)| {
        let begins_large = last.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase());
        value.split('.').all(is_word) || (is_type && begins_large)
    })
}

/// Returns whether a person may have chosen this as a password: letters with digits or punctuation.
pub(super) fn looks_chosen(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_term = TERMS.iter().any(|term| value.eq_ignore_ascii_case(term));
    let is_mixed = has(u8::is_ascii_digit) || has(|byte| b"!@#$%^*?~+".contains(byte));
    value.len() >= 5
        && is_mixed
        && !is_term
        && has(u8::is_ascii_alphabetic)
        && !value.contains(char::is_whitespace)
        && !value.contains("://")
        && !value.starts_with("0x")
        && !value.starts_with(['-', '/', '@', '#', '%', '*', '+', '?', '!', '^', '~'])
        && !is_dotted(value)
}

/// Returns whether this is the name of a secret and not the secret, such as `userPassword`.
pub(super) fn names_a_secret(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_of_name = |byte: u8| byte.is_ascii_alphabetic() || b"_-.".contains(&byte);
    let words = ["pass", "pwd", "secret", "token", "key", "cred", "auth"];
    lower.bytes().all(is_of_name) && words.iter().any(|word| lower.contains(word))
}

/// Returns whether this is a user and a password in base64.
pub(super) fn is_encoded_pair(value: &str) -> bool {
    value.len() >= 8
        && encoding::from_base64(value).is_some_and(|bytes| {
            let is_text = bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
            is_text && bytes.iter().skip(1).any(|byte| *byte == b':')
        })
}

/// Returns whether the look of a value alone indicates a secret.
pub(super) fn looks_secret(value: &str) -> bool {
    !value.contains(char::is_whitespace) && !has_code_punctuation(value) && looks_random(value)
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
