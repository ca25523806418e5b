//! The colours and attributes of characters.

use vt100::{Cell, Color};

use super::Sequence;
use super::paint::push;

/// The colours and attributes of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    text: Color,
    ground: Color,
    /// Bold, dim, italic, underlined, inverse.
    marks: [bool; 5],
}

impl Style {
    /// Returns the style of a cell without a character, which shows only its background.
    pub(super) fn on(ground: Color) -> Self {
        Self { ground, ..Self::default() }
    }

    pub(super) fn of(cell: &Cell) -> Self {
        Self {
            text: cell.fgcolor(),
            ground: cell.bgcolor(),
            marks: [cell.bold(), cell.dim(), cell.italic(), cell.underline(), cell.inverse()],
        }
    }

    /// Writes the sequence that sets exactly this style.
    pub(crate) fn write(self, out: &mut String) {
        const MARKS: [u8; 5] = [1, 2, 3, 4, 7];
        *out += "\x1b[0";
        for (code, is_set) in MARKS.into_iter().zip(self.marks) {
            if is_set {
                push(out, format_args!(";{code}"));
            }
        }
        write_colour(out, self.text, 30);
        write_colour(out, self.ground, 40);
        out.push('m');
    }

    /// Returns the same style with text and background exchanged.
    pub(crate) fn inverted(self) -> Self {
        let [bold, dim, italic, underlined, inverse] = self.marks;
        Self { marks: [bold, dim, italic, underlined, !inverse], ..self }
    }

    /// Applies `CSI … m`. Unknown numbers change nothing.
    pub(crate) fn change(&mut self, sequence: &Sequence<'_>) {
        let mut index = 0;
        while let Some(field) = sequence.numbers().nth(index) {
            let parts: Vec<u16> = sequence.parts(index).map(Option::unwrap_or_default).collect();
            index += match field.unwrap_or(0) {
                code @ (38 | 48) if parts.len() == 1 => {
                    let rest = sequence.numbers().skip(index + 1).map(Option::unwrap_or_default);
                    let (colour, used) = colour(&rest.take(4).collect::<Vec<u16>>());
                    self.set_colour(code, colour);
                    used + 1
                }
                code @ (38 | 48) => {
                    // `38:2::r:g:b` has a colour space before the colour.
                    let is_long = parts.len() > 5;
                    let rest: Vec<u16> = parts
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| *at > 0 && !(is_long && *at == 2))
                        .map(|(_, part)| *part)
                        .collect();
                    self.set_colour(code, colour(&rest).0);
                    1
                }
                code => {
                    self.set(code, &parts);
                    1
                }
            };
        }
    }

    fn set_colour(&mut self, code: u16, colour: Option<Color>) {
        match (code, colour) {
            (38, Some(colour)) => self.text = colour,
            (48, Some(colour)) => self.ground = colour,
            _ => {}
        }
    }

    fn set(&mut self, code: u16, parts: &[u16]) {
        let index = |base: u16| Color::Idx(u8::try_from(code - base).unwrap_or_default());
        match code {
            0 => *self = Self::default(),
            1..=3 => self.marks[usize::from(code) - 1] = true,
            // `4:0` means no underline.
            4 => self.marks[3] = parts.get(1) != Some(&0),
            7 => self.marks[4] = true,
            22 => (self.marks[0], self.marks[1]) = (false, false),
            23 => self.marks[2] = false,
            24 => self.marks[3] = false,
            27 => self.marks[4] = false,
            30..=37 => self.text = index(30),
            39 => self.text = Color::Default,
            40..=47 => self.ground = index(40),
            49 => self.ground = Color::Default,
            90..=97 => self.text = index(82),
            100..=107 => self.ground = index(92),
            _ => {}
        }
    }
}

/// Parses a colour after 38 or 48. Also returns how many numbers belong to it.
fn colour(numbers: &[u16]) -> (Option<Color>, usize) {
    let byte = |number: u16| u8::try_from(number).ok();
    match *numbers {
        [5, index, ..] => (byte(index).map(Color::Idx), 2),
        [2, red, green, blue, ..] => {
            let rgb = || Some(Color::Rgb(byte(red)?, byte(green)?, byte(blue)?));
            (rgb(), 4)
        }
        _ => (None, numbers.len().min(1)),
    }
}

/// Writes the numbers of a colour. `base` is 30 for text and 40 for the background.
fn write_colour(out: &mut String, colour: Color, base: u8) {
    match colour {
        Color::Default => {}
        Color::Idx(index @ 0..=7) => push(out, format_args!(";{}", base + index)),
        Color::Idx(index @ 8..=15) => push(out, format_args!(";{}", base + 52 + index)),
        Color::Idx(index) => push(out, format_args!(";{};5;{index}", base + 8)),
        Color::Rgb(red, green, blue) => {
            push(out, format_args!(";{};2;{red};{green};{blue}", base + 8));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_applies_sequences_and_write_formats_the_result() {
        let table = [
            ("\x1b[1;31m", "\x1b[0;1;31m"),
            ("\x1b[m", "\x1b[0m"),
            ("\x1b[0m", "\x1b[0m"),
            ("\x1b[2;3;4;7m", "\x1b[0;2;3;4;7m"),
            ("\x1b[1;2;22;3;23;4;24;7;27m", "\x1b[0m"),
            ("\x1b[38;5;200;48;5;9m", "\x1b[0;38;5;200;101m"),
            ("\x1b[38;2;1;2;3;1m", "\x1b[0;1;38;2;1;2;3m"),
            ("\x1b[38:2::1:2:3m", "\x1b[0;38;2;1;2;3m"),
            ("\x1b[38:2:1:2:3m", "\x1b[0;38;2;1;2;3m"),
            ("\x1b[38:5:20m", "\x1b[0;38;5;20m"),
            ("\x1b[94;103m", "\x1b[0;94;103m"),
            ("\x1b[31;42;39;49m", "\x1b[0m"),
            ("\x1b[4:3m", "\x1b[0;4m"),
            ("\x1b[4;4:0m", "\x1b[0m"),
            ("\x1b[38;5m", "\x1b[0m"),
            ("\x1b[38;2;999;1;1m", "\x1b[0m"),
            ("\x1b[;1;;m", "\x1b[0m"),
            ("\x1b[9;53;99m", "\x1b[0m"),
        ];
        for (given, expected) in table {
            let mut style = Style::default();
            style.change(&Sequence::parse(given.as_bytes()).unwrap());
            let mut written = String::new();
            style.write(&mut written);
            assert_eq!(written, expected, "{given:?}");
        }
    }
}
