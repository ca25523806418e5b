//! Answers the queries of agents. The answers do not depend on the attached clients, because an
//! agent asks once, and clients attach and detach later.

use super::{Effects, Sequence, Size, VirtualTerminal};

/// Identifies the terminal as a VT220 with colours.
const DEVICE: &[u8] = b"\x1b[?62;22c";
const SECOND_DEVICE: &[u8] = b"\x1b[>0;100;1c";
const THIRD_DEVICE: &[u8] = b"\x1bP!|00000000\x1b\\";
/// Contains no release number, so that an agent's drawing does not change with it.
const NAME: &[u8] = b"\x1bP>|segue 1\x1b\\";
const DARK: &[u8] = b"\x1b[?997;1n";
/// The size of one character in pixels.
const CELL: Size = Size { rows: 16, cols: 8 };

impl VirtualTerminal {
    /// Answers a sequence if it is a query. Other sequences are unknown and ignored.
    pub(super) fn answer(&self, sequence: &Sequence<'_>, effects: &mut Effects) {
        let first = sequence.number(0);
        match (sequence.prefix, sequence.intermediate, sequence.last) {
            (0, 0, b'c') => effects.reply(DEVICE),
            (b'>', 0, b'c') => effects.reply(SECOND_DEVICE),
            (b'=', 0, b'c') => effects.reply(THIRD_DEVICE),
            (b'>', 0, b'q') => effects.reply(NAME),
            (0 | b'?', 0, b'n') => self.report(sequence.prefix, first.unwrap_or(0), effects),
            (b'?', 0, b'u') => {
                effects.reply(format!("\x1b[?{}u", self.keyboard().flags()).as_bytes());
            }
            (b'?', b'$', b'p') => {
                let mode = first.unwrap_or(0);
                effects.reply(format!("\x1b[?{mode};{}$y", self.mode_state(mode)).as_bytes());
            }
            // No ANSI modes are known.
            (0, b'$', b'p') => {
                effects.reply(format!("\x1b[{};0$y", first.unwrap_or(0)).as_bytes());
            }
            _ => {}
        }
    }

    fn report(&self, prefix: u8, number: u16, effects: &mut Effects) {
        match (prefix, number) {
            (0, 5) => effects.reply(b"\x1b[0n"),
            (0, 6) => effects.reply(format!("\x1b[{}R", self.cursor_report()).as_bytes()),
            (b'?', 6) => effects.reply(format!("\x1b[?{}R", self.cursor_report()).as_bytes()),
            (b'?', 996) => effects.reply(DARK),
            _ => {}
        }
    }

    fn cursor_report(&self) -> String {
        let (row, col) = self.screen().cursor_position();
        let page = self.page();
        let top = page.region.filter(|_| page.origin).map_or(0, |(top, _)| top);
        // A cursor past the last column is on the last column, about to wrap.
        let col = col.min(self.size().cols - 1);
        format!("{};{}", row.saturating_sub(top) + 1, col + 1)
    }
}

/// Answers `CSI … t`.
pub(super) fn answer_about_window(question: u16, size: Size, effects: &mut Effects) {
    let Size { rows, cols } = size;
    let (height, width) =
        (u32::from(rows) * u32::from(CELL.rows), u32::from(cols) * u32::from(CELL.cols));
    let answer = match question {
        11 => "\x1b[1t".to_owned(),
        13 => "\x1b[3;0;0t".to_owned(),
        14 => format!("\x1b[4;{height};{width}t"),
        15 => format!("\x1b[5;{height};{width}t"),
        16 => format!("\x1b[6;{};{}t", CELL.rows, CELL.cols),
        18 => format!("\x1b[8;{rows};{cols}t"),
        19 => format!("\x1b[9;{rows};{cols}t"),
        _ => return,
    };
    effects.reply(answer.as_bytes());
}

/// Answers `OSC 10 ; ? …`, `OSC 11 ; ? …` and `OSC 12 ; ? …`: the colours of text, background and
/// cursor. Further fields ask for the following colours. The colours cannot be set.
pub(super) fn answer_colours(number: &[u8], rest: &[u8], terminator: &[u8], effects: &mut Effects) {
    const COLOURS: [&str; 3] = ["d0d0/d0d0/d0d0", "0000/0000/0000", "d0d0/d0d0/d0d0"];
    let first = match number {
        b"10" => 0,
        b"11" => 1,
        _ => 2,
    };
    for (index, field) in rest.split(|byte| *byte == b';').enumerate() {
        if let (b"?", Some(colour)) = (field, COLOURS.get(first + index)) {
            reply_colour(&(10 + first + index).to_string(), colour, terminator, effects);
        }
    }
}

/// Answers `OSC 4 ; n ; ? …`.
pub(super) fn answer_palette(rest: &[u8], terminator: &[u8], effects: &mut Effects) {
    let fields: Vec<&[u8]> = rest.split(|byte| *byte == b';').collect();
    for pair in fields.chunks_exact(2) {
        let index = std::str::from_utf8(pair[0]).ok().and_then(|text| text.parse().ok());
        if let (Some(index), b"?") = (index, pair[1]) {
            let [red, green, blue] = palette(index);
            let colour = format!("{red:02x}{red:02x}/{green:02x}{green:02x}/{blue:02x}{blue:02x}");
            reply_colour(&format!("4;{index}"), &colour, terminator, effects);
        }
    }
}

fn reply_colour(number: &str, colour: &str, terminator: &[u8], effects: &mut Effects) {
    effects.reply(format!("\x1b]{number};rgb:{colour}").as_bytes());
    effects.reply(terminator);
}

/// Returns a colour of the usual palette: 16 named colours, a cube of 216, and 24 greys.
fn palette(index: u8) -> [u8; 3] {
    const NAMED: [[u8; 3]; 16] = [
        [0x00, 0x00, 0x00],
        [0xcd, 0x00, 0x00],
        [0x00, 0xcd, 0x00],
        [0xcd, 0xcd, 0x00],
        [0x00, 0x00, 0xee],
        [0xcd, 0x00, 0xcd],
        [0x00, 0xcd, 0xcd],
        [0xe5, 0xe5, 0xe5],
        [0x7f, 0x7f, 0x7f],
        [0xff, 0x00, 0x00],
        [0x00, 0xff, 0x00],
        [0xff, 0xff, 0x00],
        [0x5c, 0x5c, 0xff],
        [0xff, 0x00, 0xff],
        [0x00, 0xff, 0xff],
        [0xff, 0xff, 0xff],
    ];
    let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
    match index {
        0..=15 => NAMED[usize::from(index)],
        16..=231 => {
            let step = index - 16;
            [level(step / 36), level(step / 6 % 6), level(step % 6)]
        }
        232..=255 => [8 + (index - 232) * 10; 3],
    }
}

/// Answers `DCS + q …` and `DCS $ q …`: no value is known.
pub(super) fn answer_control_string(bytes: &[u8], effects: &mut Effects) {
    match bytes.get(2..4) {
        Some(b"+q") => effects.reply(b"\x1bP0+r\x1b\\"),
        Some(b"$q") => effects.reply(b"\x1bP0$r\x1b\\"),
        _ => {}
    }
}
