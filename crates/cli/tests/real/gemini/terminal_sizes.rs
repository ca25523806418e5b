//! An attached terminal shows every line that Gemini drew while no terminal was attached.
//!
//! Gemini redraws only if the number of columns changes, and then only its input, from the last row
//! upwards. The holder must keep all other lines.

use std::collections::BTreeSet;

use segue_testkit::{Terminal, isolated, launches};

use super::{GeminiScene, scene};

const ROWS: u16 = 30;
const COLUMNS: u16 = 100;
const INPUT: &str = "Type your message";

/// Starts a detached session from a terminal. Its message has more lines than the terminal.
fn start(scene: &GeminiScene) {
    let lines: Vec<String> = (1..=50).map(|number| format!("line {number:02}")).collect();
    let message = lines.join("\n");
    let run = ["run", "--vendor", "gemini", "--permission", "auto", "-d", "--name", "coder"];
    let run = run.into_iter().chain([message.as_str()]);
    let mut person = Terminal::start(&scene.world.command(run), ROWS, COLUMNS);
    assert_eq!(person.wait(), 0, "{person:?}");
    scene.model.wait_for(|exchange| exchange.newest().contains("line 01"));
    scene.wait_idle("coder");
}

/// Returns the lines of the message that are on a screen.
fn message_lines(rows: &[String]) -> Vec<String> {
    let has_line = |row: &&String| row.contains("line ") && !row.contains(INPUT);
    // One of the rows ends with the notice that `segue attach` shows first.
    let line = |row: &str| row.split("  detach with").next().unwrap_or(row).trim().to_owned();
    rows.iter().filter(has_line).map(|row| line(row)).collect()
}

fn rows(screen: &vt100::Screen) -> Vec<String> {
    let (_, columns) = screen.size();
    screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
}

/// Pages through scroll mode from the first to the last line. Returns all lines of the message.
fn scrolled_through(person: &mut Terminal) -> BTreeSet<String> {
    person.write("\x1c[g");
    person.wait_until("the first page", |screen| {
        position(screen).is_some_and(|position| position.starts_with("1/"))
    });
    let mut all = BTreeSet::new();
    loop {
        all.extend(message_lines(&rows(person.screen())));
        if person.contents().contains(" 100%") {
            person.write("q");
            return all;
        }
        let before = position(person.screen());
        person.write("\x1b[6~");
        person.wait_until("the next page", |screen| {
            position(screen).is_some_and(|position| Some(&position) != before.as_ref())
        });
    }
}

/// Returns the position in the status line of scroll mode, such as `1/76 30`. It is drawn after the
/// lines of its page. `None` if it is only partly drawn.
fn position(screen: &vt100::Screen) -> Option<String> {
    let status = rows(screen).pop()?;
    let (position, _) = status.split_once("line ")?.1.split_once('%')?;
    Some(position.to_owned())
}

#[test]
fn first_attach_loses_no_line_at_any_terminal_size() {
    isolated(|| {
        for size in [(ROWS, COLUMNS), (24, 80), (40, 120), (24, COLUMNS)] {
            let scene = scene();
            start(&scene);
            let before = launches::snapshot(&scene.world, &scene.world.session("coder"));
            assert_eq!(before.rows.len(), usize::from(ROWS), "{before:#?}");
            let lines = message_lines(&before.rows);
            assert!(lines.len() > 10, "{before:#?}");
            assert_attach_shows(&scene, size, &lines);
        }
    });
}

/// Attaches from a terminal of this size. Checks that it shows all lines from before.
fn assert_attach_shows(
    scene: &GeminiScene,
    (row_count, column_count): (u16, u16),
    lines: &[String],
) {
    let attach = scene.world.command(["attach", "coder"]);
    let mut person = Terminal::start(&attach, row_count, column_count);
    // Gemini draws its input for the new width, and leaves all other rows as they were.
    let rule = "▄".repeat(usize::from(column_count));
    person.wait_until("the whole input", |screen| {
        let shown = rows(screen);
        shown.iter().any(|row| row.contains(INPUT)) && shown.contains(&rule)
    });
    let kept = message_lines(&rows(person.screen()));
    let fewer = usize::from(ROWS.saturating_sub(row_count));
    assert!(kept.len() + fewer >= lines.len(), "{lines:#?} {kept:#?} {person:?}");
    assert_eq!(kept.last(), lines.last(), "{person:?}");
    assert!(row_count <= ROWS || kept.len() > lines.len(), "no earlier lines: {person:?}");
    let all = scrolled_through(&mut person);
    let missing: Vec<_> = lines.iter().filter(|line| !all.contains(*line)).collect();
    assert!(missing.is_empty(), "{missing:?} of {all:?}");
    for number in 1..=50 {
        // Gemini puts a mark before the first line of a user message.
        let line = format!("line {number:02}");
        assert!(all.iter().any(|row| row.ends_with(&line)), "{number} of {all:?}");
    }
}
