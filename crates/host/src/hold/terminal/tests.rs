//! Tests of the screen, and of its pictures on users' terminals.

mod output;

use vt100::{Cell, Color};

use super::*;

const SIZE: Size = Size { rows: 10, cols: 30 };

/// Screens as known agents draw them, and other content that is hard to paint.
const SCREENS: [&str; 16] = [
    "plain text\r\nsecond line",
    "\x1b[?1049h\x1b[2J\x1b[H\x1b[38;2;200;100;50mtrue colour\x1b[48;5;240m on grey\x1b[m",
    "\x1b[?1049h\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[?2026h\
     \x1b[?25l\x1b[>7u\x1b]0;\u{2827} work\x07frame\x1b[?2026l",
    "漢字 wide \u{1f600} emoji e\u{301} combining\r\n\x1b[4;7mmarked\x1b[m \x1b[1;2;3mbold",
    "123456789012345678901234567890wraps here and there, over several rows of the screen",
    "123456789012345678901234567890",
    "\x1b[10;30Hx",
    "one\r\ntwo\r\n\x1b[3;8r\x1b[8;1Hscrolled\r\nscrolled\r\nscrolled",
    "\x1b[2;9r\x1b[?6h\x1b[3;4Horigin",
    "\x1b[5;5H\x1b[31m\x1b7\x1b[m\x1b[9;9Helsewhere",
    "\x1b[44m\x1b[2J\x1b[3;3Hblue all over\x1b[K\x1b[41m\x1b[4;1H\x1b[5X",
    "\x1b[5 q\x1b=\x1b[?1h\x1b[?25l keys and cursor",
    "\x1b(0lqqk\x1b(B done\x1b)0\x0e",
    "\x1b[?7lthis text is longer than the row is and stays in it\x1b[?7h",
    "\x1b[?7l\x1b[>4;2m\x1b[?2031h\x1b]2;title; with \u{e9}\x1b\\",
    "main\x1b[?1049halt\x1b[=5;1u\x1b[?1049lback",
];

fn terminal(input: &[u8]) -> VirtualTerminal {
    let mut terminal = VirtualTerminal::new(SIZE);
    terminal.feed(input, &mut Effects::unseen());
    terminal
}

/// Returns the visible properties of a cell. If a cell has no character or a space, only its
/// background is visible.
fn visible(cell: &Cell) -> (String, Color, Color, [bool; 6]) {
    let marks =
        [cell.bold(), cell.dim(), cell.italic(), cell.underline(), cell.inverse(), cell.is_wide()];
    let is_blank = cell.contents() == " " && !cell.underline() && !cell.inverse();
    if cell.has_contents() && !is_blank {
        (cell.contents().to_owned(), cell.fgcolor(), cell.bgcolor(), marks)
    } else {
        (String::new(), Color::Default, cell.bgcolor(), [false; 6])
    }
}

/// Returns the modes that are on in a user's terminal, too. It never switches to the alternate
/// screen.
fn shared_modes(terminal: &VirtualTerminal) -> Vec<u16> {
    let on = terminal.modes_on().into_iter();
    on.filter(|mode| ![1049, modes::SYNCHRONISED].contains(mode)).collect()
}

#[track_caller]
fn assert_same(agents: &VirtualTerminal, users: &VirtualTerminal, context: &str) {
    for row in 0..agents.size().rows {
        for col in 0..agents.size().cols {
            let (one, other) = (agents.screen().cell(row, col), users.screen().cell(row, col));
            let (one, other) = (one.map(visible), other.map(visible));
            assert_eq!(one, other, "cell {row},{col} of {context:?}");
        }
    }
    assert_same_state(agents, users, context);
}

#[track_caller]
fn assert_same_state(agents: &VirtualTerminal, users: &VirtualTerminal, context: &str) {
    let (one, other) = (agents.screen(), users.screen());
    assert_eq!(one.cursor_position(), other.cursor_position(), "cursor of {context:?}");
    assert_eq!(one.attributes_formatted(), other.attributes_formatted(), "pen of {context:?}");
    assert_eq!(one.cursor_style(), other.cursor_style(), "{context:?}");
    assert_eq!(one.application_keypad(), other.application_keypad(), "{context:?}");
    assert_eq!(shared_modes(agents), shared_modes(users), "modes of {context:?}");
    assert_eq!(agents.modes.modified_keys(), users.modes.modified_keys(), "{context:?}");
    assert_eq!(agents.keyboard().flags(), users.keyboard().flags(), "keyboard of {context:?}");
    assert_eq!(agents.title, users.title, "title of {context:?}");
    assert_eq!(agents.charsets, users.charsets, "charsets of {context:?}");
    assert_eq!(agents.page().region, users.page().region, "region of {context:?}");
}

#[test]
fn paint_reproduces_the_screen_whatever_was_shown_before() {
    for screen in SCREENS {
        for before in SCREENS {
            let agents = terminal(screen.as_bytes());
            let mut users = terminal(before.replace("\x1b[?1049h", "").as_bytes());
            users.feed(&agents.paint(), &mut Effects::unseen());
            assert_same(&agents, &users, screen);
        }
    }
}

#[test]
fn output_after_a_repaint_continues_it() {
    let more = "more\x1b8here\r\n\n\n\n\n\nx\x1b[1Adown \x1b[Kjlqk\x0fjlqk";
    for screen in SCREENS {
        let mut agents = terminal(screen.as_bytes());
        let mut users = VirtualTerminal::new(SIZE);
        users.feed(&agents.paint(), &mut Effects::unseen());
        // Restoring a cursor that was never saved has different results in different terminals.
        let more = if agents.page().saved.is_some() { more } else { &more.replace("\x1b8", "") };
        let mut effects = Effects::seen();
        agents.feed(more.as_bytes(), &mut effects);
        users.feed(effects.shown(), &mut Effects::unseen());
        assert_same(&agents, &users, screen);
    }
}

#[test]
fn terminal_of_another_size_shows_the_same_picture() {
    let larger = Size { rows: 14, cols: 44 };
    let mut agents = VirtualTerminal::new(SIZE);
    let mut users = VirtualTerminal::new(larger);
    let mut picture = Picture::default();
    for screen in SCREENS {
        agents.feed(screen.as_bytes(), &mut Effects::unseen());
        users.feed(&picture.update(&agents), &mut Effects::unseen());
        for row in 0..larger.rows {
            for col in 0..larger.cols {
                let expected = agents.screen().cell(row, col).map(visible);
                let blank = (String::new(), Color::Default, Color::Default, [false; 6]);
                let found = users.screen().cell(row, col).map(visible).unwrap();
                assert_eq!(expected.unwrap_or(blank), found, "cell {row},{col} of {screen:?}");
            }
        }
        assert_eq!(users.keyboard().flags(), agents.keyboard().flags());
        assert_eq!(users.title, agents.title);
        assert_eq!(picture.update(&agents), b"", "an unchanged picture was sent again");
    }
}

/// Pseudo-random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

const PIECES: [&str; 44] = [
    "a",
    "word ",
    "漢",
    "\u{1f600}",
    "e\u{301}",
    "\r\n",
    "\n",
    "\r",
    "\x08",
    "\t",
    "\x07",
    "\x1b[H",
    "\x1b[5;7H",
    "\x1b[99;99H",
    "\x1b[2A",
    "\x1b[3C",
    "\x1b[J",
    "\x1b[1J",
    "\x1b[2J",
    "\x1b[3J",
    "\x1b[K",
    "\x1b[2K",
    "\x1b[3P",
    "\x1b[2@",
    "\x1b[2L",
    "\x1b[M",
    "\x1b[2S",
    "\x1b[T",
    "\x1b[31m",
    "\x1b[1;44m",
    "\x1b[m",
    "\x1b[3;8r",
    "\x1b[r",
    "\x1b7",
    "\x1bM",
    "\x1bD",
    "\x1b[?25l",
    "\x1b[?25h",
    "\x1b[6n\x1b[c",
    "\x1b[>1u",
    "\x1b[<u",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[4Z",
];

#[test]
fn attached_terminal_shows_the_same_screen_for_random_output() {
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let mut agents = VirtualTerminal::new(SIZE);
        let mut users = VirtualTerminal::new(SIZE);
        users.feed(&agents.paint(), &mut Effects::unseen());
        for _ in 0..40 {
            let count = 1 + dice.roll(4);
            let piece: String = (0..count).map(|_| PIECES[dice.roll(PIECES.len())]).collect();
            let mut effects = Effects::seen();
            let (head, tail) = piece.as_bytes().split_at(dice.roll(piece.len()));
            agents.feed(head, &mut effects);
            agents.feed(tail, &mut effects);
            let sent =
                if effects.needs_painting() { agents.paint() } else { effects.shown().to_vec() };
            let mut answers = Effects::unseen();
            users.feed(&sent, &mut answers);
            assert_eq!(answers.replies(), b"", "a user's terminal was asked by {piece:?}");
            assert_same(&agents, &users, &format!("{piece:?} of {seed}"));
        }
    }
}

#[test]
fn lines_that_scroll_off_undrawn_do_not_change_the_screen() {
    let pieces = [
        "\r\n",
        "\r\n",
        "\r\n",
        "\n",
        "words and words and words",
        "\x1b[31m",
        "\x1b[1;42m",
        "\x1b[m",
        "\t",
        "漢",
        "a line that is longer than the row is",
        "\x08",
        "\x1b[K",
        "\x1b[3D",
        "\x1b[2P",
        "\x1b[5;5H",
        "\x1b[2A",
    ];
    for seed in 0..200 {
        let mut dice = Dice(seed);
        // The share of pieces that only write varies.
        let kinds = pieces.len() - dice.roll(3);
        let before: String = (0..30).map(|_| PIECES[dice.roll(PIECES.len())]).collect();
        let text: String = (0..4000).map(|_| pieces[dice.roll(kinds)]).collect();
        let (mut whole, mut torn) = (terminal(before.as_bytes()), terminal(before.as_bytes()));
        whole.feed(text.as_bytes(), &mut Effects::unseen());
        for piece in text.as_bytes().chunks(100) {
            torn.feed(piece, &mut Effects::unseen());
        }
        assert_same(&whole, &torn, &format!("seed {seed}"));
    }
}

const NOISE: &[u8] = b"\x1b\x1b\x1b[[[];?0123456789hlmrJKHABCDSTPLMX@qu\xff\xe6\xbc\xa2 x\n\t";

#[test]
fn random_bytes_do_not_break_the_terminal() {
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let mut terminal = VirtualTerminal::new(Size { rows: 3, cols: 5 });
        for _ in 0..60 {
            let count = dice.roll(12);
            let noise: Vec<u8> = (0..count).map(|_| NOISE[dice.roll(NOISE.len())]).collect();
            terminal.feed(&noise, &mut Effects::seen());
            if dice.roll(5) == 0 {
                let rows = u16::try_from(1 + dice.roll(6)).unwrap();
                let cols = u16::try_from(2 + dice.roll(8)).unwrap();
                terminal.resize(Size { rows, cols });
            }
            terminal.paint();
            terminal.snapshot();
        }
    }
}

#[test]
fn screen_switch_needs_a_repaint_and_the_old_screen_is_restored() {
    let mut terminal = terminal(b"before");
    let mut effects = Effects::seen();
    terminal.feed(b"\x1b[?1049h\x1b[Hinside", &mut effects);
    assert!(effects.needs_painting());
    assert_eq!(effects.shown(), b"");
    assert!(terminal.snapshot().alternate);
    terminal.feed(b"\x1b[?1049l", &mut effects);
    assert_eq!(terminal.snapshot().rows[0], "before");
    assert_eq!(terminal.snapshot().cursor.col, 6);
}

#[test]
fn reset_keeps_only_the_title() {
    let mut terminal = terminal(b"\x1b]2;t\x07\x1b[?1049h\x1b[?1003h\x1b[>7u\x1b[?1004hx\x1bc");
    let snapshot = terminal.snapshot();
    assert_eq!((snapshot.modes, snapshot.keyboard), (vec![7, 25], 0));
    assert_eq!((snapshot.title.as_str(), snapshot.rows[0].as_str()), ("t", ""));
    terminal.feed(b"\x1b[?6h\x1b[2;5r\x1b[!p", &mut Effects::unseen());
    assert_eq!(terminal.snapshot().modes, [7, 25]);
}

#[test]
fn screen_now_has_rows_with_and_without_faint_text() {
    let terminal = terminal(
        b"\x1b]2;t\x07> \x1b[2mTry \xe6\xbc\xa2 it\x1b[22m now \x1b[2mhint\x1b[m\r\n\x1b[1mfirm",
    );
    let screen = terminal.screen_now(7);
    assert_eq!(screen.rows[..2], ["> Try 漢 it now hint", "firm"]);
    assert_eq!(screen.firm_rows[..2], [">           now", "firm"]);
    assert_eq!((screen.rows.len(), screen.firm_rows.len()), (10, 10));
    assert_eq!((screen.title.as_str(), screen.cursor, screen.revision), ("t", Some((1, 4)), 7));
}

#[test]
fn hidden_cursor_has_no_position() {
    assert_eq!(terminal(b"x\x1b[?25l").screen_now(1).cursor, None);
}
