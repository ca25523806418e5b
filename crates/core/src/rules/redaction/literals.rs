//! Searches a long text for many short strings in one pass.

const PAIRS: usize = 1 << 16;
const BUCKETS: usize = 1 << 12;

/// Whether the case of letters matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LetterCase {
    Exact,
    Any,
}

/// The strings to search for, each with its meaning.
#[derive(Debug)]
pub(super) struct Literals<T> {
    /// For each pair of bytes, a bit set of the low five bits of the third bytes of all literals
    /// that begin with this pair. It rules out nearly all offsets of a text. Uppercase and
    /// lowercase letters have the same low five bits.
    filter: Box<[u32; PAIRS]>,
    buckets: Vec<Vec<Literal<T>>>,
}

#[derive(Clone, Debug)]
struct Literal<T> {
    text: String,
    case: LetterCase,
    meaning: T,
}

impl<T> Default for Literals<T> {
    fn default() -> Self {
        Self {
            filter: Box::new([0; PAIRS]),
            buckets: std::iter::repeat_with(Vec::new).take(BUCKETS).collect(),
        }
    }
}

impl<T: Copy> Literals<T> {
    /// Adds a literal of at least two bytes. If the case does not matter, the text must be
    /// lowercase.
    pub(super) fn add(&mut self, text: &str, case: LetterCase, meaning: T) {
        let bytes = text.as_bytes();
        let thirds = match bytes.get(2) {
            Some(byte) => *byte..=*byte,
            None => 0..=u8::MAX,
        };
        for first in cases(bytes[0], case) {
            for second in cases(bytes[1], case) {
                let pair = u16::from_le_bytes([first, second]);
                let thirds = thirds.clone().fold(0, |mask, third| mask | 1 << (third & 31));
                self.filter[usize::from(pair)] |= thirds;
            }
        }
        let mut added = Vec::new();
        for third in thirds {
            let bucket = bucket([bytes[0], bytes[1], third]);
            if !added.contains(&bucket) {
                added.push(bucket);
                self.buckets[bucket].push(Literal { text: text.to_owned(), case, meaning });
            }
        }
    }

    /// Returns the next offset at which a literal begins.
    pub(super) fn next(&self, text: &str, from: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let windows = bytes.get(from..)?.windows(3);
        let mut places = windows.enumerate().filter(|(_, three)| {
            let pair = u16::from_le_bytes([three[0], three[1]]);
            self.filter[usize::from(pair)] & 1 << (three[2] & 31) != 0
        });
        let place = places.find(|(at, _)| self.at(text, from + at).next().is_some());
        place.map(|(at, _)| from + at)
    }

    /// Returns the literals that begin at this offset, each as its length and its meaning.
    pub(super) fn at(&self, text: &str, at: usize) -> impl Iterator<Item = (usize, &T)> {
        let rest = &text.as_bytes()[at..];
        let place = match rest {
            [first, second, third, ..] => bucket([*first, *second, *third]),
            _ => 0,
        };
        let begins = move |literal: &&Literal<T>| {
            let wanted = literal.text.as_bytes();
            rest.get(..wanted.len()).is_some_and(|start| match literal.case {
                LetterCase::Exact => start == wanted,
                LetterCase::Any => start.eq_ignore_ascii_case(wanted),
            })
        };
        let literals = self.buckets[place].iter();
        literals.filter(begins).map(|literal| (literal.text.len(), &literal.meaning))
    }
}

/// Returns the variants of a letter that match.
fn cases(byte: u8, case: LetterCase) -> impl Iterator<Item = u8> {
    let other = (case == LetterCase::Any).then(|| byte.to_ascii_uppercase());
    std::iter::once(byte).chain(other)
}

/// Returns the bucket for three bytes. It is the same for uppercase and lowercase letters.
fn bucket(three: [u8; 3]) -> usize {
    let [first, second, third] = three.map(|byte| u32::from(byte.to_ascii_lowercase()));
    let key = first | second << 8 | third << 16;
    (key.wrapping_mul(0x9E37_79B1) >> 20) as usize % BUCKETS
}
