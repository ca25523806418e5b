//! Long conversations, partial and huge lines, and `--last`.

use std::fs::OpenOptions;
use std::io::Write as _;

use serde_json::Value;

use super::{conversation_with, record, texts, turns};
use crate::world;

#[test]
fn last_prints_the_last_turns_with_their_numbers() {
    let world = world();
    let records: Vec<Value> = (1..=30).map(|n| record("user", &format!("turn {n}"), n)).collect();
    let (address, _) = conversation_with(&world, &records);
    let last = turns(&world, &[&address, "--last", "2"]);
    assert_eq!(texts(&last), ["turn 29", "turn 30"]);
    assert_eq!(last[0]["index"], 29);
    assert_eq!(turns(&world, &[&address, "-n", "99"]).len(), 30);
    for invalid in ["0", "-1", "x"] {
        let refused = world.segue(["show", &address, &format!("--last={invalid}")]);
        assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{refused:#?}");
        assert!(refused.stderr.contains("at least 1"), "{refused:#?}");
    }
    let shown = world.ok(["show", &address, "-n", "1"]);
    assert!(shown.starts_with("30  user  2026-01-02 03:04:30Z\n    turn 30\n"), "{shown}");
}

#[test]
fn partial_foreign_and_broken_lines_are_skipped_and_hide_no_turn() {
    let world = world();
    let (address, path) = conversation_with(&world, &[record("user", "first", 1)]);
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"\n{\"type\":\"unknown\"}\n[1,2]\nplain\n\xff\xfe\n{\"type\":\"user\",\"te\n")
        .unwrap();
    file.write_all(
        b"{\"type\":\"user\",\"text\":\"bad \xff byte\",\"at\":\"2026-01-02T03:04:05Z\"}\n",
    )
    .unwrap();
    writeln!(file, "{}", record("assistant", "last", 2)).unwrap();
    file.write_all(b"{\"type\":\"assistant\",\"text\":\"torn").unwrap();
    assert_eq!(texts(&turns(&world, &[&address])), ["first", "bad \u{fffd} byte", "last"]);
    assert_eq!(texts(&turns(&world, &[&address, "-n", "2"])), ["bad \u{fffd} byte", "last"]);
}

#[test]
fn last_reads_only_the_end_of_a_long_transcript() {
    let world = world();
    let huge = "x".repeat(5 * 1024 * 1024);
    let records = [record("user", "first", 1), record("user", &huge, 2), record("user", "end", 3)];
    let (address, _) = conversation_with(&world, &records);
    let last = turns(&world, &[&address, "-n", "1"]);
    assert_eq!(texts(&last), ["end"]);
    assert_eq!(last[0]["index"], Value::Null);
    let shown = world.ok(["show", &address, "-n", "1"]);
    assert!(shown.starts_with("user  2026-01-02"), "{shown}");
    // If reading reaches the beginning of the file, the numbers of the turns are known.
    let all = turns(&world, &[&address, "-n", "9"]);
    assert_eq!(all[2]["index"], 3);
    let text = all[1]["text"].as_str().unwrap();
    assert!(text.len() < 1024 * 1024 && text.starts_with("xxx") && text.ends_with("xxx"));
}
