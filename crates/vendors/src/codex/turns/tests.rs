use std::fs;
use std::path::PathBuf;

use segue_core::model::VendorSessionId;
use segue_core::ports::{Conversion as _, Target, TranscriptFiles as _, Transcripts as _};

use super::*;
use crate::codex::{Codex, paths};
use crate::testing::Home;
use crate::testing::turns::{
    as_read_back, assert_damage_is_tolerated, order, read_turns, read_turns_of_text, sample_turns,
    with_roles_and_tools, write_turns,
};

const PREPARED: &str = include_str!("../fixtures/prepared-two-turns.jsonl");
const TOOL: &str = include_str!("../fixtures/paginated-tool.jsonl");
const FAILED: &str = include_str!("../fixtures/paginated-failed.jsonl");

/// A conversation, the same conversation after two turns were rolled back, and a later fork.
const FIRST: &str = include_str!("../fixtures/lineage-first.jsonl");
const TAKEN_BACK: &str = include_str!("../fixtures/lineage-taken-back.jsonl");
const FORK: &str = include_str!("../fixtures/lineage-fork.jsonl");

const CONVERSATION: &str = "01a1e313-ff12-75e0-941c-2288f559f3f9";
const LATER: &str = "01a1e313-ff12-75e0-941c-2288f559f3f9_01a1e314-00fd-7c73-91b9-fe04260172d4";
const FORKED: &str = "01a1e314-01ed-7c00-99ec-6209a75b8c75";

fn name(id: &str) -> String {
    format!("rollout-2026-11-16T06-38-20-{id}.jsonl")
}

fn read_formatted(path: &Path) -> Vec<String> {
    with_roles_and_tools(&read_turns(&Codex, path))
}

fn read_text(text: &str) -> Vec<String> {
    with_roles_and_tools(&read_turns_of_text(&Codex, "rollout.jsonl", text))
}

/// Writes the three rollouts into these folders.
fn lineage(home: &Home, folders: [&str; 3]) -> [PathBuf; 3] {
    let write = |folder: &str, id, text| home.write(&format!("{folder}/{}", name(id)), text);
    let [first, later, fork] = folders;
    [write(first, CONVERSATION, FIRST), write(later, LATER, TAKEN_BACK), write(fork, FORKED, FORK)]
}

/// Returns the messages of the user.
fn user_texts(turns: &[String]) -> Vec<&str> {
    turns.iter().filter_map(|turn| turn.strip_prefix("user: ")).collect()
}

#[test]
fn turns_are_the_models_history_without_texts_that_codex_added() {
    assert_eq!(
        read_text(PREPARED),
        [
            "user: --help is not a flag",
            "assistant: turns=1 last=<<--help is not a flag>>",
            "user: second",
            "assistant: turns=2 last=<<second>>",
        ]
    );
    let tool = read_text(TOOL);
    assert_eq!(tool[0], "user: [[tool: env | sort]]");
    assert!(tool[1].starts_with(r#"tool_call exec_command: {"cmd": "env | sort""#), "{tool:?}");
    assert!(tool[2].starts_with("tool_result : Chunk ID: 9cec6c\n"), "{tool:?}");
    assert_eq!(tool.len(), 4);
    assert_eq!(read_text(FAILED), ["user: [[limit: 1894788128]]"]);
}

#[test]
fn rolling_back_more_turns_than_there_are_leaves_none() {
    let back = format!(
        r#"{{"timestamp":"2026-11-16T01:00:00Z","type":"event_msg","payload":{{"type":"thread_rolled_back","num_turns":{}}}}}"#,
        u64::MAX
    );
    assert!(read_text(&format!("{PREPARED}{back}\n{back}\n")).is_empty());
}

#[test]
fn turns_have_timestamps_and_the_ids_of_tool_calls() {
    let home = Home::new();
    let turns = read_turns(&Codex, &home.write("rollout.jsonl", TOOL));
    assert_eq!(turns[0].at, "2026-11-16T00:25:10.807Z".parse().ok());
    let ids: Vec<&str> =
        turns.iter().filter_map(|turn| Some(turn.tool.as_ref()?.id.as_str())).collect();
    assert_eq!(ids, ["call_1972fec4aa1b4a9fa5efb58c9c15200e"; 2]);
}

#[test]
fn rolled_back_turns_are_left_out_and_a_fork_includes_its_origin() {
    let beside = ["beside"; 3];
    let kept = ["sessions/2026/11/16", "sessions/2026/11/16", "sessions/2026/12/24"];
    let archived = ["archived_sessions", "sessions/2027/01/01", "sessions/2026/12/24"];
    for folders in [beside, kept, archived] {
        let home = Home::new();
        let [first, later, fork] = lineage(&home, folders);
        let whole = read_formatted(&first);
        assert_eq!(user_texts(&whole), ["one ü TOOL", "two", "three TOOL FAIL"]);
        let after = ["one ü TOOL", "after", "TOOL FAIL again", "in parent, after the fork"];
        assert_eq!(user_texts(&read_formatted(&later)), after);
        let forked = read_formatted(&fork);
        let in_fork = ["one ü TOOL", "after", "TOOL FAIL again", "in fork", "after compaction"];
        assert_eq!(user_texts(&forked), in_fork, "{folders:?}");
        assert_eq!(Codex.ancestors(&home.disk, &first), Vec::<PathBuf>::new());
        assert_eq!(Codex.ancestors(&home.disk, &fork), [later, first], "{folders:?}");
        let failed = |turn: &&String| turn.starts_with("tool_result !: Chunk ID");
        assert_eq!(forked.iter().filter(failed).count(), 1);
    }
}

#[test]
fn fork_without_its_origin_has_its_own_turns() {
    let home = Home::new();
    let [first, later, fork] = lineage(&home, ["a/sessions/x"; 3]);
    fs::remove_file(first).unwrap();
    let own = ["after", "TOOL FAIL again", "in fork", "after compaction"];
    assert_eq!(user_texts(&read_formatted(&fork)), own);
    fs::write(later, FORK).unwrap();
    assert_eq!(Codex.ancestors(&home.disk, &fork).len(), 1, "a self-reference ends the chain");
}

#[test]
fn compaction_is_one_summary_and_earlier_turns_stay() {
    let home = Home::new();
    let [.., fork] = lineage(&home, ["beside"; 3]);
    let turns = read_formatted(&fork);
    let end = &turns[turns.len() - 5..];
    assert_eq!(end[0], "user: in fork");
    assert_eq!(end[1], "assistant: turns=4 last=<in fork>");
    assert!(end[2].starts_with("summary: Another language model started"), "{end:?}");
    assert_eq!(end[3], "user: after compaction", "the model's answer is in the summary");
    assert_eq!(turns.iter().filter(|turn| turn.starts_with("summary")).count(), 1);
}

#[test]
fn turns_rolled_back_by_an_older_codex_are_left_out() {
    let marker = |turns| {
        format!(
            r#"{{"timestamp":"2026-11-16T00:16:00Z","type":"event_msg","payload":{{"type":"thread_rolled_back","num_turns":{turns}}}}}"#
        ) + "\n"
    };
    let first = ["user: --help is not a flag", "assistant: turns=1 last=<<--help is not a flag>>"];
    assert_eq!(read_text(&(PREPARED.to_owned() + &marker(1))), first);
    assert!(read_text(&(PREPARED.to_owned() + &marker(2))).is_empty());
    let again = [PREPARED, &marker(1), &marker(1), PREPARED].concat();
    assert_eq!(read_text(&again), read_text(PREPARED));
}

#[test]
fn calls_and_results_of_every_kind_of_tool_are_read() {
    let line = |payload: &str| {
        format!(
            r#"{{"timestamp":"2026-11-16T00:16:00Z","type":"response_item","payload":{payload}}}"#
        ) + "\n"
    };
    let text = [
        r#"{"type":"custom_tool_call","call_id":"1","name":"apply_patch","input":"*** x"}"#,
        r#"{"type":"custom_tool_call_output","call_id":"1","output":"done"}"#,
        r#"{"type":"local_shell_call","id":"2","action":{"type":"exec","command":["ls"]}}"#,
        r#"{"type":"function_call_output","call_id":"2","output":[{"type":"input_text","text":"a"}]}"#,
        r#"{"type":"function_call_output","call_id":"3","output":{"content":"b","success":false}}"#,
        r#"{"type":"reasoning","summary":[],"content":null,"encrypted_content":"x"}"#,
        r#"{"type":"web_search_call","status":"completed"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<hook_x>"},{"type":"input_text","text":"mine"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["harness","user.text"]}}"#,
    ];
    assert_eq!(
        read_text(&text.map(line).concat()),
        [
            r#"tool_call apply_patch: {"input":"*** x"}"#,
            "tool_result : done",
            r#"tool_call local_shell: {"command":["ls"],"type":"exec"}"#,
            "tool_result : a",
            "tool_result !: b",
            "user: mine",
        ]
    );
}

#[test]
fn result_has_failed_if_its_beginning_reports_that() {
    for (output, has_failed) in [
        ("Process exited with code 0\nOutput:\nProcess exited with code 1\n", false),
        ("Wall time: 1\nProcess exited with code 1\nOutput:\n", true),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess.\n", false),
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\n", true),
        ("apply_patch verification failed: Failed to find expected lines in /a:\nx", true),
        ("Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\n", true),
        ("Script completed\nWall time 0.0 seconds\nOutput:\nScript failed\n", false),
        ("the output of apply_patch verification failed", false),
    ] {
        let output = serde_json::to_string(output).unwrap();
        let line = format!(
            r#"{{"timestamp":"2026-11-16T00:16:00Z","type":"response_item","payload":{{"type":"custom_tool_call_output","call_id":"1","output":{output}}}}}"#
        ) + "\n";
        let read = read_text(&line);
        assert_eq!(read[0].starts_with("tool_result !"), has_failed, "{read:?}");
    }
}

#[test]
fn damaged_rollouts_do_not_fail() {
    for text in [PREPARED, TOOL, FORK] {
        assert_damage_is_tolerated(&Codex, &name(FORKED), text);
    }
    assert_eq!(read_text(""), Vec::<String>::new());
    assert_eq!(read_text("garbage\n\u{0}\n[]\n{}\n"), Vec::<String>::new());
}

#[test]
fn written_turns_are_read_back() {
    let home = Home::new();
    home.write("config.toml", "model_provider = \"mine\"\n");
    let turns = sample_turns();
    let (transcription, bytes) = write_turns(&Codex, &home, (FORKED, None), &turns);
    let wanted = paths::prepared(home.folder.path(), FORKED);
    assert_eq!(transcription.target, Target::Transcript(wanted.clone()));
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.lines().next().unwrap().contains(r#""model_provider":"mine""#), "{text}");
    let path = home.write(wanted.to_str().unwrap(), text);
    assert_eq!(read_turns(&Codex, &path), as_read_back(&turns));
    let id = VendorSessionId::new(FORKED);
    let found = Codex.conversation(&home.disk, &home.place, &id).unwrap().unwrap();
    assert_eq!(found.first_message.as_deref(), Some("What was before: \"much\"."));
    assert_eq!(found.last_answer.as_deref(), Some("\\o/"));
    assert!(!found.turn_open);
}

#[test]
fn added_turns_have_the_form_of_the_rollout() {
    let turns = sample_turns();
    for (text, next) in [(PREPARED, None), (TOOL, Some(19)), (FORK, Some(76))] {
        let home = Home::new();
        let [.., path] = lineage(&home, ["beside"; 3]);
        fs::write(&path, text).unwrap();
        let before = read_turns(&Codex, &path);
        let (transcription, bytes) = write_turns(&Codex, &home, (FORKED, Some(&path)), &turns);
        assert_eq!(transcription.target, Target::Transcript(path.clone()));
        let added = String::from_utf8(bytes).unwrap();
        assert!(!added.contains("session_meta"));
        for (line, number) in added.lines().zip(0..) {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["ordinal"].as_u64(), next.map(|next| next + number));
        }
        assert_eq!(added.contains("item_completed"), next.is_some());
        fs::write(&path, text.to_owned() + &added).unwrap();
        let all = read_turns(&Codex, &path);
        assert_eq!(all, [before, as_read_back(&turns)].concat());
        let (_, again) = write_turns(&Codex, &home, (FORKED, Some(&path)), &turns[1..3]);
        let name = |text: &str| text.split("segue-").nth(1).unwrap()[..9].to_owned();
        assert_ne!(name(&added), name(&String::from_utf8(again).unwrap()), "new turn ids");
    }
}

#[test]
fn transcription_refuses_an_invalid_id() {
    let home = Home::new();
    let id = VendorSessionId::new("../x");
    assert!(Codex.transcription(&order(&home, &id, None)).is_err());
}

#[test]
fn repeated_results_of_a_command_are_the_same_without_their_ids_and_times() {
    let result = |id: &str, time: &str, rest: &str| {
        format!("Chunk ID: {id}\nWall time: {time} seconds\n{rest}")
    };
    let rest = "Process exited with code 0\nOriginal token count: 1\nOutput:\nhi\n";
    for text in [&result("52f7f3", "0.0000", rest), &result("caa601", "0.1472", rest)] {
        assert_eq!(repeatable_part(text), rest);
    }
    for text in ["hi", "", "Chunk ID: 1", "Chunk ID: 1\nhi\n"] {
        assert_eq!(repeatable_part(text), text);
    }
}
