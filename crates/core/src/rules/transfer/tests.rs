use std::ops::ControlFlow;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::model::{Role, Tool, Turn};
use crate::rules::redaction::Removed;
use crate::rules::shapes::samples::fill;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn turn(role: Role, id: &str, text: &str) -> Turn {
    let turn = Turn::new(role, text);
    match role {
        Role::ToolCall | Role::ToolResult => {
            turn.with_tool(Tool { id: id.into(), name: String::new(), failed: false })
        }
        Role::User | Role::Assistant | Role::Summary => turn,
    }
}

fn call(id: &str) -> Turn {
    let mut call = turn(Role::ToolCall, id, &format!("{{\"of\":\"{id}\"}}"));
    call.tool.as_mut().unwrap().name = "shell".into();
    call
}

fn result(id: &str) -> Turn {
    turn(Role::ToolResult, id, &format!("gave {id}"))
}

fn user(text: &str) -> Turn {
    turn(Role::User, "", text)
}

fn assistant(text: &str) -> Turn {
    turn(Role::Assistant, "", text)
}

fn clean(turns: impl IntoIterator<Item = Turn>) -> Vec<Turn> {
    let mut cleaner = TurnCleaner::new("call", at(100));
    let mut out = Vec::new();
    turns.into_iter().for_each(|turn| cleaner.turn(turn, &mut out));
    cleaner.end(&mut out);
    out
}

fn texts(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.text.as_str()).collect()
}

fn ids(turns: &[Turn]) -> Vec<&str> {
    turns.iter().filter_map(|turn| turn.tool.as_ref()).map(|tool| tool.id.as_str()).collect()
}

#[test]
fn parallel_calls_are_paired_and_the_rest_keeps_its_order() {
    let turns = [
        user("go"),
        call("a"),
        call("b"),
        assistant("hm"),
        result("b"),
        result("a"),
        assistant("done"),
    ];
    let out = clean(turns);
    let expected = ["go", r#"{"of":"a"}"#, "gave a", r#"{"of":"b"}"#, "gave b", "hm", "done"];
    assert_eq!(texts(&out), expected);
    assert_eq!(ids(&out), ["call_1", "call_1", "call_2", "call_2"]);
    assert!(out.iter().filter_map(|turn| turn.tool.as_ref()).all(|tool| tool.name == "shell"));
}

#[test]
fn calls_without_ids_are_paired_by_order() {
    let (mut first, mut second) = (result(""), result(""));
    first.text = "one".into();
    second.text = "two".into();
    let out = clean([call(""), call(""), first, second]);
    assert_eq!(texts(&out), [r#"{"of":""}"#, "one", r#"{"of":""}"#, "two"]);
}

#[test]
fn result_without_an_id_is_paired_with_the_oldest_open_call() {
    let out = clean([call("a"), call("b"), result("a"), result("")]);
    assert_eq!(texts(&out), [r#"{"of":"a"}"#, "gave a", r#"{"of":"b"}"#, "gave "]);
}

#[test]
fn call_without_a_result_gets_a_failed_one_and_result_without_a_call_is_dropped() {
    let out = clean([result("x"), call("a"), user("next"), result("a"), call("b")]);
    assert_eq!(out.len(), 5);
    assert_eq!(out[1].text, "No result of this call was recorded.");
    assert!(out[1].tool.as_ref().unwrap().failed && out[4].tool.as_ref().unwrap().failed);
    assert_eq!(out[2].text, "next");
}

#[test]
fn missing_tool_result_holds_back_at_most_a_thousand_turns() {
    let mut cleaner = TurnCleaner::new("call", at(0));
    let mut out = Vec::new();
    cleaner.turn(call("a"), &mut out);
    (0..1_000).for_each(|_| cleaner.turn(assistant("x"), &mut out));
    assert_eq!(out.len(), 1_002);
}

#[test]
fn arguments_that_are_not_a_json_object_are_wrapped_in_one() {
    for (text, expected) in [
        ("ls -l", r#"{"input":"ls -l"}"#),
        ("[1]", r#"{"input":"[1]"}"#),
        ("{\"a\": 1", r#"{"input":"{\"a\": 1"}"#),
        ("", r#"{"input":""}"#),
        (" {\"a\": 1}", " {\"a\": 1}"),
    ] {
        assert_eq!(clean([turn(Role::ToolCall, "", text)])[0].text, expected);
    }
}

#[test]
fn summary_becomes_a_user_message_and_empty_turns_are_dropped() {
    let out = clean([turn(Role::Summary, "", "much"), user(" "), assistant(""), user("a")]);
    assert_eq!(texts(&out), ["This is a summary of what was said before:\n\nmuch", "a"]);
    assert_eq!(out[0].role, Role::User);
}

#[test]
fn every_turn_gets_a_timestamp_and_timestamps_never_decrease() {
    let cleaned = |times: &[Option<i64>]| -> Vec<i64> {
        let turns = times.iter().map(|time| user("x").at(time.map(at)));
        clean(turns).iter().map(|turn| turn.at.unwrap().as_second()).collect()
    };
    assert_eq!(cleaned(&[Some(50), None, Some(40), Some(60)]), [50, 50, 50, 60]);
    assert_eq!(cleaned(&[None, Some(50), Some(160), None]), [100, 100, 160, 160]);
}

#[test]
fn long_results_are_cut_in_their_middle() {
    let long = turn(Role::ToolResult, "a", &format!("head{}tail", "ü".repeat(50_000)));
    let text = &clean([call("a"), long])[1].text;
    assert!(text.chars().count() <= 20_000 && text.chars().count() > 19_900);
    assert!(text.starts_with("head") && text.ends_with("tail"));
    let missing: usize =
        text.split("[… ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let mark = format!("\n[… {missing} characters left out …]\n").chars().count();
    assert_eq!(text.chars().count() - mark + missing, 50_008);
}

#[test]
fn secrets_and_all_values_of_env_files_are_removed() {
    let read = turn(Role::ToolCall, "a", r#"{"path":"/x/.env"}"#);
    let gave = turn(Role::ToolResult, "a", "NAME=shop\nPORT=80");
    let other = turn(Role::ToolResult, "b", "NAME=shop API_KEY=abc");
    let mut cleaner = TurnCleaner::new("call", at(0));
    let mut out = Vec::new();
    for turn in [user("my sk-ant-api03-abcdefghijklmnop"), read, gave, call("b"), other] {
        cleaner.turn(turn, &mut out);
    }
    cleaner.end(&mut out);
    assert_eq!(out[0].text, "my [redacted]");
    assert_eq!(out[2].text, "NAME=[redacted]\nPORT=[redacted]");
    assert_eq!(out[4].text, "NAME=shop API_KEY=[redacted]");
    assert_eq!(cleaner.removed().total(), 4);
    for text in ["process.environment", "grep process.env.PORT"] {
        let code = turn(Role::ToolCall, "a", text);
        assert_eq!(clean([code, turn(Role::ToolResult, "a", "A=b")])[1].text, "A=b");
    }
}

#[test]
fn no_cut_leaves_a_part_of_a_secret() {
    let secrets = [fill("ghp_{a36}"), fill("{b43}="), fill("{a30}")];
    let text = |fill: usize| {
        let [token, key, password] = &secrets;
        let line = format!("{token} PrivateKey = {key}\nDB_PASS={password} and more");
        format!("{}\n{line}\n{}", "word ".repeat(fill)[..fill * 5 / 2].trim(), "end ".repeat(2_000))
    };
    for place in 200..440 {
        for role in [Role::User, Role::ToolResult] {
            let turns = [turn(role, "a", &text(place)), user("go")];
            let (carried, _) = gather(&turns, 4_000, None);
            let left = clean(carried.turns);
            for part in secrets.iter().flat_map(|secret| secret.as_bytes().windows(8)) {
                let part = std::str::from_utf8(part).unwrap();
                assert!(!left.iter().any(|turn| turn.text.contains(part)), "{place} {part}");
            }
        }
    }
}

#[test]
fn secrets_removed_before_a_cut_are_counted_once() {
    let token = fill("ghp_{a36}");
    let text = format!("{token} {} {token}", "word ".repeat(2_000));
    let (carried, _) = gather(&[user(&text), user("go")], 4_000, None);
    assert_eq!(carried.removed.by_kind(), [("github-token".to_owned(), 2)].into());
}

fn gather(turns: &[Turn], budget: usize, task: Option<Turn>) -> (CollectedTurns, usize) {
    let mut collector = TurnCollector::new(budget);
    let taken = turns.iter().rev().take_while(|it| collector.take((*it).clone()).is_continue());
    let taken = taken.count();
    let left_out = u64::try_from(turns.len() - taken).unwrap();
    (collector.finish(task, Some(left_out)), taken)
}

#[test]
fn turns_that_fit_into_the_budget_are_unchanged() {
    let turns = [user("task"), call("a"), result("a"), assistant("done")];
    let (carried, _) = gather(&turns, 1_000, Some(turns[0].clone()));
    assert_eq!(
        carried,
        CollectedTurns {
            turns: turns.to_vec(),
            is_cut: false,
            left_out: Some(0),
            removed: Removed::default()
        }
    );
}

#[test]
fn first_task_is_kept_with_the_number_of_missing_turns() {
    let mut turns = vec![user("task")];
    for _ in 0..50 {
        turns.extend([user("more"), call("a"), result("a"), assistant(&"x".repeat(20))]);
    }
    let (carried, _) = gather(&turns, 400, Some(turns[0].clone()));
    assert!(carried.is_cut);
    let missing = turns.len() - carried.turns.len();
    let line = format!(
        "task\n\n[{missing} turns of this conversation are left out between this and what follows.]"
    );
    assert_eq!(carried.turns[0].text, line);
    assert_eq!(carried.turns[1].text, "more");
    assert_eq!(carried.turns[1..], turns[turns.len() - carried.turns.len() + 1..]);
}

#[test]
fn number_of_missing_turns_is_stated_without_a_first_task_too() {
    let turns: Vec<Turn> = (0..50).map(|_| assistant(&"x".repeat(20))).collect();
    let (carried, _) = gather(&turns, 400, None);
    let missing = turns.len() - (carried.turns.len() - 1);
    assert!(carried.turns[0].text.starts_with(&format!("[{missing} turns of this")));
    assert_eq!(carried.turns[0].role, Role::User);
}

#[test]
fn first_kept_turn_is_an_answer_if_starting_at_a_user_message_loses_most() {
    let mut turns: Vec<Turn> = (0..50).map(|_| assistant(&"x".repeat(20))).collect();
    turns.insert(0, user("task"));
    turns.push(user("thanks"));
    let (carried, _) = gather(&turns, 600, Some(turns[0].clone()));
    assert!(carried.turns.len() > 10);
    assert_eq!(carried.turns[1].role, Role::Assistant);
}

#[test]
fn huge_newest_turn_and_huge_task_are_cut() {
    let turns = [user(&"t".repeat(5_000)), assistant(&"x".repeat(5_000))];
    let (carried, _) = gather(&turns, 2_000, Some(turns[0].clone()));
    assert_eq!(carried.turns.len(), 2);
    assert!(carried.turns[0].text.contains("characters left out"));
    assert!(carried.turns[0].text.ends_with("tt"), "no turn is missing between the two");
    assert!(carried.turns[1].text.contains("characters left out"));
    let (carried, _) = gather(&turns[1..], 2_000, None);
    assert_eq!(carried.turns.len(), 1);
    assert!(carried.turns[0].text.chars().count() > 1_900);
    let turns = [user("t"), call("a"), turn(Role::ToolResult, "a", &"x".repeat(5_000))];
    let (carried, _) = gather(&turns, 1_000, Some(turns[0].clone()));
    assert_eq!(carried.turns.len(), 3);
}

#[test]
fn huge_turn_in_the_middle_is_cut_and_older_turns_are_kept() {
    let huge = "x".repeat(5_000);
    let turns = [user("before"), user(&huge), assistant("seen")];
    let (carried, _) = gather(&turns, 1_000, Some(user("before")));
    let texts = texts(&carried.turns);
    assert_eq!((texts[0], texts[2]), ("before", "seen"), "{texts:?}");
    assert!(texts[1].contains("left out") && texts[1].len() < 600, "{texts:?}");
}

#[test]
fn only_turns_after_the_handoff_are_new() {
    let digest = user("[Handed over by Segue]\nYou go on");
    let turns = [
        user("old").at(Some(at(5))),
        digest.at(Some(at(11))),
        assistant("new").at(Some(at(12))),
        user("untimed"),
    ];
    let mut new_turns = NewTurns::new(at(10));
    let found: Vec<bool> = turns.iter().rev().map(|turn| new_turns.is_new(turn)).collect();
    assert_eq!(found, [true, true, false, false]);
    let mut new_turns = NewTurns::new(at(12));
    assert!(
        new_turns.is_new(&user("untimed"))
            && !new_turns.is_new(&turns[2])
            && !new_turns.is_new(&user("x"))
    );
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let role = prop::sample::select(Role::ALL);
    (role, "[a-c]?", "(ü|🦀|word |\\n){0,60}", prop::option::of(0_i64..100))
        .prop_map(|(role, id, text, time)| turn(role, &id, &text).at(time.map(at)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cleaned_turns_are_paired_sorted_and_lose_no_text(turns in prop::collection::vec(any_turn(), 0..30)) {
        let count = |role: Role| turns.iter().filter(|it| it.role == role && !it.text.trim().is_empty()).count();
        let calls = turns.iter().filter(|turn| turn.role == Role::ToolCall).count();
        let out = clean(turns.clone());
        prop_assert_eq!(out.iter().filter(|turn| turn.role == Role::User).count(), count(Role::User) + count(Role::Summary));
        prop_assert_eq!(out.iter().filter(|turn| turn.role == Role::Assistant).count(), count(Role::Assistant));
        prop_assert_eq!(out.iter().filter(|turn| turn.role == Role::ToolCall).count(), calls);
        prop_assert!(out.iter().map(|turn| turn.at.unwrap()).is_sorted());
        for (number, turn) in out.iter().enumerate() {
            if turn.role == Role::ToolCall {
                prop_assert_eq!(out[number + 1].role, Role::ToolResult);
                prop_assert_eq!(&out[number + 1].tool.as_ref().unwrap().id, &turn.tool.as_ref().unwrap().id);
            }
            if turn.role == Role::ToolResult {
                prop_assert_eq!(out[number - 1].role, Role::ToolCall);
            }
        }
    }

    #[test]
    fn collector_never_exceeds_its_budget(
        turns in prop::collection::vec(any_turn(), 0..30),
        budget in 0_usize..1_500,
        has_task: bool,
    ) {
        let task = turns.iter().find(|turn| turn.role == Role::User).filter(|_| has_task);
        let mut collector = TurnCollector::new(budget);
        let _ = turns.iter().rev().try_for_each(|turn| match collector.take(turn.clone()) {
            ControlFlow::Break(()) => ControlFlow::Break(()),
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
        });
        let carried = collector.finish(task.cloned(), None);
        let used: usize = carried.turns.iter().map(|turn| turn.text.chars().count()).sum();
        prop_assert!(used <= budget, "{used} > {budget}");
        if carried.is_cut {
            let first = carried.turns.first();
            prop_assert!(first.is_none_or(|turn| turn.role != Role::ToolResult));
        }
    }

    #[test]
    fn cut_text_never_exceeds_its_limit(text in "(ü|🦀|word |\\n){0,200}", most in 0_usize..300) {
        let cut = cut_in_middle(&text, most);
        prop_assert!(cut.chars().count() <= most);
        prop_assert!(text.chars().count() > most || cut == text);
    }
}
