use super::*;

/// Returns a screen of 40 columns with these rows. A row `=` becomes a border of the input.
fn screen(text: &str) -> Screen {
    let rows: Vec<String> = text
        .lines()
        .map(|row| if row == "=" { "─".repeat(40) } else { row.trim_end().to_owned() })
        .collect();
    Screen { firm_rows: rows.clone(), rows, title: "π - proj".to_owned(), ..Screen::default() }
}

const FOOTER: &str = "/code/a\n↑2 ↓14 0.0%/200k (auto)      fake-1";

#[test]
fn empty_input_is_ready() {
    let ready = format!(" hello SLOW\n\n\n turns=4 last=<<hello SLOW>>\n\n=\n\n=\n{FOOTER}\n\n");
    assert_eq!(read(&screen(&ready)), Showing::Ready);
    let behind_shell = format!("=\n $ sleep 3\n=\n\n=\n\n=\n{FOOTER}");
    assert_eq!(read(&screen(&behind_shell)), Showing::Ready);
    let answer_with_braille = format!(" ⠿ is a letter\n\n\n\n\n=\n\n=\n{FOOTER}");
    assert_eq!(read(&screen(&answer_with_braille)), Showing::Ready);
}

#[test]
fn spinner_above_the_input_is_busy() {
    for turning in ["⠦ Working...", "⠴ Retrying (3/3) in 2s... (escape to cancel)"] {
        let busy = format!(" now\n\n {turning}\n\n=\n\n=\n{FOOTER}");
        assert_eq!(read(&screen(&busy)), Showing::Busy, "{turning}");
    }
}

#[test]
fn text_or_a_menu_in_the_input_is_a_draft() {
    let scrolled = format!("─── ↑ 3 more {}", "─".repeat(27));
    let drafts = [
        format!("=\nhalf a thou\n=\n{FOOTER}"),
        format!(" ⠦ Working...\n\n=\nhalf a thou\n=\n{FOOTER}"),
        format!("{scrolled}\n\nlast line\n=\n{FOOTER}"),
        format!("=\n/\n=\n→ settings       Open settings menu\n  (1/21)\n{FOOTER}"),
        format!("=\n>\n\n→ fake-1 [fake] ✓\n\n  Model Name: fake-1\n\n=\n{FOOTER}"),
    ];
    for draft in drafts {
        assert_eq!(read(&screen(&draft)), Showing::Draft, "{draft}");
    }
}

#[test]
fn screen_without_an_input_is_busy() {
    for text in ["", " pi v0.73.1\n", "=\n x", "=\n="] {
        assert_eq!(read(&screen(text)), Showing::Busy, "{text}");
    }
}
