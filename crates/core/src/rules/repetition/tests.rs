use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::model::{MessageSender, SessionId};

const LIMIT: usize = 4;

fn tool(id: usize, name: &str) -> Tool {
    Tool { id: id.to_string(), name: name.to_owned(), failed: false }
}

/// The entries of tool calls with their results, oldest first.
fn entries(calls: &[(&str, &str, &str)]) -> Vec<Turn> {
    let entry = |(at, (name, input, result)): (usize, &(&str, &str, &str))| {
        [
            Turn::new(Role::ToolCall, *input).with_tool(tool(at, name)),
            Turn::new(Role::ToolResult, *result).with_tool(tool(at, "")),
        ]
    };
    calls.iter().enumerate().flat_map(entry).collect()
}

fn scan(oldest_first: &[Turn]) -> (Option<RepeatedCalls>, usize) {
    let (mut scan, mut read) = (CallScan::new(LIMIT), 0);
    for turn in oldest_first.iter().rev() {
        read += 1;
        if scan.read(turn).is_break() {
            break;
        }
    }
    (scan.finish(), read)
}

fn times(calls: &[(&str, &str, &str)]) -> Option<(String, usize)> {
    scan(&entries(calls)).0.map(|it| (it.what, it.times))
}

#[test]
fn repetition_is_found_at_the_limit_and_not_below() {
    let ls = ("shell", "ls", "a b");
    let cat = ("shell", "cat a", "text");
    let make = ("shell", "make", "failed");
    let found = |what: &str, times| Some((what.to_owned(), times));
    assert_eq!(times(&[ls; 3]), None);
    assert_eq!(times(&[ls; 4]), found("`shell ls`", 4));
    assert_eq!(times(&[ls; 9]), found("`shell ls`", 4));
    assert_eq!(times(&[ls, cat].repeat(3)), None);
    assert_eq!(times(&[ls, cat].repeat(4)), found("`shell cat a` and `shell ls`", 4));
    // The text does not depend on the call with which the cycle ends.
    for three in [[ls, cat, make], [cat, make, ls], [make, ls, cat]] {
        let what = "`shell cat a` and `shell make` and `shell ls`";
        assert_eq!(times(&three.repeat(4)), found(what, 4));
    }
    let four = [ls, cat, make, ("read", "b", "c")].repeat(10);
    assert_eq!(times(&four), None);
    // The newest call is another one: the repetition has ended.
    assert_eq!(times(&[vec![ls; 9], vec![cat]].concat()), None);
}

#[test]
fn changing_results_and_waiting_calls_need_more_repetitions() {
    let results: Vec<String> = (0..LIMIT * WAITING_FACTOR).map(|it| it.to_string()).collect();
    let polls: Vec<_> = results.iter().map(|result| ("shell", "status", &**result)).collect();
    assert_eq!(times(&polls[1..]), None);
    assert_eq!(times(&polls), Some(("`shell status`".to_owned(), LIMIT * WAITING_FACTOR)));
    for (name, input) in [
        ("mcp__segue__agent_wait", "{}"),
        ("segue-task_wait", "{}"),
        ("shell", "segue wait coder"),
        ("shell", "sleep 30; curl localhost"),
    ] {
        let wait = (name, input, "still working");
        assert_eq!(times(&[wait; LIMIT * WAITING_FACTOR - 1]), None, "{name} {input}");
        assert!(times(&[wait; LIMIT * WAITING_FACTOR]).is_some(), "{name} {input}");
    }
}

#[test]
fn message_of_the_user_a_failed_result_and_a_running_call_interrupt_or_do_not_count() {
    let ls = ("shell", "ls", "a b");
    let mut turns = entries(&[ls; 4]);
    turns.insert(4, Turn::new(Role::User, "go on"));
    assert_eq!(scan(&turns).0, None);
    let mut turns = entries(&[ls; 4]);
    turns[3].tool.as_mut().unwrap().failed = true;
    assert_eq!(scan(&turns).0, None);
    let mut turns = entries(&[ls; 4]);
    turns.push(Turn::new(Role::ToolCall, "ls").with_tool(tool(99, "shell")));
    assert!(scan(&turns).0.is_some());
    turns.remove(7);
    assert_eq!(scan(&turns).0, None, "two of the five calls still run");
}

#[test]
fn parallel_calls_and_calls_without_ids_find_their_results() {
    let parallel = |at: usize| {
        [
            Turn::new(Role::ToolCall, "ls").with_tool(tool(at, "shell")),
            Turn::new(Role::ToolCall, "date").with_tool(tool(at + 1, "shell")),
            Turn::new(Role::ToolResult, "a").with_tool(tool(at, "")),
            Turn::new(Role::ToolResult, "today").with_tool(tool(at + 1, "")),
        ]
    };
    let turns: Vec<Turn> = (0..LIMIT).flat_map(|at| parallel(at * 2)).collect();
    assert_eq!(scan(&turns).0.unwrap().what, "`shell date` and `shell ls`");
    let mut turns = entries(&[("shell", "ls", "a"); LIMIT]);
    turns.iter_mut().for_each(|turn| turn.tool.as_mut().unwrap().id.clear());
    assert_eq!(scan(&turns).0.unwrap().what, "`shell ls`");
}

#[test]
fn shown_calls_are_short_without_secrets_and_without_line_breaks() {
    let key = format!("sk-ant-api03-{}", "a1B2".repeat(24));
    let text = shown("shell", &format!("curl -H '{key}' `date`\n{}", "x".repeat(500)));
    assert!(!text.contains(&key) && !text.contains('\n'), "{text}");
    assert!(text.chars().count() < SHOWN_CHARACTERS + 20, "{text}");
    assert_eq!(text.matches('`').count(), 2, "{text}");
}

fn session(number: u8) -> SessionId {
    SessionId::new(Uuid::from_u128(number.into()))
}

/// Messages as `from to`, the newest first. `0` is a person, a negative number an agent that worked.
fn exchanged(messages: &[(i8, u8)]) -> Vec<ExchangedMessage> {
    let sender =
        |from: i8| MessageSender { session: session(from.unsigned_abs()), has_worked: from < 0 };
    let message = |&(from, to): &(i8, u8)| ExchangedMessage {
        to: session(to),
        sender: (from != 0).then(|| sender(from)),
    };
    messages.iter().map(message).collect()
}

#[test]
fn only_messages_that_go_back_and_forth_without_a_person_and_without_work_count() {
    let table: [(&[(i8, u8)], usize); 8] = [
        (&[], 0),
        (&[(0, 1)], 0),
        (&[(1, 2), (2, 1), (1, 2)], 3),
        (&[(1, 2), (1, 2), (1, 2), (2, 1)], 2),
        (&[(1, 2), (2, 1), (0, 1), (1, 2)], 2),
        (&[(1, 2), (2, 1), (3, 1), (1, 2)], 2),
        (&[(1, 2), (-2, 1), (1, 2)], 1),
        (&[(-1, 2), (2, 1)], 0),
    ];
    for (messages, expected) in table {
        assert_eq!(exchanges(&exchanged(messages)), expected, "{messages:?}");
    }
}

#[test]
fn messages_to_others_are_no_work_and_other_calls_are() {
    let table = [
        ("mcp__segue__agent_send", "{}", false),
        ("mcp__segue__agent_start", "{}", true),
        ("shell", "segue send coder thanks", false),
        ("shell", "make test", true),
    ];
    for (name, input, expected) in table {
        let mut scan = WorkScan::default();
        let _flow = scan.read(&Turn::new(Role::ToolCall, input).with_tool(tool(1, name)));
        assert_eq!(scan.has_worked(), expected, "{name} {input}");
    }
    let mut scan = WorkScan::default();
    assert!(scan.read(&Turn::new(Role::User, "work")).is_break());
    assert!(!scan.has_worked());
}

proptest! {
    /// Calls of three kinds: the scan finds a repetition exactly if the newest calls repeat with one
    /// of the periods, and it reads no further than it needs.
    #[test]
    fn found_repetitions_are_those_of_the_definition(kinds in prop::collection::vec(0_u8..3, 0..40)) {
        let inputs: Vec<String> = kinds.iter().map(u8::to_string).collect();
        let calls: Vec<_> = inputs.iter().map(|input| ("shell", &**input, "same")).collect();
        let repeats = |period: usize| {
            let newest: Vec<u8> = kinds.iter().rev().take(period * LIMIT).copied().collect();
            newest.len() == period * LIMIT
                && (period..newest.len()).all(|at| newest[at] == newest[at - period])
        };
        let (found, read) = scan(&entries(&calls));
        prop_assert_eq!(found.is_some(), (1..=MAX_PERIOD).any(repeats));
        prop_assert!(read <= 2 * LIMIT * MAX_PERIOD * WAITING_FACTOR);
    }

    /// Calls that all differ are never a repetition, and only a few of them are read.
    #[test]
    fn different_calls_are_left_after_a_few_entries(count in 0_usize..200) {
        let inputs: Vec<String> = (0..count).map(|it| it.to_string()).collect();
        let calls: Vec<_> = inputs.iter().map(|input| ("shell", &**input, "same")).collect();
        let (found, read) = scan(&entries(&calls));
        prop_assert_eq!(found, None);
        prop_assert!(read <= 2 * (MAX_PERIOD + 1));
    }
}
