//! The parts of a control sequence.

/// A control sequence: `ESC [`, a prefix, numbers, intermediates, one last byte.
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
    /// Takes a whole sequence apart; none if it is not well formed.
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

    /// Returns the numbers; one that is left out is none. Only the first part of a number with
    /// parts is returned.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = Option<u16>> + use<'a> {
        self.parameters
            .split(|byte| *byte == b';')
            .map(|field| number(field.split(|byte| *byte == b':').next().unwrap_or_default()))
    }

    /// Returns the parts of one of the numbers.
    pub(crate) fn parts(&self, index: usize) -> impl Iterator<Item = Option<u16>> + use<'a> {
        let field = self.parameters.split(|byte| *byte == b';').nth(index);
        field.unwrap_or_default().split(|byte| *byte == b':').map(number)
    }

    /// Returns one of the numbers; none if it is left out or not there.
    pub(crate) fn number(&self, index: usize) -> Option<u16> {
        self.numbers().nth(index).flatten()
    }

    /// Returns a count: one where it is left out or zero.
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
    fn a_sequence_is_taken_apart() {
        let sequence = Sequence::parse(b"\x1b[?1049;;25$p").unwrap();
        assert_eq!((sequence.prefix, sequence.intermediate), (b'?', b'$'));
        assert_eq!(sequence.last, b'p');
        let numbers: Vec<_> = sequence.numbers().collect();
        assert_eq!(numbers, [Some(1049), None, Some(25)]);
    }

    #[test]
    fn parts_and_overlong_numbers_do_no_harm() {
        let sequence = Sequence::parse(b"\x1b[92:124;5:3u").unwrap();
        assert_eq!((sequence.number(0), sequence.number(1)), (Some(92), Some(5)));
        let parts: Vec<_> = sequence.parts(1).collect();
        assert_eq!(parts, [Some(5), Some(3)]);
        let sequence = Sequence::parse(b"\x1b[99999999A").unwrap();
        assert_eq!(sequence.count(), u16::MAX);
        assert_eq!(Sequence::parse(b"\x1b[$%p"), None);
    }
}
