//! Parses control sequences.

/// A control sequence: `ESC [`, a prefix, numbers, intermediates, one final byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sequence<'a> {
    /// One of `<`, `=`, `>`, `?`, or 0.
    pub(crate) prefix: u8,
    parameters: &'a [u8],
    /// The intermediate byte, or 0.
    pub(crate) intermediate: u8,
    pub(crate) last: u8,
}

impl<'a> Sequence<'a> {
    /// Parses a complete sequence. `None` if it is not well formed.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (last, body) = bytes.strip_prefix(b"\x1b[")?.split_last()?;
        let (prefix, body) = match body {
            [prefix @ 0x3c..=0x3f, rest @ ..] => (*prefix, rest),
            _ => (0, body),
        };
        let numbers = body.iter().take_while(|b| (0x30..=0x3b).contains(*b)).count();
        let (parameters, intermediates) = body.split_at(numbers);
        let intermediate = match intermediates {
            [] => 0,
            [one @ 0x20..=0x2f] => *one,
            _ => return None,
        };
        Some(Self { prefix, parameters, intermediate, last: *last })
    }

    /// Returns the numbers. An omitted number is `None`. If a number has several parts, only the
    /// first one is returned.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = Option<u16>> + use<'a> {
        self.parameters
            .split(|byte| *byte == b';')
            .map(|field| number(field.split(|byte| *byte == b':').next().unwrap_or_default()))
    }

    /// Returns the parts of one number.
    pub(crate) fn parts(&self, index: usize) -> impl Iterator<Item = Option<u16>> + use<'a> {
        let field = self.parameters.split(|byte| *byte == b';').nth(index);
        field.unwrap_or_default().split(|byte| *byte == b':').map(number)
    }

    /// Returns one number. `None` if it is omitted or missing.
    pub(crate) fn number(&self, index: usize) -> Option<u16> {
        self.numbers().nth(index).flatten()
    }

    /// Returns the first number as a count. It is 1 if the number is omitted or zero.
    pub(crate) fn count(&self) -> u16 {
        self.number(0).unwrap_or(1).max(1)
    }

    pub(crate) fn is_bare(&self) -> bool {
        self.parameters.is_empty()
    }
}

fn number(digits: &[u8]) -> Option<u16> {
    if digits.is_empty() {
        return None;
    }
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
    digits.iter().try_fold(0_u16, |sum, byte| {
        digit(byte).map(|digit| sum.saturating_mul(10).saturating_add(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_splits_a_sequence_into_its_parts() {
        let sequence = Sequence::parse(b"\x1b[?1049;;25$p").unwrap();
        assert_eq!((sequence.prefix, sequence.intermediate), (b'?', b'$'));
        assert_eq!(sequence.last, b'p');
        let numbers: Vec<_> = sequence.numbers().collect();
        assert_eq!(numbers, [Some(1049), None, Some(25)]);
    }

    #[test]
    fn numbers_with_parts_and_overlong_numbers_are_parsed() {
        let sequence = Sequence::parse(b"\x1b[92:124;5:3u").unwrap();
        assert_eq!((sequence.number(0), sequence.number(1)), (Some(92), Some(5)));
        let parts: Vec<_> = sequence.parts(1).collect();
        assert_eq!(parts, [Some(5), Some(3)]);
        let sequence = Sequence::parse(b"\x1b[99999999A").unwrap();
        assert_eq!(sequence.count(), u16::MAX);
        assert_eq!(Sequence::parse(b"\x1b[$%p"), None);
    }
}
