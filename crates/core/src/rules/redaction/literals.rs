//! Finding many short texts in a long one, in one pass.

const PAIRS: usize = 1 << 16;
const BUCKETS: usize = 1 << 12;

/// Whether capitals and small letters are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Exact,
    Any,
}

/// Texts that are searched for, each with what it means.
#[derive(Debug)]
pub(super) struct Literals<T> {
    /// For each two bytes the last five bits of those that come third in a literal. Nearly all places
    /// of a text are ruled out by it; capitals and small letters have the same five bits.
    filter: Box<[u32; PAIRS]>,
    buckets: Vec<Vec<Literal<T>>>,
}

#[derive(Clone, Debug)]
struct Literal<T> {
    text: String,
    case: Case,
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
    /// Adds a literal of at least two bytes; one for any case is given in small letters.
    pub(super) fn add(&mut self, text: &str, case: Case, meaning: T) {
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

    /// Returns the next place at which a literal may begin.
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

    /// Returns the literals that begin here: how long each is and what it means.
    pub(super) fn at(&self, text: &str, at: usize) -> impl Iterator<Item = (usize, &T)> {
        let rest = &text.as_bytes()[at..];
        let place = match rest {
            [first, second, third, ..] => bucket([*first, *second, *third]),
            _ => 0,
        };
        let begins = move |literal: &&Literal<T>| {
            let wanted = literal.text.as_bytes();
            rest.get(..wanted.len()).is_some_and(|start| match literal.case {
                Case::Exact => start == wanted,
                Case::Any => start.eq_ignore_ascii_case(wanted),
            })
        };
        let literals = self.buckets[place].iter();
        literals.filter(begins).map(|literal| (literal.text.len(), &literal.meaning))
    }
}

/// Returns the forms of a letter that are searched for.
fn cases(byte: u8, case: Case) -> impl Iterator<Item = u8> {
    let other = (case == Case::Any).then(|| byte.to_ascii_uppercase());
    std::iter::once(byte).chain(other)
}

/// Returns the place of three bytes, the same for capitals and small letters.
fn bucket(three: [u8; 3]) -> usize {
    let [first, second, third] = three.map(|byte| u32::from(byte.to_ascii_lowercase()));
    let key = first | second << 8 | third << 16;
    (key.wrapping_mul(0x9E37_79B1) >> 20) as usize % BUCKETS
}
