//! `segue ls` and `segue log`: which sessions and events they show, and how.

use segue_testkit::{Terminal, World, past_sessions, scene};
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::agents;

fn names(list: &Value) -> Vec<&str> {
    let sessions = list["sessions"].as_array().unwrap_or_else(|| panic!("no list: {list:#}"));
    sessions.iter().map(|it| it["name"].as_str().unwrap()).collect()
}

/// Stops a session and changes its record as if it had ended years ago.
fn age(world: &World, name: &str) {
    world.ok(["stop", name]);
    world.ok(["daemon", "stop"]);
    let store = rusqlite::Connection::open(world.database()).unwrap();
    let sql = "UPDATE sessions SET updated_at = '2020-01-02T03:04:05.000000000Z' WHERE name = ?1";
    assert_eq!(store.execute(sql, [name]).unwrap(), 1);
}

#[test]
fn ls_counts_sessions_that_ended_over_a_day_ago_and_lists_them_with_all() {
    let world = agents(&["fox", "owl", "hen"]);
    world.ok(["stop", "hen"]);
    age(&world, "owl");
    let shown = world.segue(["ls"]);
    assert_eq!(shown.status, 0);
    assert!(shown.stdout.contains("default/fox") && shown.stdout.contains("default/hen"));
    assert!(!shown.stdout.contains("default/owl"), "{shown:#?}");
    let note = "1 session that ended more than a day ago: `segue ls --all`";
    assert!(shown.stderr.contains(note), "{shown:#?}");
    let listed = world.segue(["ls", "--json"]);
    assert!(listed.stderr.contains(note), "{listed:#?}");
    let list: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(names(&list), ["fox", "hen"]);
    assert_eq!(names(&world.json(["ls", "--all", "--json"])), ["fox", "owl", "hen"]);
    assert_eq!(names(&world.json(["ls", "--status", "ended", "--json"])), ["owl", "hen"]);
}

#[test]
fn ls_lists_more_sessions_than_one_answer_has() {
    let world = crate::world();
    past_sessions::insert(&world, 1234);
    let list = world.json(["ls", "--all", "--json"]);
    let expected: Vec<String> = (0..1234).map(|number| format!("past-{number}")).collect();
    let mut found = names(&list);
    found.sort_by_key(|name| name[5..].parse::<u32>().unwrap());
    assert_eq!(found, expected);
}

#[test]
fn ls_filters_by_fleet_vendor_status_and_folder() {
    let world = crate::world();
    scene::write_agents(&world, "shop", &["coder"]);
    world.ok(["up"]);
    scene::wait_first_turns(&world);
    let home = world.home();
    let home = home.to_str().unwrap();
    world.ok(["run", "-d", "--name", "fox", "--cwd", home, "hello"]);
    world.ok(["wait", "fox", "--for", "idle", "--timeout", "170s"]);
    world.ok(["stop", "fox"]);
    let table: [(&[&str], &[&str]); 11] = [
        (&[], &["coder", "fox"]),
        (&["--fleet", "shop"], &["coder"]),
        (&["--fleet", "sh"], &["coder"]),
        (&["--fleet", "shop", "--fleet", "default"], &["coder", "fox"]),
        (&["--fleet", "shop,default", "--status", "ended"], &["fox"]),
        (&["--status", "ended"], &["fox"]),
        (&["--status", "idle,ended"], &["coder", "fox"]),
        (&["--vendor", "demo"], &["coder", "fox"]),
        (&["--vendor", "codex"], &[]),
        (&["--cwd", "."], &["coder"]),
        (&["--cwd", home], &["fox"]),
    ];
    for (flags, expected) in table {
        let words = ["ls", "--json"].iter().chain(flags);
        let listed = segue_testkit::CommandOutcome::of(&mut world.command(words));
        let list: Value = serde_json::from_str(&listed.stdout).unwrap();
        let mut found = names(&list);
        found.sort_unstable();
        assert_eq!(found, expected, "{flags:?}");
    }
    let unknown = world.segue(["ls", "--fleet", "shpo"]);
    assert_eq!(unknown.status, 3, "{unknown:#?}");
    assert!(unknown.stderr.contains("did you mean `shop`?"), "{unknown:#?}");
    let unknown = world.segue(["ls", "--status", "sleeping"]);
    assert_eq!(unknown.status, 3, "{unknown:#?}");
    assert!(unknown.stderr.contains("working"), "{unknown:#?}");
}

#[test]
fn ls_on_a_narrow_terminal_shortens_folders_but_not_names() {
    let world = agents(&["a-session-with-a-long-name"]);
    let wide = world.ok(["ls"]);
    assert!(wide.contains(world.project().to_str().unwrap()), "{wide}");
    for columns in [76, 80] {
        let mut terminal = Terminal::start(&world.command(["ls"]), 24, columns);
        assert_eq!(terminal.wait(), 0, "{terminal:?}");
        let shown = terminal.contents();
        let rows: Vec<&str> = shown.lines().filter(|line| line.contains("default/")).collect();
        let [row] = rows.as_slice() else { panic!("{shown}") };
        assert!(row.width() <= usize::from(columns), "{row}");
        assert!(row.starts_with("default/a-session-with-a-long-name"), "{row}");
        assert!(row.contains('…') && row.ends_with("/project"), "{row}");
    }
}

#[test]
fn log_prints_local_time_on_a_terminal_and_utc_in_a_pipe() {
    let mut world = agents(&["fox"]);
    let event = &super::json_lines(&world.ok(["log", "fox", "--last", "1", "--json"]))[0];
    let at: jiff::Timestamp = event["at"].as_str().unwrap().parse().unwrap();
    assert!(event["at"].as_str().unwrap().ends_with('Z'), "{event:#}");
    // Fixed offsets need no time zone database.
    for (zone, hours) in [("UTC-5", 5), ("Asia/Kolkata", 5), ("UTC", 0)] {
        world.set("TZ", zone);
        let minutes = if zone.starts_with("Asia") { 30 } else { 0 };
        let shift = jiff::SignedDuration::from_mins(hours * 60 + minutes);
        let local = (at + shift).strftime("%Y-%m-%d %H:%M:%S").to_string();
        let command = world.command(["log", "fox", "--last", "1"]);
        let mut terminal = Terminal::start(&command, 24, 160);
        assert_eq!(terminal.wait(), 0, "{terminal:?}");
        assert!(terminal.contents().starts_with(&format!("{local}  ")), "{zone}: {terminal:?}");
        let piped = world.ok(["log", "fox", "--last", "1"]);
        let utc = at.strftime("%Y-%m-%d %H:%M:%SZ").to_string();
        assert!(piped.starts_with(&utc), "{piped}");
    }
}

#[test]
fn log_shows_the_last_events_and_starts_a_pager_for_long_output() {
    let mut world = agents(&["fox"]);
    let all = super::json_lines(&world.ok(["log", "fox", "--json"]));
    let last = super::json_lines(&world.ok(["log", "fox", "--last", "2", "--json"]));
    assert_eq!(last, all[all.len() - 2..]);
    world.set("SEGUE_PAGER", "sed -u s/^/paged:/");
    let mut short = Terminal::start(&world.command(["log", "fox", "-n", "1"]), 24, 160);
    assert_eq!(short.wait(), 0, "{short:?}");
    assert!(!short.contents().contains("paged:"), "{short:?}");
    let mut long = Terminal::start(&world.command(["log", "fox"]), 4, 160);
    assert_eq!(long.wait(), 0, "{long:?}");
    assert!(long.contents().contains("paged:"), "{long:?}");
    let mut plain = Terminal::start(&world.command(["log", "fox", "--no-pager"]), 4, 160);
    assert_eq!(plain.wait(), 0, "{plain:?}");
    assert!(!plain.contents().contains("paged:"), "{plain:?}");
}

#[test]
fn log_of_one_session_keeps_its_columns_beside_a_very_long_name() {
    let long = "x".repeat(64);
    let world = agents(&["fox", &long]);
    let log = world.ok(["log", "fox"]);
    let first = log.lines().next().unwrap_or_default();
    let (_, rest) = first.split_once("default/fox").unwrap_or_default();
    assert!(rest.starts_with("  ") && !rest.starts_with("   "), "{log}");
}
