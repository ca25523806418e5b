//! The formats of keys and tokens, and how a text is compared with them.

mod table;

#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::LazyLock;

pub(super) use table::{INFIXES, SHAPES};

/// The beginning of a key that is written as a block of lines.
pub(super) const BLOCK_BEGIN: &str = "-----BEGIN";

/// At most this many bytes decide whether a text is a key. The limit keeps the running time linear.
const CHECKED_BYTES: usize = 512;
/// The same limit for keys of several parts, whose first part can be long.
const CHECKED_PARTS_BYTES: usize = 4 * 1024;

/// One kind of key or token that is recognized by its prefix.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyShape {
    /// The name under which removals are counted.
    pub(super) kind: &'static str,
    pub(super) start: &'static str,
    characters: KeyCharacters,
    /// Minimum number of characters after the prefix. Real keys are longer, but a key that was cut
    /// off must be recognized, too.
    min_length: usize,
}

/// One kind of key or token that is recognized by characters in its middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Infix {
    pub(super) kind: &'static str,
    pub(super) middle: &'static str,
    before: (KeyCharacters, Range2),
    after: (KeyCharacters, Range2),
}

/// The minimum and the maximum number of characters.
type Range2 = (usize, usize);

/// The characters of a key, and the other conditions that they must fulfil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyCharacters {
    /// Letters, digits, `_` and `-`. The prefix alone identifies the key.
    Anything,
    /// The same characters. Ordinary names begin with this prefix, too, so a part must look random.
    RandomPart,
    /// Letters and digits, at least one of which is not a lowercase letter.
    Letters,
    /// Uppercase letters and digits. Exactly `KeyShape::min_length` of them.
    Capitals,
    /// Lowercase hexadecimal digits.
    Hex,
    Digits,
    /// Characters of both base64 alphabets, and percent escapes as in URLs.
    Base64,
    /// Words separated by dots, of which at least one part looks random.
    Dotted,
    /// At least two parts separated by dots.
    Parts,
    /// Parts separated by slashes.
    Path,
    /// Characters of words and of base64, and percent escapes. The prefix alone identifies the key.
    Escaped,
    /// Letters, digits, `_`, `-` and `.`. The prefix alone identifies the key.
    Routed,
    /// Letters, digits, `_`, `-`, `~`, `$` and `.`.
    Tilde,
    /// Letters and digits that form no words. Exactly `KeyShape::min_length` of them.
    Random,
    /// Lowercase hexadecimal digits with `-` in the positions of a UUID.
    Uuid,
}

/// Shapes by the first byte of their prefix.
static BY_FIRST_BYTE: LazyLock<Vec<Vec<&'static KeyShape>>> = LazyLock::new(|| {
    let mut table = vec![Vec::new(); 256];
    for shape in SHAPES {
        table[usize::from(shape.start.as_bytes()[0])].push(shape);
    }
    table
});

/// Returns the length and the kind of the key or token at the start of a text.
pub(super) fn at_start(text: &str) -> Option<(usize, &'static str)> {
    let shapes = &BY_FIRST_BYTE[usize::from(*text.as_bytes().first()?)];
    shapes.iter().find_map(|shape| Some((shape.length(text)?, shape.kind)))
}

/// Returns the range and the kind of the token whose middle begins at `at`. Text before `floor` is
/// not checked.
pub(super) fn around(text: &str, at: usize, floor: usize) -> Option<(Range<usize>, &'static str)> {
    let fits = |infix: &&Infix| text[at..].starts_with(infix.middle);
    INFIXES.iter().filter(fits).find_map(|it| Some((it.range(text, at, floor)?, it.kind)))
}

/// Returns whether a text looks random and not chosen by a person: it changes more than once
/// between letters and digits, has many digits among letters, or has letters that form no words.
pub(super) fn looks_random(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_change = |pair: &&[u8]| {
        pair.iter().all(u8::is_ascii_alphanumeric)
            && pair[0].is_ascii_digit() != pair[1].is_ascii_digit()
    };
    let changes = bytes.windows(2).filter(is_change).count();
    letters > 0 && bytes.len() >= 8 && (changes >= 2 || digits >= 4)
        || letters >= 14 && !has_words(text)
}

/// The letters that often follow a letter in words, for each letter from `a` to `z`.
const FOLLOWERS: [&str; 26] = [
    "bcdfgiklmnprstuvwxyz",
    "aeilorsuyjb",
    "aehiklortucsy",
    "adeimorsuyvb",
    "abcdefglmnpqrstvwxy",
    "aefilortuy",
    "aeghilnorsu",
    "aeioruty",
    "abcdefgklmnoprstvzq",
    "aeou",
    "aeilnsy",
    "abdefiklmopstuvy",
    "abeimnopsuy",
    "acdefgiknostuvyl",
    "abcdefgiklmnoprstuvwx",
    "aehiloprstuy",
    "u",
    "acdefgiklmnoprstuvy",
    "acehiklmnopqstuwy",
    "aehilmorstuwyc",
    "abcdegilmnprstxy",
    "aeiou",
    "aehinors",
    "acehiptyl",
    "aeilmnopst",
    "aeiouyz",
];

/// Returns whether most pairs of adjacent letters are common in words.
pub(super) fn has_words(text: &str) -> bool {
    let (mut pairs, mut usual) = (0_usize, 0_usize);
    for pair in text.as_bytes().windows(2) {
        let [first, second] = [pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase()];
        if first.is_ascii_lowercase() && second.is_ascii_lowercase() {
            pairs += 1;
            let followers = FOLLOWERS[usize::from(first - b'a')].as_bytes();
            usual += usize::from(followers.contains(&second));
        }
    }
    usual * 4 >= pairs * 3
}

impl KeyShape {
    fn length(&self, text: &str) -> Option<usize> {
        let rest = text.strip_prefix(self.start)?;
        let length = |most: usize| {
            rest.bytes().take(most).take_while(|byte| self.characters.accepts(*byte)).count()
        };
        let most = if self.characters == KeyCharacters::Parts {
            CHECKED_PARTS_BYTES
        } else {
            CHECKED_BYTES
        };
        let body = trimmed(rest.get(..length(most))?);
        let is_key = body.len() >= self.min_length && self.characters.fits(body, self.min_length);
        // Remove the complete key, however long it is.
        is_key.then(|| self.start.len() + trimmed(&rest[..length(usize::MAX)]).len())
    }
}

impl Infix {
    fn range(&self, text: &str, at: usize, floor: usize) -> Option<Range<usize>> {
        let ((left, (least_left, most_left)), (right, (least_right, most_right))) =
            (self.before, self.after);
        let bytes = text.as_bytes();
        let before = bytes[floor..at].iter().rev().take(most_left + 1);
        let before = before.take_while(|byte| left.accepts(**byte)).count();
        let end = at + self.middle.len();
        let after = bytes[end..].iter().take(most_right + 1);
        let after = after.take_while(|byte| right.accepts(**byte)).count();
        let is_long_enough = (least_left..=most_left).contains(&before)
            && (least_right..=most_right).contains(&after);
        let range = at - before..end + after;
        (is_long_enough && looks_random(text.get(range.clone())?)).then_some(range)
    }
}

impl KeyCharacters {
    fn accepts(self, byte: u8) -> bool {
        match self {
            Self::Anything | Self::RandomPart => is_word(byte),
            Self::Letters | Self::Random => byte.is_ascii_alphanumeric(),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Self::Digits => byte.is_ascii_digit(),
            Self::Base64 | Self::Escaped => is_word(byte) || b"+/=%".contains(&byte),
            Self::Dotted | Self::Parts | Self::Routed => is_word(byte) || byte == b'.',
            Self::Path => is_word(byte) || b"/@".contains(&byte),
            Self::Tilde => is_word(byte) || b"~.$".contains(&byte),
            Self::Uuid => Self::Hex.accepts(byte) || byte == b'-',
        }
    }

    fn fits(self, body: &str, min_length: usize) -> bool {
        match self {
            Self::Anything | Self::Digits | Self::Escaped | Self::Routed => true,
            Self::RandomPart => {
                body.split(['-', '_']).any(|part| part.len() >= 8 && looks_random(part))
            }
            Self::Letters => body.bytes().any(|byte| !byte.is_ascii_lowercase()),
            Self::Capitals => body.len() == min_length,
            Self::Random => {
                let has = |test: fn(&u8) -> bool| body.as_bytes().iter().any(test);
                let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase);
                body.len() == min_length && is_mixed && !has_words(body)
            }
            Self::Hex | Self::Base64 | Self::Tilde => looks_random(body),
            Self::Uuid => body.split('-').map(str::len).eq([8, 4, 4, 4, 12]),
            Self::Dotted => body.split(['-', '_', '.']).any(|it| it.len() >= 8 && looks_random(it)),
            Self::Parts => body.split('.').count() >= 2 && looks_random(body),
            Self::Path => body.contains('/') && looks_random(body),
        }
    }
}

fn trimmed(body: &str) -> &str {
    body.trim_end_matches(['.', '-', '/', '%'])
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}
