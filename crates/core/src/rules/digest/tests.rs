use proptest::prelude::*;

use super::*;
use crate::model::Tool;

fn user(text: &str) -> Turn {
    Turn::new(Role::User, text)
}

fn assistant(text: &str) -> Turn {
    Turn::new(Role::Assistant, text)
}

fn digest_of(turns: &[Turn], budget: usize) -> Option<String> {
    let task = turns.iter().find(|turn| turn.role == Role::User);
    let folder = FolderState::default();
    let input = DigestInput {
        vendor: "Agent One",
        task,
        turns,
        is_cut: false,
        folder: &folder,
        questions: &[],
    };
    digest(&input, budget)
}

/// Returns the text inside the tag. Fails if that text could close the tag.
fn record(text: &str) -> &str {
    let tag = text.split("inside the tag ").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(text.matches(&format!("<{tag}>")).count(), 1, "{tag}");
    assert_eq!(text.to_ascii_lowercase().matches(&format!("</{tag}>")).count(), 1, "{tag}");
    let inner = text.split_once(&format!("<{tag}>\n")).unwrap().1;
    inner.split_once(&format!("\n</{tag}>")).unwrap().0
}

fn many(count: usize) -> Vec<Turn> {
    let mut turns = vec![user("the very first task")];
    turns.extend((0..count).map(|n| assistant(&format!("answer {n} {}", "word ".repeat(20)))));
    turns
}

#[test]
fn short_conversation_is_unchanged() {
    let turns = [user("list\nthem"), assistant("a\n\n**b**\n```rust\nfn x() {}\n```")];
    let text = digest_of(&turns, DEFAULT_BUDGET_CHARACTERS).unwrap();
    assert_eq!(record(&text), "User: list\nthem\n\nAssistant: a\n\n**b**\n```rust\nfn x() {}\n```");
    assert!(!text.contains("left out"));
}

#[test]
fn long_conversation_keeps_the_first_task_a_notice_and_whole_newest_messages() {
    let turns = many(1_000);
    let text = digest_of(&turns, 5_000).unwrap();
    assert!(text.chars().count() <= 5_000);
    assert!(text.chars().count() > 4_500);
    let record = record(&text);
    assert!(record.starts_with("First task:\nthe very first task\n\n["));
    assert!(record.trim_end().ends_with(turns[1_000].text.trim_end()));
    let newest = record.split_once("newest part.]\n\n").unwrap().1;
    assert!(newest.starts_with("Assistant: answer "));
    for message in newest.split("\n\n") {
        let text = message.strip_prefix("Assistant: ").unwrap();
        assert!(turns.iter().any(|turn| turn.text == text), "{message}");
    }
}

#[test]
fn message_that_looks_like_a_boundary_is_kept_whole() {
    let mut turns = many(100);
    let text = "one\n\n**two**\n\nUser: three\n\nAssistant: four";
    turns.push(assistant(text));
    assert!(
        record(&digest_of(&turns, 2_000).unwrap()).ends_with(&format!("\n\nAssistant: {text}"))
    );
}

#[test]
fn budget_counts_characters_and_not_bytes() {
    let text = "ü🦀漢".repeat(100);
    let turns = [user(&text)];
    let budget = digest_of(&turns, DEFAULT_BUDGET_CHARACTERS).unwrap().chars().count();
    assert!(record(&digest_of(&turns, budget + 10).unwrap()).contains(&text));
    for budget in budget - 200..budget {
        let cut = digest_of(&turns, budget).unwrap_or_default();
        assert!(cut.chars().count() <= budget);
        assert!(cut.is_empty() || cut.contains("characters left out"));
    }
}

#[test]
fn huge_message_is_cut_in_its_middle() {
    let huge = format!("BEGIN {} END", "x".repeat(5_000_000));
    let text = digest_of(&[user("task"), assistant(&huge)], DEFAULT_BUDGET_CHARACTERS).unwrap();
    assert!(text.chars().count() <= DEFAULT_BUDGET_CHARACTERS);
    assert!(text.chars().count() > DEFAULT_BUDGET_CHARACTERS - 500);
    let record = record(&text);
    assert!(record.contains("Assistant: BEGIN xxx") && record.ends_with("xxx END"));
    assert!(record.contains("characters left out"));
    let huge = format!("BEGIN {} END", "x".repeat(100_000));
    let turns = [user("task"), assistant(&huge), user("last words")];
    let text = digest_of(&turns, DEFAULT_BUDGET_CHARACTERS).unwrap();
    assert!(text.contains("User: last words") && text.contains("Assistant: BEGIN xxx"));
    let text = digest_of(&[user(&huge)], DEFAULT_BUDGET_CHARACTERS).unwrap();
    assert!(text.chars().count() <= DEFAULT_BUDGET_CHARACTERS && text.contains("xxx END"));
}

#[test]
fn previous_vendor_is_named_and_an_empty_conversation_gives_no_digest() {
    assert!(digest_of(&[user("a")], DEFAULT_BUDGET_CHARACTERS).unwrap().contains("Agent One"));
    assert_eq!(digest_of(&[], DEFAULT_BUDGET_CHARACTERS), None);
    assert_eq!(digest_of(&[user(" \n"), assistant("")], DEFAULT_BUDGET_CHARACTERS), None);
    let tool = Tool { id: "1".into(), name: "shell".into(), failed: false };
    let result = Turn::new(Role::ToolResult, "output").with_tool(tool);
    assert_eq!(digest_of(&[result], DEFAULT_BUDGET_CHARACTERS), None);
}

#[test]
fn digest_contains_tool_calls_folder_state_and_questions() {
    let tool = |failed| Tool { id: "1".into(), name: "shell".into(), failed };
    let turns = [
        user("list"),
        Turn::new(Role::ToolCall, "{\"command\":\"ls\"}").with_tool(tool(false)),
        Turn::new(Role::ToolResult, "a b").with_tool(tool(false)),
        Turn::new(Role::ToolResult, "no").with_tool(tool(true)),
    ];
    let folder = FolderState {
        path: "/home/me/shop".into(),
        branch: Some("main".into()),
        commits: vec!["abc1234 cart: taxes".into()],
        dirty: vec!["src/cart.rs".into()],
        more_dirty: 3,
    };
    let questions = ["which tax? API_KEY=abc".to_owned()];
    let input = DigestInput {
        vendor: "Agent One",
        task: Some(&turns[0]),
        turns: &turns,
        is_cut: false,
        folder: &folder,
        questions: &questions,
    };
    let text = digest(&input, DEFAULT_BUDGET_CHARACTERS).unwrap();
    assert_eq!(
        record(&text),
        "User: list\n\nTool call (shell): {\"command\":\"ls\"}\n\nTool result: a b\n\n\
         Tool failure: no\n\nFolder: /home/me/shop\nBranch: main\nNewest commits:\n\
         - abc1234 cart: taxes\nFiles with changes that are not committed:\n- src/cart.rs\n\
         - and 3 more\nOpen questions:\n- which tax? API_KEY=[redacted]"
    );
}

#[test]
fn digest_mentions_turns_that_were_left_out_before() {
    let turns = [assistant("newest")];
    let (task, folder) = (user("first"), FolderState::default());
    let input = DigestInput {
        vendor: "Agent One",
        task: Some(&task),
        turns: &turns,
        is_cut: true,
        folder: &folder,
        questions: &[],
    };
    let text = digest(&input, DEFAULT_BUDGET_CHARACTERS).unwrap();
    assert!(record(&text).starts_with("First task:\nfirst\n\n[Turns of the conversation are left"));
}

#[test]
fn message_cannot_close_the_tag() {
    let texts = ["</record-1>", "<record-1> </RECORD-2> record-3", "`````` </record-12>"];
    for text in texts {
        let digest = digest_of(&[user(text)], DEFAULT_BUDGET_CHARACTERS).unwrap();
        assert_eq!(record(&digest), format!("User: {text}"));
    }
    let escape = digest_of(&[user("a\u{1b}[201~b")], DEFAULT_BUDGET_CHARACTERS).unwrap();
    assert_eq!(record(&escape), "User: a[201~b");
}

#[test]
fn nested_digests_stay_recognisable_and_do_not_grow() {
    let mut text = digest_of(&[user("build the shop"), assistant("begun")], 4_000).unwrap();
    for round in 0..20 {
        assert!(is_digest(&text));
        let mut turns = vec![user(&text)];
        turns.extend((0..30).map(|n| assistant(&format!("{round} {n} {}", "w ".repeat(100)))));
        text = digest_of(&turns, 4_000).unwrap();
        assert!(text.chars().count() <= 4_000);
        assert!(record(&text).starts_with("First task:\nbuild the shop\n\n"), "{text}");
        let short = digest_of(&[user(&text), assistant("short")], 4_000).unwrap();
        assert!(record(&short).contains("Handed over before: [Handed over by Segue]"));
        assert!(short.chars().count() < 2_500);
    }
    assert!(!is_digest("a message about [Handed over by Segue]"));
}

fn any_turn() -> impl Strategy<Value = Turn> {
    let role = prop::sample::select(Role::ALL);
    let text =
        "(\\PC|ü|🦀|\\n|```|</?record-[0-9]{1,2}>|RECORD-1|word |\\[Handed over by Segue\\]){0,80}";
    (role, text).prop_map(|(role, text)| {
        let tool = Tool { id: String::new(), name: "t".into(), failed: false };
        Turn::new(role, text).with_tool(tool)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn digest_never_exceeds_the_budget_and_never_closes_its_tag(
        turns in prop::collection::vec(any_turn(), 0..12),
        budget in prop_oneof![0_usize..3_000, Just(100), Just(1), Just(DEFAULT_BUDGET_CHARACTERS)],
        is_cut: bool,
        questions in prop::collection::vec("\\PC{0,60}", 0..4),
    ) {
        let folder = FolderState { path: "/x".into(), more_dirty: 2, ..FolderState::default() };
        let task = turns.iter().find(|turn| turn.role == Role::User);
        let input = DigestInput { vendor: "V", task, turns: &turns, is_cut, folder: &folder, questions: &questions };
        if let Some(text) = digest(&input, budget) {
            prop_assert!(text.chars().count() <= budget);
            prop_assert!(is_digest(&text));
            record(&text);
        } else {
            prop_assert!(budget < MIN_BUDGET_CHARACTERS || !has_messages(&input));
        }
    }
}
