use std::ops::ControlFlow;

use segue_core::model::Usage;
use segue_core::ports::Transcripts as _;
use serde_json::{Value, json};

use super::*;
use crate::claude::Claude;
use crate::testing::turns::{assert_damage_is_tolerated, read_turns_of_text};
use crate::testing::{Home, to_json_lines};

const INTERACTIVE: &str = include_str!("../fixtures/interactive.jsonl");
const CLEARED: &str = include_str!("../fixtures/cleared.jsonl");
const TYPED: &str = include_str!("../fixtures/typed.jsonl");

const PATH: &str = "projects/-code-a/a.jsonl";

fn both_ways(bytes: impl AsRef<[u8]>) -> Vec<Turn> {
    read_turns_of_text(&Claude, PATH, bytes)
}

/// Returns a record of the tree with this UUID, parent and content.
fn record(kind: &str, name: &str, parent: &str, content: impl Into<Value>) -> Value {
    let content = content.into();
    let parent = (!parent.is_empty()).then_some(parent);
    let message = match kind {
        "assistant" => json!({
            "id": format!("msg_{name}"), "model": "m-1", "role": "assistant", "content": content,
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 2, "cache_read_input_tokens": 5, "output_tokens": 3},
        }),
        _ => json!({"role": kind, "content": content}),
    };
    json!({
        "parentUuid": parent, "isSidechain": false, "type": kind, "message": message, "uuid": name,
        "timestamp": "2026-11-16T00:00:00.000Z",
    })
}

fn user(name: &str, parent: &str) -> Value {
    record("user", name, parent, json!(format!("says {name}")))
}

fn model(name: &str, parent: &str) -> Value {
    record("assistant", name, parent, json!([{"type": "text", "text": format!("answers {name}")}]))
}

fn call(name: &str, parent: &str) -> Value {
    let input = json!({"command": "ls"});
    let block =
        json!({"type": "tool_use", "id": format!("toolu_{name}"), "name": "Bash", "input": input});
    record("assistant", name, parent, json!([block]))
}

fn result(name: &str, call: &str) -> Value {
    let block =
        json!({"tool_use_id": format!("toolu_{call}"), "type": "tool_result", "content": name});
    let mut record = record("user", name, call, json!([block]));
    record["toolUseResult"] = json!({"stdout": name});
    record
}

fn note(kind: &str, name: &str, parent: &str) -> Value {
    json!({"parentUuid": parent, "type": kind, "uuid": name, "attachment": {"type": "x"}})
}

fn tip(leaf: Option<&str>, explicit: bool) -> Value {
    json!({"type": "last-prompt", "leafUuid": leaf, "explicit": explicit})
}

fn compaction(name: &str, before: &str) -> Value {
    json!({
        "parentUuid": null, "logicalParentUuid": before, "isSidechain": false, "type": "system",
        "subtype": "compact_boundary", "uuid": name, "timestamp": "2026-11-16T00:00:00.000Z",
    })
}

fn summary(name: &str, parent: &str) -> Value {
    let mut record = user(name, parent);
    record["isCompactSummary"] = json!(true);
    record
}

/// Reads these records and returns a short text for each turn.
fn read(records: &[Value]) -> Vec<String> {
    let words = |turn: Turn| match turn.tool {
        Some(tool) if turn.role == Role::ToolCall => format!("calls {}", tool.id),
        Some(tool) => format!("{} of {}", turn.text, tool.id),
        None if turn.role == Role::Summary => format!("summary: {}", turn.text),
        None => turn.text,
    };
    both_ways(to_json_lines(records)).into_iter().map(words).collect()
}

#[test]
fn recorded_conversation_yields_messages_calls_and_results() {
    let turns = both_ways(INTERACTIVE);
    let words = |role| {
        let own = turns.iter().filter(move |turn| turn.role == role);
        own.map(|turn| turn.text.as_str()).collect::<Vec<_>>()
    };
    let wanted = [
        "first ALPHA",
        "second [[hold: a]]",
        "third [[status: 500]]",
        "fourth [[tool: touch x]]",
        "fifth [[hold: b]]",
        "queued one",
        "!echo bang",
        "# remember this",
        "?",
    ];
    assert_eq!(words(Role::User), wanted);
    assert_eq!(words(Role::Assistant).len(), 7, "with an interrupted answer, without errors");
    assert_eq!(words(Role::ToolCall), [r#"{"command":"touch x"}"#]);
    let results: Vec<&Turn> = turns.iter().filter(|turn| turn.role == Role::ToolResult).collect();
    assert!(results[0].tool.as_ref().unwrap().failed);
    let last = turns.last().unwrap();
    assert_eq!(last.text, "turns=9 first=<<first ALPHA>> last=<<?>>");
    assert!(last.at.is_some() && last.model.is_some(), "{last:?}");
    assert_eq!(both_ways(CLEARED)[0].text, "after BETA");
}

#[test]
fn assistant_turn_has_model_and_token_usage() {
    let turns = both_ways(to_json_lines(&[user("q", ""), model("a", "q")]));
    assert_eq!(turns[1].usage, Some(Usage { input: 7, cached: 5, output: 3, cost_usd: None }));
    assert_eq!(turns[1].model.as_deref(), Some("m-1"));
    assert_eq!(turns[0].usage, None);
}

#[test]
fn turns_before_a_compaction_are_read_and_the_summary_is_one_turn() {
    let records = [
        user("q", ""),
        model("a", "q"),
        compaction("c", "a"),
        summary("s", "c"),
        note("attachment", "n", "s"),
        user("q2", "n"),
        model("a2", "q2"),
    ];
    let wanted = ["says q", "answers a", "summary: says s", "says q2", "answers a2"];
    assert_eq!(read(&records), wanted);
}

#[test]
fn abandoned_branch_is_not_read() {
    let old = [user("q", ""), model("a", "q"), user("old", "a"), model("old_a", "old")];
    let new = [user("new", "a"), model("new_a", "new")];
    let all = [&old[..], &new].concat();
    let [new_branch, old_branch] = [["says new", "answers new_a"], ["says old", "answers old_a"]]
        .map(|end| [["says q", "answers a"], end].concat());
    assert_eq!(read(&all), new_branch, "the last record counts");
    let noted = [&all[..], &[tip(Some("old_a"), false)]].concat();
    assert_eq!(read(&noted), old_branch, "the noted record counts");
    let noted = [&old[..], &[tip(Some("old_a"), false)], &new].concat();
    assert_eq!(read(&noted), old_branch, "records that do not descend from it are not read");
    let noted = [&old[..], &[tip(Some("a"), false)], &new].concat();
    assert_eq!(read(&noted), new_branch, "records that descend from it are read");
    let with_missing_tip = [&all[..], &[tip(Some("absent"), false)]].concat();
    assert_eq!(read(&with_missing_tip), new_branch, "a missing record does not count");
}

#[test]
fn going_back_to_a_record_drops_the_turns_after_it() {
    let all = [user("q", ""), model("a", "q"), user("q2", "a"), model("a2", "q2")];
    let back = [&all[..], &[tip(Some("a"), true)]].concat();
    assert_eq!(read(&back), ["says q", "answers a"]);
    let again = [&back[..], &[tip(Some("a"), false)]].concat();
    assert_eq!(read(&again), ["says q", "answers a"], "Claude Code notes it again when it exits");
    let on = [&again[..], &[user("q3", "a")]].concat();
    assert_eq!(read(&on), ["says q", "answers a", "says q3"]);
    let nowhere = [&all[..], &[tip(None, true)]].concat();
    assert_eq!(read(&nowhere), Vec::<String>::new());
    let anew = [&nowhere[..], &[user("q4", "")]].concat();
    assert_eq!(read(&anew), ["says q4"]);
    let compacted = [&all[..], &[tip(Some("a"), false), compaction("c", "a2"), summary("s", "c")]];
    assert_eq!(read(&compacted.concat()).len(), 5, "a compaction makes the note invalid");
}

#[test]
fn results_of_parallel_tools_are_all_read() {
    let begin = [user("q", ""), call("c1", "q"), call("c2", "c1")];
    let wanted = |results: [&'static str; 2]| {
        let calls = ["says q", "calls toolu_c1", "calls toolu_c2"];
        [&calls[..], &results, &["answers a"]].concat()
    };
    let (one, two) = ("r1 of toolu_c1", "r2 of toolu_c2");
    let records = [&begin[..], &[result("r1", "c1"), result("r2", "c2"), model("a", "r2")]];
    assert_eq!(read(&records.concat()), wanted([one, two]));
    let records = [&begin[..], &[result("r2", "c2"), result("r1", "c1"), model("a", "r1")]];
    assert_eq!(read(&records.concat()), wanted([two, one]));
    let early = [
        user("q", ""),
        call("c1", "q"),
        result("r1", "c1"),
        call("c2", "c1"),
        result("r2", "c2"),
        model("a", "r2"),
    ];
    let wanted = ["says q", "calls toolu_c1", one, "calls toolu_c2", two, "answers a"];
    assert_eq!(read(&early), wanted);
    let left = [&early[..], &[user("q2", "")]].concat();
    assert_eq!(read(&left), ["says q2"], "no result of a branch that was left");
}

#[test]
fn answer_stored_before_its_question_is_read_after_it() {
    let first = [model("a", "n"), user("q", ""), note("attachment", "n", "q")];
    assert_eq!(read(&first), ["says q", "answers a"]);
    let next = [&first[..], &[note("system", "d", "a"), user("q2", "d")]].concat();
    assert_eq!(read(&next), ["says q", "answers a", "says q2"]);
}

#[test]
fn records_of_thinking_errors_notes_and_subagents_are_no_turns() {
    let with = |mut record: Value, name: &str, value: Value| {
        record[name] = value;
        record
    };
    let mut synthetic = model("b", "a");
    synthetic["message"]["model"] = json!("<synthetic>");
    synthetic["message"]["content"] = json!([{"type": "text", "text": "No response requested."}]);
    let thinking = json!([{"type": "thinking", "thinking": "hm", "signature": "x"}]);
    let queued = json!({"type": "queued_command", "prompt": "and more", "commandMode": "prompt"});
    let task = json!({"type": "queued_command", "prompt": "x", "commandMode": "task-notification"});
    let picture = json!([{"type": "image", "source": {}}, {"type": "text", "text": "look"}]);
    let records = [
        user("q", ""),
        record("assistant", "t", "q", thinking),
        model("a", "t"),
        synthetic,
        with(model("e", "b"), "isApiErrorMessage", json!(true)),
        with(user("m", "e"), "isMeta", json!(true)),
        with(user("side", "m"), "isSidechain", json!(true)),
        record("user", "cmd", "m", json!("<command-name>/exit</command-name>")),
        record(
            "user",
            "esc",
            "cmd",
            json!([{"type": "text", "text": "[Request interrupted by user]"}]),
        ),
        with(note("attachment", "k", "esc"), "attachment", queued),
        with(note("attachment", "l", "k"), "attachment", task),
        record("user", "p", "l", picture),
        json!({"type": "mode", "mode": "normal"}),
    ];
    assert_eq!(read(&records), ["says q", "answers a", "and more", "[image]\nlook"]);
}

#[test]
fn damaged_line_loses_only_its_own_turn() {
    let records = [user("q", ""), model("a", "q"), user("q2", "a"), model("a2", "q2")];
    let all: Vec<String> = records.iter().map(Value::to_string).collect();
    let hurt = all[1].replace("\"model\"", "model\"");
    let text = [&all[0], &hurt, &all[2], &all[3]].map(|line| format!("{line}\n")).concat();
    let texts = |turns: Vec<Turn>| turns.into_iter().map(|turn| turn.text).collect::<Vec<_>>();
    assert_eq!(texts(both_ways(text)), ["says q", "says q2", "answers a2"]);
    let torn = all[1][..60].to_owned() + &all[2].replace("\"a\"", "\"q\"");
    let text = [&all[0], &torn, &all[3], "{\"torn"].map(|line| format!("{line}\n")).concat();
    let glued = [String::from("says q"), "answers a2".to_owned()];
    let read = texts(both_ways(&text));
    assert!(glued.iter().all(|text| read.contains(text)), "{read:?}");
}

#[test]
fn both_directions_agree_on_damaged_and_reordered_files() {
    let built = to_json_lines(&[
        model("a", "n"),
        user("q", ""),
        note("attachment", "n", "q"),
        call("c1", "a"),
        call("c2", "c1"),
        result("r2", "c2"),
        result("r1", "c1"),
        model("a2", "r1"),
        tip(Some("a2"), false),
        compaction("c", "a2"),
        summary("s", "c"),
        user("left", "s"),
        user("q2", "s"),
        tip(Some("q2"), true),
    ]);

    for fixture in [&built, INTERACTIVE, CLEARED, TYPED] {
        assert_damage_is_tolerated(&Claude, PATH, fixture);
        let lines: Vec<&str> = fixture.split_inclusive('\n').collect();
        for shift in 1..lines.len() {
            both_ways([&lines[shift..], &lines[..shift]].concat().concat());
            both_ways([&lines[..shift], &lines[shift - 1..]].concat().concat());
        }
        both_ways(lines.iter().rev().copied().collect::<String>());
    }
}

#[test]
fn reading_the_last_turns_costs_the_same_for_any_file_length() {
    let cost = |count: usize| {
        let home = Home::new();
        let mut records = vec![user("0", "")];
        records
            .extend((1..count).map(|number| model(&number.to_string(), &(number - 1).to_string())));
        let path = home.write("a.jsonl", to_json_lines(&records));
        let mut left = 100;
        Claude
            .turns_back(&home.disk, &path, &mut |_| {
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        home.disk.bytes_read()
    };
    assert!(cost(30_000) <= cost(6_000) * 11 / 10, "{} {}", cost(30_000), cost(6_000));
}

/// The recording has shortened strings, and copies of requests between its turns.
#[test]
fn turns_of_2_1_325_are_read_past_copies_of_requests_and_attachments() {
    let turns = both_ways(include_str!("../fixtures/interactive-2.1.325.jsonl"));
    let roles: Vec<Role> = turns.iter().map(|turn| turn.role).collect();
    assert_eq!(roles, [Role::User, Role::ToolCall, Role::ToolResult, Role::Assistant]);
    assert_eq!(turns[0].text, "please [[TOOL:touch made-by-tool]]");
    assert!(turns[1].text.contains("touch made-by-tool"), "{:?}", turns[1]);
    assert!(turns[3].text.starts_with("MARK turns=1"), "{:?}", turns[3]);
}
