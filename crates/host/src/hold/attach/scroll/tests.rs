//! Tests of the screen of scroll mode after each key.

use std::num::NonZeroU16;

use super::*;

fn size(rows: u16, cols: u16) -> Size {
    Size { rows, cols }
}

fn numbered(count: usize) -> String {
    let lines: Vec<String> = (1..=count).map(|number| format!("line {number}")).collect();
    lines.join("\n")
}

fn entered(text: &str, size: Size, entry: ScrollEntry) -> ScrollMode {
    ScrollMode::new(&page(text), size, entry)
}

fn page(text: &str) -> ScrollbackPage {
    let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let total = lines.len();
    ScrollbackPage { first: 0, lines, total, has_forgotten: false, alternate: false }
}

/// Presses keys. Returns the result of the last one.
fn press(mode: &mut ScrollMode, keys: &[u8]) -> Reaction {
    let mut reaction = Reaction::Stay;
    let mut decoder = KeyDecoder::default();
    for key in decoder.take(keys).into_iter().chain(decoder.after_pause()) {
        reaction = mode.key(key);
    }
    reaction
}

/// Returns the screen that a terminal shows.
fn screen(mode: &ScrollMode) -> vt100::Screen {
    let non_zero = |number| NonZeroU16::new(number).unwrap();
    let mut parser = vt100::Parser::new(non_zero(mode.size.rows), non_zero(mode.size.cols), 0);
    parser.process(b"\x1b[Hsomething was here before\x1b[2;2H");
    parser.process(mode.draw().as_bytes());
    parser.screen().clone()
}

fn rows(mode: &ScrollMode) -> Vec<String> {
    let screen = screen(mode);
    screen.rows(0, mode.size.cols).map(|row| row.trim_end().to_owned()).collect()
}

fn first(mode: &ScrollMode) -> String {
    rows(mode).swap_remove(0)
}

fn status(mode: &ScrollMode) -> String {
    rows(mode).pop().unwrap()
}

#[test]
fn scroll_mode_begins_with_the_screen_and_a_status_line_in_its_last_row() {
    let mode = entered(&numbered(100), size(10, 80), ScrollEntry::Key);
    let shown = rows(&mode);
    assert_eq!(shown[0], "line 91");
    assert_eq!(shown[8], "line 99");
    assert!(shown[9].starts_with(" scroll  q leave  line 91/100 99%"), "{shown:?}");
    assert!(shown[9].contains("q leave") && shown[9].contains("v select"), "{shown:?}");
    assert_eq!(screen(&mode).cursor_position(), (0, 0));
}

#[test]
fn leave_key_comes_first_in_the_status_line_and_is_dropped_last() {
    let mode = entered("one", size(2, 80), ScrollEntry::Key);
    let table = [
        (7, "q leave"),
        (15, "q leave"),
        (16, " scroll  q leave"),
        (29, " scroll  q leave"),
        (31, " scroll  q leave  |  / search"),
        (32, " scroll  q leave  line 1/1 100%"),
        (46, " scroll  q leave  line 1/1 100%  |  / search"),
    ];
    for (cols, expected) in table {
        assert_eq!(mode.status(cols), expected, "{cols}");
    }
}

#[test]
fn every_key_moves_the_view_as_documented() {
    let table: [(&[u8], &str, u16); 26] = [
        (b"k", "line 90", 0),
        (b"\x1b[A", "line 89", 0),
        (b"j", "line 89", 1),
        (b"\x1b[B", "line 89", 2),
        (b"\x1b[5~", "line 81", 2),
        (b"\x02", "line 73", 2),
        (b"b", "line 65", 2),
        (b"\x1b[6~", "line 73", 2),
        (b"f", "line 81", 2),
        (b"\x15", "line 77", 2),
        (b"\x04", "line 81", 2),
        (b"\x1b[<64;1;1M", "line 78", 2),
        (b"\x1b[<65;1;1M", "line 81", 2),
        (b"g", "line 1", 0),
        (b"k", "line 1", 0),
        (b"\x1b[5~", "line 1", 0),
        (b"G", "line 92", 8),
        (b"j", "line 92", 8),
        (b"\x1b[6~", "line 92", 8),
        (b"\x1b[H", "line 1", 0),
        (b"\x1b[F", "line 92", 8),
        (b"k", "line 92", 7),
        (b"\x1b[1~", "line 1", 0),
        (b"\x1b[4~", "line 92", 8),
        (b"x", "line 92", 8),
        (b"\x1b[3~", "line 92", 8),
    ];
    let mut mode = entered(&numbered(100), size(10, 80), ScrollEntry::Key);
    for (number, (keys, top, cursor)) in table.into_iter().enumerate() {
        assert_eq!(press(&mut mode, keys), Reaction::Stay, "step {number}");
        let position = screen(&mode).cursor_position();
        assert_eq!((first(&mode).as_str(), position), (top, (cursor, 0)), "step {number}");
    }
}

#[test]
fn page_up_and_wheel_scroll_on_entry_and_leave_at_the_end() {
    let mut page = entered(&numbered(100), size(10, 80), ScrollEntry::PageUp);
    assert_eq!(first(&page), "line 82");
    assert_eq!(press(&mut page, b"\x1b[6~\x1b[6~"), Reaction::Stay);
    assert_eq!(press(&mut page, b"\x1b[6~"), Reaction::Leave);
    let mut wheel = entered(&numbered(100), size(10, 80), ScrollEntry::Wheel);
    assert_eq!(first(&wheel), "line 88");
    assert_eq!(press(&mut wheel, b"\x1b[<65;1;1M\x1b[<65;1;1M"), Reaction::Stay);
    assert_eq!(press(&mut wheel, b"\x1b[<65;1;1M"), Reaction::Leave);
    let mut key = entered(&numbered(100), size(10, 80), ScrollEntry::Key);
    assert_eq!(press(&mut key, b"G\x1b[6~\x1b[<65;1;1M"), Reaction::Stay);
}

#[test]
fn q_escape_and_control_c_leave_scroll_mode() {
    for keys in [&b"q"[..], b"\x1b", b"\x03", b"v\x1b\x1b", b"/x\rq"] {
        let mut mode = entered(&numbered(100), size(10, 80), ScrollEntry::Key);
        let mut last = Reaction::Stay;
        for key in keys {
            last = press(&mut mode, &[*key]);
        }
        assert_eq!(last, Reaction::Leave, "{keys:?}");
    }
}

#[test]
fn search_goes_to_the_next_match_and_marks_all_matches() {
    let mut mode = entered(&numbered(100), size(10, 80), ScrollEntry::Key);
    press(&mut mode, b"g/line 5");
    assert_eq!(status(&mode), "/line 5");
    assert_eq!(screen(&mode).cursor_position(), (9, 7));
    press(&mut mode, b"\r");
    assert_eq!(screen(&mode).cursor_position(), (4, 0));
    assert!(status(&mode).contains("search: line 5"), "{}", status(&mode));
    press(&mut mode, b"n");
    let shown = screen(&mode);
    assert_eq!(first(&mode), "line 42", "{:?}", rows(&mode));
    assert_eq!(shown.cell(8, 0).unwrap().bgcolor(), vt100::Color::Idx(3), "last match");
    press(&mut mode, b"nG");
    press(&mut mode, b"?LINE 99\x7f\x7f9\r");
    assert!(status(&mode).contains("not found: LINE 9"), "capitals found lower case");
    press(&mut mode, b"?line 5\r");
    assert_eq!(mode.layout.line(), 58);
    assert!(!screen(&mode).cell(0, 0).unwrap().inverse() || first(&mode).starts_with("line 5"));
    press(&mut mode, b"N");
    assert_eq!(mode.layout.line(), 4, "the search did not wrap around");
    assert!(status(&mode).contains("other end"), "{}", status(&mode));
}

#[test]
fn search_can_be_cancelled_and_a_repetition_without_a_search_shows_a_note() {
    let mut mode = entered(&numbered(100), size(10, 80), ScrollEntry::Key);
    assert_eq!(press(&mut mode, b"n"), Reaction::Stay);
    assert!(status(&mode).contains("press / or ?"), "{}", status(&mode));
    for keys in [&b"/abc\x03"[..], b"/\x7f", b"/ab\x1b"] {
        press(&mut mode, keys);
        assert!(status(&mode).starts_with(" scroll "), "{}", status(&mode));
    }
    press(&mut mode, b"/qjk\x15line 7\r");
    assert!(status(&mode).contains("search: line 7"), "typed keys were actions");
}

#[test]
fn whole_lines_are_selected_and_copied_as_plain_text() {
    let text = "zero\n\x1b[31mone\x1b[m  \ntwo is longer than a row\n\x1b]52;c;eA==\x07three\nfour";
    let mut mode = entered(text, size(6, 10), ScrollEntry::Key);
    assert_eq!(press(&mut mode, b"y"), Reaction::Stay);
    assert!(mode.note.as_deref().unwrap().contains("press v"), "{:?}", mode.note);
    press(&mut mode, b"gjvj");
    assert!(screen(&mode).cell(1, 0).unwrap().inverse());
    assert!(screen(&mode).cell(2, 0).unwrap().inverse());
    assert!(!screen(&mode).cell(0, 0).unwrap().inverse());
    let copied = copy::sequence("one\ntwo is longer than a row").unwrap();
    assert_eq!(press(&mut mode, b"y"), Reaction::Send(copied));
    assert_eq!(mode.note.as_deref(), Some("copied 2 lines"));
    assert_eq!(mode.anchor, None);
    press(&mut mode, b"G k");
    let copied = copy::sequence("]52;c;eA==three\nfour").unwrap();
    assert_eq!(press(&mut mode, b"\r"), Reaction::Send(copied));
    press(&mut mode, b"Vv");
    assert_eq!(mode.anchor, None, "the second key did not end the selection");
}

#[test]
fn selection_too_large_for_the_clipboard_is_refused_with_a_note() {
    let mut mode = entered(&vec!["x".repeat(100); 1000].join("\n"), size(10, 80), ScrollEntry::Key);
    assert_eq!(press(&mut mode, b"gvGy"), Reaction::Stay);
    assert!(status(&mode).contains("not copied"), "{}", status(&mode));
    assert!(mode.anchor.is_some());
}

#[test]
fn wide_characters_and_colours_are_preserved() {
    let mut mode = entered("漢字漢字\x1b[1;32m漢\x1b[m\nx", size(4, 7), ScrollEntry::Key);
    press(&mut mode, b"g");
    let shown = screen(&mode);
    assert_eq!(rows(&mode)[..3], ["漢字漢", "字漢", "x"]);
    assert!(shown.cell(1, 2).unwrap().bold());
    assert_eq!(shown.cell(1, 2).unwrap().fgcolor(), vt100::Color::Idx(2));
}

#[test]
fn drawing_never_scrolls_the_terminal_on_any_screen_size() {
    let text = format!("{}\n漢字 wide \u{1f600}\n{}", numbered(50), "y".repeat(300));
    for (rows, cols) in [(1, 2), (1, 80), (2, 2), (2, 3), (3, 10), (24, 80), (5, 1000)] {
        let mut mode = entered(&text, size(rows, cols), ScrollEntry::PageUp);
        for keys in [&b"g"[..], b"G", b"/y", b"\r", b"v", b"kkk", b"?", b"\x7f", b"\x1b[5~"] {
            press(&mut mode, keys);
            let non_zero = |number| NonZeroU16::new(number).unwrap();
            let mut parser = vt100::Parser::new(non_zero(rows), non_zero(cols), 100);
            parser.process(mode.draw().as_bytes());
            assert_eq!(parser.screen().scrollback_len(), 0, "{rows}x{cols} {keys:?}");
        }
    }
}

#[test]
fn resize_keeps_the_cursor_on_its_line() {
    let mut mode = entered(&numbered(100), size(10, 80), ScrollEntry::Key);
    press(&mut mode, b"g/line 37\r");
    for (rows, cols) in [(5, 4), (24, 80), (2, 3), (10, 80)] {
        mode.resize(size(rows, cols));
        assert_eq!(mode.layout.line(), 36, "{rows}x{cols}");
        let cursor = usize::from(screen(&mode).cursor_position().0);
        assert!(rows == 1 || cursor < usize::from(rows) - 1);
    }
}

#[test]
fn status_line_reports_missing_earlier_lines() {
    let forgotten = ScrollbackPage { has_forgotten: true, ..page("x") };
    let mode = ScrollMode::new(&forgotten, size(5, 80), ScrollEntry::Key);
    assert!(status(&mode).contains("older lines are gone"), "{}", status(&mode));
    let alternate = ScrollbackPage { alternate: true, ..page("x") };
    let mode = ScrollMode::new(&alternate, size(5, 100), ScrollEntry::Key);
    assert!(status(&mode).contains("earlier screens are not kept"), "{}", status(&mode));
}

#[test]
fn agent_text_cannot_control_the_terminal() {
    let evil = "\x1b]52;c;ZXZpbA==\x07\x1b]0;title\x07\x1b[?1049l\x1b[2J\x1bc\x1bP1$r\x1b\\\u{9b}2J\
                \x1b[200~\x07\x0e\x1b(0\u{90}q\u{9c}\x1b_G\x1b\\\x1b[6n\x1b[>c\x1b]8;;http://x\x07";
    let mut mode = entered(&format!("{evil}\n{evil}"), size(10, 80), ScrollEntry::Key);
    for keys in [&b"g"[..], b"/x\r", b"v", b"?\x1b[200~\x07evil\x1b[201~"] {
        press(&mut mode, keys);
        let drawn = mode.draw();
        let mut rest = drawn.as_str();
        while let Some(at) = rest.find(|it: char| it.is_control()) {
            rest = &rest[at..];
            let allowed = rest.strip_prefix("\x1b[").and_then(|it| {
                let end = it.find(|it: char| ('\x40'..='\x7e').contains(&it))?;
                let (body, last) = (&it[..end], it.as_bytes()[end]);
                let is_mode = ["?2026", "?25"].contains(&body) && b"hl".contains(&last);
                (is_mode || b"mHK".contains(&last) && !body.starts_with('?'))
                    .then(|| &it[end + 1..])
            });
            rest = allowed.unwrap_or_else(|| panic!("{:?} in {keys:?}", &rest[..20]));
        }
    }
}
